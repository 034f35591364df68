// SPDX-License-Identifier: Apache-2.0
#include "scheduler/extender_attempts.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/logging.h"
#include "scheduler/decision_ring.h"

namespace ks::scheduler {

using framework::Code;
using framework::Status;

namespace {

// Bounds what is in flight; more pods stay in the queue, and with them what is behind them.
constexpr size_t kLongestLine = 1000;

// How often an attempt begins anew because the nodes that the extenders kept were taken by others
// meanwhile. Then the pod backs off.
constexpr int kMaxRestarts = 3;

// As at the attempt's start.
void ClearState(framework::CycleState* state) {
  framework::CycleState fresh;
  fresh.record_plugin_metrics = state->record_plugin_metrics;
  fresh.pods_to_activate = state->pods_to_activate;
  fresh.preemption_inquiry = state->preemption_inquiry;
  *state = std::move(fresh);
}

}  // namespace

void ExtenderAttempts::Use(ExtenderSet* extenders) {
  extenders_ = extenders;
  if (extenders != nullptr) {
    extenders->set_deliver([this, &inbox = context_.inbox](Task answer) {
      inbox.PostTask([this, answer = std::move(answer)] {
        answer();
        PreemptionAnswered();
      });
    });
  }
  if (inquiry_ == nullptr) return;
  const std::unique_ptr<Inquiry> abandoned = std::move(inquiry_);
  ++serial_;
  line_.push_front(abandoned->attempt->queued);
}

void ExtenderAttempts::PutInLine(const framework::Framework& framework,
                                 const framework::QueuedPodPtr& queued) {
  KS_CHECK(Takes(*queued->pod()), "a pod that no extender manages stands in their line");
  KS_DCHECK(!Has(queued->pod()->meta.uid), "a pod stands in line twice");
  const auto place =
      std::find_if(line_.begin(), line_.end(), [&](const framework::QueuedPodPtr& other) {
        return framework.queue_points().QueueSortLess(*queued, *other);
      });
  line_.insert(place, queued);
  // Its nomination must keep others away as if it were in the queue.
  context_.queue.nominator().PodStored(queued->pod());
}

framework::QueuedPodPtr ExtenderAttempts::Next() {
  if (inquiry_ != nullptr || objects_missing_ || line_.empty()) return nullptr;
  framework::QueuedPodPtr next = std::move(line_.front());
  line_.pop_front();
  return next;
}

bool ExtenderAttempts::HoldsQueue() const {
  if (extenders_ == nullptr) return false;
  const bool busy = inquiry_ != nullptr || objects_missing_ || !line_.empty();
  if (!busy) return false;
  if (extenders_->WantsEveryPod() || line_.size() >= kLongestLine) return true;
  const queue::ActiveHeaps& active = context_.queue.stores().Active();
  return IsGroupToTake(active.Top()) || IsGroupToTake(active.TopSparing());
}

bool ExtenderAttempts::IsGroupToTake(queue::Record* record) const {
  const queue::GroupRecord* group = record == nullptr ? nullptr : queue::AsGroup(*record);
  return group != nullptr && std::any_of(group->members.begin(), group->members.end(),
                                         [this](const queue::MemberRecord* member) {
                                           return Takes(*member->pod->pod());
                                         });
}

bool ExtenderAttempts::Has(std::string_view uid) const {
  if (inquiry_ != nullptr && pod().meta.uid == uid) return true;
  return std::any_of(line_.begin(), line_.end(), [uid](const framework::QueuedPodPtr& queued) {
    return queued->pod()->meta.uid == uid;
  });
}

void ExtenderAttempts::Begin(std::unique_ptr<Attempt> attempt) {
  KS_CHECK(inquiry_ == nullptr, "one attempt with extenders at a time");
  inquiry_ = std::make_unique<Inquiry>();
  inquiry_->serial = ++serial_;
  inquiry_->attempt = std::move(attempt);
  const tracing::AttemptScope traced(context_.traces, inquiry_->attempt->spans.get());
  Search();
}

void ExtenderAttempts::Search() {
  if (Result<void> refreshed = context_.cluster.cache.RefreshSnapshot(); !refreshed.ok()) {
    Fail(Status::Error(refreshed.error().message));
    return;
  }
  Status status = algorithm_.PreFilter(*inquiry_->attempt);
  if (!status.ok()) {
    Fail(std::move(status));
    return;
  }
  inquiry_->nominated_only = algorithm_.NominatedNodeFits(*inquiry_->attempt);
  if (inquiry_->nominated_only) {
    Ask();
  } else {
    SearchAllNodes();
  }
}

void ExtenderAttempts::SearchAllNodes() {
  inquiry_->nominated_only = false;
  Status status = algorithm_.Search(*inquiry_->attempt);
  if (!status.ok()) {
    Fail(std::move(status));
  } else if (inquiry_->attempt->search->feasible.size() == 0) {
    Fail(Status(Code::kUnschedulable, {}));
  } else {
    Ask();
  }
}

// About the feasible nodes.
void ExtenderAttempts::Ask() {
  std::vector<api::NodePtr> nodes = FeasibleNodeObjects(*inquiry_->attempt->search);
  inquiry_->asked = nodes.size();
  NoteWhatWasSeen();
  extenders_->Choose(
      inquiry_->attempt->pod, std::move(nodes), !inquiry_->nominated_only,
      [this, &inbox = context_.inbox, serial = inquiry_->serial](ExtenderVerdict verdict) {
        inbox.PostTask(Task([this, serial, verdict = std::move(verdict)] {
          if (inquiry_ != nullptr && inquiry_->serial == serial) Answered(verdict);
        }));
      });
}

void ExtenderAttempts::NoteWhatWasSeen() {
  Inquiry& inquiry = *inquiry_;
  const framework::NodeStatuses& nodes = inquiry_->attempt->search->diagnosis.nodes;
  inquiry.seen = Seen(context_.cluster.cache, other_changes_);
  inquiry.absent = nodes.absent();
  inquiry.statuses.clear();
  for (const framework::NodeInfo* node : context_.cluster.cache.nodes()) {
    if (nodes.explicit_count() == inquiry.statuses.size()) break;
    if (!nodes.IsExplicit(node->index())) continue;
    inquiry.statuses.emplace_back(node->node_ptr(), nodes.Get(node->index()));
  }
}

void ExtenderAttempts::AwaitPreemption(std::unique_ptr<Attempt> attempt) {
  KS_CHECK(inquiry_ == nullptr, "one attempt with extenders at a time");
  inquiry_ = std::make_unique<Inquiry>();
  inquiry_->serial = ++serial_;
  inquiry_->attempt = std::move(attempt);
  inquiry_->about_preemption = true;
  NoteWhatWasSeen();
}

// Some extender has answered, perhaps to an attempt that was given up.
void ExtenderAttempts::PreemptionAnswered() {
  if (inquiry_ == nullptr || !inquiry_->about_preemption) return;
  if (inquiry_->attempt->state.preemption_inquiry->waiting || !DropUnlessPending()) return;
  const tracing::AttemptScope traced(context_.traces, inquiry_->attempt->spans.get());
  framework::Diagnosis& diagnosis = inquiry_->attempt->search->diagnosis;
  const std::set<std::string> unschedulable = diagnosis.unschedulable_plugins;
  const std::set<std::string> pending = diagnosis.pending_plugins;
  if (!Renew()) return;
  // Statuses of extenders name no plugin.
  diagnosis.unschedulable_plugins.insert(unschedulable.begin(), unschedulable.end());
  diagnosis.pending_plugins.insert(pending.begin(), pending.end());
  End();
}

bool ExtenderAttempts::StillPending() const {
  const api::PodPtr current = context_.cluster.pods.Get(pod().meta.Key());
  return current != nullptr && current->meta.uid == pod().meta.uid && context_.IsQueued(*current);
}

bool ExtenderAttempts::DropUnlessPending() {
  if (StillPending()) return true;
  const std::unique_ptr<Inquiry> over = std::move(inquiry_);
  const Attempt& attempt = *over->attempt;
  if (attempt.spans != nullptr) {
    context_.traces->Failed(*attempt.pod, *attempt.spans, {.result = "dropped"});
  }
  context_.queue.Done(attempt.pod->meta.uid);
  return false;
}

void ExtenderAttempts::Answered(const ExtenderVerdict& verdict) {
  if (!DropUnlessPending()) return;
  const tracing::AttemptScope traced(context_.traces, inquiry_->attempt->spans.get());
  const std::optional<bool> changed = Renew();
  if (!changed) return;
  if (!verdict.error.empty()) {
    if (!inquiry_->nominated_only) {
      Fail(Status::Error(verdict.error));
      return;
    }
    log::Error(verdict.error, "Evaluation failed on nominated node",
               {{"pod", pod().meta.Key()}, {"node", inquiry_->attempt->nominated_node()}});
    SearchAllNodes();
    return;
  }
  context_.decisions.Filtered(inquiry_->attempt->decision, verdict.filterings);
  const ExtenderCandidates candidates = Keep(verdict, *changed);
  if (candidates.empty()) {
    NoneLeft(verdict);
  } else {
    Select(verdict, candidates);
  }
}

std::optional<bool> ExtenderAttempts::Renew() {
  if (Result<void> refreshed = context_.cluster.cache.RefreshSnapshot(); !refreshed.ok()) {
    Fail(Status::Error(refreshed.error().message));
    return std::nullopt;
  }
  // Nominations leave no trace in the log.
  const bool unchanged = inquiry_->seen == Seen(context_.cluster.cache, other_changes_);
  if (unchanged && !context_.nominator.HasNominatedPods()) return false;
  ClearState(&inquiry_->attempt->state);
  Status status = algorithm_.PreFilter(*inquiry_->attempt);
  if (!status.ok()) {
    Fail(std::move(status));
    return std::nullopt;
  }
  framework::Diagnosis& diagnosis = inquiry_->attempt->search->diagnosis;
  diagnosis.nodes.set_absent(inquiry_->absent);
  for (const auto& [node, rejection] : inquiry_->statuses) {
    const framework::NodeInfo* listed = context_.cluster.cache.Find(node->meta.name);
    if (listed != nullptr) diagnosis.AddNodeStatus(listed->index(), rejection);
  }
  return true;
}

// The nodes that the extenders kept, as far as they are there and, if the state has changed, as far
// as they still fit: no pod is assumed where the state does not allow it.
ExtenderCandidates ExtenderAttempts::Keep(const ExtenderVerdict& verdict, bool changed) {
  framework::Diagnosis& diagnosis = inquiry_->attempt->search->diagnosis;
  NoteRejections(verdict, inquiry_->asked, context_.cluster.cache, &diagnosis);
  ExtenderCandidates candidates;
  for (const ExtenderVerdict::Kept& kept : verdict.kept) {
    const framework::NodeInfo* node = context_.cluster.cache.Find(kept.name);
    if (node == nullptr) {
      log::Error("there is no such node (any more)", "An extender's node is passed over",
                 {{"pod", pod().meta.Key()}, {"node", kept.name}});
      continue;
    }
    if (changed) {
      const Status status = inquiry_->attempt->framework.RunFilterPluginsWithNominatedPods(
          inquiry_->attempt->state, pod(), *node);
      if (status.IsRejected()) diagnosis.AddNodeStatus(node->index(), status);
      if (!status.ok()) continue;
    }
    candidates.push_back({node, kept.replaced});
  }
  return candidates;
}

void ExtenderAttempts::NoneLeft(const ExtenderVerdict& verdict) {
  if (inquiry_->nominated_only) {
    SearchAllNodes();
  } else if (verdict.kept.empty()) {
    Fail(Status(Code::kUnschedulable, {}));
  } else if (++inquiry_->restarts > kMaxRestarts) {
    Fail(
        Status::Error("the nodes that extenders left were taken by others while they were asked, " +
                      std::to_string(inquiry_->restarts) + " times in a row; trying again later"));
  } else {
    // Other nodes may be free: only those that were feasible then were asked about.
    ClearState(&inquiry_->attempt->state);
    inquiry_->serial = ++serial_;
    Search();
  }
}

void ExtenderAttempts::Select(const ExtenderVerdict& verdict,
                              const ExtenderCandidates& candidates) {
  Status status = PickCandidate(verdict, candidates, context_.random, inquiry_->attempt.get());
  if (status.ok()) {
    End();
  } else {
    Fail(std::move(status));
  }
}

void ExtenderAttempts::Fail(Status status) {
  const bool fit_error = status.IsRejected() && !context_.cluster.cache.nodes().empty();
  inquiry_->attempt->result = {.status = std::move(status), .fit_error = fit_error};
  End();
}

void ExtenderAttempts::End() {
  const std::unique_ptr<Inquiry> over = std::move(inquiry_);
  conclude_(std::move(over->attempt));
}

}  // namespace ks::scheduler
