// SPDX-License-Identifier: Apache-2.0
#pragma once
// What Filter reads: the counts of the hard constraints, and how a what-if changes them.
//
// Upstream: docs/spec/plugins-crosspod.md 4.6 and 4.7.

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "plugins/pod_topology_spread/spread_counter.h"
#include "plugins/pod_topology_spread/spread_plan.h"

namespace ks::plugins {

// Upstream's memory of the smallest counts: of two domains, one of them with the least. It follows
// single changes, and so can miss the true minimum after changes of several domains.
// Threads: like a value.
class LowestCounts {
 public:
  // All domains of the counter.
  explicit LowestCounts(const DomainCounts& counts);

  int64_t lowest() const { return low_.count; }
  // The domain's new count.
  void Update(int32_t domain, int64_t count);

 private:
  static constexpr int64_t kNone = 2147483647;
  struct Slot {
    int32_t domain = kNoDomain;
    int64_t count = kNone;
  };
  Slot low_;
  Slot high_;
};

// Counts of one constraint that differ from the counter's. Threads: like a value.
class SpreadOverlay {
 public:
  explicit SpreadOverlay(const LowestCounts& lowest) : lowest_(lowest) {}

  // `base`: the counter's.
  int64_t Count(int32_t domain, int64_t base) const;
  void Add(int32_t domain, int64_t base, int64_t difference);
  int64_t lowest() const { return lowest_.lowest(); }

 private:
  std::vector<std::pair<int32_t, int64_t>> counts_;  // of one domain, or a few
  LowestCounts lowest_;
};

enum class SpreadVerdict : uint8_t { kFits, kMissingLabel, kSkewed };

// Threads: as framework::CycleState. Lifetime: until another pod's PreFilter, as the counters go on
// counting; a fixed one for the attempt.
class SpreadFilterState final : public framework::StateData {
 public:
  // Requires: plan->hard is without error.
  SpreadFilterState(std::shared_ptr<const SpreadPlan> plan, const api::Pod& pod,
                    SpreadCounters& counters, const framework::Snapshot& snapshot);
  std::shared_ptr<framework::StateData> Clone(
      const std::shared_ptr<framework::StateData>& self) const override;

  std::shared_ptr<framework::StateData> Fix(const std::shared_ptr<framework::StateData>& self,
                                            const framework::NodeInfo& node) override;

  SpreadVerdict Verdict(const framework::NodeInfo& node) const;
  // As framework::PlaceWisePlugin.
  bool FindPlaces(std::vector<uint64_t>* basis) const;
  void AppendPlace(const framework::NodeInfo& node, std::vector<int64_t>* place) const;
  // A pod joins (+1) or leaves (-1) the node.
  void Change(const api::Pod& other, const framework::NodeInfo& node, int64_t sign);

 private:
  struct Constraint {
    // Also of a fixed state, for what depends on nodes only.
    std::shared_ptr<const SpreadCounter> counter;
    const Topology* topology = nullptr;
    std::vector<int64_t> fixed;  // counts by domain; empty: the counter's
    int64_t max_skew = 0;
    int64_t self = 0;     // 1: the selector matches the pod itself
    int64_t minimum = 0;  // without overlay; 0 with too few domains
    bool too_few_domains = false;

    int64_t Count(int32_t domain) const {
      return fixed.empty() ? counter->Count(domain) : fixed[static_cast<size_t>(domain)];
    }
  };
  // Shared by all clones.
  struct Base {
    std::shared_ptr<const SpreadPlan> plan;
    Symbol ns;
    std::vector<Constraint> constraints;
    // Found out by the first clone that needs it.
    std::once_flag once;
    std::vector<LowestCounts> lowest;

    void FindLowest();
  };

  explicit SpreadFilterState(std::shared_ptr<Base> base) : base_(std::move(base)) {}

  const std::shared_ptr<Base> base_;
  std::vector<SpreadOverlay> overlays_;  // by constraint; empty: nothing was changed
};

}  // namespace ks::plugins
