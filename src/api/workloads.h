// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds that select pods: Service, ReplicationController, ReplicaSet, StatefulSet,
// PodDisruptionBudget. Of each only identity, selector and what a budget allows are kept; of the
// metadata name, namespace, uid and resource version.
//
// Upstream: docs/spec/plugins-crosspod.md section 4.3, docs/spec/preemption.md section 7.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/labels.h"
#include "api/object.h"
#include "api/selector.h"

namespace ks::api {

// core/v1. Threads: immutable once shared.
struct Service {
  ObjectMeta meta;
  std::optional<LabelMap> selector;  // absent: null; an empty one is satisfied by every pod

  bool operator==(const Service&) const = default;
};

// core/v1. Threads: immutable once shared.
struct ReplicationController {
  ObjectMeta meta;
  LabelMap selector;  // null reads as empty

  bool operator==(const ReplicationController&) const = default;
};

// apps/v1. Threads: immutable once shared.
struct ReplicaSet {
  ObjectMeta meta;
  LabelSelector selector;  // matches nothing when null or invalid

  bool operator==(const ReplicaSet&) const = default;
};

// apps/v1. Threads: immutable once shared.
struct StatefulSet {
  ObjectMeta meta;
  LabelSelector selector;  // matches nothing when null or invalid

  bool operator==(const StatefulSet&) const = default;
};

// policy/v1. Threads: immutable once shared.
struct PodDisruptionBudget {
  ObjectMeta meta;
  LabelSelector selector;  // matches nothing when null or invalid
  int32_t disruptions_allowed = 0;
  std::vector<std::string> disrupted_pods;  // names, the keys of status.disruptedPods

  bool operator==(const PodDisruptionBudget&) const = default;
};

using ServicePtr = std::shared_ptr<const Service>;
using ReplicationControllerPtr = std::shared_ptr<const ReplicationController>;
using ReplicaSetPtr = std::shared_ptr<const ReplicaSet>;
using StatefulSetPtr = std::shared_ptr<const StatefulSet>;
using PodDisruptionBudgetPtr = std::shared_ptr<const PodDisruptionBudget>;

}  // namespace ks::api
