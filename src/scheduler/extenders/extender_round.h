// SPDX-License-Identifier: Apache-2.0
#pragma once
// One round of questions to extenders about one pod: filter calls one after another, then
// prioritize calls side by side. Internal to ExtenderSet.
//
// Upstream: docs/spec/cycle.md sections 10.2 and 12.2.

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "scheduler/extenders/extender_set.h"

namespace ks::scheduler {

// Lives until its last answer. The calls of the filter part come one after another; the lock is for
// the prioritize part.
class ExtenderRound : public std::enable_shared_from_this<ExtenderRound> {
 public:
  static void Start(ExtenderSet& set, const api::PodPtr& pod, std::vector<api::NodePtr> nodes,
                    bool scores, ExtenderSet::VerdictDone done);

 private:
  using Reader = void (ExtenderRound::*)(const ExtenderEntry&, const framework::ExtenderReply&);

  ExtenderRound(ExtenderSet& set, api::PodPtr pod, std::vector<api::NodePtr> nodes, bool scores,
                ExtenderSet::VerdictDone done);

  void FilterNext();
  void Filtered(const ExtenderEntry& extender, const framework::ExtenderReply& reply);
  bool TakeAnswer(const ExtenderEntry& extender, FilterAnswer answer, std::string* error);
  void Prioritize();
  void Prioritized(const ExtenderEntry& extender, const framework::ExtenderReply& reply);
  void AddScores(const ExtenderEntry& extender, const std::vector<HostPriority>& priorities);
  // Puts the request together, aside when it is large, and sends it.
  void Ask(const ExtenderEntry& extender, const std::string& verb, Reader reader);
  void Send(const ExtenderEntry& extender, const std::string& verb, Reader reader);
  void Finish(std::string error);

  ExtenderSet& set_;
  const api::PodPtr pod_;
  const bool scores_;
  ExtenderSet::VerdictDone done_;
  size_t next_ = 0;                  // extender to be asked to filter
  std::vector<api::NodePtr> nodes_;  // left, as the next extender is shown them
  bool replaced_ = false;            // by an answer with whole objects

  Mutex mutex_;
  ExtenderVerdict verdict_ KS_GUARDED_BY(mutex_);
  size_t unanswered_ KS_GUARDED_BY(mutex_) = 0;
};

}  // namespace ks::scheduler
