// SPDX-License-Identifier: Apache-2.0
#pragma once
// What must hold of groups of pods in a scheduler, between two of its steps and when it binds.
//
// Upstream: docs/spec/queue.md section 18, docs/spec/plugins-crosspod.md 8.3.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "queue/pod_stores.h"
#include "sim/gang_watch.h"

namespace ks::sim {

class SchedulerProcess;

// One scheduler's groups, followed from step to step. Threads: one.
class GangSteps {
 public:
  explicit GangSteps(SchedulerProcess& process) : process_(process) {}

  // A member was given a node, for good, or lost it again.
  void Reserved(const api::PodPtr& pod);
  void GivenUp(const api::Pod& pod);
  // Its binding is sent. Empty: its gang had its number of members.
  std::string Binds(const std::string& uid);
  // Between two steps. Empty: all is as it should be.
  std::string AfterStep();
  // What the process was told of the pod's group.
  GangWatch::Known KnownOf(const api::Pod& pod) const;

 private:
  // A PodGroup, or a CompositePodGroup, "namespace/name".
  struct Key {
    bool composite = false;
    std::string name{};
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Held {
    api::PodPtr pod;
    bool whole = false;  // the gang had its number while the member had its node
  };

  std::string CheckReserved() const;
  std::string CheckReleased() const;
  std::string CheckQueue() const;
  std::string WhyLost(const queue::Record& record, const api::Pod& pod) const;
  void NoteWhole();
  bool IsHeldByGang(const std::string& uid) const;
  // The top of the tree; absent: it is not known.
  std::optional<Key> RootOf(const api::Pod& pod) const;
  // Whether the groups below have enough members: of those that are known, or of those on nodes.
  bool IsComplete(const Key& group, bool on_nodes) const;
  int64_t CountMembers(const std::string& group, bool on_nodes) const;

  SchedulerProcess& process_;
  std::map<std::string, Held> held_;  // by uid: has a node, and its binding was not sent
  std::set<std::string> new_;         // uids: reserved since the last step
  std::set<Key> given_up_;            // roots of members that lost their node since then
};

}  // namespace ks::sim
