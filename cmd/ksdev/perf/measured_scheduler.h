// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scheduler of one run: its process and its own metrics.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kubeschedctl/cluster/daemon_access.h"
#include "kubeschedctl/cluster/metrics_text.h"
#include "kubeschedctl/cluster/scheduler_run.h"

namespace ks::ctl::dev::perf {

// Threads: one at a time.
class MeasuredScheduler {
 public:
  // Starts it with an HTTPS port of its own on loopback, and waits until it is ready. Errors have
  // the end of its log.
  static Result<std::unique_ptr<MeasuredScheduler>> Start(const SchedulerCommand& command,
                                                          std::chrono::seconds timeout);

  Result<std::vector<MetricSample>> Metrics();
  Process& process() { return *process_; }
  // The text, and the end of the log.
  Error WithLog(const std::string& text) const;

 private:
  static Result<std::unique_ptr<MeasuredScheduler>> StartOnce(SchedulerCommand command,
                                                              std::chrono::seconds timeout);
  MeasuredScheduler(std::unique_ptr<Process> process, std::unique_ptr<DaemonAccess> access)
      : process_(std::move(process)), access_(std::move(access)) {}

  const std::unique_ptr<Process> process_;
  const std::unique_ptr<DaemonAccess> access_;
};

}  // namespace ks::ctl::dev::perf
