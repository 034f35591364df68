// SPDX-License-Identifier: Apache-2.0
#include "queue/in_flight_log.h"

#include <algorithm>

#include "base/canary.h"
#include "base/check.h"

namespace ks::queue {
namespace {

constexpr std::string_view kPodPopped = "PodPopped";
constexpr std::string_view kUnmarked = "a pod in flight has no marker, or two";

}  // namespace

bool InFlightLog::AddPod(const api::PodPtr& pod, const WokenBy& woken) {
  if (Contains(pod->meta.uid)) return false;
  order_.push_back({.position = next_position_++, .pod = pod, .woken = woken});
  markers_.try_emplace(pod->meta.uid, std::prev(order_.end()));
  Count(kPodPopped, 1);
  KS_CHECK(order_.size() == markers_.size(), kUnmarked);
  return true;
}

WokenBy InFlightLog::WokenOf(std::string_view uid) const {
  const auto it = markers_.find(uid);
  return it == markers_.end() ? WokenBy() : it->second->woken;
}

void InFlightLog::AddEvent(const InFlightEvent& event) {
  KS_DCHECK(!empty(), "an event is logged although no pod is in flight");
  if (KS_CANARY(EventLostInFlight)) return;
  std::string label = event.event.Label();
  Count(label, 1);
  events_.push_back({.position = next_position_++, .event = event, .label = std::move(label)});
}

void InFlightLog::Done(std::string_view uid) {
  const auto it = markers_.find(uid);
  if (it == markers_.end()) return;
  order_.erase(it->second);
  markers_.erase(it);
  Count(kPodPopped, -1);
  while (!events_.empty() &&
         (order_.empty() || events_.front().position < order_.front().position)) {
    Count(events_.front().label, -1);
    events_.pop_front();
  }
  KS_CHECK(order_.size() == markers_.size(), kUnmarked);
  KS_CHECK(!order_.empty() || events_.empty(), "events are kept although no pod is in flight");
}

void InFlightLog::Clear() {
  order_.clear();
  markers_.clear();
  events_.clear();
  for (auto& [label, count] : counts_) count = 0;
}

std::vector<const InFlightEvent*> InFlightLog::EventsAfter(std::string_view uid) const {
  const auto it = markers_.find(uid);
  KS_CHECK(it != markers_.end(), "the pod is not in flight");
  const uint64_t position = it->second->position;
  auto logged =
      std::lower_bound(events_.begin(), events_.end(), position,
                       [](const Logged& entry, uint64_t p) { return entry.position < p; });
  std::vector<const InFlightEvent*> events;
  for (; logged != events_.end(); ++logged) events.push_back(&logged->event);
  return events;
}

std::vector<api::PodPtr> InFlightLog::Pods() const {
  std::vector<api::PodPtr> pods;
  for (const Marker& marker : order_) pods.push_back(marker.pod);
  return pods;
}

void InFlightLog::Count(std::string_view label, int64_t by) {
  const auto it = counts_.find(label);
  if (it != counts_.end()) {
    it->second += by;
  } else {
    counts_.emplace(label, by);
  }
}

}  // namespace ks::queue
