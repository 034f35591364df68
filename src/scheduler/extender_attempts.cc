// SPDX-License-Identifier: Apache-2.0
#include "scheduler/extender_attempts.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/check.h"
#include "base/logging.h"
#include "scheduler/algorithm/selection.h"
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

constexpr std::string_view kExtender = "Extender";

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
  if (attempt_ == nullptr) return;
  const std::unique_ptr<Attempt> abandoned = std::move(attempt_);
  ++serial_;
  line_.push_front(abandoned->binding->queued);
}

void ExtenderAttempts::PutInLine(const framework::Framework& framework,
                                 const framework::QueuedPodPtr& queued) {
  const auto place =
      std::find_if(line_.begin(), line_.end(), [&](const framework::QueuedPodPtr& other) {
        return framework.QueueSortLess(*queued, *other);
      });
  line_.insert(place, queued);
  // Its nomination must keep others away as if it were in the queue.
  context_.queue.nominator().PodStored(queued->pod());
}

framework::QueuedPodPtr ExtenderAttempts::Next() {
  if (attempt_ != nullptr || objects_missing_ || line_.empty()) return nullptr;
  framework::QueuedPodPtr next = std::move(line_.front());
  line_.pop_front();
  return next;
}

bool ExtenderAttempts::HoldsQueue() const {
  if (extenders_ == nullptr) return false;
  const bool busy = attempt_ != nullptr || objects_missing_ || !line_.empty();
  return (busy && extenders_->WantsEveryPod()) || line_.size() >= kLongestLine;
}

bool ExtenderAttempts::Has(std::string_view uid) const {
  if (attempt_ != nullptr && attempt_->binding->queued->pod()->meta.uid == uid) return true;
  return std::any_of(line_.begin(), line_.end(), [uid](const framework::QueuedPodPtr& queued) {
    return queued->pod()->meta.uid == uid;
  });
}

void ExtenderAttempts::Begin(std::unique_ptr<Binding> binding) {
  KS_CHECK(attempt_ == nullptr, "one attempt with extenders at a time");
  attempt_ = std::make_unique<Attempt>();
  attempt_->serial = ++serial_;
  attempt_->binding = std::move(binding);
  Search();
}

void ExtenderAttempts::Search() {
  Attempt& attempt = *attempt_;
  if (Result<void> refreshed = context_.cache.RefreshSnapshot(); !refreshed.ok()) {
    Fail(Status::Error(refreshed.error().message));
    return;
  }
  const framework::Framework& framework = *attempt.binding->framework;
  Status status = algorithm_.PreFilter(framework, attempt.binding->state, pod(), &attempt.diagnosis,
                                       &attempt.narrowed);
  if (!status.ok()) {
    Fail(std::move(status));
    return;
  }
  attempt.nominated_only =
      !pod().status.nominated_node_name.empty() &&
      algorithm_.NominatedNodeFits(framework, attempt.binding->state, pod(), &attempt.diagnosis);
  if (attempt.nominated_only) {
    Ask();
  } else {
    SearchAllNodes();
  }
}

void ExtenderAttempts::SearchAllNodes() {
  Attempt& attempt = *attempt_;
  attempt.nominated_only = false;
  Status status = algorithm_.Search(*attempt.binding->framework, attempt.binding->state, pod(),
                                    attempt.narrowed, &attempt.diagnosis);
  if (!status.ok()) {
    Fail(std::move(status));
  } else if (algorithm_.feasible().size() == 0) {
    Fail(Status(Code::kUnschedulable, {}));
  } else {
    Ask();
  }
}

// About the nodes in the algorithm's feasible().
void ExtenderAttempts::Ask() {
  Attempt& attempt = *attempt_;
  std::vector<api::NodePtr> nodes;
  for (const framework::NodeInfo* node : algorithm_.feasible().nodes) {
    nodes.push_back(node->node_ptr());
  }
  attempt.asked = nodes.size();
  NoteWhatWasSeen();
  extenders_->Choose(
      attempt.binding->queued->pod(), std::move(nodes), !attempt.nominated_only,
      [this, &inbox = context_.inbox, serial = attempt.serial](ExtenderVerdict verdict) {
        inbox.PostTask(Task([this, serial, verdict = std::move(verdict)] {
          if (attempt_ != nullptr && attempt_->serial == serial) Answered(verdict);
        }));
      });
}

void ExtenderAttempts::NoteWhatWasSeen() {
  Attempt& attempt = *attempt_;
  attempt.seen = Now();
  attempt.absent = attempt.diagnosis.nodes.absent();
  attempt.statuses.clear();
  for (const framework::NodeInfo* node : context_.cache.nodes()) {
    if (attempt.diagnosis.nodes.explicit_count() == attempt.statuses.size()) break;
    if (!attempt.diagnosis.nodes.IsExplicit(node->index())) continue;
    attempt.statuses.emplace_back(node->node_ptr(), attempt.diagnosis.nodes.Get(node->index()));
  }
}

