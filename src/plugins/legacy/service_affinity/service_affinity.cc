// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/service_affinity/service_affinity.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "plugins/kit/derived_selector.h"
#include "plugins/kit/legacy.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::EventResource;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

struct ServiceAffinityArgs {
  std::vector<Symbol> affinity_labels;       // for Filter
  std::vector<Symbol> anti_affinity_labels;  // for Score
};

ServiceAffinityArgs ReadArgs(const config::PluginArgs& args, ArgsFaults* faults) {
  const nlohmann::json json = JsonOf(args);
  const ArgsReader root(json, "", {"affinityLabels", "antiAffinityLabelsPreference"}, faults);
  ServiceAffinityArgs read;
  read.affinity_labels = ReadLabelKeys(root, "affinityLabels");
  read.anti_affinity_labels = ReadLabelKeys(root, "antiAffinityLabelsPreference");
  return read;
}

// An existing pod that counts, and the node it is on.
struct Peer {
  api::PodPtr pod;
  api::NodePtr node;
};

// The labels that a node must carry for the pod. `wanted` follows from the rest.
struct AffinityState final : framework::StateData {
  api::LabelMap fixed;          // affinity labels with the values of the pod's node selector
  std::vector<Symbol> missing;  // the other ones: the first peer's node decides
  std::vector<Peer> peers;      // in snapshot order, then as added
  api::LabelMap wanted;

  std::shared_ptr<StateData> Clone(const std::shared_ptr<StateData>&) const override {
    return std::make_shared<AffinityState>(*this);
  }
  void FindWanted() {
    wanted = fixed;
    if (peers.empty()) return;
    for (const Symbol& key : missing) {
      const Symbol* value = peers.front().node->meta.labels.Find(key);
      if (value != nullptr) wanted.Set(key, *value);
    }
  }
};

// What is counted when scoring. Absent: no Service selects the pod.
struct ScoreState final : framework::StateData {
  std::optional<api::LabelMap> selector;
};

bool IsPeer(const api::Pod& pod, const api::Pod& other) {
  return other.meta.ns == pod.meta.ns && HasLabels(other.meta.labels, pod.meta.labels);
}

std::vector<Peer> FindPeers(const api::Pod& pod, const framework::Snapshot& snapshot) {
  std::vector<Peer> peers;
  for (const NodeInfo* node : snapshot.nodes()) {
    for (const framework::PodInfoPtr& other : node->pods()) {
      if (IsPeer(pod, other->pod())) peers.push_back({other->ptr(), node->node_ptr()});
    }
  }
  return peers;
}

