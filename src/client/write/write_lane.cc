// SPDX-License-Identifier: Apache-2.0
#include "client/write/write_lane.h"

#include <iterator>
#include <utility>

namespace ks::client {

void WriteLane::Add(JobPtr job) {
  ++pending_;
  const auto evictions = queue_.begin() + static_cast<ptrdiff_t>(first_eviction_);
  if (!job->EvictionDecided()) {
    queue_.insert(evictions, std::move(job));
    ++first_eviction_;
    return;
  }
  const auto place =
      std::upper_bound(evictions, queue_.end(), job, [](const JobPtr& added, const JobPtr& queued) {
        return added->EvictionDecided() < queued->EvictionDecided();
      });
  queue_.insert(place, std::move(job));
}

// The place in the queue of the job to start next; queued(): none.
size_t WriteLane::NextPlace() const {
  size_t place = 0;
  while (place < first_eviction_ && !queue_[place]->MayStart()) ++place;
  const bool eviction_due = evictions_in_flight_ * 4 < limit_;
  if (place < first_eviction_ && !eviction_due) return place;
  return first_eviction_ < queue_.size() ? first_eviction_ : place;
}

JobPtr WriteLane::Take(int limit) {
  if (in_flight_ >= limit) return nullptr;
  const size_t place = NextPlace();
  if (place == queue_.size()) return nullptr;
  JobPtr job = std::move(queue_[place]);
  queue_.erase(queue_.begin() + static_cast<ptrdiff_t>(place));
  if (place < first_eviction_) {
    --first_eviction_;
  } else {
    ++evictions_in_flight_;
  }
  ++in_flight_;
  job->Started();
  return job;
}

void WriteLane::End(const WriteJob& job) {
  --in_flight_;
  if (job.EvictionDecided()) --evictions_in_flight_;
}

std::vector<JobPtr> WriteLane::TakeAll() {
  std::vector<JobPtr> jobs(std::move_iterator(queue_.begin()), std::move_iterator(queue_.end()));
  queue_.clear();
  first_eviction_ = 0;
  return jobs;
}

}  // namespace ks::client
