// SPDX-License-Identifier: Apache-2.0
#include "inspect/explain_json.h"

#include <algorithm>

#include "api/json/encode_claim.h"
#include "config/print/print_json.h"
#include "inspect/explain_group.h"
#include "inspect/json_fields.h"

namespace ks::inspect {
namespace {

using config::JsonBuilder;

template <class Texts>
void AddTexts(JsonBuilder& json, std::string_view key, const Texts& texts) {
  json.Key(key).BeginArray();
  for (const std::string& text : texts) json.Text(text);
  json.EndArray();
}

// Of one claim.
void AddShares(JsonBuilder& json, const NodeVerdict& node, size_t claim) {
  const auto of_claim = [claim](const DeviceShare& share) { return share.claim == claim; };
  if (std::none_of(node.shares.begin(), node.shares.end(), of_claim)) return;
  json.Key("shares").BeginArray();
  for (const DeviceShare& share : node.shares) {
    if (!of_claim(share)) continue;
    json.BeginObject();
    json.Key("result").Number(static_cast<int64_t>(share.result));
    json.Key("capacity").BeginObject();
    for (const DeviceShare::Amount& amount : share.amounts) {
      json.Key(amount.capacity).BeginObject();
      json.Key("asked").Text(amount.asked);
      json.Key("free").Text(amount.free);
      json.Key("total").Text(amount.total);
      json.EndObject();
    }
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
}

void AddAllocations(JsonBuilder& json, const NodeVerdict& node) {
  json.Key("allocations").BeginArray();
  for (size_t i = 0; i < node.allocations.size(); ++i) {
    const framework::ClaimOutcome& outcome = node.allocations[i];
    json.BeginObject();
    json.Key("claim").Text(outcome.claim);
    json.Key("allocation").Json(api::AllocationJson(&outcome.allocation, std::nullopt));
    if (!outcome.requests.empty()) {
      json.Key("requests").BeginArray();
      for (const api::DeviceRequest& request : outcome.requests) {
        json.Json(api::RequestJson(request));
      }
      json.EndArray();
    }
    if (!outcome.mappings.empty()) {
      json.Key("mappings").BeginArray();
      for (const api::ExtendedResourceMapping& mapping : outcome.mappings) {
        json.BeginObject();
        json.Key("containerName").Text(mapping.container);
        json.Key("resourceName").Text(mapping.resource);
        json.Key("requestName").Text(mapping.request);
        json.EndObject();
      }
      json.EndArray();
    }
    AddShares(json, node, i);
    json.EndObject();
  }
  json.EndArray();
}

void AddNode(JsonBuilder& json, const NodeVerdict& node) {
  json.BeginObject();
  json.Key("name").Text(node.name);
  json.Key("feasible").Bool(node.feasible);
  if (!node.plugin.empty()) json.Key("plugin").Text(node.plugin);
  if (!node.feasible) {
    json.Key("code").Text(node.code);
    if (!node.reasons.empty()) AddTexts(json, "reasons", node.reasons);
  }
  if (!node.scores.empty()) {
    json.Key("scores").BeginArray();
    for (const PluginScore& score : node.scores) {
      json.BeginObject();
      json.Key("plugin").Text(score.plugin);
      json.Key("raw").Number(score.raw);
      json.Key("weighted").Number(score.weighted);
      json.EndObject();
    }
    json.EndArray();
  }
  if (node.feasible) json.Key("total").Number(node.total);
  if (!node.allocations.empty()) AddAllocations(json, node);
  json.EndObject();
}

void AddVictims(JsonBuilder& json, const std::vector<VictimVerdict>& victims) {
  json.Key("victims").BeginArray();
  for (const VictimVerdict& victim : victims) {
    json.BeginObject();
    json.Key("pod").Text(victim.pod);
    json.Key("priority").Number(victim.priority);
    if (victim.terminating) json.Key("terminating").Bool(true);
    json.EndObject();
  }
  json.EndArray();
}

void AddTried(JsonBuilder& json, const TriedNode& tried) {
  json.BeginObject();
  json.Key("node").Text(tried.name);
  if (!tried.victims.empty()) AddVictims(json, tried.victims);
  if (tried.violations != 0) json.Key("violations").Number(tried.violations);
  if (!tried.code.empty()) json.Key("code").Text(tried.code);
  if (!tried.reasons.empty()) AddTexts(json, "reasons", tried.reasons);
  json.EndObject();
}

void AddPreemption(JsonBuilder& json, const PreemptionVerdict& preemption) {
  json.Key("preemption").BeginObject();
  if (!preemption.node.empty()) json.Key("node").Text(preemption.node);
  json.Key("nomination").Text(preemption.nomination);
  json.Key("code").Text(preemption.code);
  if (!preemption.message.empty()) json.Key("message").Text(preemption.message);
  json.Key("event").Text(preemption.event);
  AddVictims(json, preemption.victims);
  json.Key("violations").Number(preemption.violations);
  json.Key("tried").BeginArray();
  for (const TriedNode& tried : preemption.tried) AddTried(json, tried);
  json.EndArray();
  json.EndObject();
}

void AddDetails(JsonBuilder& json, const std::vector<ReasonDetail>& details) {
  json.Key("details").BeginArray();
  for (const ReasonDetail& detail : details) {
    json.BeginObject();
    json.Key("plugin").Text(detail.plugin);
    json.Key("reason").Text(detail.reason);
    json.Key("node").Text(detail.node);
    json.Key("text").Text(detail.text);
    if (!detail.nodes.empty()) AddTexts(json, "nodes", detail.nodes);
    json.EndObject();
  }
  json.EndArray();
}

void AddSuggestions(JsonBuilder& json, const std::vector<Suggestion>& suggestions) {
  json.Key("suggestions").BeginArray();
  for (const Suggestion& suggestion : suggestions) {
    json.BeginObject();
    json.Key("kind").Text(suggestion.kind);
    json.Key("text").Text(suggestion.text);
    AddText(json, "node", suggestion.node);
    if (!suggestion.changes.empty()) json.Key("changes").BeginArray();
    for (const Suggestion::Change& change : suggestion.changes) {
      json.BeginObject();
      json.Key("resource").Text(change.resource);
      json.Key("from").Text(change.from);
      json.Key("to").Text(change.to).EndObject();
    }
    if (!suggestion.changes.empty()) json.EndArray();
    json.EndObject();
  }
  json.EndArray();
}

void AddGroup(JsonBuilder& json, const GroupShare& group) {
  json.Key("podGroup").BeginObject();
  json.Key("podGroup").Text(group.group);
  json.Key("result").Text(VerdictText(group.result));
  AddText(json, "message", group.message);
  AddText(json, "summary", group.summary);
  json.Key("member").BeginObject();
  json.Key("result").Text(VerdictText(group.member_result));
  AddText(json, "node", group.member_node);
  AddText(json, "message", group.member_message);
  json.EndObject();
  if (group.preemption) AddGroupPreemption(json, *group.preemption, {});
  json.EndObject();
}

}  // namespace

std::string ExplanationJson(const Explanation& explanation, std::string_view live) {
  JsonBuilder json;
  json.BeginObject();
  json.Key("pod").Text(explanation.pod);
  json.Key("profile").Text(explanation.profile);
  json.Key("result").Text(VerdictText(explanation.result));
  if (!explanation.message.empty()) json.Key("message").Text(explanation.message);
  if (!explanation.unschedulable_plugins.empty()) {
    AddTexts(json, "unschedulablePlugins", explanation.unschedulable_plugins);
  }
  if (!explanation.best_nodes.empty()) AddTexts(json, "bestNodes", explanation.best_nodes);
  json.Key("nodes").BeginArray();
  for (const NodeVerdict& node : explanation.nodes) AddNode(json, node);
  json.EndArray();
  if (explanation.preemption) AddPreemption(json, *explanation.preemption);
  if (explanation.group) AddGroup(json, *explanation.group);
  if (!explanation.details.empty()) AddDetails(json, explanation.details);
  if (!explanation.notes.empty()) AddTexts(json, "notes", explanation.notes);
  if (!explanation.suggestions.empty()) AddSuggestions(json, explanation.suggestions);
  if (!live.empty()) json.Key("live").Json(live);
  json.EndObject();
  return json.Take();
}

}  // namespace ks::inspect
