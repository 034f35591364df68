// SPDX-License-Identifier: Apache-2.0
#pragma once
// The spread constraints that hold for a pod: its own, or the profile's defaults with a selector
// derived from the pod's Services and controller.
//
// Upstream: docs/spec/plugins-crosspod.md 4.1 to 4.3.

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/owner_listers.h"
#include "plugins/kit/derived_selector.h"

namespace ks::plugins {

inline constexpr std::string_view kHostnameKey = "kubernetes.io/hostname";

enum class SpreadAction : uint8_t {
  kDoNotSchedule,   // hard
  kScheduleAnyway,  // soft
};

// Compiled. Threads: like a value.
struct SpreadConstraint {
  SpreadAction action = SpreadAction::kDoNotSchedule;
  int64_t max_skew = 0;
  Symbol topology_key;
  DerivedSelector selector;  // matchLabelKeys are among its labels
  int64_t min_domains = 1;
  bool honor_affinity = true;  // nodeAffinityPolicy
  bool honor_taints = false;   // nodeTaintsPolicy
};

using SpreadConstraints = std::vector<SpreadConstraint>;

// The profile's part. Threads: immutable after construction.
class SpreadDefaults {
 public:
  // Without arguments: System. Requires: checked arguments.
  explicit SpreadDefaults(const config::PluginArgs& args);

  bool IsSystem() const { return system_; }
  bool empty() const { return constraints_.empty(); }
  bool Has(SpreadAction action) const;
  // Those of that action, in order, each with the selector derived for the pod; none when that is
  // empty.
  SpreadConstraints For(const api::Pod& pod, const framework::OwnerListers& listers,
                        SpreadAction action) const;

 private:
  bool system_ = true;
  SpreadConstraints constraints_;  // without selectors
};

// The pod's own constraints of that action, in order. Error: the first selector that does not
// compile. `match_label_keys`: the gate MatchLabelKeysInPodTopologySpread.
Result<SpreadConstraints> OwnConstraints(const api::Pod& pod, SpreadAction action,
                                         bool match_label_keys);

}  // namespace ks::plugins
