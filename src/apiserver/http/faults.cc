// SPDX-License-Identifier: Apache-2.0
#include "apiserver/http/faults.h"

#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "golang/durations.h"

namespace ks::apiserver {
namespace {

using Json = nlohmann::json;

// What is wrong with a document, with its place; the first finding stays.
class Findings {
 public:
  void Add(const std::string& place, const std::string& text) {
    if (!error_) {
      error_ = Error{.message = place + ": " + text, .path = place};
    }
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

// Reads the fields of one object; what nobody asked for is an error at the end.
class Reader {
 public:
  Reader(const Json& object, std::string place, Findings& findings)
      : object_(object), place_(std::move(place)), findings_(findings) {
    if (!object.is_object()) {
      findings.Add(place_, "must be an object, is " + std::string(object.type_name()));
    }
  }

  const Json* Take(const char* key) {
    known_.emplace_back(key);
    if (!object_.is_object()) {
      return nullptr;
    }
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  void Read(const char* key, std::string& target) {
    if (const Json* value = Take(key); Check(key, value, "a string", &Json::is_string)) {
      target = value->get<std::string>();
    }
  }
  void Read(const char* key, bool& target) {
    if (const Json* value = Take(key); Check(key, value, "true or false", &Json::is_boolean)) {
      target = value->get<bool>();
    }
  }
  void Read(const char* key, Duration& target) {
    std::string text;
    Read(key, text);
    if (text.empty()) {
      return;
    }
    const Result<Duration> duration = golang::ParseDuration(text);
    if (!duration.ok()) {
      findings_.Add(Place(key), duration.error().message + "; write for example \"200ms\"");
    } else if (*duration <= Duration{}) {
      findings_.Add(Place(key), "must be more than zero; leave it out for none");
    } else {
      target = *duration;
    }
  }
  template <class T>
  void ReadWhole(const char* key, int64_t least, int64_t most, T& target) {
    const Json* value = Take(key);
    if (!Check(key, value, "a whole number", &Json::is_number_integer)) {
      return;
    }
    const int64_t number = value->get<int64_t>();
    if (number < least || number > most) {
      findings_.Add(Place(key), "must be " + std::to_string(least) + " to " + std::to_string(most) +
                                    ", is " + value->dump());
      return;
    }
    target = static_cast<T>(number);
  }

  void Finish() {
    if (!object_.is_object()) {
      return;
    }
    for (const auto& [key, value] : object_.items()) {
      bool known = false;
      std::string all;
      for (const std::string& each : known_) {
        known = known || each == key;
        all += (all.empty() ? "" : ", ") + each;
      }
      if (!known) {
        findings_.Add(Place(key), "there is no such field; the fields here are " + all);
      }
    }
  }

  std::string Place(const std::string& key) const {
    return place_.empty() ? key : place_ + "." + key;
  }
  Findings& findings() { return findings_; }

 private:
  bool Check(const char* key, const Json* value, const char* wanted,
             bool (Json::*is)() const noexcept) {
    if (value != nullptr && !(value->*is)()) {
      findings_.Add(Place(key), std::string("must be ") + wanted + ", is " + value->dump());
    }
    return value != nullptr && (value->*is)();
  }

  const Json& object_;
  std::string place_;
  Findings& findings_;
  std::vector<std::string> known_;
};

void CheckFault(const Fault& fault, Reader& reader) {
  Findings& findings = reader.findings();
  const int ends = (fault.status != 0 ? 1 : 0) + (fault.reset ? 1 : 0) + (fault.stall ? 1 : 0);
  const bool shapes = fault.cut_watch > Duration{} || fault.stall_watch > Duration{} ||
                      fault.bytes_per_second > 0 || fault.stale_list;
  if (ends > 1) {
    findings.Add(reader.Place("status"), "only one of status, reset and stall can happen");
  }
  if (ends == 0 && fault.applied) {
    findings.Add(reader.Place("applied"), "needs status, reset or stall: else it always is");
  }
  if (fault.status == 0 && (!fault.reason.empty() || fault.retry_after >= 0)) {
    findings.Add(reader.Place(fault.reason.empty() ? "retryAfter" : "reason"), "needs status");
  }
  if (ends > 0 && shapes) {
    findings.Add(reader.Place("status"),
                 "with status, reset or stall there is no real answer for cutWatch, stallWatch, "
                 "bytesPerSecond and staleList to change; make two rules of it");
  }
  if (ends == 0 && !shapes && fault.latency == Duration{}) {
    findings.Add(reader.Place("latency"), "the fault does nothing; set at least one of its fields");
  }
}

void ReadFault(const Json& json, const std::string& place, Findings& findings, Fault& fault) {
  Reader reader(json, place, findings);
  reader.Read("latency", fault.latency);
  reader.ReadWhole("status", 400, 599, fault.status);
  reader.Read("reason", fault.reason);
  reader.ReadWhole("retryAfter", 0, 3600, fault.retry_after);
  reader.Read("applied", fault.applied);
  reader.Read("reset", fault.reset);
  reader.Read("stall", fault.stall);
  reader.Read("cutWatch", fault.cut_watch);
  reader.Read("stallWatch", fault.stall_watch);
  reader.ReadWhole("bytesPerSecond", 1, int64_t{1} << 40, fault.bytes_per_second);
  reader.Read("staleList", fault.stale_list);
  reader.Finish();
  CheckFault(fault, reader);
}

void CheckVerb(const FaultRule& rule, Reader& reader) {
  static constexpr std::string_view kVerbs[] = {
      "",     "get", "list", "watch",  "create", "update", "patch", "delete", "deletecollection",
      "post", "put", "head", "options"};
  for (const std::string_view verb : kVerbs) {
    if (verb == rule.verb) {
      return;
    }
  }
  reader.findings().Add(reader.Place("verb"),
                        "there is no verb \"" + rule.verb +
                            "\"; use get, list, watch, create, update, patch, delete or "
                            "deletecollection (below /kubesched, /healthz and so on: the method in "
                            "lower case)");
}

FaultRule ReadRule(const Json& json, const std::string& place, Findings& findings) {
  FaultRule rule;
  Reader reader(json, place, findings);
  if (const Json* match = reader.Take("match")) {
    Reader fields(*match, place + ".match", findings);
    fields.Read("verb", rule.verb);
    fields.Read("resource", rule.resource);
    fields.Read("subresource", rule.subresource);
    fields.Read("user", rule.user);
    fields.Read("path", rule.path);
    fields.Finish();
    CheckVerb(rule, fields);
    if (rule.path.find('*') < rule.path.size() - (rule.path.empty() ? 0 : 1)) {
      findings.Add(place + ".match.path", "a * stands at the end only");
    }
  }
  if (const Json* probability = reader.Take("probability")) {
    if (!probability->is_number() || probability->get<double>() < 0 ||
        probability->get<double>() > 1) {
      findings.Add(place + ".probability",
                   "must be a number from 0 to 1, is " + probability->dump());
    } else {
      rule.probability = probability->get<double>();
    }
  }
  reader.ReadWhole("times", 1, int64_t{1} << 60, rule.times);
  reader.ReadWhole("after", 0, int64_t{1} << 60, rule.after);
  if (const Json* fault = reader.Take("fault")) {
    ReadFault(*fault, place + ".fault", findings, rule.fault);
  } else if (json.is_object()) {
    findings.Add(place + ".fault", "is missing: what shall happen");
  }
  reader.Finish();
  return rule;
}

// Refuses keys that stand twice in an object: the first would be ignored.
Result<Json> ParseStrictly(std::string_view text) {
  std::vector<std::set<std::string>> open;
  std::string twice;
  const auto see = [&open, &twice](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) {
      open.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      open.pop_back();
    } else if (event == Json::parse_event_t::key &&
               !open.back().insert(parsed.get<std::string>()).second && twice.empty()) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  try {
    Json json = Json::parse(text, see);
    if (!twice.empty()) {
      return Error{"fault rules: the key \"" + twice + "\" stands twice in one object"};
    }
    return json;
  } catch (const Json::exception& error) {
    return Error{std::string("fault rules are not JSON: ") + error.what()};
  }
}

bool PathMatches(std::string_view pattern, std::string_view path) {
  if (pattern.ends_with('*')) {
    return path.starts_with(pattern.substr(0, pattern.size() - 1));
  }
  return pattern.empty() || path == pattern;
}

bool Matches(const FaultRule& rule, const UserInfo& user, const RequestInfo& request) {
  const auto same = [](const std::string& wanted, const std::string& is) {
    return wanted.empty() || wanted == is;
  };
  return same(rule.verb, request.verb) && same(rule.resource, request.resource) &&
         same(rule.subresource, request.subresource) && same(rule.user, user.name) &&
         PathMatches(rule.path, request.path);
}

void Put(Json& json, const char* key, const std::string& value) {
  if (!value.empty()) {
    json[key] = value;
  }
}

void Put(Json& json, const char* key, Duration value) {
  if (value > Duration{}) {
    json[key] = FormatDuration(value);
  }
}

void Put(Json& json, const char* key, bool value) {
  if (value) {
    json[key] = true;
  }
}

Json Described(const Fault& fault) {
  Json json = Json::object();
  Put(json, "latency", fault.latency);
  if (fault.status != 0) {
    json["status"] = fault.status;
  }
  Put(json, "reason", fault.reason);
  if (fault.retry_after >= 0) {
    json["retryAfter"] = fault.retry_after;
  }
  Put(json, "applied", fault.applied);
  Put(json, "reset", fault.reset);
  Put(json, "stall", fault.stall);
  Put(json, "cutWatch", fault.cut_watch);
  Put(json, "stallWatch", fault.stall_watch);
  if (fault.bytes_per_second > 0) {
    json["bytesPerSecond"] = fault.bytes_per_second;
  }
  Put(json, "staleList", fault.stale_list);
  return json;
}

Json Described(const FaultRule& rule) {
  Json match = Json::object();
  Put(match, "verb", rule.verb);
  Put(match, "resource", rule.resource);
  Put(match, "subresource", rule.subresource);
  Put(match, "user", rule.user);
  Put(match, "path", rule.path);
  Json json{{"match", std::move(match)},
            {"probability", rule.probability},
            {"fault", Described(rule.fault)}};
  if (rule.times >= 0) {
    json["times"] = rule.times;
  }
  if (rule.after > 0) {
    json["after"] = rule.after;
  }
  return json;
}

}  // namespace

Result<void> FaultRules::Load(std::string_view json) {
  const Result<Json> document = ParseStrictly(json);
  if (!document.ok()) {
    return document.error();
  }
  Findings findings;
  Reader reader(*document, "", findings);
  std::vector<Counted> rules;
  const Json* list = reader.Take("rules");
  if (list == nullptr || !list->is_array()) {
    findings.Add("rules", "must be a list of rules: {\"rules\":[{\"match\":{},\"fault\":{…}}]}");
  } else {
    for (const Json& each : *list) {
      const std::string place = "rules[" + std::to_string(rules.size()) + "]";
      rules.push_back({.rule = ReadRule(each, place, findings)});
    }
  }
  reader.Finish();
  if (findings.error()) {
    return *findings.error();
  }
  rules_ = std::move(rules);
  return {};
}

std::string FaultRules::Describe() const {
  Json rules = Json::array();
  for (const Counted& each : rules_) {
    Json rule = Described(each.rule);
    rule["matched"] = each.matched;
    rule["fired"] = each.fired;
    rules.push_back(std::move(rule));
  }
  return Json{{"rules", std::move(rules)}}.dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

void FaultRules::Clear() { rules_.clear(); }

bool FaultRules::MakesStaleLists() const {
  for (const Counted& each : rules_) {
    if (each.rule.fault.stale_list) {
      return true;
    }
  }
  return false;
}

std::optional<Fault> FaultRules::Decide(const UserInfo& user, const RequestInfo& request) {
  for (Counted& each : rules_) {
    const FaultRule& rule = each.rule;
    if (!Matches(rule, user, request)) {
      continue;
    }
    ++each.matched;
    if (each.matched <= rule.after || (rule.times >= 0 && each.fired >= rule.times) ||
        (rule.probability < 1 && random_.Unit() >= rule.probability)) {
      continue;
    }
    ++each.fired;
    return rule.fault;
  }
  return std::nullopt;
}

}  // namespace ks::apiserver
