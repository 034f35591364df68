// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scores a node by how much of the storage that the pod would get there it would use.
//
// Upstream: docs/spec/plugins-volume.md section 2.8.

#include <cstdint>
#include <span>
#include <vector>

#include "config/plugin_args.h"
#include "plugins/volume_binding/binding_state.h"

namespace ks::plugins {

// 0..100. `shape`: scores 0..100, at least one point.
int64_t StorageScore(const NodeOffer& offer, std::span<const config::UtilizationShapePoint> shape);

}  // namespace ks::plugins
