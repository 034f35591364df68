// SPDX-License-Identifier: Apache-2.0
#pragma once
// WakeUp: which parked pods a cluster event helps. Groups, buckets and classes of pods are passed
// over as a whole, so the cost is that of the hints that have to run and of the pods that move. A
// pod group is helped as much as that member of it that is helped most.
//
// Upstream: docs/spec/queue.md 7.9, 7.10, 8.1, 8.2 and 18.2.

#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "queue/parked_pods.h"
#include "queue/pod_stores.h"
#include "queue/requeue_rules.h"

namespace ks::queue {

// Narrows the parked pods that an event is about. May be empty.
using PreCheck = std::function<bool(const framework::QueuedPod& pod)>;

// A pod, or a group.
struct Woken {
  Record* record;
  Answer answer;
};

// The decision for a pod or a group and one event.
Answer DecideFor(RequeueRules& rules, const Record& record, const EventWithObjects& event);

// One search. It moves nothing, because the index must not change under it.
// Threads: one. Lifetime: what it is made of outlives it; the answer is valid until a record moves.
class WakeUp {
 public:
  WakeUp(RequeueRules& rules, const ParkedPods& parked, const EventWithObjects& event,
         const PreCheck& precheck)
      : rules_(rules), parked_(parked), event_(event), precheck_(precheck) {}

  void Run();
  // The same of one pod or group, whose decision is known.
  void WakeOne(Record& record, const Answer& answer);

  const std::vector<Woken>& woken() const { return woken_; }

 private:
  // What came out so far of a group, some members of which were looked at.
  struct GroupAnswer {
    bool passes = false;  // the pre-check
    Answer answer;
    size_t place = 0;  // in woken_, if it is there
  };

  bool Passes(const Record& record);
  template <class Parked>
  const api::Pod* FirstPassing(const Parked& parked);
  GroupAnswer& AnswerOf(const GroupRecord& group);
  void LookInto(const ParkedGroup& group);
  void LookIntoUsers(const ParkedGroup& group, const RequeueRules::Inquiry& inquiry);
  void LookInto(const ParkedBucket& bucket, const RequeueRules::Inquiry& inquiry);
  void LookInto(const ParkedClass& of_labels, const RequeueRules::Inquiry& inquiry,
                const Answer& by_spec);
  void AskOne(Record& record, const RequeueRules::Inquiry& inquiry, Answer so_far);
  template <class Parked>
  void Wake(const Parked& parked, const Answer& answer);

  RequeueRules& rules_;
  const ParkedPods& parked_;
  const EventWithObjects event_;
  const PreCheck& precheck_;
  std::vector<Woken> woken_;
  absl::flat_hash_map<const GroupRecord*, GroupAnswer> groups_;
};

}  // namespace ks::queue
