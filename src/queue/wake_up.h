// SPDX-License-Identifier: Apache-2.0
#pragma once
// WakeUp: which parked pods a cluster event helps. Groups, buckets and classes of pods are passed
// over as a whole, so the cost is that of the hints that have to run and of the pods that move.
//
// Upstream: docs/spec/queue.md 7.9, 7.10, 8.1 and 8.2.

#include <functional>
#include <vector>

#include "queue/parked_pods.h"
#include "queue/pod_stores.h"
#include "queue/requeue_rules.h"

namespace ks::queue {

// Narrows the parked pods that an event is about. May be empty.
using PreCheck = std::function<bool(const api::Pod& pod)>;

struct Woken {
  Record* record;
  Answer answer;
};

// One search. It moves nothing, because the index must not change under it.
// Threads: one. Lifetime: what it is made of outlives it; the answer is valid until a record moves.
class WakeUp {
 public:
  WakeUp(RequeueRules& rules, const ParkedPods& parked, const EventWithObjects& event,
         const PreCheck& precheck)
      : rules_(rules), parked_(parked), event_(event), precheck_(precheck) {}

  void Run();
  // The same of one pod, whose decision is known.
  void WakeOne(Record& record, Answer answer);

  const std::vector<Woken>& woken() const { return woken_; }

 private:
  void LookInto(const ParkedGroup& group);
  void LookInto(const ParkedBucket& bucket, const RequeueRules::Inquiry& inquiry);
  void LookInto(const ParkedClass& of_labels, const RequeueRules::Inquiry& inquiry, Answer by_spec);
  void AskOne(Record& record, const RequeueRules::Inquiry& inquiry, Answer so_far);
  template <class Parked>
  void Wake(const Parked& parked, Answer answer);

  RequeueRules& rules_;
  const ParkedPods& parked_;
  const EventWithObjects event_;
  const PreCheck& precheck_;
  std::vector<Woken> woken_;
};

}  // namespace ks::queue
