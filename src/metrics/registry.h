// SPDX-License-Identifier: Apache-2.0
#pragma once
// Registry: the one table of everything that /metrics shows. The primitives and the bookkeeping are
// prometheus-cpp's (docs/decisions/0006-prometheus-cpp-without-its-exposer.md); the text is ours
// (text_format.h), because recording rules match bucket bounds byte for byte.
//
// Names, labels and buckets: docs/spec/metrics.md.

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace ks::metrics {

using Counter = prometheus::Counter;
using Gauge = prometheus::Gauge;
using Histogram = prometheus::Histogram;
template <class T>
using Family = prometheus::Family<T>;

// Shown in brackets before the help text; lint tools read it.
enum class Stability { kAlpha, kBeta, kStable, kInternal };

struct Description {
  std::string_view name;
  Stability stability = Stability::kAlpha;
  std::string_view help;
};

// `count` upper bounds, each `factor` times the one before. By repeated multiplication: the bounds
// of upstream's histograms come from it and differ from powers in the last digit.
std::vector<double> ExponentialBuckets(double start, double factor, size_t count);

// Threads: any; families and their metrics too. Lifetime: outlives the families' users.
class Registry {
 public:
  // A family shows up with its first metric (Family::Add, which costs a look-up by labels: keep
  // what it returns). Requires: each name once, label names that Prometheus allows.
  Family<Counter>& AddCounter(const Description& description) KS_EXCLUDES(mutex_);
  Family<Gauge>& AddGauge(const Description& description) KS_EXCLUDES(mutex_);
  Family<Histogram>& AddHistogram(const Description& description) KS_EXCLUDES(mutex_);

  // Runs `update` at the start of every Text, on its thread, until the returned token is gone. The
  // token must not be dropped while Text runs.
  [[nodiscard]] std::shared_ptr<void> BeforeText(std::function<void()> update) KS_EXCLUDES(mutex_);

  // Everything in the text format 0.0.4 (docs/spec/metrics.md 1.2).
  std::string Text() const KS_EXCLUDES(mutex_);

 private:
  void Claim(std::string_view name) KS_EXCLUDES(mutex_);

  prometheus::Registry registry_;
  mutable Mutex mutex_;
  std::set<std::string, std::less<>> names_ KS_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<std::function<void()>>> updates_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::metrics
