// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests of a pod that 64 bits cannot count. kube-scheduler's arithmetic takes some other number
// for them, and kubesched's the same: 50E of memory fits a node of 8Gi. To be told to people.
//
// Upstream: docs/spec/api.md section 3 (overflow); nobody is told there.

#include <cstdint>
#include <string>
#include <vector>

#include "api/pod.h"
#include "base/symbol.h"

namespace ks::inspect {

struct CutRequest {
  Symbol resource;
  std::string asked;    // "50E"
  int64_t counted = 0;  // what it is taken for: thousandths of cpu, bytes, units
};
// Ascending by name; of the pod as it is filtered (framework::PodRequest).
std::vector<CutRequest> CutRequests(const api::Pod& pod);

// A sentence for each.
std::vector<std::string> NotesOnCutRequests(const api::Pod& pod);

}  // namespace ks::inspect