void ExtenderAttempts::AwaitPreemption(std::unique_ptr<Binding> binding, Status failed,
                                       framework::Diagnosis diagnosis) {
  KS_CHECK(attempt_ == nullptr, "one attempt with extenders at a time");
  attempt_ = std::make_unique<Attempt>();
  attempt_->serial = ++serial_;
  attempt_->binding = std::move(binding);
  attempt_->diagnosis = std::move(diagnosis);
  attempt_->failed = std::move(failed);
  NoteWhatWasSeen();
}

// Some extender has answered, perhaps to an attempt that was given up.
void ExtenderAttempts::PreemptionAnswered() {
  if (attempt_ == nullptr || !attempt_->failed) return;
  if (attempt_->binding->state.preemption_inquiry->waiting || !DropUnlessPending()) return;
  framework::Diagnosis& diagnosis = attempt_->diagnosis;
  const std::set<std::string> unschedulable = diagnosis.unschedulable_plugins;
  const std::set<std::string> pending = diagnosis.pending_plugins;
  if (!Renew()) return;
  // Statuses of extenders name no plugin.
  diagnosis.unschedulable_plugins.insert(unschedulable.begin(), unschedulable.end());
  diagnosis.pending_plugins.insert(pending.begin(), pending.end());
  Fail(std::move(*attempt_->failed));
}

bool ExtenderAttempts::StillPending() const {
  const api::PodPtr current = context_.pods.Get(pod().meta.Key());
  return current != nullptr && current->meta.uid == pod().meta.uid && context_.IsQueued(*current);
}

bool ExtenderAttempts::DropUnlessPending() {
  if (StillPending()) return true;
  const std::unique_ptr<Attempt> over = std::move(attempt_);
  context_.queue.Done(over->binding->queued->pod()->meta.uid);
  return false;
}

void ExtenderAttempts::Answered(const ExtenderVerdict& verdict) {
  if (!DropUnlessPending()) return;
  const std::optional<bool> changed = Renew();
  if (!changed) return;
  if (!verdict.error.empty()) {
    if (!attempt_->nominated_only) {
      Fail(Status::Error(verdict.error));
      return;
    }
    log::Error(verdict.error, "Evaluation failed on nominated node",
               {{"pod", pod().meta.Key()}, {"node", pod().status.nominated_node_name}});
    SearchAllNodes();
    return;
  }
  context_.decisions.Filtered(attempt_->binding->decision, verdict.filterings);
  const Candidates candidates = Keep(verdict, *changed);
  if (candidates.empty()) {
    NoneLeft(verdict);
  } else {
    Select(verdict, candidates);
  }
}

std::optional<bool> ExtenderAttempts::Renew() {
  Attempt& attempt = *attempt_;
  if (Result<void> refreshed = context_.cache.RefreshSnapshot(); !refreshed.ok()) {
    Fail(Status::Error(refreshed.error().message));
    return std::nullopt;
  }
  // Nominations leave no trace in the log.
  if (attempt.seen == Now() && !context_.nominator.HasNominatedPods()) return false;
  Binding& binding = *attempt.binding;
  ClearState(&binding.state);
  Status status = algorithm_.PreFilter(*binding.framework, binding.state, pod(), &attempt.diagnosis,
                                       &attempt.narrowed);
  if (!status.ok()) {
    Fail(std::move(status));
    return std::nullopt;
  }
  attempt.diagnosis.nodes.set_absent(attempt.absent);
  for (const auto& [node, rejection] : attempt.statuses) {
    const framework::NodeInfo* listed = context_.cache.Find(node->meta.name);
    if (listed != nullptr) attempt.diagnosis.AddNodeStatus(listed->index(), rejection);
  }
  return true;
}

// The nodes that the extenders kept, as far as they are there and, if the state has changed, as far
// as they still fit: no pod is assumed where the state does not allow it.
ExtenderAttempts::Candidates ExtenderAttempts::Keep(const ExtenderVerdict& verdict, bool changed) {
  Attempt& attempt = *attempt_;
  for (const auto& [name, status] : verdict.statuses) {
    const framework::NodeInfo* node = context_.cache.Find(name);
    if (node != nullptr) attempt.diagnosis.AddNodeStatus(node->index(), status);
  }
  if (verdict.kept.size() != attempt.asked) {
    attempt.diagnosis.unschedulable_plugins.emplace(kExtender);
  }
  const Binding& binding = *attempt.binding;
  Candidates candidates;
  for (const ExtenderVerdict::Kept& kept : verdict.kept) {
    const framework::NodeInfo* node = context_.cache.Find(kept.name);
    if (node == nullptr) {
      log::Error("there is no such node (any more)", "An extender's node is passed over",
                 {{"pod", pod().meta.Key()}, {"node", kept.name}});
      continue;
    }
    if (changed) {
      const Status status =
          binding.framework->RunFilterPluginsWithNominatedPods(binding.state, pod(), *node);
      if (status.IsRejected()) attempt.diagnosis.AddNodeStatus(node->index(), status);
      if (!status.ok()) continue;
    }
    candidates.push_back({node, kept.replaced});
  }
  return candidates;
}

