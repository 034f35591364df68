// SPDX-License-Identifier: Apache-2.0
#pragma once
// How current the scheduler's copy of each kind of object is, and how long changes wait for it.
//
// Upstream: docs/spec/metrics.md section 4. There, the queued items and the latency are those of
// one object; here, of what a reflector handed over and the scheduling thread has not taken yet.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "metrics/registry.h"

namespace ks::client {

// The series of one kind. Threads: any. Lifetime: InformerMetrics outlives it.
class InformerSeries {
 public:
  InformerSeries(metrics::Gauge& queued, metrics::Histogram& latency, metrics::Gauge& version)
      : queued_(queued), latency_(latency), version_(version) {}

  // Changes were handed over; Processed says the same number when they are applied.
  void Queued(size_t changes) { queued_.Increment(static_cast<double>(changes)); }
  void Processed(size_t changes, Duration waited);
  // A new consumer begins: nothing waits for it.
  void Begin() { queued_.Set(0); }
  // The newest state seen, by a list, a change or a bookmark. Shows the 15 lowest digits.
  void Seen(std::string_view resource_version);

 private:
  metrics::Gauge& queued_;
  metrics::Histogram& latency_;
  metrics::Gauge& version_;
};

// Threads: any. Lifetime: `registry` outlives it; it outlives the reflectors that tell it.
class InformerMetrics {
 public:
  explicit InformerMetrics(metrics::Registry& registry);

  // `path`: a list's, "/api/v1/pods" or "/apis/apps/v1/replicasets". `kind`: "Pod". The label
  // `resource` is the naive plural that upstream shows: kind in lower case and an s.
  InformerSeries& For(std::string_view path, std::string_view kind) KS_EXCLUDES(mutex_);

 private:
  metrics::Family<metrics::Gauge>& queued_;
  metrics::Family<metrics::Histogram>& latency_;
  metrics::Family<metrics::Gauge>& version_;
  Mutex mutex_;
  // By path.
  std::map<std::string, std::unique_ptr<InformerSeries>, std::less<>> series_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::client
