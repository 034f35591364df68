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
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace ks::metrics {

using Counter = prometheus::Counter;
using Gauge = prometheus::Gauge;
using Histogram = prometheus::Histogram;
template <class T>
using Family = prometheus::Family<T>;

// Shown in brackets before the help text; lint tools read it. kNone: no bracket (process_*), and
// Reset passes over the family.
enum class Stability { kAlpha, kBeta, kStable, kInternal, kNone };

struct Description {
  std::string_view name;
  Stability stability = Stability::kAlpha;
  std::string_view help;
  // The release of upstream that deprecated it, "1.37.0"; empty: not deprecated. Stability decides
  // how many releases later it is hidden.
  std::string_view deprecated_since = {};
};

// What of a registry is shown: the metric flags (docs/spec/metrics.md 1.4).
struct Selection {
  std::set<std::string, std::less<>> disabled;  // also names that nobody registers
  bool show_hidden = false;
  // By metric, then label: the values that keep their name. All others are summed under the value
  // "unexpected".
  std::map<std::string, std::map<std::string, std::set<std::string>>> allowed;
  // Whether the families that count registered, hidden and disabled metrics and replaced label
  // values are shown.
  bool count_metrics = true;
};

// `count` upper bounds, each `factor` times the one before. By repeated multiplication: the bounds
// of upstream's histograms come from it and differ from powers in the last digit.
std::vector<double> ExponentialBuckets(double start, double factor, size_t count);

// What is not shown costs its users the same: it is recorded and left out of Collect.
//
// Threads: any; families and their metrics too. Lifetime: outlives the families' users.
class Registry {
 public:
  using Families = std::vector<prometheus::MetricFamily>;

  // Without it everything but what is hidden by age is shown, and no counts of metrics. Logs which
  // hidden metrics are shown. Requires: called at most once, before the first Collect; families
  // may be added later.
  void Select(Selection selection) KS_EXCLUDES(mutex_);

  // A family shows up with its first metric (Family::Add, which costs a look-up by labels: keep
  // what it returns). Requires: each name once, label names that Prometheus allows.
  Family<Counter>& AddCounter(const Description& description) KS_EXCLUDES(mutex_);
  Family<Gauge>& AddGauge(const Description& description) KS_EXCLUDES(mutex_);
  Family<Histogram>& AddHistogram(const Description& description) KS_EXCLUDES(mutex_);

  // Runs `update` at the start of every Collect and Text, on its thread, until the returned token
  // is gone. The token must not be dropped while they run.
  [[nodiscard]] std::shared_ptr<void> BeforeText(std::function<void()> update) KS_EXCLUDES(mutex_);

  // What is shown: families by name, series by their label values, labels by name; no family
  // without series.
  Families Collect() const KS_EXCLUDES(mutex_);
  // The same in the text format 0.0.4 (docs/spec/metrics.md 1.2).
  std::string Text() const KS_EXCLUDES(mutex_);

  // Counters and histograms go on from 0 for readers; gauges keep their value. What users of the
  // families see of them stays.
  void Reset() KS_EXCLUDES(mutex_);

  // The text after the bracket, the type and so on of everything registered, for documentation.
  struct Registered {
    Stability stability = Stability::kAlpha;
    std::string deprecated_since;
    bool hidden = false;  // by age
  };
  std::map<std::string, Registered, std::less<>> registered() const KS_EXCLUDES(mutex_);

 private:
  using Labels = std::vector<prometheus::ClientMetric::Label>;
  using Zero = std::map<std::string, std::map<Labels, prometheus::ClientMetric>>;

  void Claim(const Description& description) KS_EXCLUDES(mutex_);
  Families CollectAll() const KS_EXCLUDES(mutex_);
  bool Shows(const std::string& name) const KS_REQUIRES(mutex_);
  Families Counts(double replaced) const KS_REQUIRES(mutex_);

  prometheus::Registry registry_;
  mutable Mutex mutex_;
  std::map<std::string, Registered, std::less<>> registered_ KS_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<std::function<void()>>> updates_ KS_GUARDED_BY(mutex_);
  bool selected_ KS_GUARDED_BY(mutex_) = false;
  Selection selection_ KS_GUARDED_BY(mutex_);
  Zero zero_ KS_GUARDED_BY(mutex_);  // what counters and histograms stood at when last reset
};

}  // namespace ks::metrics
