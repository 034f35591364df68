// SPDX-License-Identifier: Apache-2.0
#pragma once
// A lane of the writer: jobs in the order in which they may start, and how many are in flight. Of
// what they write it knows nothing but which of them evict.
//
// Order: first come first served, but evictions stand behind everything else, those of older
// preemptions first: a preemptor that may be bound is not kept behind everybody's victims. A
// quarter of the lane is theirs all the same.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

#include "client/write/write_job.h"

namespace ks::client {

// Threads: one at a time.
class WriteLane {
 public:
  // At most `limit` jobs are in flight.
  explicit WriteLane(int limit) : limit_(limit) {}

  // Queues a job, pending from now on.
  void Add(JobPtr job);
  // Takes the first job that may start, in flight from now on; null: none, or `limit` are.
  JobPtr Take(int limit);
  // A job that was taken is not in flight any more, but still pending.
  void End(const WriteJob& job);
  // Empties the queue; the jobs stay pending.
  std::vector<JobPtr> TakeAll();

  // Pending are jobs that are queued, in flight, or whose callback runs; and calls that were never
  // queued, from AddPending on.
  void AddPending() { ++pending_; }
  void RemovePending(size_t jobs = 1) { pending_ -= jobs; }
  size_t pending() const { return pending_; }

  int limit() const { return limit_; }
  // What of the limit is left while another lane is to have the API server.
  int Quarter() const { return std::max(limit_ / 4, 1); }
  bool IsFull() const { return in_flight_ >= limit_; }
  size_t queued() const { return queue_.size(); }
  // There would be something to start if only more were queued.
  bool HasRoom(int limit) const { return in_flight_ + static_cast<int>(queue_.size()) < limit; }

 private:
  size_t NextPlace() const;

  const int limit_;
  int in_flight_ = 0;
  int evictions_in_flight_ = 0;  // among those
  std::deque<JobPtr> queue_;
  size_t first_eviction_ = 0;  // queue_.size(): none
  size_t pending_ = 0;
};

}  // namespace ks::client
