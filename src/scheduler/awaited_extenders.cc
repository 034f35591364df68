// SPDX-License-Identifier: Apache-2.0
#include "scheduler/awaited_extenders.h"

#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "scheduler/decision_ring.h"

namespace ks::scheduler {

using framework::Code;
using framework::Status;

bool AwaitedExtenders::Take(const api::Pod& pod) const {
  return context_.extenders != nullptr && context_.extenders->IsInterestedIn(pod);
}

void AwaitedExtenders::SchedulePod(Attempt& attempt) {
  ScheduleResult& result = attempt.result;
  result.status = Choose(attempt);
  result.fit_error = result.status.IsRejected() && !context_.cluster.cache.nodes().empty();
}

Status AwaitedExtenders::Choose(Attempt& attempt) {
  Status status = algorithm_.PreFilter(attempt);
  if (!status.ok()) return status;
  if (algorithm_.NominatedNodeFits(attempt)) {
    const ExtenderVerdict verdict = Ask(attempt, false);
    if (given_up_) return Status::Error(verdict.error);
    if (!verdict.error.empty()) {
      log::Error(verdict.error, "Evaluation failed on nominated node",
                 {{"pod", attempt.pod->meta.Key()}, {"node", attempt.nominated_node()}});
    } else if (const ExtenderCandidates kept = Keep(verdict, attempt); !kept.empty()) {
      return PickCandidate(verdict, kept, context_.random, &attempt);
    }
  }
  status = algorithm_.Search(attempt);
  if (!status.ok()) return status;
  if (attempt.search->feasible.size() == 0) return Status(Code::kUnschedulable, {});
  const ExtenderVerdict verdict = Ask(attempt, true);
  if (!verdict.error.empty()) return Status::Error(verdict.error);
  const ExtenderCandidates kept = Keep(verdict, attempt);
  if (kept.empty()) return Status(Code::kUnschedulable, {});
  return PickCandidate(verdict, kept, context_.random, &attempt);
}

// About the feasible nodes.
ExtenderVerdict AwaitedExtenders::Ask(const Attempt& attempt, bool scores) {
  KS_DCHECK(!given_up_, "an attempt that was given up asks on");
  ExtenderVerdict verdict = context_.extenders->ChooseAndWait(
      attempt.pod, FeasibleNodeObjects(*attempt.search), scores, context_.stopping);
  given_up_ = verdict.given_up;
  return verdict;
}

// All of them are listed: nothing has changed since the question.
ExtenderCandidates AwaitedExtenders::Keep(const ExtenderVerdict& verdict, Attempt& attempt) const {
  const framework::Snapshot& snapshot = context_.cluster.cache;
  context_.decisions.Filtered(attempt.decision, verdict.filterings);
  NoteRejections(verdict, attempt.search->feasible.size(), snapshot, &attempt.search->diagnosis);
  ExtenderCandidates candidates;
  for (const ExtenderVerdict::Kept& kept : verdict.kept) {
    candidates.push_back({snapshot.Find(kept.name), kept.replaced});
    KS_CHECK(candidates.back().node != nullptr,
             "an extender keeps a node that was not asked about");
  }
  return candidates;
}

}  // namespace ks::scheduler
