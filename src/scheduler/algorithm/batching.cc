// SPDX-License-Identifier: Apache-2.0
#include "scheduler/algorithm/batching.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "framework/nomination.h"
#include "scheduler/algorithm/selection.h"

namespace ks::scheduler {
namespace {

using framework::NodeInfo;
using framework::NodeScores;
using framework::Status;
using Step = framework::ScorePoints::RescoreStep;

constexpr Duration kLongestUse = std::chrono::milliseconds(500);

// `values` in the order of `positions`.
template <class T>
std::vector<T> Arranged(const std::vector<T>& values, const std::vector<uint32_t>& positions) {
  std::vector<T> arranged;
  arranged.reserve(positions.size() + 1);
  for (const uint32_t position : positions) arranged.push_back(values[position]);
  return arranged;
}

const char* ReasonOf(Step step) {
  switch (step) {
    case Step::kPreScore:
      return "prescore_error";
    case Step::kScore:
      return "rescore_error";
    case Step::kNormalize:
      return "normalize_error";
    case Step::kDone:
      break;
  }
  return nullptr;
}

}  // namespace

Batching::Batching(const framework::Framework& framework, const framework::Snapshot& snapshot,
                   const Clock& clock, framework::ProfileBatchMetrics* metrics)
    : framework_(framework),
      snapshot_(snapshot),
      clock_(clock),
      metrics_(metrics),
      signs_(framework.queue_points().SignsPods()) {}

std::string Batching::SignatureOf(const api::Pod& pod) const {
  if (!signs_) return {};
  framework::SignOutcome outcome = framework_.SignPod(pod);
  return outcome.status.ok() ? std::move(outcome.signature) : std::string();
}

void Batching::Flush(const char* reason) {
  if (metrics_ != nullptr) metrics_->CountFlush(reason);
}

void Batching::Hint(const framework::CycleState& state, const api::Pod& pod,
                    BatchAttempt* attempt) {
  const TimePoint start = metrics_ == nullptr ? TimePoint() : clock_.Now();
  attempt->hint = Find(state, pod, *attempt);
  if (metrics_ == nullptr) return;
  metrics_->ObserveHint(!attempt->hint.empty(), clock_.Now() - start);
  if (attempt->hint.empty()) metrics_->CountAttempt("no_hint");
}

std::string Batching::Find(const framework::CycleState& state, const api::Pod& pod,
                           const BatchAttempt& attempt) {
  if (!ranking_ || ranking_->heap.empty()) return {};
  if (const char* reason = WhyUnusable(pod, attempt)) {
    Flush(reason);
    return {};
  }
  const NodeInfo* last = snapshot_.Find(last_->node);
  if (last == nullptr) {
    Flush("node_missing");
    return {};
  }
  const Status fits = framework_.RunFilterPlugins(state, pod, *last);
  const char* reason = nullptr;
  if (fits.ok()) {
    reason = Rescore(state, pod, *last);
  } else if (!fits.IsRejected()) {
    reason = "filter_error";
  }
  if (reason != nullptr) {
    Flush(reason);
    return {};
  }
  return ranking_->nodes[TakeBest(ranking_->totals, &ranking_->heap)];
}

const char* Batching::WhyUnusable(const api::Pod& pod, const BatchAttempt& attempt) const {
  if (!last_ || attempt.cycle != last_->cycle + 1) return "pod_skipped";
  if (!framework::NominatedNode(pod, framework_.handle().nominator()).empty()) {
    return "pod_nominated";
  }
  if (attempt.signature.empty() || attempt.signature != ranking_->signature) {
    return "pod_incompatible";
  }
  if (clock_.Now() - ranking_->made > kLongestUse) return "expired";
  return nullptr;
}

const char* Batching::Rescore(const framework::CycleState& state, const api::Pod& pod,
                              const NodeInfo& last) {
  const TimePoint start = metrics_ == nullptr ? TimePoint() : clock_.Now();
  Ranking next{.signature = ranking_->signature,
               .made = ranking_->made,
               .nodes = Arranged(ranking_->nodes, ranking_->heap),
               .raws = {},
               .totals = {},
               .heap = {}};
  next.nodes.push_back(last.name());
  std::vector<const NodeInfo*> nodes;
  for (const std::string& name : next.nodes) {
    nodes.push_back(snapshot_.Find(name));
    if (nodes.back() == nullptr) return "node_missing";
  }
  for (const NodeScores::PluginScores& kept : ranking_->raws) {
    next.raws.push_back({kept.plugin, kept.weight, Arranged(kept.raw, ranking_->heap), {}});
  }
  framework::CycleState copy = state.Clone();
  const Step step =
      framework_.score_points().RescoreLast(copy, pod, nodes, &next.raws, &next.totals);
  if (metrics_ != nullptr) metrics_->ObserveRescore(clock_.Now() - start);
  if (step != Step::kDone) return ReasonOf(step);
  next.heap = MakeHeap(next.totals);
  ranking_ = std::move(next);
  return nullptr;
}

void Batching::Store(const BatchAttempt& attempt, std::string_view chosen,
                     const SearchSpace& search) {
  KS_CHECK(!chosen.empty(), "an attempt succeeds without a node");
  KS_CHECK(!last_ || last_->cycle < attempt.cycle, "a cycle is over twice");
  const TimePoint start = metrics_ == nullptr ? TimePoint() : clock_.Now();
  last_ = LastSuccess{.cycle = attempt.cycle, .node = std::string(chosen)};
  const bool used = !attempt.hint.empty() && attempt.hint == chosen;
  if (metrics_ != nullptr && !attempt.hint.empty()) {
    metrics_->CountAttempt(used ? "hint_used" : "hint_not_used");
  }
  if (!used) Replace(attempt, search);
  if (metrics_ != nullptr) metrics_->ObserveStore(clock_.Now() - start);
}

void Batching::Replace(const BatchAttempt& attempt, const SearchSpace& search) {
  const NodeScores& scores = search.scores;
  const bool nothing_left = scores.totals.size() < 2 && !search.is_ranked;  // of two at least
  if (nothing_left || attempt.signature.empty()) {
    // Counted whether or not there was a ranking to throw away.
    Flush(nothing_left ? "empty_list" : "pod_not_batchable");
    ranking_.reset();
  } else {
    Ranking next{.signature = attempt.signature,
                 .made = clock_.Now(),
                 .nodes = {},
                 .raws = scores.details,
                 .totals = scores.totals,
                 .heap = MakeHeap(scores.totals)};
    for (const NodeInfo* node : search.feasible.nodes) next.nodes.push_back(node->name());
    (void)TakeBest(next.totals, &next.heap);
    ranking_ = std::move(next);
  }
}

}  // namespace ks::scheduler
