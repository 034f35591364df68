// SPDX-License-Identifier: Apache-2.0
#include "framework/cycle_state.h"

namespace ks::framework {

void PodsToActivate::Add(api::PodPtr pod) {
  std::string key = pod->meta.Key();
  MutexLock lock(mutex_);
  pods_.insert_or_assign(std::move(key), std::move(pod));
}

std::vector<api::PodPtr> PodsToActivate::Take() {
  std::map<std::string, api::PodPtr> taken;
  {
    MutexLock lock(mutex_);
    taken.swap(pods_);
  }
  std::vector<api::PodPtr> pods;
  pods.reserve(taken.size());
  for (auto& [key, pod] : taken) pods.push_back(std::move(pod));
  return pods;
}

CycleState CycleState::Clone() const {
  CycleState copy;
  copy.skip_filter = skip_filter;
  copy.skip_score = skip_score;
  copy.skip_pre_bind = skip_pre_bind;
  copy.parallel_pre_bind = parallel_pre_bind;
  copy.record_plugin_metrics = record_plugin_metrics;
  copy.skip_all_post_filter = skip_all_post_filter;
  copy.pods_to_activate = pods_to_activate;
  copy.slots_.reserve(slots_.size());
  for (const auto& data : slots_) {
    copy.slots_.push_back(data == nullptr ? nullptr : data->Clone(data));
  }
  return copy;
}

void CycleState::Fix(const NodeInfo& node) {
  verdicts.reset();
  preemption_inquiry.reset();
  for (auto& data : slots_) {
    if (data != nullptr) data = data->Fix(data, node);
  }
}

void CycleState::Reset() {
  skip_filter = skip_score = skip_pre_bind = parallel_pre_bind = 0;
  record_plugin_metrics = skip_all_post_filter = false;
  pods_to_activate.reset();
  verdicts.reset();
  preemption_inquiry.reset();
  slots_.clear();
}

}  // namespace ks::framework
