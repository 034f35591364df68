// SPDX-License-Identifier: Apache-2.0
// A new configuration comes into force: nothing stored or in flight is lost.

#include <utility>

#include "base/check.h"
#include "queue/scheduling_queue.h"

namespace ks::queue {
namespace {

constexpr framework::ClusterEvent kConfigurationReload{.custom_label =
                                                           framework::kLabelConfigurationReload};

}  // namespace

void SchedulingQueue::Reconfigure(Settings settings) {
  KS_CHECK(!settings.profiles.empty(), "a queue needs a profile");
  constexpr Store kStores[] = {Store::kActive, Store::kBackoff, Store::kErrorBackoff,
                               Store::kUnschedulable};
  std::vector<std::pair<framework::QueuedPodPtr, Store>> stored;
  for (const Store store : kStores) {
    for (framework::QueuedPodPtr& pod : PodsIn(store)) stored.emplace_back(std::move(pod), store);
  }

  profiles_ = std::move(settings.profiles);
  backoff_.initial = settings.backoff_initial;
  backoff_.max = settings.backoff_max;
  rules_ = RequeueRules(profiles_, clock_, observers_.hint);
  stores_ = PodStores(QueueSort(profiles_), backoff_);

  for (auto& [pod, store] : stored) {
    pod->backoff_expiration.reset();  // by the former backoff times
    const auto strategy = store == Store::kActive ? std::optional<Strategy>()
                                                  : std::optional(Strategy::kAfterBackoff);
    Place(stores_.Create(std::move(pod)), strategy, framework::kLabelConfigurationReload);
  }
  if (!in_flight_.empty()) in_flight_.AddEvent({.event = kConfigurationReload});
}

}  // namespace ks::queue
