// SPDX-License-Identifier: Apache-2.0
#pragma once
// Leader election in the daemon: from the configuration to an elector, whose word comes as events.
//
// Upstream: docs/spec/operations.md section 6, docs/spec/config.md sections 8.3, 10.2 and 10.3.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "client/election/candidacy.h"
#include "client/election/leader_elector.h"
#include "client/http/write_fence.h"
#include "client/rest/rest_client.h"
#include "config/types.h"
#include "daemon/current_scheduler.h"
#include "daemon/life_events.h"

namespace ks::daemon {

// Lifetime: clients, metrics, events and the holder outlive it. Threads: one, but for the health
// checks and identity.
class Leadership {
 public:
  struct Parts {
    client::RestClient& client;
    client::LeaderMetrics& metrics;
    LifeEvents& events;
    CurrentScheduler& current;
    client::RestClient* candidacy = nullptr;  // null: election is not coordinated
    std::string emulated_version{};           // "1.37"
    std::string identity{};                   // empty: the host's name and something random
  };
  Leadership(const Parts& parts, const config::Configuration& configuration, uint64_t seed);

  // Stands for election for this term; kWon and kLost or kCalledBack follow. Whoever cannot lead
  // yet is no candidate, so that nobody waits for it: the candidacy begins here, the first time.
  void AcquireLease(uint64_t term, std::shared_ptr<client::WriteFence> fence);
  // After kCalledBack, once the term has ended: gives the lease to whom it is wanted for. Blocks as
  // ReleaseLease does.
  void ReleaseLeaseToPreferred();
  // Withdraws the candidacy and gives the lease back if it is ours. Blocks, the renew deadline and
  // a second at the most. Nothing is sent after it. Once, and last.
  void ReleaseLease();
  // The health check. Threads: any.
  std::string Failure() const { return elector_->Failure(kTolerance); }
  // The health check of the candidate's watch; empty also when election is not coordinated.
  std::string CandidacyFailure() const;
  static constexpr const char* kNoCandidate =
      "1 informers not started yet: [*v1beta1.LeaseCandidate]";
  // By which others know this process. Threads: any.
  const std::string& identity() const { return elector_->identity(); }

 private:
  // A late renewal is the elector's business; only one that never ends is a failure of the process.
  static constexpr Duration kTolerance = std::chrono::seconds(20);

  std::atomic<uint64_t> term_{0};
  std::unique_ptr<client::LeaderElector> elector_;
  std::unique_ptr<client::Candidacy> candidacy_;  // null: election is not coordinated
};

}  // namespace ks::daemon
