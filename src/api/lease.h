// SPDX-License-Identifier: Apache-2.0
#pragma once
// coordination.k8s.io/v1 Lease, and the v1beta1 LeaseCandidate of coordinated election. A PUT
// replaces the object, so the text as last received is kept beside the parsed fields.
//
// Upstream: docs/spec/api.md section 11.1, docs/spec/operations.md section 6.5.

#include <cstdint>
#include <optional>
#include <string>

#include "api/object.h"

namespace ks::api {

struct Lease {
  ObjectMeta meta;
  std::string holder_identity;
  int32_t lease_duration_seconds = 0;
  OptionalTime acquire_time;
  OptionalTime renew_time;
  int32_t lease_transitions = 0;

  bool operator==(const Lease&) const = default;
};

struct LeaseCandidate {
  ObjectMeta meta;
  std::string lease_name;
  OptionalTime ping_time;  // when the server asked last, by its clock
  OptionalTime renew_time;

  bool operator==(const LeaseCandidate&) const = default;
};

}  // namespace ks::api
