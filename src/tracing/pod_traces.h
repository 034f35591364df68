// SPDX-License-Identifier: Apache-2.0
#pragma once
// PodTraces: the traces of the pods that a scheduler has to place, one a pod, from first sight to
// bound. Keeps what is needed of the pods whose trace is recorded, and nothing of the others.
//
//   pod ─┬─ queue (active, backoff, unschedulable, gated)
//        ├─ attempt ─┬─ PreFilter … Permit, PostBind; slow plugins below them
//        │           └─ WaitOnPermit, PreBind, Bind ── calls to the API server
//        └─ evict ──link── preempted (in the victim's trace)

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "api/pod.h"
#include "base/clock.h"
#include "base/symbol.h"
#include "framework/metrics/point_observer.h"
#include "framework/queued_pod.h"
#include "tracing/attempt_spans.h"
#include "tracing/span.h"

namespace ks::tracing {

struct TraceOptions {
  SpanSink* sink = nullptr;  // null: nothing is traced
  uint32_t per_million = 0;  // of the pods
};

// Where a pod waits, and what brought it there.
struct QueueWait {
  std::string_view queue;  // "active", "backoff", "unschedulable", "gated"; of static lifetime
  Symbol event{};          // label
  Symbol plugin{};         // whose hint said so; empty: none
};

// Threads: the scheduling thread. Lifetime: clock and sink outlive it.
class PodTraces {
 public:
  PodTraces(const TraceOptions& options, const Clock& clock)
      : sink_(*options.sink), per_million_(options.per_million), clock_(clock) {}

  // Before it a standby's queue waits, which is nobody's trace.
  void Lead() { leading_ = true; }

  // A pod that is to be placed. Known ones are passed over, here and below unknown ones.
  void Saw(const api::Pod& pod);
  // It stands in a queue; told again, nothing changes until it is another one.
  void Waits(const api::Pod& pod, const QueueWait& wait);
  // It was popped, and its attempt began then. Null: its trace is not recorded.
  std::unique_ptr<AttemptSpans> Begin(const framework::QueuedPod& queued, TimePoint start);
  void Failed(const api::Pod& pod, AttemptSpans& attempt, const AttemptEnd& end);
  void Bound(const api::Pod& pod, AttemptSpans& attempt, const AttemptEnd& end);
  // It has nothing to wait for any more: "deleted", "bound elsewhere". Nothing happens while an
  // attempt runs that is to end first.
  void Left(const api::Pod& pod, std::string_view result);

  // The victim is to go. What evicting it belongs to; not valid: its trace is not recorded.
  SpanContext BeginEviction(const api::Pod& victim);
  // It was told so: by whom.
  void Evicted(const api::Pod& victim, std::string_view preemptor_uid);

  // To be looked at by whoever runs extension points.
  framework::PointWatch& watch() { return watch_; }
  size_t size() const { return pods_.size(); }

 private:
  struct Wait {
    std::string_view queue{};  // empty: it does not wait
    TimePoint start{};
    Symbol event{};
    Symbol plugin{};
  };
  struct Entry {
    SpanContext root{};
    TimePoint start{};
    Wait wait{};
    int64_t attempts = 0;
    bool in_attempt = false;
    std::string_view left{};  // during an attempt: Left's result
    std::vector<Link> links{};
  };
  struct Eviction {
    SpanContext context{};
    TimePoint start{};
  };

  bool Records(const SpanContext& context) const;
  Entry* Find(const api::Pod& pod);
  void EndWait(Entry& entry, const Symbol& by, const Symbol& plugin);
  void EndRoot(const api::Pod& pod, Entry& entry, std::string_view result, std::string_view node);

  SpanSink& sink_;
  const uint32_t per_million_;
  const Clock& clock_;
  framework::PointWatch watch_;
  bool leading_ = false;
  absl::flat_hash_map<std::string, Entry> pods_;          // by uid
  absl::flat_hash_map<std::string, Eviction> evictions_;  // by the victim's uid; recorded ones
};

// What runs now belongs to that attempt (null: to none that is recorded), and so do calls to the
// API server. Threads: the scheduling thread.
class AttemptScope {
 public:
  // `traces` null: nothing is traced.
  AttemptScope(PodTraces* traces, AttemptSpans* attempt) : traces_(traces) {
    if (traces_ != nullptr) Enter(attempt);
  }
  ~AttemptScope() {
    if (traces_ != nullptr) Leave();
  }
  AttemptScope(const AttemptScope&) = delete;
  AttemptScope& operator=(const AttemptScope&) = delete;

 private:
  void Enter(AttemptSpans* attempt);
  void Leave();

  PodTraces* const traces_;
  framework::PointObserver* former_ = nullptr;
  std::optional<CurrentSpanScope> calls_;
};

}  // namespace ks::tracing
