// SPDX-License-Identifier: Apache-2.0
#pragma once
// PreemptionExtender: an extender as preemption sees it. It may take candidate nodes away, add
// others, and name other victims. The wire format is the implementation's business; which answers
// are accepted, and what a failure means, is DefaultPreemption's.
//
// Upstream: docs/spec/preemption.md section 8, docs/spec/cycle.md section 19.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "api/pod.h"
#include "base/clock.h"
#include "base/result.h"

namespace ks::framework {

// The pods that would have to go from one node.
struct Victims {
  std::vector<api::PodPtr> pods;
  int64_t pdb_violations = 0;
};
using VictimsByNode = std::map<std::string, Victims, std::less<>>;

// An extender's answer for one node: victims by uid, in the order answered.
struct MetaVictims {
  std::vector<std::string> uids;
  int64_t pdb_violations = 0;
};
using MetaVictimsByNode = std::map<std::string, MetaVictims, std::less<>>;

// What extenders were asked about one preemption and answered, over the runs of PostFilter of one
// attempt. Threads: the scheduling thread.
struct PreemptionInquiry {
  size_t place = 0;          // where the search began that found the candidates
  VictimsByNode candidates;  // that the first extender was asked about
  std::vector<Result<MetaVictimsByNode>> answers;  // in the order of the questions
  bool waiting = false;                            // for the next one
  int rounds = 1;                                  // times that the first one was asked
  TimePoint began{};
};

// Threads: the scheduling thread. Lifetime: outlives the profiles that it is attached to.
class PreemptionExtender {
 public:
  // On the scheduling thread, never from inside the question; PostFilter runs again then for the
  // attempt that asked, unless it was given up meanwhile.
  using Answered = std::function<void(Result<MetaVictimsByNode> answer)>;

  virtual ~PreemptionExtender() = default;

  // The configured urlPrefix.
  virtual const std::string& Name() const = 0;
  // Errors of this extender are passed over.
  virtual bool IsIgnorable() const = 0;
  // Has a preempt verb.
  virtual bool SupportsPreemption() const = 0;
  virtual bool IsInterested(const api::Pod& pod) const = 0;
  // Asks the extender about `victims` in favor of `pod`; the answer comes after its httpTimeout at
  // the latest. Nodes missing in it are no candidates any more. Error: the text that users see,
  // without the prefix `preemption: `.
  virtual void ProcessPreemption(const api::Pod& pod, const VictimsByNode& victims,
                                 Answered answered) = 0;
};

}  // namespace ks::framework
