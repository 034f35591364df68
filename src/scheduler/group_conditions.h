// SPDX-License-Identifier: Apache-2.0
#pragma once
// What PodGroups are told of their attempts: the condition PodGroupInitiallyScheduled. Of one group
// one patch is under way at a time, so that none overtakes another; of those that wait the latest
// counts. A group that was scheduled once stays so.
//
// Upstream: docs/spec/cycle.md 25.10.

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "api/pod.h"
#include "api/pod_group.h"
#include "framework/status.h"
#include "scheduler/context.h"

namespace ks::scheduler {

// Threads: the scheduling thread. Lifetime: `context` outlives it; answers that come later than its
// end are not heard.
class GroupConditions {
 public:
  explicit GroupConditions(Context& context) : context_(context) {}

  // What an attempt came to. Nothing is sent that the group's object, or a patch before, says
  // already.
  void Tell(const api::PodGroupPtr& group, const framework::Status& status);

 private:
  void Send(const api::PodGroupPtr& group, const api::Condition& condition);
  void Answered(const std::string& uid, bool failed);

  struct Waiting {
    api::PodGroupPtr group;
    api::Condition condition;
  };

  Context& context_;
  std::map<std::string, std::optional<Waiting>, std::less<>> under_way_;  // by uid: what waits
  struct Scheduled {
    std::string uid;
    bool said = true;  // otherwise the patch failed, or may have
  };
  // The groups that were scheduled last; their objects may not show it yet.
  std::deque<Scheduled> scheduled_;
};

}  // namespace ks::scheduler
