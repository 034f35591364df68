// SPDX-License-Identifier: Apache-2.0
#pragma once
// The end of a demo: figures, what was checked, and whether it succeeded. Pure functions.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "base/result.h"
#include "kubeschedctl/demo/demo_state.h"

namespace ks::ctl {

struct ProcessSummary {
  bool known = false;
  double cpu_seconds = 0;
  double resident_mb = 0;
};

// What became of a PodGroup.
struct GroupOutcome {
  std::string name;
  std::string condition;  // reason of PodGroupInitiallyScheduled; empty: it has none
  std::string message;    // of a failure
  size_t members = 0;     // pods that name it
  size_t bound = 0;
};
// `list`: the body of a PodGroupList; its groups in their order. Error: it is none.
Result<std::vector<GroupOutcome>> ReadGroupOutcomes(std::string_view list,
                                                    const std::vector<api::PodPtr>& pods);

struct DemoSummary {
  std::string title;
  std::string scheduler;
  size_t pods = 0;
  size_t placeable = 0;
  size_t bound = 0;         // of the placeable ones
  double bind_seconds = 0;  // from the first to the last binding
  double rate_average = 0;
  double rate_best_second = 0;
  Latency latency;
  std::vector<ReasonCount> left_pending;  // those that were meant to be
  std::vector<GroupOutcome> groups;
  double cpu_fill = 0;
  double memory_fill = 0;
  double fullest_cpu = 0;
  double fullest_memory = 0;
  ProcessSummary scheduler_process;
  ProcessSummary server_process;
  std::vector<std::string> failures;  // empty: it succeeded
};

std::string SummaryText(const DemoSummary& summary);

}  // namespace ks::ctl
