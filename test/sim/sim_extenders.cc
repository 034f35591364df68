// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_extenders.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/http/write_fence.h"

namespace ks::sim {
namespace {

using framework::ExtenderReply;
using framework::ExtenderRequest;
using nlohmann::json;

constexpr Duration kTimeout = std::chrono::seconds(5);
constexpr const char* kFault = "extender fault";

// The same number for the same arguments, everywhere.
uint64_t Hash(const Plan& plan, size_t extender, std::string_view pod, std::string_view node) {
  uint64_t hash = plan.seed * 31 + extender;
  for (const std::string_view text : {pod, std::string_view("/"), node}) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  return Random(hash).Next();
}

std::string PodOf(const json& request) {
  return request["Pod"]["metadata"]["name"].get<std::string>();
}

std::vector<std::string> NodesOf(const json& request) {
  if (request["NodeNames"].is_array()) {
    return request["NodeNames"].get<std::vector<std::string>>();
  }
  std::vector<std::string> names;
  for (const json& node : request["Nodes"]["items"]) names.push_back(node["metadata"]["name"]);
  return names;
}

std::string FilterAnswer(const Plan& plan, const ExtenderRequest& asked) {
  const json request = json::parse(asked.body);
  const std::string pod = PodOf(request);
  json kept = json::array();
  json failed = json::object();
  const bool whole = request["Nodes"].is_object();
  const std::vector<std::string> names = NodesOf(request);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!Allows(plan, asked.extender, pod, names[i])) {
      failed[names[i]] = fmt::format("extender {} says no", asked.extender);
    } else {
      kept.push_back(whole ? request["Nodes"]["items"][i] : json(names[i]));
    }
  }
  json answer = {{"FailedNodes", failed}};
  if (whole) {
    answer["Nodes"]["items"] = kept;
  } else {
    answer["NodeNames"] = kept;
  }
  return answer.dump();
}

std::string PrioritizeAnswer(const Plan& plan, const ExtenderRequest& asked) {
  const json request = json::parse(asked.body);
  json scores = json::array();
  for (const std::string& node : NodesOf(request)) {
    const uint64_t score = Hash(plan, asked.extender + 100, PodOf(request), node) % 11;
    scores.push_back({{"Host", node}, {"Score", score}});
  }
  return scores.dump();
}

// Every candidate is as good as preemption thinks.
std::string PreemptAnswer(const ExtenderRequest& asked) {
  const json request = json::parse(asked.body);
  const bool whole = request["NodeNameToVictims"].is_object();
  json answer = json::object();
  for (const auto& [node, victims] :
       request[whole ? "NodeNameToVictims" : "NodeNameToMetaVictims"].items()) {
    json pods = json::array();
    for (const json& pod : victims["Pods"]) {
      pods.push_back({{"UID", whole ? pod["metadata"]["uid"] : pod["UID"]}});
    }
    answer[node] = {{"Pods", pods}, {"NumPDBViolations", victims["NumPDBViolations"]}};
  }
  return json({{"NodeNameToMetaVictims", answer}}).dump();
}

// Nodes of a filter answer that means something.
std::optional<std::set<std::string>> Kept(const ExtenderRequest& asked,
                                          const ExtenderReply& reply) {
  if (!reply.error.empty() || reply.status != 200) return std::nullopt;
  const json answer = json::parse(reply.body, nullptr, false);
  if (!answer.is_object() || answer.contains("Error")) return std::nullopt;
  const std::vector<std::string> sent = NodesOf(json::parse(asked.body));
  std::set<std::string> kept;
  for (const std::string& name : NodesOf({{"NodeNames", answer.value("NodeNames", json())},
                                          {"Nodes", answer.value("Nodes", json())}})) {
    if (std::find(sent.begin(), sent.end(), name) == sent.end()) return std::nullopt;
    kept.insert(name);
  }
  return kept;
}

}  // namespace

std::vector<config::Extender> MakeExtenders(const Plan& plan) {
  std::vector<config::Extender> extenders;
  for (const PlannedExtender& planned : plan.extenders) {
    config::Extender& extender = extenders.emplace_back();
    extender.url_prefix = fmt::format("http://extender-{}.example", extenders.size() - 1);
    if (planned.filters) extender.filter_verb = "filter";
    if (planned.prioritizes) extender.prioritize_verb = "prioritize";
    if (planned.preempts) extender.preempt_verb = "preempt";
    if (planned.binds) extender.bind_verb = "bind";
    extender.weight = 1;
    extender.http_timeout = kTimeout;
    extender.node_cache_capable = !planned.whole_nodes;
    extender.ignorable = planned.ignorable;
    if (planned.managed_only) extender.managed_resources = {{kLicense, true}};
  }
  return extenders;
}

bool IsManaged(const api::Pod& pod) {
  return std::any_of(pod.spec->containers.begin(), pod.spec->containers.end(), [](const auto& c) {
    return std::any_of(c.requests.begin(), c.requests.end(),
                       [](const auto& request) { return request.first.view() == kLicense; });
  });
}

