// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a pod asks for: containers, init containers, sidecars, pod-level resources, overhead,
// in-place resize.
//
// Upstream: docs/spec/plugins-node.md 2.3–2.5, docs/spec/cache.md 3.3–3.8.

#include <cstdint>

#include "api/pod.h"
#include "config/gates/feature_gates.h"
#include "framework/resource.h"

namespace ks::framework {

// Defaults for containers that name no cpu or memory, in scoring (docs/spec/plugins-node.md 2.3).
inline constexpr int64_t kDefaultMilliCpuRequest = 100;
inline constexpr int64_t kDefaultMemoryRequest = 200LL * 1024 * 1024;

// Puts the gates PodLevelResources and InPlacePodLevelResourcesVerticalScaling in force for every
// computation of this file, in the whole process: what a node counts and what a pod asks for must
// not be computed under different gates. Upstream's defaults hold until it is called. To be called
// at start, before the first pod is counted: counted pods are not counted anew. Threads: any.
void SetRequestGates(const config::FeatureGates& gates);

struct RequestOptions {
  bool use_status = false;   // 2.4 "with status": containers counted on a node
  bool pod_level = true;     // honor spec.resources, if the gate PodLevelResources does
  bool default_cpu = false;  // put the default into containers that lack cpu
  bool default_memory = false;
};

// A *deferred* pod: the kubelet has put off its resize (section 1). Only the first condition of
// type PodResizePending counts, whatever its status is.
bool HasDeferredResize(const api::Pod& pod);

// Whether the pod's status can change what it counts for "with status". Almost never: only around
// in-place resizes.
bool StatusAffectsRequests(const api::Pod& pod);

// The exact aggregate, before rounding. A resource named nowhere is absent.
api::ResourceList AggregateRequests(const api::Pod& pod, const RequestOptions& options);

// The same of limits, by the spec alone; overhead is added where there is a limit. Only for
// metrics.
//
// Upstream: docs/spec/metrics.md section 7.
api::ResourceList AggregateLimits(const api::Pod& pod);

// 2.5 row 1: the incoming pod in Fit's PreFilter and Filter.
Resource PodRequest(const api::Pod& pod);

// 2.5 rows 4 and 5: a pod counted on a node.
struct AccountedRequest {
  Resource requested;
  int64_t non_zero_milli_cpu = 0;
  int64_t non_zero_memory = 0;
};
AccountedRequest AccountPod(const api::Pod& pod);

}  // namespace ks::framework
