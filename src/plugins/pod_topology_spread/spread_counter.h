// SPDX-License-Identifier: Apache-2.0
#pragma once
// The counts behind spread constraints: which pods and nodes count is described by a CounterSpec;
// pods whose constraints come to the same description share one counter.
//
// Upstream: docs/spec/plugins-crosspod.md 4.4 to 4.6 and 4.8.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/pod.h"
#include "base/bounded_cache.h"
#include "framework/snapshot.h"
#include "plugins/kit/compiled_node_affinity.h"
#include "plugins/kit/cross_pod/topology.h"
#include "plugins/kit/derived_selector.h"
#include "plugins/kit/tolerations.h"
#include "plugins/pod_topology_spread/constraints.h"
#include "plugins/pod_topology_spread/domain_counts.h"

namespace ks::plugins {

// What a pod's spec asks of the nodes that are counted. Threads: immutable.
class NodeInclusion {
 public:
  NodeInclusion(const api::PodSpec& spec, LtAndGt lt_and_gt);

  // Whether the affinity policy can exclude nodes at all.
  bool has_affinity() const { return has_affinity_; }
  bool MatchesAffinity(const api::Node& node) const { return affinity_.MatchesRequired(node); }
  bool ToleratesTaints(const api::Node& node) const;

 private:
  bool has_affinity_;
  CompiledNodeAffinity affinity_;
  std::vector<api::Toleration> tolerations_;
  LtAndGt lt_and_gt_;
};

// Threads: like a value.
struct CounterSpec {
  Symbol ns;
  DerivedSelector selector;
  Symbol topology_key;            // empty: only pods per node
  bool missing_is_empty = false;  // see Topology
  std::vector<Symbol> required_keys;
  bool honor_affinity = false;
  bool honor_taints = false;
  // Never null. The tolerations and the affinity are those of the pods that count nodes this way.
  std::shared_ptr<const NodeInclusion> inclusion;
};

// Equal for specs that count alike; differs for all others. `pod_spec` is what `spec.inclusion` was
// made of.
std::string CounterKey(const CounterSpec& spec, const api::PodSpec& pod_spec);

// Threads: as DomainCounts.
class SpreadCounter final : public DomainCounts {
 public:
  // `spec_bytes`: what `spec` takes, roughly.
  SpreadCounter(TopologyPtr topology, CountingHelp& help, CounterSpec spec, size_t spec_bytes);

  // Hides the base's: with the specification.
  size_t MemoryBytes() const { return DomainCounts::MemoryBytes() + spec_bytes_; }

 protected:
  int32_t CountOf(const framework::PodInfo& pod) const override;
  bool TakesPart(const framework::NodeInfo& node) const override;

 private:
  const TopologyPtr own_topology_;
  const CounterSpec spec_;
  const size_t spec_bytes_;
  const bool counts_nothing_;
};

// The counters and topologies of one plugin instance. Those used longest ago are forgotten; who
// still needs one holds it. Threads: the scheduling thread.
class SpreadCounters {
 public:
  // Up to date with the snapshot. `key` is CounterKey of `spec`.
  std::shared_ptr<const SpreadCounter> Get(const std::string& key, const CounterSpec& spec,
                                           const framework::Snapshot& snapshot);
  TopologyPtr GetTopology(const Symbol& key, const framework::Snapshot& snapshot) {
    return topologies_.Get(key, snapshot);
  }

  size_t size() const { return counters_.size(); }

 private:
  CountingHelp help_;
  Topologies topologies_;
  BoundedCache<std::string, SpreadCounter> counters_;
};

}  // namespace ks::plugins
