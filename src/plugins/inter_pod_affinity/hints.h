// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which events may let a pod pass that inter-pod affinity rejected.
//
// Upstream: docs/spec/plugins-crosspod.md section 3.10, docs/spec/queue.md 10.13.

#include <vector>

#include "framework/events.h"

namespace ks::plugins {

std::vector<framework::EventRegistration> InterPodAffinityEvents();

}  // namespace ks::plugins
