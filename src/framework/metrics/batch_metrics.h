// SPDX-License-Identifier: Apache-2.0
#pragma once
// The metrics of opportunistic batching.
//
// Upstream: docs/spec/metrics.md 3.6, docs/spec/cycle.md section 20.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "metrics/registry.h"

namespace ks::framework {

// The series of one profile. Threads: the scheduling thread. Lifetime: BatchMetrics outlives it.
class ProfileBatchMetrics {
 public:
  // `result`: "no_hint", "hint_used", "hint_not_used".
  void CountAttempt(std::string_view result);
  void CountFlush(std::string_view reason);
  void ObserveRescore(Duration took);  // counts the attempt, too
  void ObserveHint(bool hinted, Duration took);
  void ObserveStore(Duration took);

 private:
  friend class BatchMetrics;
  struct Families;
  using Counters = std::map<std::string, metrics::Counter*, std::less<>>;

  ProfileBatchMetrics(Families& families, std::string profile);
  metrics::Counter& Of(metrics::Family<metrics::Counter>& family, const char* label,
                       std::string_view value, Counters* counters);

  Families& families_;
  const std::string profile_;
  Counters attempts_;  // by result
  Counters flushes_;   // by reason
  metrics::Counter* rescores_ = nullptr;
  metrics::Histogram* rescore_ = nullptr;
  metrics::Histogram* hint_[2] = {nullptr, nullptr};  // without, with
  metrics::Histogram* store_ = nullptr;
};

// One for all profiles. Threads: the scheduling thread; the registry may be read by any.
// Lifetime: `registry` and `clock` outlive it.
class BatchMetrics {
 public:
  BatchMetrics(metrics::Registry& registry, const Clock& clock);
  ~BatchMetrics();

  ProfileBatchMetrics& ForProfile(const std::string& profile);
  const Clock& clock() const { return clock_; }

 private:
  const Clock& clock_;
  std::unique_ptr<ProfileBatchMetrics::Families> families_;
  std::map<std::string, std::unique_ptr<ProfileBatchMetrics>, std::less<>> profiles_;
};

}  // namespace ks::framework
