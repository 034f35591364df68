// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds beside pods and nodes that only some plugins read. Only what an enabled plugin asks for
// is watched; the other kinds look empty.
//
// Upstream: docs/spec/api.md section 6.

#include <cstdint>
#include <initializer_list>

#include "api/kinds.h"

namespace ks::framework {

// kService, kReplicationController …: one a row of api/kinds.h.
#define KS_OPTIONAL_KIND(type, kind, group, version, plural, scope) k##type,
enum class OptionalKind : uint8_t { KS_OPTIONAL_KINDS(KS_OPTIONAL_KIND) };
#undef KS_OPTIONAL_KIND
#define KS_OPTIONAL_KIND(type, kind, group, version, plural, scope) OptionalKind::k##type,
inline constexpr OptionalKind kAllOptionalKinds[] = {KS_OPTIONAL_KINDS(KS_OPTIONAL_KIND)};
#undef KS_OPTIONAL_KIND

// The kind of an object's type.
template <class T>
inline constexpr OptionalKind kOptionalKindOf{};
#define KS_OPTIONAL_KIND_OF(type, kind, group, version, plural, scope) \
  template <>                                                          \
  inline constexpr OptionalKind kOptionalKindOf<api::type> = OptionalKind::k##type;
KS_OPTIONAL_KINDS(KS_OPTIONAL_KIND_OF)
#undef KS_OPTIONAL_KIND_OF

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

// A plugin that reads OwnerListers, StorageState, DeviceState or PodGroupLister says which kinds.
// Nothing is scheduled before they are known.
class OptionalKindReader {
 public:
  virtual ~OptionalKindReader() = default;
  // Asked once, after construction.
  virtual OptionalKinds NeededKinds() const = 0;
};

// Whether those of the kinds of `List` (api/kinds.h) that are `wanted` are among the `synced`.
template <class List>
bool AllSynced(const OptionalKinds& wanted, const OptionalKinds& synced) {
  bool all = true;
  List::ForEach([&]<class T>(const T*) {
    constexpr OptionalKind kKind = kOptionalKindOf<T>;
    if (wanted.Contains(kKind) && !synced.Contains(kKind)) all = false;
  });
  return all;
}

}  // namespace ks::framework
