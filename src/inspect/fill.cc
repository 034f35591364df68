// SPDX-License-Identifier: Apache-2.0
#include "inspect/fill.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "config/print/print_json.h"

namespace ks::inspect {
namespace {

api::PodPtr Numbered(const api::Pod& pod, size_t number) {
  auto copy = std::make_shared<api::Pod>(pod);
  const std::string ending = "-fill-" + std::to_string(number);
  copy->meta.name += ending;
  copy->meta.uid += ending;
  return copy;
}

std::vector<FilledSource::Reason> ReasonsOf(const Explanation& explanation) {
  std::map<std::pair<std::string, std::string>, size_t> counts;
  for (const NodeVerdict& node : explanation.nodes) {
    for (const std::string& reason : node.reasons) ++counts[{node.plugin, reason}];
  }
  std::vector<FilledSource::Reason> reasons;
  for (const auto& [key, nodes] : counts) {
    reasons.push_back({.plugin = key.first, .reason = key.second, .nodes = nodes});
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
  return reasons;
}

Result<FilledSource> FillOne(const ClusterCopy& cluster, const AddedObjects& added,
                             const std::string& title, const api::Pod& pod, size_t most) {
  auto trial = ClusterTrial::Make(cluster, added);
  if (!trial.ok()) return trial.error();
  if ((*trial)->IsQueuedMember(pod)) {
    return Error{title + " is a member of a group of pods, which is placed as a whole"};
  }
  FilledSource filled{.title = title};
  std::map<std::string, size_t> nodes;
  while (filled.fits < most) {
    const api::PodPtr next = Numbered(pod, filled.fits);
    const SimulatedPlacement placement = (*trial)->Place(next);
    if (placement.node.empty()) {
      filled.message = placement.message;
      filled.reasons = ReasonsOf((*trial)->Explain(next));
      break;
    }
    ++nodes[placement.node];
    ++filled.fits;
  }
  filled.limited = filled.fits == most;
  filled.nodes.assign(nodes.begin(), nodes.end());
  return filled;
}

}  // namespace

Result<std::vector<FilledSource>> Fill(const ClusterCopy& cluster, const SimulatedPods& pods,
                                       size_t most) {
  std::vector<FilledSource> all;
  AddedObjects added = pods;
  added.pods.clear();
  for (const SimulatedPods::Source& source : pods.sources) {
    if (source.count == 0) return Error{source.title + " has no pods: give it replicas"};
    const api::Pod& pod = *pods.pods[source.begin];
    if (!pod.spec->resource_claims.empty()) {
      return Error{source.title + " claims devices: each pod would need claims of its own"};
    }
    if (!pod.node_name.empty()) return Error{source.title + " names its node"};
    auto filled = FillOne(cluster, added, source.title, pod, most);
    if (!filled.ok()) return filled.error();
    all.push_back(std::move(filled).value());
  }
  return all;
}

std::string FillJson(const ClusterCopy& cluster, const std::vector<FilledSource>& sources,
                     const AnsweringReplica& replica) {
  config::JsonBuilder json;
  json.BeginObject();
  json.Key("time").Text(FormatMicroTime(cluster.time));
  json.Key("standby").Bool(replica.standby);
  if (!replica.identity.empty()) json.Key("identity").Text(replica.identity);
  json.Key("notes").BeginArray();
  if (!cluster.configuration.extenders.empty()) {
    json.Text("extenders are not asked: their verdicts and scores are missing");
  }
  json.EndArray();
  json.Key("fill").BeginArray();
  for (const FilledSource& source : sources) {
    json.BeginObject();
    json.Key("source").Text(source.title);
    json.Key("fits").Number(source.fits);
    json.Key("limited").Bool(source.limited);
    json.Key("nodes").BeginArray();
    for (const auto& [node, pods] : source.nodes) {
      json.BeginObject().Key("node").Text(node).Key("pods").Number(pods).EndObject();
    }
    json.EndArray();
    if (!source.message.empty()) json.Key("message").Text(source.message);
    json.Key("runsOut").BeginArray();
    for (const FilledSource::Reason& reason : source.reasons) {
      json.BeginObject();
      json.Key("plugin").Text(reason.plugin);
      json.Key("reason").Text(reason.reason);
      json.Key("nodes").Number(reason.nodes).EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace ks::inspect
