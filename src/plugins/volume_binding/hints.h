// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which events may make a pod schedulable that VolumeBinding rejected.
//
// Upstream: docs/spec/plugins-volume.md section 2.13.

#include <vector>

#include "framework/events.h"

namespace ks::plugins {

std::vector<framework::EventRegistration> VolumeBindingEvents();

}  // namespace ks::plugins
