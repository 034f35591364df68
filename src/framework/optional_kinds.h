// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds beside pods and nodes that only some plugins read. Only what an enabled plugin asks for
// is watched; the other kinds look empty.
//
// Upstream: docs/spec/api.md section 6.

#include <cstdint>
#include <initializer_list>

namespace ks::framework {

enum class OptionalKind : uint8_t {
  kService,
  kReplicationController,
  kReplicaSet,
  kStatefulSet,
  kNamespace,
  kPodDisruptionBudget,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kStorageClass,
  kCsiNode,
  kCsiDriver,
  kCsiStorageCapacity,
  kVolumeAttachment,
};
inline constexpr OptionalKind kAllOptionalKinds[] = {
    OptionalKind::kService,          OptionalKind::kReplicationController,
    OptionalKind::kReplicaSet,       OptionalKind::kStatefulSet,
    OptionalKind::kNamespace,        OptionalKind::kPodDisruptionBudget,
    OptionalKind::kPersistentVolume, OptionalKind::kPersistentVolumeClaim,
    OptionalKind::kStorageClass,     OptionalKind::kCsiNode,
    OptionalKind::kCsiDriver,        OptionalKind::kCsiStorageCapacity,
    OptionalKind::kVolumeAttachment,
};

// A set of kinds. Threads: like a value.
class OptionalKinds {
 public:
  constexpr OptionalKinds() = default;
  constexpr OptionalKinds(std::initializer_list<OptionalKind> kinds) {
    for (const OptionalKind kind : kinds) Add(kind);
  }

  constexpr void Add(OptionalKind kind) { bits_ |= Bit(kind); }
  constexpr void Add(OptionalKinds kinds) { bits_ |= kinds.bits_; }
  constexpr bool Contains(OptionalKind kind) const { return (bits_ & Bit(kind)) != 0; }
  constexpr bool Contains(OptionalKinds kinds) const { return (kinds.bits_ & ~bits_) == 0; }
  constexpr bool empty() const { return bits_ == 0; }

  friend constexpr bool operator==(OptionalKinds, OptionalKinds) = default;

 private:
  static constexpr uint32_t Bit(OptionalKind kind) { return 1U << static_cast<uint32_t>(kind); }

  uint32_t bits_ = 0;
};

// Of a plugin that reads OwnerListers or StorageState. Nothing is scheduled before these kinds are
// known.
class OptionalKindReader {
 public:
  virtual ~OptionalKindReader() = default;
  // Asked once, after construction.
  virtual OptionalKinds NeededKinds() const = 0;
};

}  // namespace ks::framework
