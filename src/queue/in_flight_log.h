// SPDX-License-Identifier: Apache-2.0
#pragma once
// InFlightLog: the pods that are being scheduled, and the cluster events seen meanwhile, in order
// of arrival. A pod that fails is judged by the events that came after it was popped.
//
// Upstream: docs/spec/queue.md 7.4, 7.6, 8.4, 7.9 step 4.

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "base/string_map.h"
#include "base/symbol.h"
#include "framework/events.h"

namespace ks::queue {

// The change of the cluster that made another attempt worth while, and the plugin whose hint said
// so; empty where there was none. For operators.
struct WokenBy {
  Symbol event{};
  Symbol plugin{};
};

struct InFlightEvent {
  framework::ClusterEvent event;
  framework::EventObject old_object;
  framework::EventObject new_object;
};

// Threads: one at a time.
class InFlightLog {
 public:
  // Puts a marker at the end. False when the uid has one already.
  bool AddPod(const api::PodPtr& pod, const WokenBy& woken = {});
  // Appends the event. Requires: !empty().
  void AddEvent(const InFlightEvent& event);
  // Removes the marker and the events that concern nobody any more. No-op for unknown uids.
  void Done(std::string_view uid);
  void Clear();

  // What AddPod was told. Empty for unknown uids.
  WokenBy WokenOf(std::string_view uid) const;
  bool Contains(std::string_view uid) const { return markers_.contains(uid); }
  bool empty() const { return order_.empty(); }
  // Whether the newest entry is an event with this label.
  bool EndsWith(std::string_view label) const {
    return !events_.empty() && events_.back().label == label &&
           events_.back().position + 1 == next_position_;
  }
  size_t pod_count() const { return order_.size(); }
  size_t event_count() const { return events_.size(); }
  // The events after the pod's own marker, oldest first. Requires: Contains(uid). The pointers are
  // valid until the next change.
  std::vector<const InFlightEvent*> EventsAfter(std::string_view uid) const;
  // Pods in flight, in order of their pops.
  std::vector<api::PodPtr> Pods() const;
  // Sizes by event label, "PodPopped" for markers: the gauge inflight_events. Labels that have
  // been seen stay, with 0.
  const std::map<std::string, int64_t, std::less<>>& counts() const { return counts_; }

 private:
  struct Marker {
    uint64_t position = 0;
    api::PodPtr pod;
    WokenBy woken;
  };
  struct Logged {
    uint64_t position = 0;
    InFlightEvent event;
    std::string label;
  };
  void Count(std::string_view label, int64_t by);

  uint64_t next_position_ = 0;
  std::list<Marker> order_;                         // ascending by position
  std::deque<Logged> events_;                       // ascending by position
  StringMap<std::list<Marker>::iterator> markers_;  // by uid
  std::map<std::string, int64_t, std::less<>> counts_;
};

}  // namespace ks::queue
