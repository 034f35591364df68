// SPDX-License-Identifier: Apache-2.0
#pragma once
// What happens to a pod whose attempt failed: back to the queue, nomination, FailedScheduling
// event, PodScheduled=False condition.
//
// Upstream: docs/spec/cycle.md sections 16 and 17, docs/spec/queue.md 7.7.

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "framework/diagnosis.h"
#include "scheduler/algorithm/attempt.h"
#include "scheduler/context.h"

namespace ks::scheduler {

// That no node, or not the chosen one, takes the pod: what is left of a diagnosis when its search
// is over.
struct FitFailure {
  static FitFailure Of(const framework::Diagnosis& diagnosis);

  std::string text;  // "0/N nodes are available: …"
  // Their events bring the pod back.
  std::set<std::string> unschedulable_plugins;
  std::set<std::string> pending_plugins;
  size_t all_nodes = 0;
  size_t evaluated_nodes = 0;
};

// Why an attempt failed.
struct AttemptFailure {
  framework::Status status{};
  // Fit errors only: gives the text.
  std::optional<FitFailure> fit{};
  // What becomes of the pod's nomination: cleared unless said otherwise; absent: it stays.
  std::optional<framework::NominatingInfo> nomination = framework::NominatingInfo{};

  // The text for event and condition; empty when the status carries no error (Skip).
  std::string Message() const;
};

// Threads: the scheduling thread. Lifetime: `context` outlives it.
class FailureHandler {
 public:
  explicit FailureHandler(Context& context) : context_(context) {}

  // Ends the attempt. Of a pod that waits for its resize the API server hears nothing: it runs,
  // whatever the attempt came to.
  void Handle(const Attempt& attempt, const AttemptFailure& failure);

 private:
  // Where the pod stands in the API server's latest state decides who handles it further.
  enum class Standing { kGone, kAssigned, kReplaced, kPending, kWaitsForResize };
  Standing LookUp(const api::Pod& pod, api::PodPtr* current) const;
  void Nominate(const Attempt& attempt, const api::PodPtr& pod,
                const std::optional<framework::NominatingInfo>& nomination);
  void Count(const Attempt& attempt, const AttemptFailure& failure, const std::string& message);
  void Record(const Attempt& attempt, const AttemptFailure& failure, const std::string& message);
  void Trace(const Attempt& attempt, const AttemptFailure& failure, const std::string& message);
  // Requires: a message.
  void Report(const framework::Framework& framework, const api::PodPtr& pod,
              const AttemptFailure& failure, const std::string& message);

  Context& context_;
};

}  // namespace ks::scheduler
