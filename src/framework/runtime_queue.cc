// SPDX-License-Identifier: Apache-2.0
// The points that the queue asks: QueueSort and PreEnqueue.

#include <algorithm>

#include "framework/runtime.h"
#include "framework/runtime_impl.h"

namespace ks::framework {
namespace {

// The one place where a PreEnqueue plugin is called.
Status CallPreEnqueue(const PointEntry<PreEnqueuePlugin>& entry, const api::Pod& pod) {
  Status status = entry.plugin->PreEnqueue(pod);
  return status.ok() ? status : status.WithPlugin(entry.name);
}

}  // namespace

bool Framework::QueueSortLess(const QueuedEntity& a, const QueuedEntity& b) const {
  return impl_->queue_sort->Less(a, b);
}

Status Framework::RunPreEnqueuePlugins(const api::Pod& pod, std::string_view first) const {
  const auto& list = impl_->pre_enqueue;
  const auto last_gate =
      first.empty() ? list.end() : std::find_if(list.begin(), list.end(), [&](const auto& entry) {
        return entry.name == first;
      });
  if (last_gate != list.end()) {
    if (Status status = CallPreEnqueue(*last_gate, pod); !status.ok()) return status;
  }
  for (auto entry = list.begin(); entry != list.end(); ++entry) {
    if (entry == last_gate) continue;
    if (Status status = CallPreEnqueue(*entry, pod); !status.ok()) return status;
  }
  return {};
}

}  // namespace ks::framework
