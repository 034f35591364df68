// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a workload does, step by step: the operations of the case files with the workload's
// parameters filled in. Paths are those of files.
//
// Upstream: test/integration/scheduler_perf, README.md and the comments of its operations, v1.37.1.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "ksdev/perf/fields.h"

namespace ks::ctl::dev::perf {

// Nodes get `allocatable`, and a CSINode each with these drivers.
struct NodeAllocatable {
  TextMap allocatable;
  nlohmann::json drivers;  // by name: VolumeNodeResources
  std::vector<std::string> migrated_plugins;
};

struct CreateNodes {
  size_t count = 0;
  std::string template_path;  // empty: a node of 4 CPUs, 32 GiB and 110 pods
  nlohmann::json template_params;
  std::optional<NodeAllocatable> allocatable;
  std::string label_key;                  // empty: none
  std::vector<std::string> label_values;  // in turn
  std::string unique_label_key;           // empty: none; its value differs on each node
};

struct CreateNamespaces {
  std::string prefix;  // <prefix>-0, <prefix>-1 …
  size_t count = 0;
  std::string template_path;
};

struct CreatePods {
  size_t count = 0;
  std::optional<std::string> ns;  // absent: namespace-<index of the operation>
  std::string template_path;      // empty: the case's, else a pod of 100m and 500Mi
  nlohmann::json template_params;
  bool collect_metrics = false;
  bool skip_wait = false;     // for the pods to be scheduled
  bool steady_state = false;  // for `duration`: each pod that is scheduled makes room for another
  Duration duration{};        // of the steady state
  std::string volume_path;    // with claim_path: a claim and its volume for each pod
  std::string claim_path;
  size_t signature_batch = 1;  // so many pods in a row have one value of the label "signature"
};

// Also stands for createPodGroups, whose objects have a namespace always.
struct CreateAny {
  std::string ns;  // empty: cluster-scoped
  std::string template_path;
  nlohmann::json template_params;
  size_t count = 1;
};

struct UpdateAny {
  std::string ns;
  std::string template_path;
  size_t count = 1;
  size_t per_second = 0;  // 0: as fast as it goes
  std::vector<std::string> subresources;
};

struct DeletePods {
  std::string ns;
  TextMap labels;
  bool skip_wait = false;  // in the background
  size_t per_second = 0;   // 0: all at once
};

// In the background until the workload ends.
struct Churn {
  bool recreate = false;  // `number` rounds of creation, then as many of deletion, and again
  size_t number = 0;      // !recreate: rounds; 0: no end
  Duration interval{};
  std::optional<std::string> ns;
  std::vector<std::string> template_paths;
};

struct Barrier {
  std::vector<std::string> namespaces;  // empty: all that have pods to wait for
  TextMap labels;
  bool attempted = false;  // each pod once tried is enough
};

struct Sleep {
  Duration duration{};
};

struct StartCollecting {
  std::string name;
  std::vector<std::string> namespaces;
  TextMap labels;
};

struct StopCollecting {};

// Gives devices to claims without a pod.
struct AllocateClaims {
  std::string ns;  // empty: all
};

using Operation =
    std::variant<CreateNodes, CreateNamespaces, CreatePods, CreateAny, UpdateAny, DeletePods, Churn,
                 Barrier, Sleep, StartCollecting, StopCollecting, AllocateClaims>;

// One item of a workloadTemplate: one operation, for createPodSets several. `parameters` null: only
// its form is checked. Errors: an opcode or field that is unknown, a value of the wrong kind, a
// parameter that is missing.
Result<std::vector<Operation>> ReadOperation(const nlohmann::json& item, const std::string& folder,
                                             Parameters* parameters);

}  // namespace ks::ctl::dev::perf
