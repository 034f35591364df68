// SPDX-License-Identifier: Apache-2.0
#pragma once
// What all Kubernetes objects share: metadata, conditions, references. Only the fields that
// scheduling reads are kept.
//
// Upstream: docs/spec/api.md sections 2.1 and 4.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/labels.h"
#include "base/optional_time.h"
#include "base/result.h"
#include "base/shared_value.h"

namespace ks::api {

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;

  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};
using OwnerReferences = std::vector<OwnerReference>;

struct ObjectMeta {
  std::string name;
  Symbol ns;  // empty for cluster-scoped kinds
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  LabelMap labels;
  SymbolMap<std::string> annotations;
  OptionalTime creation_timestamp;
  OptionalTime deletion_timestamp;
  SharedValue<OwnerReferences> owner_references;

  // "namespace/name", or the name alone when there is no namespace: the store key and the text in
  // messages.
  std::string Key() const {
    if (ns.empty()) return name;
    std::string key(ns.view());
    key += '/';
    key += name;
    return key;
  }

  // The first owner that controls the object, or null.
  const OwnerReference* Controller() const {
    for (const OwnerReference& owner : *owner_references) {
      if (owner.controller) return &owner;
    }
    return nullptr;
  }

  bool operator==(const ObjectMeta&) const = default;
};

// Which of two resource versions is older (docs/spec/api.md 6.6). Error: `resource version is not
// well formed: <rv>`.
Result<std::strong_ordering> CompareResourceVersions(std::string_view a, std::string_view b);

// A status condition. Times are kept because patches carry the old transition time.
struct Condition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
  OptionalTime last_probe_time;
  OptionalTime last_transition_time;
  int64_t observed_generation = 0;

  friend bool operator==(const Condition&, const Condition&) = default;
};

}  // namespace ks::api
