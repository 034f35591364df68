// SPDX-License-Identifier: Apache-2.0
#include "inspect/decision_json.h"

#include <cctype>
#include <chrono>
#include <optional>
#include <span>

#include "config/print/print_json.h"
#include "inspect/cut_requests.h"
#include "inspect/json_fields.h"

namespace ks::inspect {
namespace {

using config::JsonBuilder;

constexpr std::string_view kAvailable = " nodes are available: ";

int64_t Microseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

// The number at the text's begin, if a blank follows; both are taken off.
std::optional<size_t> TakeCount(std::string_view* text) {
  size_t digits = 0;
  size_t count = 0;
  while (digits < text->size() && digits < 9 &&
         std::isdigit(static_cast<unsigned char>((*text)[digits])) != 0) {
    count = count * 10 + static_cast<size_t>((*text)[digits++] - '0');
  }
  if (digits == 0 || digits >= text->size() || (*text)[digits] != ' ') return std::nullopt;
  text->remove_prefix(digits + 1);
  return count;
}

// Where the reason at the text's begin ends: before ", <count> " or ". " or the last full stop.
size_t ReasonEnd(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' && (i + 1 == text.size() || text[i + 1] == ' ')) return i;
    if (!text.substr(i).starts_with(", ")) continue;
    std::string_view rest = text.substr(i + 2);
    if (TakeCount(&rest)) return i;
  }
  return text.size();
}

void AddReasons(JsonBuilder& json, std::string_view message) {
  const auto reasons = CountedReasons(message);
  if (reasons.empty()) return;
  json.Key("reasons").BeginArray();
  for (const auto& [count, reason] : reasons) {
    json.BeginObject().Key("count").Number(count).Key("reason").Text(reason).EndObject();
  }
  json.EndArray();
}

void AddExtenders(JsonBuilder& json, const std::vector<scheduler::ExtenderFiltering>& extenders) {
  if (extenders.empty()) return;
  json.Key("extenders").BeginArray();
  for (const scheduler::ExtenderFiltering& filtering : extenders) {
    json.BeginObject();
    json.Key("extender").Text(filtering.extender);
    json.Key("asked").Number(filtering.asked);
    json.Key("kept").Number(filtering.kept);
    if (filtering.unexplained != 0) json.Key("unexplained").Number(filtering.unexplained);
    json.EndObject();
  }
  json.EndArray();
}

void AddCutRequests(JsonBuilder& json, const api::Pod& pod) {
  const std::vector<CutRequest> cut = CutRequests(pod);
  if (cut.empty()) return;
  json.Key("cutRequests").BeginArray();
  for (const CutRequest& request : cut) {
    json.BeginObject();
    json.Key("resource").Text(request.resource.view());
    json.Key("asked").Text(request.asked);
    json.Key("counted").Number(request.counted);
    json.EndObject();
  }
  json.EndArray();
}

void AddBest(JsonBuilder& json, const scheduler::Decision& decision) {
  if (decision.best_count == 0) return;
  json.Key("best").BeginArray();
  for (size_t i = 0; i < decision.best_count; ++i) {
    const scheduler::Decision::Node& node = decision.best[i];
    json.BeginObject();
    json.Key("node").Text(node.name);
    json.Key("total").Number(node.total);
    if (!node.weighted.empty()) {
      json.Key("scores").BeginArray();
      for (size_t plugin = 0; plugin < node.weighted.size(); ++plugin) {
        json.BeginObject();
        json.Key("plugin").Text((*decision.scorers)[plugin]);
        json.Key("weighted").Number(node.weighted[plugin]);
        json.EndObject();
      }
      json.EndArray();
    }
    json.EndObject();
  }
  json.EndArray();
}

void AddNodes(JsonBuilder& json, const scheduler::Decision& decision) {
  AddText(json, "node", decision.node);
  AddText(json, "nominatedNode", decision.nominated);
  if (decision.all_nodes != 0) json.Key("nodes").Number(decision.all_nodes);
  if (decision.evaluated_nodes != 0) json.Key("evaluatedNodes").Number(decision.evaluated_nodes);
  if (decision.feasible_nodes != 0) json.Key("feasibleNodes").Number(decision.feasible_nodes);
}

// Requires: of one attempt of a group, the newest first.
void AddGroup(JsonBuilder& json, std::span<const scheduler::Decision> decisions) {
  const scheduler::GroupAttempt& group = *decisions.front().group;
  json.BeginObject();
  json.Key("podGroup").Text(group.group);
  json.Key("time").Text(FormatMicroTime(decisions.back().begin));
  json.Key("attempt").Number(group.attempt);
  json.Key("result").Text(scheduler::DecisionResultText(group.result));
  AddText(json, "message", group.message);
  json.Key("members").BeginArray();
  for (size_t i = decisions.size(); i-- > 0;) json.Json(DecisionJson(decisions[i]));
  json.EndArray();
  json.EndObject();
}

}  // namespace

std::vector<std::pair<size_t, std::string>> CountedReasons(std::string_view message) {
  std::vector<std::pair<size_t, std::string>> reasons;
  const size_t begin = message.find(kAvailable);
  if (begin == std::string_view::npos) return reasons;
  for (std::string_view rest = message.substr(begin + kAvailable.size());;) {
    const auto count = TakeCount(&rest);
    if (!count) return reasons;
    const size_t end = ReasonEnd(rest);
    reasons.emplace_back(*count, rest.substr(0, end));
    if (!rest.substr(end).starts_with(", ")) return reasons;
    rest.remove_prefix(end + 2);
  }
}

std::string DecisionJson(const scheduler::Decision& decision) {
  JsonBuilder json;
  json.BeginObject();
  json.Key("number").Number(decision.number);
  json.Key("time").Text(FormatMicroTime(decision.begin));
  json.Key("pod").Text(decision.pod->meta.Key());
  json.Key("uid").Text(decision.pod->meta.uid);
  json.Key("profile").Text(decision.pod->spec->scheduler_name.view());
  if (decision.group != nullptr) json.Key("podGroup").Text(decision.group->group);
  json.Key("attempt").Number(decision.attempt);
  json.Key("result").Text(scheduler::DecisionResultText(decision.result));
  AddNodes(json, decision);
  AddText(json, "message", decision.message);
  AddReasons(json, decision.message);
  AddNames(json, "rejectedBy", decision.unschedulable_plugins);
  AddNames(json, "pendingFor", decision.pending_plugins);
  AddExtenders(json, decision.extenders);
  AddCutRequests(json, *decision.pod);
  AddBest(json, decision);
  json.Key("decidedMicroseconds").Number(Microseconds(decision.decided));
  if (decision.ended != Duration()) {
    json.Key("endedMicroseconds").Number(Microseconds(decision.ended));
  }
  json.EndObject();
  return json.Take();
}

std::string DecisionsJson(const DecisionList& list, const AnsweringReplica& replica) {
  JsonBuilder json;
  json.BeginObject();
  json.Key("standby").Bool(replica.standby);
  AddText(json, "identity", replica.identity);
  json.Key("kept").Number(list.kept);
  json.Key("made").Number(list.made);
  json.Key("decisions").BeginArray();
  for (size_t i = 0; i < list.decisions.size();) {
    const auto& group = list.decisions[i].group;
    size_t end = i + 1;
    while (group != nullptr && end < list.decisions.size() && list.decisions[end].group == group) {
      ++end;
    }
    if (group == nullptr) {
      json.Json(DecisionJson(list.decisions[i]));
    } else {
      AddGroup(json, std::span(list.decisions).subspan(i, end - i));
    }
    i = end;
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace ks::inspect
