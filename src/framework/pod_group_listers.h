// SPDX-License-Identifier: Apache-2.0
#pragma once
// PodGroups and CompositePodGroups, and which of them are children of which, as the API server last
// showed them. Kinds that no enabled plugin asks for look empty (framework/optional_kinds.h).
//
// Upstream: docs/spec/cache.md sections 18.1 and 18.5.

#include <span>
#include <string_view>
#include <variant>

#include "api/pod_group.h"

namespace ks::framework {

// One of the kinds of groups, never null.
using GroupPtr = std::variant<api::PodGroupPtr, api::CompositePodGroupPtr>;

inline const api::ObjectMeta& MetaOf(const GroupPtr& group) {
  return std::visit([](const auto& object) -> const api::ObjectMeta& { return object->meta; },
                    group);
}
inline const api::GroupSpec& SpecOf(const GroupPtr& group) {
  return std::visit([](const auto& object) -> const api::GroupSpec& { return object->spec; },
                    group);
}

// Threads: the scheduling thread; workers read while a cycle runs. Lifetime: spans are valid until
// the next change, so only within an attempt.
class PodGroupLister {
 public:
  virtual ~PodGroupLister() = default;

  // Null when unknown.
  virtual api::PodGroupPtr FindPodGroup(const Symbol& ns, std::string_view name) const = 0;
  virtual api::CompositePodGroupPtr FindCompositePodGroup(const Symbol& ns,
                                                          std::string_view name) const = 0;
  // The groups that name this composite as their parent, ascending by creation time, then by name,
  // PodGroups first. The composite itself need not be known.
  virtual std::span<const GroupPtr> ChildrenOf(const Symbol& ns,
                                               std::string_view composite) const = 0;
};

}  // namespace ks::framework