class ServiceAffinity final : public framework::Plugin,
                              public framework::PreFilterPlugin,
                              public framework::PreFilterExtensions,
                              public framework::FilterPlugin,
                              public framework::PreScorePlugin,
                              public framework::ScorePlugin,
                              public framework::ScoreNormalizer,
                              public framework::EnqueueExtensions,
                              public framework::OptionalKindReader {
 public:
  ServiceAffinity(ServiceAffinityArgs args, framework::Handle& handle)
      : args_(std::move(args)),
        handle_(handle),
        affinity_slot_(handle.NewStateSlot()),
        score_slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return kServiceAffinityName; }

  framework::OptionalKinds NeededKinds() const override {
    return {framework::OptionalKind::kService};
  }

  // Skip when no node can be rejected, whatever pods are added or removed.
  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot& snapshot) override {
    auto affinity = std::make_shared<AffinityState>();
    for (const Symbol& label : args_.affinity_labels) {
      const Symbol* value = pod.spec->node_selector.Find(label);
      if (value != nullptr) {
        affinity->fixed.Set(label, *value);
      } else {
        affinity->missing.push_back(label);
      }
    }
    if (!affinity->missing.empty() && ServicesOf(pod, handle_.owner_listers()).empty()) {
      affinity->missing.clear();
    }
    if (affinity->fixed.empty() && affinity->missing.empty()) {
      return {Status(Code::kSkip, {}, std::string(kServiceAffinityName)), {}};
    }
    if (!affinity->missing.empty()) affinity->peers = FindPeers(pod, snapshot);
    affinity->FindWanted();
    affinity_slot_.Write(state, std::move(affinity));
    return {};
  }

  // A pod that is only nominated to the node counts as being there.
  Status AddPod(CycleState& state, const api::Pod& pod, const PodInfo& pod_to_add,
                const NodeInfo& node) const override {
    AffinityState* affinity = affinity_slot_.Mutable(state);
    if (affinity == nullptr) return not_found_;
    if (affinity->missing.empty() || !IsPeer(pod, pod_to_add.pod())) return {};
    affinity->peers.push_back({pod_to_add.ptr(), node.node_ptr()});
    affinity->FindWanted();
    return {};
  }

  Status RemovePod(CycleState& state, const api::Pod&, const PodInfo& pod_to_remove,
                   const NodeInfo&) const override {
    AffinityState* affinity = affinity_slot_.Mutable(state);
    if (affinity == nullptr) return not_found_;
    const std::string& uid = pod_to_remove.pod().meta.uid;
    std::vector<Peer>& peers = affinity->peers;
    const auto found = std::find_if(peers.begin(), peers.end(),
                                    [&uid](const Peer& peer) { return peer.pod->meta.uid == uid; });
    if (found == peers.end()) return {};
    peers.erase(found);
    affinity->FindWanted();
    return {};
  }

  Status Filter(const CycleState& state, const api::Pod&, const NodeInfo& node) const override {
    if (args_.affinity_labels.empty()) return {};
    const AffinityState* affinity = affinity_slot_.Read(state);
    if (affinity == nullptr) return not_found_;
    return HasLabels(node.node()->meta.labels, affinity->wanted) ? Status() : rejection_;
  }

  Status PreScore(CycleState& state, const api::Pod& pod,
                  std::span<const NodeInfo* const>) override {
    if (args_.anti_affinity_labels.empty()) {
      return {Code::kSkip, {}, std::string(kServiceAffinityName)};
    }
    score_slot_.Write(state, std::make_shared<ScoreState>(ScoreStateOf(pod)));
    return {};
  }

  Status Score(const CycleState& state, const api::Pod& pod, const NodeInfo& node,
               int64_t* score) const override {
    const ScoreState* prepared = score_slot_.Read(state);
    *score = prepared != nullptr ? Count(*prepared, pod, node)
                                 : Count(ScoreStateOf(pod), pod, node);  // PreScore is not enabled
    return {};
  }

  Status NormalizeScore(const CycleState&, const api::Pod&, std::span<const NodeInfo* const> nodes,
                        std::span<int64_t> scores) const override {
    std::vector<double> results(scores.size(), 0);
    for (const Symbol& label : args_.anti_affinity_labels) {
      AddSpreading(label, nodes, scores, &results);
    }
    for (size_t i = 0; i < scores.size(); ++i) scores[i] = static_cast<int64_t>(results[i]);
    return {};
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {
        {{EventResource::kAssignedPod,
          framework::kActionAdd | framework::kActionDelete | framework::kActionUpdatePodLabel,
          {}},
         {}},
        {{EventResource::kTargetPod, framework::kActionUpdatePodLabel, {}}, {}},
        {{EventResource::kNode, framework::kActionAdd | framework::kActionUpdateNodeLabel, {}}, {}},
        {{EventResource::kService, framework::kActionAll, {}}, {}},
    };
  }

 private:
  ScoreState ScoreStateOf(const api::Pod& pod) const {
    ScoreState state;
    const auto services = ServicesOf(pod, handle_.owner_listers());
    if (!services.empty()) state.selector = services.front()->selector;
    return state;
  }

  static int64_t Count(const ScoreState& counted, const api::Pod& pod, const NodeInfo& node) {
    if (!counted.selector) return 0;
    return std::count_if(node.pods().begin(), node.pods().end(),
                         [&](const framework::PodInfoPtr& info) {
                           const api::ObjectMeta& other = info->pod().meta;
                           return other.ns == pod.meta.ns && !other.deletion_timestamp &&
                                  HasLabels(other.labels, *counted.selector);
                         });
  }

  // Adds one label's part: the fewer of the pods share a node's value, the better.
  void AddSpreading(const Symbol& label, std::span<const NodeInfo* const> nodes,
                    std::span<const int64_t> scores, std::vector<double>* results) const {
    int64_t total = 0;
    std::map<Symbol, int64_t> by_value;
    for (size_t i = 0; i < scores.size(); ++i) {
      total += scores[i];
      const Symbol* value = nodes[i]->node()->meta.labels.Find(label);
      if (value != nullptr) by_value[*value] += scores[i];
    }
    const auto labels = static_cast<double>(args_.anti_affinity_labels.size());
    for (size_t i = 0; i < scores.size(); ++i) {
      const Symbol* value = nodes[i]->node()->meta.labels.Find(label);
      if (value == nullptr) continue;
      double part = framework::kMaxNodeScore;
      if (total > 0) {
        part = part * static_cast<double>(total - by_value[*value]) / static_cast<double>(total);
      }
      (*results)[i] += part / labels;
    }
  }

  const ServiceAffinityArgs args_;
  const framework::Handle& handle_;
  const framework::StateSlot<AffinityState> affinity_slot_;
  const framework::StateSlot<ScoreState> score_slot_;
  const Status rejection_{Code::kUnschedulable,
                          {"node(s) didn't match service affinity"},
                          std::string(kServiceAffinityName)};
  const Status not_found_ =
      Status::Error("error reading \"PreFilterServiceAffinity\" from cycleState: not found");
};

}  // namespace

ArgsFaults ServiceAffinityArgsFaults(const config::PluginArgs& args) {
  return FaultsOf(args, ReadArgs);
}

Result<std::unique_ptr<framework::Plugin>> NewServiceAffinity(const config::PluginArgs& args,
                                                              framework::Handle& handle) {
  Result<ServiceAffinityArgs> read = ReadOrFault(args, ReadArgs);
  if (!read.ok()) return read.error();
  WarnLegacy(kServiceAffinityName, "pod affinity, and PodTopologySpread", handle);
  return std::unique_ptr<framework::Plugin>(
      std::make_unique<ServiceAffinity>(std::move(read).value(), handle));
}

}  // namespace ks::plugins
