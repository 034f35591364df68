// SPDX-License-Identifier: Apache-2.0
#pragma once
// core/v1 Node and Namespace as the scheduler reads them: immutable after decoding, shared by
// pointer.
//
// Upstream: docs/spec/api.md section 2.3.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/labels.h"
#include "api/object.h"

namespace ks::api {

struct Taint {
  Symbol key;
  Symbol value;
  Symbol effect;

  friend bool operator==(const Taint&, const Taint&) = default;
};

// Bytes of the images on a node, by each of their names; of a name's mentions the first counts.
using ImageSizes = SymbolMap<int64_t>;

// Threads: immutable once shared.
struct Node {
  ObjectMeta meta;
  bool unschedulable = false;
  std::vector<Taint> taints;
  std::string disable_resize_preemption;  // spec.podPreemptionPolicy.disableResizePreemption
  bool pod_preemption_policy_present = false;
  ResourceList allocatable;  // status.capacity is not read
  ImageSizes images;
  std::vector<std::pair<Symbol, Symbol>> conditions;  // type, status; only as requeue trigger
  std::vector<std::string> declared_features;
  // The whole object as JSON for extenders (Decoder::set_keep_raw); null unless asked for.
  std::shared_ptr<const std::string> raw{};

  bool operator==(const Node&) const = default;
};

using NodePtr = std::shared_ptr<const Node>;

struct Namespace {
  ObjectMeta meta;

  bool operator==(const Namespace&) const = default;
};

using NamespacePtr = std::shared_ptr<const Namespace>;

}  // namespace ks::api
