// SPDX-License-Identifier: Apache-2.0
#pragma once
// ExistingTerms: the terms of all pods that are on nodes, for the question which of them concern a
// pod, and where. Terms that say the same are one group, with tallies per domain that follow the
// cluster change by change; a pod finds the groups that match it by its labels.
//
// Upstream: docs/spec/plugins-crosspod.md sections 2.4, 3.2 (table E), 3.5 (existing pods' part of
// table W), 3.9.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/hash/hash.h>

#include "framework/change_reader.h"
#include "plugins/inter_pod_affinity/incoming_sums.h"
#include "plugins/inter_pod_affinity/tally.h"
#include "plugins/inter_pod_affinity/terms.h"
#include "plugins/kit/cross_pod/topology.h"

namespace ks::plugins {

// Equal terms of existing pods.
struct TermGroup : TermSums {
  const AffinityTerm* term = nullptr;
  uint32_t uses = 0;
  int32_t pinned = -1;           // requirement under whose values the group is found; -1: none
  std::vector<uint32_t> places;  // in each list that it is in, in their order
};

// Threads: Refresh by the scheduling thread; the rest also by workers while a cycle runs.
class ExistingTerms {
 public:
  struct Options {
    int32_t hard_weight = 1;  // of required affinity in scoring; 0: does not count
    Symbol per_node_key;      // each node is a place of its own for this key (3.9)
    bool has_per_node_key = false;
    // Pods that so many groups may concern are answered from IncomingSums.
    size_t many_groups = 512;
  };
  // Lifetime: `topologies` outlives it.
  ExistingTerms(Topologies& topologies, const Options& options)
      : topologies_(topologies), options_(options) {}

  // Groups found before are invalid when something changed.
  void Refresh(const framework::Snapshot& snapshot);

  // What the terms say that match the pod. Valid until the next call of Refresh or FindMatching, or
  // of Refresh only as long as somebody has `owner`.
  struct Matching {
    std::vector<const TermSums*> sums;
    std::shared_ptr<const IncomingSums> owner;  // may be null
  };
  void FindMatching(const api::Pod& pod, const api::LabelMap& namespace_labels, Matching* found);

  // Calls visit(const AffinityTerm&) for the required anti-affinity terms of any pod; for an
  // existing one nothing is parsed. Terms that match no pod may be left out.
  template <class Visit>
  void ForEachRepellingTerm(const api::Pod& pod, Visit visit) const {
    if (!pod.spec->pod_anti_affinity) return;
    const auto found = carriers_.find({pod.spec.get(), pod.meta.ns});
    if (found == carriers_.end()) {
      for (const AffinityTerm& term :
           ParseTerms(*pod.spec, pod.meta.ns, nullptr).required_anti_affinity) {
        visit(term);
      }
      return;
    }
    for (const Use& use : found->second.uses) {
      if (use.repels) visit(*use.group->term);
    }
  }

  bool IsPerNode(const Symbol& key) const {
    return options_.has_per_node_key && key == options_.per_node_key;
  }
  // Existing pods with a required anti-affinity term of the per-node key, matching or not.
  int64_t per_node_pods() const { return per_node_pods_; }
  size_t groups() const { return groups_.size(); }  // for tests of what is kept

 private:
  friend ChangeReader;
  struct Use {
    TermGroup* group = nullptr;
    bool repels = false;
    int32_t weight = 1;
  };
  // Pods of one spec in one namespace.
  struct Carrier {
    std::shared_ptr<const api::PodSpec> spec;  // keeps the address taken
    std::vector<Use> uses;
    bool has_per_node_term = false;
    uint32_t pods = 0;
  };
  using CarrierKey = std::pair<const api::PodSpec*, Symbol>;
  using Carriers = std::unordered_map<CarrierKey, Carrier, absl::Hash<CarrierKey>>;
  struct Slot {
    bool listed = false;
    std::vector<Carriers::value_type*> pods;  // one entry a pod
    // The node's domain of each key that was needed, since the node changed last.
    std::vector<std::pair<TopologyPtr, int32_t>> domains;
  };
  struct Key {
    TopologyPtr topology;
    uint64_t epoch = 0;
    uint32_t groups = 0;
  };
  struct Listed {
    TermGroup* group = nullptr;
    uint32_t number = 0;  // of the list among those of the group: where its place stands
  };
  using Groups = std::vector<Listed>;
  using SumsPtr = std::shared_ptr<IncomingSums>;

  void Restart(size_t slots);
  void OnNode(uint32_t slot, const framework::NodeInfo* node);
  void OnPod(uint32_t slot, const framework::PodInfo& pod, int sign);

  void AddPod(uint32_t slot, const api::Pod& pod);
  void RemovePod(uint32_t slot, size_t place);
  void Apply(uint32_t slot, const Carrier& carrier, int sign);
  void Apply(const Use& use, int32_t place, int sign);
  static int32_t DomainIn(Slot& slot, uint32_t number, const TopologyPtr& topology);

  Carriers::value_type& CarrierOf(const api::Pod& pod);
  void AddUse(Carrier& carrier, const AffinityTerm& term, bool repels, int32_t weight);
  void DropUse(TermGroup& group);
  // Calls visit(Groups&) for each list that the group is to be found in.
  template <class Visit>
  void ForEachList(const TermGroup& group, Visit visit);
  int32_t FindPin(const AffinityTerm& term) const;
  // Calls visit(const Groups&) for each list in which groups that match the pod may be.
  template <class Visit>
  void ForEachCandidates(const api::Pod& pod, Visit visit) const;
  // Null: no other pod like this one has asked lately.
  SumsPtr SumsFor(const api::Pod& pod, const api::LabelMap& namespace_labels);
  bool AnotherHasAsked(const api::Pod& pod);

  Topologies& topologies_;
  const Options options_;
  ChangeReader reader_;
  const framework::Snapshot* snapshot_ = nullptr;  // during Refresh

  std::vector<Slot> slots_;
  Carriers carriers_;
  std::unordered_map<AffinityTerm, TermGroup, absl::Hash<AffinityTerm>> groups_;
  std::unordered_map<Symbol, Key> keys_;
  int64_t per_node_pods_ = 0;
  // Where to look for groups: by one required label, else by namespace, else all of them.
  absl::flat_hash_map<std::pair<Symbol, Symbol>, Groups> by_label_;
  absl::flat_hash_map<Symbol, Groups> by_namespace_;
  Groups others_;
  static constexpr size_t kMostIncoming = 16;
  std::deque<SumsPtr> incoming_;  // used last first
  struct Asker {
    size_t like = 0;  // hash of namespace and labels
    size_t uid = 0;   // hash
  };
  std::deque<Asker> askers_;  // the last ones without sums
};

}  // namespace ks::plugins
