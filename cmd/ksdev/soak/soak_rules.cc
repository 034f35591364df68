// SPDX-License-Identifier: Apache-2.0
#include "ksdev/soak/soak_rules.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ks::ctl::dev {
namespace {

using Json = nlohmann::json;

Json Rule(Json match, double probability, const Json& fault) {
  match["user"] = "system:kube-scheduler";
  return {{"match", std::move(match)}, {"probability", probability}, {"fault", fault}};
}

// The first rule that fires decides, so each is as likely as it says only beside rare ones.
void AddWrites(Json& rules) {
  const Json binding = {{"verb", "create"}, {"resource", "pods"}, {"subresource", "binding"}};
  rules.push_back(Rule(binding, 0.02, {{"status", 500}}));
  rules.push_back(Rule(binding, 0.02, {{"status", 500}, {"applied", true}}));
  rules.push_back(Rule(binding, 0.01, {{"status", 503}}));
  rules.push_back(Rule(binding, 0.01, {{"status", 504}, {"applied", true}}));
  rules.push_back(Rule(binding, 0.01, {{"status", 429}, {"retryAfter", 1}}));
  rules.push_back(Rule(binding, 0.01, {{"status", 409}}));
  rules.push_back(Rule(binding, 0.01, {{"reset", true}}));
  rules.push_back(Rule(binding, 0.01, {{"reset", true}, {"applied", true}}));
  rules.push_back(Rule(binding, 0.05, {{"latency", "300ms"}}));
  const Json patch = {{"verb", "patch"}, {"resource", "pods"}};
  rules.push_back(Rule(patch, 0.05, {{"status", 500}}));
  rules.push_back(Rule(patch, 0.03, {{"status", 409}}));
  rules.push_back(Rule(patch, 0.03, {{"reset", true}, {"applied", true}}));
  for (const char* verb : {"create", "patch"}) {
    const Json events = {{"verb", verb}, {"resource", "events"}};
    rules.push_back(Rule(events, 0.03, {{"status", 500}}));
    rules.push_back(Rule(events, 0.01, {{"status", 429}, {"retryAfter", 1}}));
    rules.push_back(Rule(events, 0.02, {{"reset", true}}));
    rules.push_back(Rule(events, 0.02, {{"latency", "500ms"}}));
  }
}

void AddReads(Json& rules) {
  // Silent watches last until their timeout: one early for pods, some of the rest.
  Json silent = Rule({{"verb", "watch"}, {"resource", "pods"}}, 1, {{"stallWatch", "5s"}});
  silent["after"] = 3;
  silent["times"] = 1;
  rules.push_back(silent);
  rules.push_back(
      Rule({{"verb", "watch"}, {"resource", "services"}}, 0.1, {{"stallWatch", "10s"}}));
  const Json watch = {{"verb", "watch"}};
  rules.push_back(Rule(watch, 0.05, {{"status", 500}}));
  rules.push_back(Rule(watch, 0.05, {{"status", 410}, {"reason", "Expired"}}));
  rules.push_back(Rule(watch, 0.05, {{"reset", true}}));
  rules.push_back(Rule(watch, 0.4, {{"cutWatch", "20s"}}));
  rules.push_back(Rule(watch, 0.6, {{"cutWatch", "45s"}}));
  const Json list = {{"verb", "list"}};
  rules.push_back(Rule(list, 0.1, {{"status", 500}}));
  rules.push_back(Rule(list, 0.05, {{"reset", true}}));
  rules.push_back(Rule(list, 0.1, {{"staleList", true}}));
  rules.push_back(Rule(list, 0.1, {{"bytesPerSecond", 500000}}));
  rules.push_back(Rule(list, 0.2, {{"latency", "400ms"}}));
}

}  // namespace

std::string SoakFaultRules() {
  Json rules = Json::array();
  AddWrites(rules);
  AddReads(rules);
  return Json{{"rules", std::move(rules)}}.dump(2) + "\n";
}

std::string FaultCounts(const std::string& description) {
  const Json json = Json::parse(description, nullptr, false);
  if (!json.is_object() || !json.contains("rules") || !json["rules"].is_array()) {
    return "not told";
  }
  int64_t total = 0;
  size_t rules = 0;
  for (const Json& rule : json["rules"]) {
    const Json fired = rule.is_object() ? rule.value("fired", Json(0)) : Json(0);
    if (!fired.is_number_integer()) continue;
    total += fired.get<int64_t>();
    rules += fired.get<int64_t>() > 0 ? 1 : 0;
  }
  return fmt::format("{} fired, by {} of {} rules", total, rules, json["rules"].size());
}

}  // namespace ks::ctl::dev
