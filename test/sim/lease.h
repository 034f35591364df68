// SPDX-License-Identifier: Apache-2.0
#pragma once
// Leader election as far as a simulation needs it, until the program has its own: a lease at the
// server, candidates that judge its age by their own clocks, a leader that gives up when it could
// not renew in time. Times are upstream's defaults.
//
// Upstream: docs/spec/api.md section 11.

#include <memory>
#include <string>

#include "sim/process.h"

namespace ks::sim {

// The record at the server. Threads: one.
struct Lease {
  std::string holder;
  uint64_t renewals = 0;  // stands for renewTime: a candidate only looks whether it changed
};

// One candidate's loop. Posts events while its process lives; `lost` is called when a leader has to
// end itself. Lifetime: world and lease outlive the loop's events.
class Candidate : public std::enable_shared_from_this<Candidate> {
 public:
  Candidate(World& world, Lease& lease, std::shared_ptr<SchedulerProcess> process, Action lost)
      : world_(world), lease_(lease), process_(std::move(process)), lost_(std::move(lost)) {}

  void Start() { Try(); }

 private:
  static constexpr Duration kLeaseDuration = std::chrono::seconds(15);
  static constexpr Duration kRenewDeadline = std::chrono::seconds(10);
  static constexpr Duration kRetryPeriod = std::chrono::seconds(2);

  void Try();
  void AtServer(TimePoint asked);
  void Again();

  World& world_;
  Lease& lease_;
  const std::shared_ptr<SchedulerProcess> process_;
  const Action lost_;
  TimePoint observed_at_{};  // own clock
  std::string observed_holder_;
  uint64_t observed_renewals_ = 0;
  TimePoint renewed_{};  // own clock
};

}  // namespace ks::sim