namespace {

bool IsAsked(const PlannedExtender& extender, const api::Pod& pod) {
  return !extender.managed_only || IsManaged(pod);
}

}  // namespace

bool HasExtender(const Plan& plan, const api::Pod& pod) {
  return std::any_of(plan.extenders.begin(), plan.extenders.end(),
                     [&pod](const PlannedExtender& extender) { return IsAsked(extender, pod); });
}

bool Allows(const Plan& plan, size_t extender, std::string_view pod, std::string_view node) {
  const double draw = static_cast<double>(Hash(plan, extender, pod, node) >> 11) / 0x1p53;
  return draw >= plan.extender_faults.denies;
}

std::string TrueAnswer(const Plan& plan, const ExtenderRequest& request) {
  if (request.verb == "filter") return FilterAnswer(plan, request);
  if (request.verb == "prioritize") return PrioritizeAnswer(plan, request);
  return PreemptAnswer(request);
}

// ---- what must come of the answers

void ExtenderWatch::Forget(const std::string& pod) {
  told_.erase(told_.lower_bound({pod, 0}), told_.upper_bound({pod, SIZE_MAX}));
}

void ExtenderWatch::Reserved(const api::Pod& pod, const std::string& node) {
  const std::string& name = pod.meta.name;
  for (size_t i = 0; i < plan_.extenders.size(); ++i) {
    const PlannedExtender& extender = plan_.extenders[i];
    if (!extender.filters || !IsAsked(extender, pod)) continue;
    const auto told = told_.find({name, i});
    if (told == told_.end()) {
      fail_(fmt::format("pod {} is to go to {}, and extender {} was not asked", name, node, i));
    } else if (told->second.kept.contains(node)) {
      continue;
    } else if (!told->second.failed) {
      fail_(fmt::format("pod {} is to go to {}, against extender {}", name, node, i));
    } else if (!extender.ignorable) {
      fail_(fmt::format("pod {} is to go to {}, although extender {} failed", name, node, i));
    }
  }
  Forget(name);
}

void ExtenderWatch::Failed(const api::Pod& pod, const std::string& message) {
  const std::string& name = pod.meta.name;
  bool asked = false;
  bool excused = message.find("nodes are available") != std::string::npos ||
                 message.find("no nodes available") != std::string::npos ||
                 message.find("taken by others") != std::string::npos ||
                 message.starts_with("running Bind plugin") ||  // a node had been found
                 pod.spec->scheduling_group.has_value();        // over what another member was told
  for (size_t i = 0; i < plan_.extenders.size(); ++i) {
    const auto told = told_.find({name, i});
    if (told == told_.end()) continue;
    asked = true;
    excused |= told->second.failed && !plan_.extenders[i].ignorable;
  }
  if (asked && !excused) {
    fail_(fmt::format("pod {} is held up by extenders that may be ignored: {}", name, message));
  }
  Forget(name);
}

// ---- a process's extenders

SimExtenders::~SimExtenders() {
  while (!calls_.empty()) Deliver(calls_.begin()->first, {.error = "the process ends"});
}

SimExtenders::Fault SimExtenders::DrawFault() {
  const ExtenderFaults& faults = host_.plan->extender_faults;
  if (Chance(faults.lost)) {
    if (host_.plan->strict_capacity) return Fault::kLostBefore;
    return random_.Below(2) == 0 ? Fault::kLostBefore : Fault::kLostAfter;
  }
  if (Chance(faults.refused)) return Fault::kRefused;
  if (Chance(faults.failed)) return Fault::kServerError;
  return Chance(faults.wrong) ? Fault::kWrong : Fault::kNone;
}

void SimExtenders::Call(ExtenderRequest request, Done done) {
  const uint64_t id = ++last_;
  Fault fault = DrawFault();
  if (request.verb == "bind") {
    const json asked = json::parse(request.body);
    host_.bind_asked(asked["PodName"], asked["PodUID"], asked["Node"]);
    if (!host_.may_bind()) fault = Fault::kFenced;
  }
  calls_.emplace(id, Pending{std::move(request), std::move(done), fault});
  const NetworkFaults& network = host_.plan->network;
  const auto jitter = static_cast<uint64_t>(network.jitter.count());
  host_.loop->After(network.latency + Duration(static_cast<int64_t>(random_.Below(jitter + 1))),
                    [weak = weak_from_this(), id] {
                      if (const auto self = weak.lock()) self->Arrive(id);
                    });
}

// Time stands still.
std::optional<std::vector<ExtenderReply>> SimExtenders::CallAndWait(
    std::vector<ExtenderRequest> requests, const std::stop_token& /*stop*/) {
  std::vector<ExtenderReply> replies;
  for (const ExtenderRequest& request : requests) {
    const Fault fault = DrawFault();
    ExtenderReply& reply = replies.emplace_back(Reply(request, fault));
    TraceFault(request, fault, reply);
    if (request.verb != "filter") continue;
    host_.watch->AddFilterAnswer(request.extender, PodOf(json::parse(request.body)),
                                 Kept(request, reply));
  }
  return replies;
}

