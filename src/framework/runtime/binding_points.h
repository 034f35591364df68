// SPDX-License-Identifier: Apache-2.0
#pragma once
// The points that tie a pod to its node: Reserve, Permit, PreBind, Bind, PostBind.
//
// Upstream: docs/spec/framework.md section 3.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "framework/handle.h"
#include "framework/runtime/point_lists.h"
#include "framework/runtime/profile_meters.h"

namespace ks::framework {

struct PermitOutcome {
  Status status;                             // Success, Wait, rejected or Error
  std::map<std::string, Duration> timeouts;  // waiting plugins, each cut to 15 minutes
};

// Threads: the scheduling thread. Lifetime: lists and meters outlive it.
class BindingPoints {
 public:
  BindingPoints(const PointLists& lists, const ProfileMeters& meters)
      : lists_(lists), meters_(meters) {}

  // Does not undo anything: the caller runs Unreserve after any failure, this one included.
  Status RunReservePluginsReserve(CycleState& state, const api::PodPtr& pod,
                                  const std::string& node) const;
  void RunReservePluginsUnreserve(CycleState& state, const api::PodPtr& pod,
                                  const std::string& node) const;
  PermitOutcome RunPermitPlugins(CycleState& state, const api::PodPtr& pod,
                                 const std::string& node) const;
  // Success when at least one plugin will work, Skip when none, Error. Fills the state's pre-bind
  // masks.
  Status RunPreBindPreFlights(CycleState& state, const api::PodPtr& pod,
                              const std::string& node) const;
  // The groups of PreBind plugins to run (docs/spec/framework.md 3.9): consecutive parallel ones
  // together, skipped ones left out.
  struct PreBindMember {
    std::string_view name;
    PreBindPlugin* plugin = nullptr;
    PluginMeter* meter = nullptr;  // null without metrics
  };
  std::vector<std::vector<PreBindMember>> PreBindGroups(const CycleState& state) const;
  // Stamps and wraps the result of one PreBind plugin as the framework reports it.
  static Status PreBindFailure(std::string_view plugin, const Status& status);
  // Success: started, `done` follows. Skip: no plugin took it. Anything else: failed. Results are
  // stamped and wrapped.
  Status RunBindPlugins(CycleState& state, const api::PodPtr& pod, const std::string& node,
                        const BindPlugin::Done& done) const;
  void RunPostBindPlugins(CycleState& state, const api::PodPtr& pod, const std::string& node) const;

 private:
  PermitOutcome AskPermits(CycleState& state, const api::PodPtr& pod,
                           const std::string& node) const;
  Status AskPreFlights(CycleState& state, const api::PodPtr& pod, const std::string& node) const;

  const PointLists& lists_;
  const ProfileMeters& meters_;
};

}  // namespace ks::framework
