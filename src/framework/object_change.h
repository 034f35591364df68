// SPDX-License-Identifier: Apache-2.0
#pragma once
// ObjectChange: an object of an optional kind was added, changed or deleted.

#include <compare>
#include <string>

#include "framework/optional_kinds.h"
#include "framework/ring_log.h"

namespace ks::framework {

struct ObjectChange {
  OptionalKind kind = OptionalKind::kPersistentVolume;
  std::string key;  // "namespace/name", or the name

  friend auto operator<=>(const ObjectChange&, const ObjectChange&) = default;
};
using ObjectLog = RingLog<ObjectChange>;

}  // namespace ks::framework