void SimExtenders::TraceFault(const ExtenderRequest& request, Fault fault,
                              const ExtenderReply& reply) const {
  if (fault == Fault::kNone) return;
  host_.trace(fmt::format("fault of extender {}: {}: {}", request.extender, request.verb,
                          reply.error.empty() ? std::to_string(reply.status) : reply.error));
}

void SimExtenders::Arrive(uint64_t id) {
  const auto call = calls_.find(id);
  if (call == calls_.end()) return;
  const auto& [request, done, fault] = call->second;
  ExtenderReply reply = Reply(request, fault);
  TraceFault(request, fault, reply);
  Duration more = host_.plan->network.latency;
  if (fault == Fault::kLostBefore || fault == Fault::kLostAfter) more = kTimeout;
  if (Chance(host_.plan->extender_faults.slow)) {
    more += Duration(static_cast<int64_t>(random_.Below(static_cast<uint64_t>(kTimeout.count()))));
  }
  host_.loop->After(std::min(more, kTimeout),
                    [weak = weak_from_this(), id, run = host_.run, reply = std::move(reply)] {
                      run([weak, id, reply] {
                        if (const auto self = weak.lock()) self->Deliver(id, reply);
                      });
                    });
}

// Until the answer is there, nothing is known of it.
void SimExtenders::Deliver(uint64_t id, ExtenderReply reply) {
  const auto call = calls_.find(id);
  if (call == calls_.end()) return;
  const Pending pending = std::move(call->second);
  calls_.erase(call);
  if (pending.request.verb == "filter") {
    host_.watch->RecordFilterAnswer(pending.request.extender,
                                    PodOf(json::parse(pending.request.body)),
                                    Kept(pending.request, reply));
  }
  pending.done(std::move(reply));
}

ExtenderReply SimExtenders::Reply(const ExtenderRequest& request, Fault fault) {
  const std::string post =
      fmt::format(R"(Post "http://extender-{}.example/{}": )", request.extender, request.verb);
  if (fault == Fault::kFenced) return {.error = post + client::WriteFence::kRefusal};
  if (fault == Fault::kRefused) return {.error = post + "connection refused (" + kFault + ")"};
  if (fault == Fault::kLostBefore) return {.error = post + "timed out (" + kFault + ")"};
  // A server error after a binding that took effect is like a lost answer.
  if (fault == Fault::kServerError) return {.error = {}, .status = 500, .body = kFault};
  const bool binds = request.verb == "bind";
  std::string body = fault == Fault::kWrong ? WrongAnswer(request) : Answer(request);
  if (fault == Fault::kWrong && binds && !host_.plan->strict_capacity) Answer(request);
  if (fault == Fault::kLostAfter) return {.error = post + "timed out (" + kFault + ")"};
  return {.error = {}, .status = 200, .body = std::move(body)};
}

std::string SimExtenders::Answer(const ExtenderRequest& request) {
  if (request.verb != "bind") return TrueAnswer(*host_.plan, request);
  const json asked = json::parse(request.body);
  const std::string why =
      host_.bind(asked["PodNamespace"], asked["PodName"], asked["PodUID"], asked["Node"]);
  host_.trace(fmt::format("extender {} binds {} to {}: {}", request.extender,
                          asked["PodName"].get<std::string>(), asked["Node"].get<std::string>(),
                          why.empty() ? "done" : why));
  return why.empty() ? "{}" : json({{"Error", why}}).dump();
}

std::string SimExtenders::WrongAnswer(const ExtenderRequest& request) {
  const uint64_t kinds = request.verb == "filter" ? 4 : request.verb == "preempt" ? 2 : 3;
  switch (random_.Below(kinds)) {
    case 0:
      return R"({"NodeNames":["n0)";
    case 1:
      return "";
    case 2:  // a preemption result has no such field
      return R"({"Error":"an )" + std::string(kFault) + R"("})";
    default:
      return R"({"NodeNames":["nobody-knows-it"],"Nodes":{"items":[{"metadata":{"name":)"
             R"("nobody-knows-it"}}]}})";
  }
}

std::optional<std::vector<ExtenderReply>> TrueExtenders::CallAndWait(
    std::vector<ExtenderRequest> requests, const std::stop_token& /*stop*/) {
  std::vector<ExtenderReply> replies;
  for (const ExtenderRequest& request : requests) {
    replies.push_back({.error = {}, .status = 200, .body = TrueAnswer(plan_, request)});
  }
  return replies;
}

bool TrueExtenders::AnswerAll() {
  const auto calls = std::exchange(calls_, {});
  for (const auto& [request, done] : calls) {
    if (request.verb == "bind") {
      const json asked = json::parse(request.body);
      bound_(asked["PodName"], asked["Node"]);
      continue;  // as the other bindings of such a scheduler: no answer
    }
    done({.error = {}, .status = 200, .body = TrueAnswer(plan_, request)});
  }
  return !calls.empty();
}

}  // namespace ks::sim
