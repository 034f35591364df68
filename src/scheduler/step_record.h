// SPDX-License-Identifier: Apache-2.0
#pragma once
// One round of the scheduling thread (Scheduler::Step) as data: what came in from outside, in the
// order in which it was taken in, and what was decided. A scheduler that is fed the same rounds
// decides the same (docs/architecture.md, invariant 7), which is what recordings and their replay
// rest on.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/devices.h"
#include "api/status.h"
#include "config/types.h"
#include "framework/api_writer.h"
#include "framework/extender_transport.h"
#include "scheduler/decision_ring.h"
#include "scheduler/inbox.h"

namespace ks::scheduler {

// The answer of a call to the API server. Calls (bindings, status patches, evictions, writes of
// volumes and claims, requests about claims of devices) count from 1 in the order in which they
// were made.
struct CallResult {
  uint64_t call = 0;
  std::optional<framework::EvictionOutcome> eviction{};  // of evictions only
  std::optional<api::ApiError> error{};
  std::string resource_version{};  // of an object after it was written: volumes and claims only
  api::ResourceClaimPtr claim{};   // of requests about claims of devices only; may be null
};

// The answer of an extender. Requests count from 1 in the order in which they were made. The round
// itself may have made the request and waited.
struct ExtenderAnswer {
  uint64_t request = 0;
  framework::ExtenderReply reply;
};

// The standby ended.
struct LeadOrder {};

// Another configuration came into force.
struct Reconfigured {
  std::shared_ptr<const config::Configuration> configuration;
};

using StepInput = std::variant<PodDeltas, NodeDeltas, OwnerDeltas, StorageDeltas, DeviceDeltas,
                               GroupDeltas, CallResult, ExtenderAnswer, LeadOrder, Reconfigured>;

// A victim that was to be evicted.
struct EvictionOrder {
  api::PodPtr victim;
};

// Lifetime: like a value.
struct StepRecord {
  // All of the round happens at one moment.
  TimePoint now{};
  TimePoint wall{};
  // Before it, since the record before, there was a round that found nothing to do although it
  // might have attempted.
  bool idle_before = false;
  // What was said outside of the scheduler (lease, end of the process) when it wanted to attempt.
  bool may_attempt = true;
  // Deltas that came with the texts of their objects have these alone, not the objects.
  std::vector<StepInput> inputs;
  // In the order in which they were made. Decisions as they were at the choice, before the binding.
  std::vector<Decision> decisions;
  std::vector<EvictionOrder> evictions;
};

// Told of each round that did something, on the scheduling thread.
using StepObserver = std::function<void(StepRecord record)>;

}  // namespace ks::scheduler
