// SPDX-License-Identifier: Apache-2.0
#pragma once
// Creates pods one after the other, spread over a period.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/demo/demo_workload.h"

namespace ks::ctl {

struct ArrivalOptions {
  std::string path;       // of the namespace's pods
  Duration over{};        // the last pod comes about then; zero: as fast as it goes
  bool even = false;      // at equal distances
  size_t in_flight = 32;  // requests at a time
  uint64_t seed = 1;      // the times are drawn from it, uniformly, if they are not even
};

// Threads: any. Lifetime: cluster and pods outlive it.
class Arrivals {
 public:
  // Starts.
  Arrivals(Cluster& cluster, const std::vector<PlannedPod>& pods, ArrivalOptions options);
  // Stops and waits for the requests under way.
  ~Arrivals();
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  size_t Created() const { return created_; }
  // All are created, or it failed.
  bool Ended() const { return ended_; }
  // The first failure, after which nothing more was sent.
  std::optional<Error> Failure() const;

 private:
  void Run();
  bool AwaitTurn(std::chrono::steady_clock::time_point due);
  void Send(const PlannedPod& pod);

  Cluster& cluster_;
  const std::vector<PlannedPod>& pods_;
  const ArrivalOptions options_;
  std::atomic<size_t> created_ = 0;
  std::atomic<bool> ended_ = false;

  mutable Mutex mutex_;
  CondVar changed_;
  size_t active_ KS_GUARDED_BY(mutex_) = 0;
  bool stopped_ KS_GUARDED_BY(mutex_) = false;
  std::optional<Error> failure_ KS_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace ks::ctl
