// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which events are repetitions of which: decides when an event is created, when its series is
// updated, and when it is forgotten. Sends nothing itself.
//
// Upstream: docs/spec/api.md sections 10.2, 10.4, 10.5. Only the second occurrence is sent at once,
// of core/v1 events, too, of which upstream sends each.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/string_map.h"
#include "client/write/event_limits.h"
#include "framework/api_writer.h"

namespace ks::client {

// An event that was recorded at least once. Guarded by the owner of the EventSeries.
struct RecordedEvent {
  std::string key;
  std::string collection;  // "/apis/events.k8s.io/v1/namespaces/ns/events"
  std::string name;
  std::string body;           // of the first occurrence
  std::string protobuf_body;  // the same, for its first sending only; empty: there is none
  std::string note;  // of the last one, where updates have it (combined core/v1 events); else empty
  int32_t count = 1;
  int32_t sent_count = 0;  // what the server knows; 0: not created yet
  TimePoint observed{};    // wall time of the last occurrence, for the server
  TimePoint seen{};        // the same on the monotonic clock, for forgetting
  bool sending = false;
};
using RecordedEventPtr = std::shared_ptr<RecordedEvent>;

struct EventSeriesOptions {
  std::string host_name{};
  bool legacy = false;
  // Asked for each event whether its first sending may be protobuf; empty: no. Never core/v1.
  std::function<bool()> protobuf{};
  size_t most_remembered = 10'000;  // the oldest are forgotten beyond
  uint64_t seed = 0;
};

// Threads: one at a time.
class EventSeries {
 public:
  static constexpr Duration kRefresh = std::chrono::minutes(30);
  static constexpr Duration kFinish = std::chrono::minutes(6);

  explicit EventSeries(EventSeriesOptions options) : options_(std::move(options)) {}

  // Counts an occurrence. What has to be sent now (marked as sending), or null.
  RecordedEventPtr Record(const framework::PodEvent& event, TimePoint wall, TimePoint now);

  // A sending, with that count, is over. True: another one is due already (marked as sending
  // again).
  bool Sent(RecordedEvent& event, int32_t count);

  // All series, to send their counts. To be called every kRefresh.
  std::vector<RecordedEventPtr> Refresh();

  // Forgets what was not seen for kFinish; series among them are returned for a last sending. To be
  // called every kFinish.
  std::vector<RecordedEventPtr> Finish(TimePoint now);

  size_t size() const { return events_.size(); }

  // The update of a series: {"series":…}, or the legacy counters.
  std::string PatchBody(const RecordedEvent& event) const;
  // The creation of an event that has become a series: its first body with the update merged in.
  std::string CreationBody(const RecordedEvent& event) const;

 private:
  std::string Key(const framework::PodEvent& event) const;
  RecordedEventPtr Create(const framework::PodEvent& event, TimePoint wall);
  RecordedEventPtr Count(const framework::PodEvent& event, const std::string& key, bool combined,
                         TimePoint wall, TimePoint now);
  RecordedEventPtr RecordLegacy(framework::PodEvent event, TimePoint wall, TimePoint now);

  const EventSeriesOptions options_;
  EventLimits limits_;  // core/v1 only
  uint64_t serial_ = 0;
  StringMap<RecordedEventPtr> events_;
  std::deque<std::weak_ptr<RecordedEvent>> by_age_;
};

}  // namespace ks::client
