// SPDX-License-Identifier: Apache-2.0
#include "inspect/simulate.h"

#include <map>
#include <optional>
#include <string_view>

#include "base/string_map.h"
#include "config/print/print_json.h"
#include "inspect/explain_group.h"

namespace ks::inspect {
namespace {

using config::JsonBuilder;

// One simulation under way.
class Run {
 public:
  Run(ClusterTrial& trial, const SimulatedPods& pods, Simulation* out)
      : trial_(trial), pods_(pods), out_(*out) {
    out_.placements.resize(pods.pods.size());
    for (size_t i = 0; i < pods.pods.size(); ++i) place_of_[pods.pods[i]->meta.uid] = i;
  }

  void DecideAll() {
    for (size_t i = 0; i < pods_.pods.size(); ++i) {
      const api::PodPtr& pod = pods_.pods[i];
      if (!trial_.IsQueuedMember(*pod)) {
        out_.placements[i] = trial_.Place(pod);
      } else {
        DecideGroupOf(*pod, &out_.placements[i]);
      }
    }
  }

 private:
  // With the first of its pods; the others have their answers then.
  void DecideGroupOf(const api::Pod& pod, SimulatedPlacement* placement) {
    const framework::PodGroupKey leaf = *framework::GroupOf(pod);
    const std::optional<framework::PodGroupKey> root = trial_.RootOf(leaf);
    if (!root) {
      placement->result = Verdict::kGated;
      placement->message = UnknownGroupText(leaf) + WhyNotMade(leaf);
      return;
    }
    if (decided_.try_emplace(root->Text(), true).second) {
      out_.groups.push_back(trial_.PlaceGroup(*root));
      for (const GroupPlacement::Member& member : out_.groups.back().members) {
        const auto place = place_of_.find(member.queued->pod()->meta.uid);
        if (place != place_of_.end()) out_.placements[place->second] = member.placement;
      }
    }
    if (placement->result == Verdict::kError && placement->message.empty()) {
      // No member in the eyes of this scheduler.
      placement->message = "no profile is named " + pod.spec->scheduler_name.str();
    }
  }

  std::string WhyNotMade(const framework::PodGroupKey& group) const {
    for (const SimulatedPods::MadeGroup& made : pods_.made_groups) {
      if (made.key == group && !made.object) return "; " + made.why_none;
    }
    return "";
  }

  ClusterTrial& trial_;
  const SimulatedPods& pods_;
  Simulation& out_;
  StringMap<size_t> place_of_;  // by uid
  StringMap<bool> decided_;     // by the root's PodGroupKey::Text
};

void AddSource(JsonBuilder& json, const Simulation& simulation,
               const SimulatedPods::Source& source) {
  std::map<std::string_view, size_t> nodes;
  size_t placed = 0;
  for (size_t i = source.begin; i < source.begin + source.count; ++i) {
    const SimulatedPlacement& placement = simulation.placements[i];
    if (placement.node.empty()) continue;
    ++placed;
    ++nodes[placement.node];
  }
  json.BeginObject();
  json.Key("source").Text(source.title);
  json.Key("pods").Number(source.count);
  json.Key("placed").Number(placed);
  json.Key("nodes").BeginArray();
  for (const auto& [node, pods] : nodes) {
    json.BeginObject().Key("node").Text(node).Key("pods").Number(pods).EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void AddPlacement(JsonBuilder& json, const api::Pod& pod, std::string_view source,
                  const SimulatedPlacement& placement) {
  json.BeginObject();
  json.Key("pod").Text(pod.meta.Key());
  json.Key("source").Text(source);
  json.Key("result").Text(VerdictText(placement.result));
  if (!placement.node.empty()) json.Key("node").Text(placement.node);
  if (placement.feasible_nodes != 0) json.Key("feasibleNodes").Number(placement.feasible_nodes);
  if (!placement.message.empty()) json.Key("message").Text(placement.message);
  if (!placement.unschedulable_plugins.empty()) {
    json.Key("rejectedBy").BeginArray();
    for (const std::string& plugin : placement.unschedulable_plugins) json.Text(plugin);
    json.EndArray();
  }
  json.EndObject();
}

void AddGroup(JsonBuilder& json, const GroupPlacement& group) {
  json.BeginObject();
  json.Key("podGroup").Text(group.root.Text());
  json.Key("result").Text(VerdictText(group.result));
  if (!group.message.empty()) json.Key("message").Text(group.message);
  AddGroupList(json, GroupVerdicts(group));
  AddMemberList(json, MemberVerdicts(group));
  json.EndObject();
}

bool HasGroup(const ClusterCopy& cluster, const framework::PodGroupKey& key) {
  if (key.composite) return cluster.groups.FindCompositePodGroup(key.ns, key.name) != nullptr;
  return cluster.groups.FindPodGroup(key.ns, key.name) != nullptr;
}

}  // namespace

Result<Simulation> Simulate(const ClusterCopy& cluster, const SimulatedPods& pods) {
  AddedObjects added = pods;
  for (const SimulatedPods::MadeGroup& made : pods.made_groups) {
    if (made.object && !HasGroup(cluster, made.key)) added.groups.push_back(*made.object);
  }
  auto trial = ClusterTrial::Make(cluster, added);
  if (!trial.ok()) return trial.error();
  Simulation simulation{.time = cluster.time,
                        .extenders_left_out = !cluster.configuration.extenders.empty()};
  Run(**trial, pods, &simulation).DecideAll();
  return simulation;
}

std::string SimulationJson(const Simulation& simulation, const SimulatedPods& pods,
                           const AnsweringReplica& replica) {
  JsonBuilder json;
  json.BeginObject();
  json.Key("time").Text(FormatMicroTime(simulation.time));
  json.Key("standby").Bool(replica.standby);
  if (!replica.identity.empty()) json.Key("identity").Text(replica.identity);
  json.Key("notes").BeginArray();
  if (simulation.extenders_left_out) {
    json.Text("extenders are not asked: their verdicts and scores are missing");
  }
  json.EndArray();
  json.Key("sources").BeginArray();
  for (const SimulatedPods::Source& source : pods.sources) AddSource(json, simulation, source);
  json.EndArray();
  json.Key("pods").BeginArray();
  for (const SimulatedPods::Source& source : pods.sources) {
    for (size_t i = source.begin; i < source.begin + source.count; ++i) {
      AddPlacement(json, *pods.pods[i], source.title, simulation.placements[i]);
    }
  }
  json.EndArray();
  if (!simulation.groups.empty()) {
    json.Key("podGroups").BeginArray();
    for (const GroupPlacement& group : simulation.groups) AddGroup(json, group);
    json.EndArray();
  }
  json.EndObject();
  return json.Take();
}

}  // namespace ks::inspect
