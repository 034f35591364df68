// SPDX-License-Identifier: Apache-2.0
#pragma once
// Looks over the shoulder of preemption where pods belong to groups: who is evicted for a group has
// lower priority, goes with all of its own group where that goes as a whole, and makes room that
// the members need.
//
// Upstream: docs/spec/preemption.md sections 15 and 18.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "framework/group_plugins.h"
#include "framework/handle.h"

namespace ks::sim {

struct GroupVictimHost {
  std::function<void(const std::string& what)> fail;
  std::function<TimePoint()> now;
  // Between Reserve and Bind: such a victim is given up without the API server.
  std::function<bool(const std::string& uid)> is_held;
};

// Threads: one.
class GroupVictimWatch {
 public:
  explicit GroupVictimWatch(GroupVictimHost host) : host_(std::move(host)) {}

  // A group fits nowhere; the plugin is asked next. Within PodGroupPostFilter.
  void Asked(framework::Handle& handle, const framework::GroupPreemptor& preemptor);
  // A pod gets another nomination.
  void Nominated(const std::string& uid, const std::string& node);
  // `decided`: the time of the decision; `reason`: the condition's message. False: the eviction is
  // not for a group, and its end is not to be told.
  bool EvictionStarts(const api::Pod& victim, TimePoint decided, const std::string& reason);
  void EvictionEnds(TimePoint decided, bool failed);
  void AfterStep();

  uint64_t judged() const { return judged_; }

 private:
  // A pod on a node, as it was when the plugin was asked.
  struct Running {
    std::string name;
    std::string unit;  // the group that goes as a whole; else its uid
    int32_t priority = 0;
    std::string node;
    framework::Resource request;
    bool stays = false;  // no eviction is sent: it is leaving already, or in memory only
  };
  struct Node {
    framework::Resource free;       // allowed_pod_number: of pods
    framework::Resource nominated;  // asked for by pods that are no members
  };
  struct Member {
    framework::Resource request;
    std::string node;  // nominated; empty: none
  };
  struct Decision {
    std::string root;
    int32_t priority = 0;
    TimePoint time{};
    bool room_only = false;                    // whether members need nothing but room
    std::map<std::string, Running> running{};  // by uid
    std::map<std::string, Node> nodes{};       // by name
    std::map<std::string, Member> members{};   // by uid
    std::set<std::string> evicted{};           // uids
    size_t in_flight = 0;
    bool failed = false;
    bool ambiguous = false;  // another one was made at the same time
    bool over = false;       // the step in which it was asked
    TimePoint last{};        // something happened
  };

  Decision* Find(TimePoint decided);
  void Judge(const Decision& decision) const;
  std::string WhyTornApart(const Decision& decision) const;
  std::string WhyInVain(const Decision& decision) const;

  const GroupVictimHost host_;
  std::vector<Decision> open_;
  uint64_t judged_ = 0;
};

}  // namespace ks::sim
