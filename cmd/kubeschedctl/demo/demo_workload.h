// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pods of the demo: a made-up mix, or those of a file. And the size of nodes on which all that
// can be placed has room.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kubeschedctl/cluster/capacity_check.h"
#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl {

struct PlannedPod {
  std::string name;
  std::string body;       // of the request that creates it; empty: a Job's, which others make
  bool placeable = true;  // false: it is meant to stay pending
  Amount amount{};        // what it asks for
};

// What pods of a file refer to or come from: a ResourceClaim or a ResourceClaimTemplate, a PodGroup
// or a CompositePodGroup, a Job.
struct PlannedObject {
  std::string name;
  std::string path;  // of the request that creates it
  std::string body;
};

struct PlannedWorkload {
  std::vector<PlannedPod> pods;
  std::vector<PlannedObject> objects;  // to be there before the pods
  std::vector<std::string> gates;      // that the scheduler needs for them: "GenericWorkload"
};

// A priority class that the mix names, as a body for the server.
struct PriorityClassBody {
  std::string name;
  std::string body;
};

inline constexpr const char* kPriorityClassPath = "/apis/scheduling.k8s.io/v1/priorityclasses";
// kubeschedctl-demo-high and -low, with the owner's label.
std::vector<PriorityClassBody> DemoPriorityClasses(const std::string& owner);

struct MixOptions {
  std::string owner;  // value of kOwnerLabel
  size_t pods = 5000;
  size_t nodes = 500;
  size_t zones = 3;  // 0: no pods that need zones
  uint64_t seed = 1;
};
// Plain pods, hard and soft spread over zones, required and preferred affinity, anti-affinity
// between pods, node affinity, high and low priority, and a few that no node can take, in an order
// drawn from the seed.
std::vector<PlannedPod> MakeMix(const MixOptions& options);

// Pods and what they claim from a file, in its order. `name` stands in errors: FILE:LINE:COLUMN:
// PATH: CAUSE (CURE). The text is YAML (any number of documents) or JSON. A document is a Pod, a
// List or PodList, a list, or an entry:
//
//   - count: 20        # pods web-00000 … web-00019; default 1: the pod's own name
//     name: web        # default: metadata.name
//     expect: bound    # or pending: it is meant not to be placed; default bound
//     pod: {spec: …}   # a Pod; apiVersion and kind may be left out
//
// ResourceClaims, ResourceClaimTemplates, PodGroups, CompositePodGroups and Jobs may stand among
// them, with a name and without a count. Of a Job the pods count that it begins with.
//
// Fields that entries do not have, other kinds than these, pods that have a node already, names
// that occur twice and namespaces other than `ns` are errors.
struct WorkloadFileOptions {
  std::string owner;
  std::string ns = "default";
};
Result<PlannedWorkload> ParseWorkload(const std::string& name, std::string_view text,
                                      const WorkloadFileOptions& options);
// The same from a file; "-" is standard input.
Result<PlannedWorkload> ReadWorkload(const std::string& path, const WorkloadFileOptions& options);

// Nodes so large that the placeable pods take about two thirds of them, and any of them fits on one
// node; at least 4 CPU, 16 GiB and 110 pods.
NodeTemplate FittingNode(const std::vector<PlannedPod>& pods, size_t nodes);

}  // namespace ks::ctl
