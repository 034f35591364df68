// SPDX-License-Identifier: Apache-2.0
#include "scheduler/explain_json.h"

#include "config/print_json.h"

namespace ks::scheduler {
namespace {

using config::JsonBuilder;

template <class Texts>
void AddTexts(JsonBuilder& json, std::string_view key, const Texts& texts) {
  json.Key(key).BeginArray();
  for (const std::string& text : texts) json.Text(text);
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
  json.EndObject();
}

}  // namespace

std::string ExplanationJson(const Explanation& explanation) {
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
  json.EndObject();
  return json.Take();
}

}  // namespace ks::scheduler
