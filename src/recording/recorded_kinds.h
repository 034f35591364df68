// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of objects in a recording, by name. For the files that read, write and replay
// recordings only.

#include <string_view>
#include <tuple>
#include <type_traits>

#include "api/node.h"
#include "api/pod.h"
#include "api/storage.h"
#include "api/workloads.h"
#include "framework/optional_kinds.h"

namespace ks::recording {

template <class T>
inline constexpr std::string_view kRecordedKind = "";
template <>
inline constexpr std::string_view kRecordedKind<api::Pod> = "Pod";
template <>
inline constexpr std::string_view kRecordedKind<api::Node> = "Node";
template <>
inline constexpr std::string_view kRecordedKind<api::Namespace> = "Namespace";
template <>
inline constexpr std::string_view kRecordedKind<api::Service> = "Service";
template <>
inline constexpr std::string_view kRecordedKind<api::ReplicationController> =
    "ReplicationController";
template <>
inline constexpr std::string_view kRecordedKind<api::ReplicaSet> = "ReplicaSet";
template <>
inline constexpr std::string_view kRecordedKind<api::StatefulSet> = "StatefulSet";
template <>
inline constexpr std::string_view kRecordedKind<api::PodDisruptionBudget> = "PodDisruptionBudget";
template <>
inline constexpr std::string_view kRecordedKind<api::PersistentVolume> = "PersistentVolume";
template <>
inline constexpr std::string_view kRecordedKind<api::PersistentVolumeClaim> =
    "PersistentVolumeClaim";
template <>
inline constexpr std::string_view kRecordedKind<api::StorageClass> = "StorageClass";
template <>
inline constexpr std::string_view kRecordedKind<api::CsiNode> = "CSINode";
template <>
inline constexpr std::string_view kRecordedKind<api::CsiDriver> = "CSIDriver";
template <>
inline constexpr std::string_view kRecordedKind<api::CsiStorageCapacity> = "CSIStorageCapacity";
template <>
inline constexpr std::string_view kRecordedKind<api::VolumeAttachment> = "VolumeAttachment";

// The optional kinds, as types.
using RecordedKinds =
    std::tuple<api::Service, api::ReplicationController, api::ReplicaSet, api::StatefulSet,
               api::Namespace, api::PodDisruptionBudget, api::PersistentVolume,
               api::PersistentVolumeClaim, api::StorageClass, api::CsiNode, api::CsiDriver,
               api::CsiStorageCapacity, api::VolumeAttachment>;
template <class T>
inline constexpr framework::OptionalKind kOptionalKind{};
template <>
inline constexpr auto kOptionalKind<api::Service> = framework::OptionalKind::kService;
template <>
inline constexpr auto kOptionalKind<api::ReplicationController> =
    framework::OptionalKind::kReplicationController;
template <>
inline constexpr auto kOptionalKind<api::ReplicaSet> = framework::OptionalKind::kReplicaSet;
template <>
inline constexpr auto kOptionalKind<api::StatefulSet> = framework::OptionalKind::kStatefulSet;
template <>
inline constexpr auto kOptionalKind<api::Namespace> = framework::OptionalKind::kNamespace;
template <>
inline constexpr auto kOptionalKind<api::PodDisruptionBudget> =
    framework::OptionalKind::kPodDisruptionBudget;
template <>
inline constexpr auto kOptionalKind<api::PersistentVolume> =
    framework::OptionalKind::kPersistentVolume;
template <>
inline constexpr auto kOptionalKind<api::PersistentVolumeClaim> =
    framework::OptionalKind::kPersistentVolumeClaim;
template <>
inline constexpr auto kOptionalKind<api::StorageClass> = framework::OptionalKind::kStorageClass;
template <>
inline constexpr auto kOptionalKind<api::CsiNode> = framework::OptionalKind::kCsiNode;
template <>
inline constexpr auto kOptionalKind<api::CsiDriver> = framework::OptionalKind::kCsiDriver;
template <>
inline constexpr auto kOptionalKind<api::CsiStorageCapacity> =
    framework::OptionalKind::kCsiStorageCapacity;
template <>
inline constexpr auto kOptionalKind<api::VolumeAttachment> =
    framework::OptionalKind::kVolumeAttachment;

// Calls `visit` with a null pointer to each type.
template <class Visit>
void ForEachRecordedKind(const Visit& visit) {
  const auto each = [&visit]<class... T>(std::type_identity<std::tuple<T...>>) {
    (visit(static_cast<const T*>(nullptr)), ...);
  };
  each(std::type_identity<RecordedKinds>());
}

}  // namespace ks::recording
