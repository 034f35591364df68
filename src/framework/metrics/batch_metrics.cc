// SPDX-License-Identifier: Apache-2.0
#include "framework/metrics/batch_metrics.h"

#include <utility>
#include <vector>

#include "golang/durations.h"

namespace ks::framework {
namespace {

using metrics::Stability;

const std::vector<double>& Buckets() {
  static const std::vector<double> buckets = metrics::ExponentialBuckets(0.00001, 2, 12);
  return buckets;
}

}  // namespace

struct ProfileBatchMetrics::Families {
  explicit Families(metrics::Registry& registry)
      : attempts(registry.AddCounter({.name = "scheduler_batch_attempts_total",
                                      .stability = Stability::kAlpha,
                                      .help = "Uses of a remembered node ranking, by outcome."})),
        flushes(registry.AddCounter({.name = "scheduler_batch_cache_flushed_total",
                                     .stability = Stability::kAlpha,
                                     .help = "Remembered rankings thrown away, by reason."})),
        rescores(registry.AddCounter({.name = "scheduler_batch_rescore_attempts_total",
                                      .stability = Stability::kAlpha,
                                      .help = "Times the node used last was scored again."})),
        rescore(registry.AddHistogram({.name = "scheduler_batch_rescore_duration_seconds",
                                       .stability = Stability::kAlpha,
                                       .help = "Time of such a re-scoring."})),
        hint(registry.AddHistogram({.name = "scheduler_get_node_hint_duration_seconds",
                                    .stability = Stability::kAlpha,
                                    .help = "Time to look up a remembered node."})),
        store(registry.AddHistogram({.name = "scheduler_store_schedule_results_duration_seconds",
                                     .stability = Stability::kAlpha,
                                     .help = "Time to remember a ranking."})) {}

  metrics::Family<metrics::Counter>& attempts;
  metrics::Family<metrics::Counter>& flushes;
  metrics::Family<metrics::Counter>& rescores;
  metrics::Family<metrics::Histogram>& rescore;
  metrics::Family<metrics::Histogram>& hint;
  metrics::Family<metrics::Histogram>& store;
};

ProfileBatchMetrics::ProfileBatchMetrics(Families& families, std::string profile)
    : families_(families), profile_(std::move(profile)) {}

metrics::Counter& ProfileBatchMetrics::Of(metrics::Family<metrics::Counter>& family,
                                          const char* label, std::string_view value,
                                          Counters* counters) {
  if (const auto known = counters->find(value); known != counters->end()) return *known->second;
  metrics::Counter& made = family.Add({{"profile", profile_}, {label, std::string(value)}});
  counters->emplace(value, &made);
  return made;
}

void ProfileBatchMetrics::CountAttempt(std::string_view result) {
  Of(families_.attempts, "result", result, &attempts_).Increment();
}

void ProfileBatchMetrics::CountFlush(std::string_view reason) {
  Of(families_.flushes, "reason", reason, &flushes_).Increment();
}

void ProfileBatchMetrics::ObserveRescore(Duration took) {
  if (rescore_ == nullptr) {
    rescores_ = &families_.rescores.Add({{"profile", profile_}});
    rescore_ = &families_.rescore.Add({{"profile", profile_}}, Buckets());
  }
  rescores_->Increment();
  rescore_->Observe(golang::Seconds(took));
}

void ProfileBatchMetrics::ObserveHint(bool hinted, Duration took) {
  metrics::Histogram*& series = hint_[hinted ? 1 : 0];
  if (series == nullptr) {
    series = &families_.hint.Add({{"hinted", hinted ? "hint" : "no_hint"}, {"profile", profile_}},
                                 Buckets());
  }
  series->Observe(golang::Seconds(took));
}

void ProfileBatchMetrics::ObserveStore(Duration took) {
  if (store_ == nullptr) store_ = &families_.store.Add({{"profile", profile_}}, Buckets());
  store_->Observe(golang::Seconds(took));
}

BatchMetrics::BatchMetrics(metrics::Registry& registry, const Clock& clock)
    : clock_(clock), families_(std::make_unique<ProfileBatchMetrics::Families>(registry)) {}

BatchMetrics::~BatchMetrics() = default;

ProfileBatchMetrics& BatchMetrics::ForProfile(const std::string& profile) {
  auto& made = profiles_[profile];
  if (made == nullptr) made.reset(new ProfileBatchMetrics(*families_, profile));
  return *made;
}

}  // namespace ks::framework
