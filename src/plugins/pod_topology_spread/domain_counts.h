// SPDX-License-Identifier: Apache-2.0
#pragma once
// DomainCounts: how many pods of some kind the nodes of each topology domain hold, which domains
// there are, and the smallest count. The counters of PodTopologySpread: kept per selector and key,
// changed pod by pod.
//
// Upstream: docs/spec/plugins-crosspod.md sections 3.2, 3.5, 4.5, 4.6.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/serial.h"
#include "framework/change_reader.h"
#include "framework/label_changes.h"
#include "plugins/kit/cross_pod/counting_reader.h"
#include "plugins/kit/cross_pod/topology.h"

namespace ks::plugins {

// Which pods count, and which nodes take part, is for the subclass to say; both must depend on
// nothing but what the call is given and on what never changes.
// Threads: Refresh by the scheduling thread; the rest also by workers while a cycle runs.
// Lifetime: `topology` outlives it.
class DomainCounts {
 public:
  explicit DomainCounts(const Topology& topology) : topology_(topology) {}
  // Every pod that counts has all of `labels`, so that changes of others need not be looked at.
  // Lifetime: `help` outlives the last Refresh.
  DomainCounts(const Topology& topology, CountingHelp& help, std::vector<framework::Label> labels)
      : topology_(topology), reader_(help, std::move(labels)) {}
  virtual ~DomainCounts() = default;

  // Requires: the topology was refreshed for this snapshot.
  void Refresh(const framework::Snapshot& snapshot);

  const Topology& topology() const { return topology_; }
  uint64_t serial() const { return serial_.value(); }
  // Over the nodes that take part. 0 for kNoDomain.
  int64_t Count(int32_t domain) const {
    return domain >= 0 && static_cast<size_t>(domain) < domains_.size()
               ? domains_[static_cast<size_t>(domain)].count
               : 0;
  }
  // Some node of the domain takes part.
  bool Exists(int32_t domain) const {
    return domain >= 0 && static_cast<size_t>(domain) < domains_.size() &&
           domains_[static_cast<size_t>(domain)].nodes > 0;
  }
  size_t existing() const { return existing_; }  // domains
  // The smallest count of an existing domain; 0 without one.
  int64_t minimum() const { return existing_ == 0 ? 0 : minimum_; }
  // The pods on one listed node, whether it takes part or not.
  int32_t PodsOn(uint32_t slot) const { return slot < nodes_.size() ? nodes_[slot].pods : 0; }
  // Whether the listed node takes part.
  bool Includes(uint32_t slot) const { return slot < nodes_.size() && nodes_[slot].domain >= 0; }
  // Bytes held, roughly.
  size_t MemoryBytes() const {
    return nodes_.capacity() * sizeof(Node) + domains_.capacity() * sizeof(Domain);
  }

 protected:
  // What the pod adds to its node's count: usually 0 or 1. With help, only its namespace, its
  // labels and whether it is being deleted may count.
  virtual int32_t CountOf(const framework::PodInfo& pod) const = 0;
  // Asked for nodes that have the key. The default: all.
  virtual bool TakesPart(const framework::NodeInfo&) const { return true; }

 private:
  friend ChangeReader;
  static constexpr int32_t kUnlisted = -2;
  struct Node {
    int32_t pods = 0;
    int32_t domain = kUnlisted;  // kNoDomain: listed, takes no part
  };
  struct Domain {
    int64_t count = 0;
    uint32_t nodes = 0;  // that take part
  };

  void Restart(size_t slots);
  int32_t CountOn(const framework::NodeInfo& node) const;
  void OnNode(uint32_t slot, const framework::NodeInfo* node);
  void OnPod(uint32_t slot, const framework::PodInfo& pod, int sign);
  void Add(int32_t domain, int64_t difference);
  void Join(int32_t domain);
  void Leave(int32_t domain);
  void FindMinimum();

  const Topology& topology_;
  const Serial serial_;
  uint64_t epoch_ = 0;
  CountingReader reader_;
  bool counted_ = false;         // during a restart: nodes_[].pods are what the nodes hold
  std::vector<Node> nodes_;      // by slot
  std::vector<Domain> domains_;  // by number
  size_t existing_ = 0;
  int64_t minimum_ = 0;
  size_t at_minimum_ = 0;  // existing domains with that count; 0: the minimum is to be found
};

}  // namespace ks::plugins
