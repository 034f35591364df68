// SPDX-License-Identifier: Apache-2.0
#include "plugins/default_preemption/importance.h"

#include <algorithm>

namespace ks::plugins {
namespace {

bool MoreImportant(const PotentialVictim& a, const PotentialVictim& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.start_time.has_value() != b.start_time.has_value()) return a.start_time.has_value();
  if (!a.start_time.has_value()) return a.place < b.place;
  return *a.start_time < *b.start_time;
}

}  // namespace

std::vector<PotentialVictim> PotentialVictims(std::span<const framework::PodInfoPtr> pods,
                                              int32_t priority) {
  std::vector<PotentialVictim> victims;
  uint32_t place = 0;
  for (const framework::PodInfoPtr& info : pods) {
    const api::Pod& pod = info->pod();
    if (pod.Priority() < priority) {
      victims.push_back({info, pod.Priority(), pod.status.start_time, place});
    }
    ++place;
  }
  return victims;
}

void SortByImportance(std::vector<PotentialVictim>* victims) {
  std::stable_sort(victims->begin(), victims->end(), MoreImportant);
}

}  // namespace ks::plugins
