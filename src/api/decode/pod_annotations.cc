// SPDX-License-Identifier: Apache-2.0
#include "api/decode/pod_annotations.h"

#include <atomic>

namespace ks::api {
namespace {

std::atomic<bool> keeps{false};

}  // namespace

void KeepPodAnnotations() { keeps.store(true, std::memory_order_relaxed); }

bool KeepsPodAnnotations() { return keeps.load(std::memory_order_relaxed); }

}  // namespace ks::api
