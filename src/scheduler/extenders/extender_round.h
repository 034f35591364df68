// SPDX-License-Identifier: Apache-2.0
#pragma once
// One round of questions to extenders about one pod: filter calls one after another, then
// prioritize calls side by side. Whoever begins it goes on meanwhile, or waits: then all of it
// happens on that thread. Internal to ExtenderSet.
//
// Upstream: docs/spec/cycle.md sections 10.2 and 12.2.

#include <memory>
#include <stop_token>
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
  static ExtenderVerdict RunAndWait(ExtenderSet& set, const api::PodPtr& pod,
                                    std::vector<api::NodePtr> nodes, bool scores,
                                    const std::stop_token& stop);

 private:
  using Extenders = std::vector<const ExtenderEntry*>;
  using Verb = std::string config::Extender::*;
  using Reader = void (ExtenderRound::*)(const ExtenderEntry&, const framework::ExtenderReply&);

  ExtenderRound(ExtenderSet& set, api::PodPtr pod, std::vector<api::NodePtr> nodes, bool scores,
                ExtenderSet::VerdictDone done);

  void FilterNext();
  void Filtered(const ExtenderEntry& extender, const framework::ExtenderReply& reply);
  bool TakeAnswer(const ExtenderEntry& extender, FilterAnswer answer, std::string* error);
  void Prioritize();
  void Prioritized(const ExtenderEntry& extender, const framework::ExtenderReply& reply);
  void AddScores(const ExtenderEntry& extender, const std::vector<HostPriority>& priorities);
  void Ask(const Extenders& extenders, Verb verb, Reader reader);
  void AskAndWait(const Extenders& extenders, Verb verb, Reader reader);
  // Puts the request together, aside when it is large, and sends it.
  void AskLater(const ExtenderEntry& extender, Verb verb, Reader reader);
  void Send(const ExtenderEntry& extender, Verb verb, Reader reader);
  Result<framework::ExtenderRequest> RequestTo(const ExtenderEntry& extender, Verb verb) const;
  void Finish(std::string error, bool given_up = false);

  ExtenderSet& set_;
  const api::PodPtr pod_;
  const bool scores_;
  ExtenderSet::VerdictDone done_;
  const std::stop_token* stop_ = nullptr;  // not null: somebody waits
  size_t next_ = 0;                        // extender to be asked to filter
  std::vector<api::NodePtr> nodes_;        // left, as the next extender is shown them
  bool replaced_ = false;                  // by an answer with whole objects

  Mutex mutex_;
  ExtenderVerdict verdict_ KS_GUARDED_BY(mutex_);
  size_t unanswered_ KS_GUARDED_BY(mutex_) = 0;
};

}  // namespace ks::scheduler
