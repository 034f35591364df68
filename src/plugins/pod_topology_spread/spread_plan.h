// SPDX-License-Identifier: Apache-2.0
#pragma once
// What follows from a pod's template, labels and owners alone: its effective constraints, and the
// counters that they need. Made once for all pods that agree in these.
//
// Upstream: docs/spec/plugins-crosspod.md 4.2 to 4.4.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bounded_cache.h"
#include "config/gates/feature_gates.h"
#include "framework/owner_listers.h"
#include "plugins/pod_topology_spread/constraints.h"
#include "plugins/pod_topology_spread/spread_counter.h"

namespace ks::plugins {

// The constraints of one action. Threads: immutable once made.
struct SpreadPhase {
  std::string error;  // non-empty: a selector is wrong, there is nothing else
  SpreadConstraints constraints;
  // counters[counter_of[i]] is the counter of constraint i; keys[k] belongs to counters[k].
  std::vector<CounterSpec> counters;
  std::vector<std::string> keys;
  std::vector<size_t> counter_of;
  bool require_all = true;  // nodes must have the keys of all constraints
};

struct SpreadPlan {
  SpreadPhase hard;
  SpreadPhase soft;
  size_t bytes = 0;  // with its key, roughly
};

// Threads: the scheduling thread.
class SpreadPlans {
 public:
  SpreadPlans(const config::PluginArgs& args, const config::FeatureGates& gates)
      : defaults_(args),
        match_label_keys_(gates.Enabled(config::Gate::kMatchLabelKeysInPodTopologySpread)),
        lt_and_gt_(LtAndGtOf(gates)) {}

  const SpreadDefaults& defaults() const { return defaults_; }
  // Whether the pod can have constraints of that action; cheap.
  bool MayConstrain(const api::Pod& pod, SpreadAction action) const {
    return !pod.spec->topology_spread_constraints.empty() || defaults_.Has(action);
  }
  // Never null; valid until the owners change.
  std::shared_ptr<const SpreadPlan> Of(const api::Pod& pod, const framework::OwnerListers& listers);

 private:
  // What a plan depends on.
  struct Key {
    std::shared_ptr<const api::PodSpec> spec;
    Symbol ns;
    // The pod's labels if it takes the defaults, or names label keys; else empty.
    api::LabelMap labels;
    // The pod's owner if it takes the defaults; else empty.
    std::string owner_api_version;
    std::string owner_kind;
    std::string owner_name;
    uint64_t owners_version = 0;

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };

  Key KeyOf(const api::Pod& pod, const framework::OwnerListers& listers) const;
  std::shared_ptr<SpreadPlan> Make(const api::Pod& pod,
                                   const framework::OwnerListers& listers) const;
  // Constraints, error and require_all; the counters are to follow.
  SpreadPhase MakePhase(const api::Pod& pod, const framework::OwnerListers& listers,
                        SpreadAction action) const;

  const SpreadDefaults defaults_;
  const bool match_label_keys_;
  const LtAndGt lt_and_gt_;
  BoundedCache<Key, SpreadPlan, KeyHash> plans_;
};

}  // namespace ks::plugins
