// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pod among those that a node accounts, or that are nominated to it.

#include <algorithm>
#include <span>
#include <string_view>

#include "framework/node_info.h"

namespace ks::framework {

// The entry of the pod with this uid; null: it is not among them. The entry is that of `pods`.
// Threads: any that may read `pods`.
inline const PodInfoPtr* FindPodByUid(std::span<const PodInfoPtr> pods, std::string_view uid) {
  const auto found = std::find_if(pods.begin(), pods.end(), [uid](const PodInfoPtr& info) {
    return info->pod().meta.uid == uid;
  });
  return found == pods.end() ? nullptr : &*found;
}

}  // namespace ks::framework
