// SPDX-License-Identifier: Apache-2.0
#pragma once
// In which order the members of one PodGroup are tried.
//
// Upstream: docs/spec/queue.md section 18.2.

#include <string_view>
#include <tuple>

#include "framework/queued_pod.h"

namespace ks::queue {

inline bool TriedBefore(const framework::QueuedPodPtr& a, const framework::QueuedPodPtr& b) {
  const auto rank = [](const framework::QueuedPod& pod) {
    return std::make_tuple(-int64_t{pod.Priority()}, -pod.attempts, pod.timestamp,
                           std::string_view(pod.pod()->meta.name));
  };
  return rank(*a) < rank(*b);
}

}  // namespace ks::queue
