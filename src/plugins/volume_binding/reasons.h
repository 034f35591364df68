// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why VolumeBinding rejects a pod or a node: fixed texts.
//
// Upstream: docs/spec/plugins-volume.md sections 2.4 and 2.6.

#include <string_view>

namespace ks::plugins {

inline constexpr std::string_view kReasonVolumeNodeConflict =
    "node(s) didn't match PersistentVolume's node affinity";
inline constexpr std::string_view kReasonNoVolumeToBind =
    "node(s) didn't find available persistent volumes to bind";
inline constexpr std::string_view kReasonNotEnoughSpace =
    "node(s) did not have enough free storage";
inline constexpr std::string_view kReasonVolumeMissing =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
inline constexpr std::string_view kReasonUnboundImmediate =
    "pod has unbound immediate PersistentVolumeClaims";

}  // namespace ks::plugins