void ExtenderAttempts::NoneLeft(const ExtenderVerdict& verdict) {
  Attempt& attempt = *attempt_;
  if (attempt.nominated_only) {
    SearchAllNodes();
  } else if (verdict.kept.empty()) {
    Fail(Status(Code::kUnschedulable, {}));
  } else if (++attempt.restarts > kMaxRestarts) {
    Fail(
        Status::Error("the nodes that extenders left were taken by others while they were asked, " +
                      std::to_string(attempt.restarts) + " times in a row; trying again later"));
  } else {
    // Other nodes may be free: only those that were feasible then were asked about.
    ClearState(&attempt.binding->state);
    attempt.serial = ++serial_;
    Search();
  }
}

void ExtenderAttempts::Select(const ExtenderVerdict& verdict, const Candidates& candidates) {
  ScheduleResult result;
  result.evaluated_nodes = candidates.size() + attempt_->diagnosis.nodes.explicit_count();
  result.feasible_nodes = candidates.size();
  result.node = candidates.front().node;
  if (candidates.size() > 1) {
    std::vector<int64_t> ranks;
    Status status = Score(verdict, candidates, &ranks);
    if (!status.ok()) {
      Fail(std::move(status));
      return;
    }
    result.node = candidates[PickBest(ranks)].node;
  }
  End(std::move(result));
}

Status ExtenderAttempts::PluginScores(const Candidates& candidates, framework::NodeScores* scores) {
  const Binding& binding = *attempt_->binding;
  std::vector<std::unique_ptr<framework::NodeInfo>> rebuilt;
  std::vector<const framework::NodeInfo*> nodes;
  std::vector<uint32_t> slots;
  for (const Candidate& candidate : candidates) {
    slots.push_back(candidate.node->slot());
    nodes.push_back(candidate.node);
    if (candidate.replaced == nullptr) continue;
    rebuilt.push_back(std::make_unique<framework::NodeInfo>(candidate.replaced));
    rebuilt.back()->set_index(candidate.node->index());
    rebuilt.back()->set_slot(candidate.node->slot());
    nodes.back() = rebuilt.back().get();
  }
  framework::CycleState& state = attempt_->binding->state;
  Status status = binding.framework->RunPreScorePlugins(state, pod(), nodes);
  if (!status.ok()) return status;
  if (!rebuilt.empty()) return binding.framework->RunScorePlugins(state, pod(), nodes, scores);
  return binding.framework->RunScorePlugins(state, pod(), nodes, slots, scores);
}

// The order of (total, tie-break number) as ranks.
Status ExtenderAttempts::Score(const ExtenderVerdict& verdict, const Candidates& candidates,
                               std::vector<int64_t>* ranks) {
  framework::NodeScores scores;
  if (attempt_->binding->framework->HasScorePlugins()) {
    Status status = PluginScores(candidates, &scores);
    if (!status.ok()) return status;
  } else {
    scores.totals.assign(candidates.size(), 0);
  }
  std::vector<std::pair<int64_t, uint64_t>> keys;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const auto extra = verdict.scores.find(candidates[i].node->name());
    const bool named = extra != verdict.scores.end();
    // Sums wrap around, as upstream's.
    const uint64_t total = static_cast<uint64_t>(scores.totals[i]) +
                           (named ? static_cast<uint64_t>(extra->second) : 0);
    keys.emplace_back(static_cast<int64_t>(total), named ? context_.random.Next() >> 1 : 0);
  }
  std::map<std::pair<int64_t, uint64_t>, int64_t> rank_of;
  for (const auto& key : keys) rank_of.emplace(key, 0);
  int64_t rank = 0;
  for (auto& [key, place] : rank_of) place = rank++;
  for (const auto& key : keys) ranks->push_back(rank_of[key]);
  return {};
}

void ExtenderAttempts::Fail(Status status) {
  ScheduleResult result;
  result.fit_error = status.IsRejected() && !context_.cache.nodes().empty();
  result.status = std::move(status);
  End(std::move(result));
}

void ExtenderAttempts::End(ScheduleResult result) {
  const std::unique_ptr<Attempt> over = std::move(attempt_);
  conclude_(std::move(over->binding), std::move(result), std::move(over->diagnosis));
}

}  // namespace ks::scheduler
