// SPDX-License-Identifier: Apache-2.0
#include "scheduler/decision_ring.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/pod_size.h"
#include "base/check.h"

namespace ks::scheduler {
namespace {

using framework::NodeScores;

// Positions of the highest totals, highest first, of equal ones the first. A node's total is looked
// at once, and nearly always only compared.
size_t FindBest(const std::vector<int64_t>& totals,
                std::array<size_t, DecisionRing::kBestNodes>* best) {
  size_t count = 0;
  int64_t threshold = 0;
  for (size_t i = 0; i < totals.size(); ++i) {
    if (count == best->size() && totals[i] <= threshold) [[likely]] {
      continue;
    }
    size_t place = count < best->size() ? count++ : count - 1;
    for (; place > 0 && totals[(*best)[place - 1]] < totals[i]; --place) {
      (*best)[place] = (*best)[place - 1];
    }
    (*best)[place] = i;
    threshold = totals[(*best)[count - 1]];
  }
  return count;
}

bool SameNames(const std::vector<std::string>& names,
               const std::vector<NodeScores::PluginScores>& details) {
  return names.size() == details.size() &&
         std::equal(
             names.begin(), names.end(), details.begin(),
             [](const std::string& name, const auto& plugin) { return name == plugin.plugin; });
}

std::shared_ptr<const std::vector<std::string>> NamesOf(
    const std::vector<NodeScores::PluginScores>& details) {
  auto names = std::make_shared<std::vector<std::string>>();
  for (const auto& plugin : details) names->emplace_back(plugin.plugin);
  return names;
}

// Whether the scores by plugin belong to the totals.
bool DetailsFit(const NodeScores& scores, size_t node) {
  if (!scores.keep_details || scores.details.empty()) return false;
  int64_t sum = 0;
  for (const auto& plugin : scores.details) {
    if (plugin.normalized.size() != scores.totals.size()) return false;
    sum += plugin.normalized[node] * plugin.weight;
  }
  return sum == scores.totals[node];
}

// Of a large pod only what says which one it is: a thousand of them may be gone already.
api::PodPtr Kept(const api::PodPtr& pod) {
  constexpr size_t kLargePod = size_t{64} << 10;  // bytes
  if (api::RoughBytesWithoutSpec(*pod) + api::RoughBytes(*pod->spec) <= kLargePod) return pod;
  auto spec = std::make_shared<api::PodSpec>();
  spec->scheduler_name = pod->spec->scheduler_name;
  auto kept = std::make_shared<api::Pod>();
  kept->meta.name = pod->meta.name;
  kept->meta.ns = pod->meta.ns;
  kept->meta.uid = pod->meta.uid;
  kept->spec = std::move(spec);
  return kept;
}

}  // namespace

std::string_view DecisionResultText(DecisionResult result) {
  switch (result) {
    case DecisionResult::kUnderWay:
      return "UnderWay";
    case DecisionResult::kScheduled:
      return "Scheduled";
    case DecisionResult::kBound:
      return "Bound";
    case DecisionResult::kUnschedulable:
      return "Unschedulable";
    case DecisionResult::kBindingFailed:
      return "BindingFailed";
    case DecisionResult::kError:
      break;
  }
  return "Error";
}

DecisionRing::DecisionRing(Options options, const Clock& clock)
    : clock_(clock), options_(std::move(options)), slots_(options_.capacity) {}

Decision* DecisionRing::At(uint64_t number) {
  KS_CHECK(number < next_, "a decision that nobody began");
  if (number == 0 || number + slots_.size() < next_) return nullptr;
  return &slots_[(number - 1) % slots_.size()];
}

uint64_t DecisionRing::Begin(const framework::QueuedPod& queued,
                             std::shared_ptr<const GroupAttempt> group) {
  if (slots_.empty()) return 0;
  Decision& decision = slots_[(next_ - 1) % slots_.size()];
  const bool open =
      decision.result == DecisionResult::kUnderWay || decision.result == DecisionResult::kScheduled;
  if (decision.number != 0 && open) Complete(decision);
  decision.number = next_++;
  decision.pod = Kept(queued.pod());
  decision.group = std::move(group);
  decision.unschedulable_plugins.Clear();
  decision.pending_plugins.Clear();
  decision.attempt = queued.attempts;
  decision.result = DecisionResult::kUnderWay;
  decision.begin = clock_.Now();
  decision.decided = decision.ended = Duration();
  decision.all_nodes = decision.evaluated_nodes = decision.feasible_nodes = 0;
  // What is assigned keeps its memory.
  decision.node.clear();
  decision.nominated.clear();
  decision.message.clear();
  decision.extenders.clear();
  decision.best_count = 0;
  decision.scorers.reset();
  return decision.number;
}

bool DecisionRing::WantsScoresByPlugin(uint64_t number) {
  const Decision* decision = At(number);
  if (decision == nullptr) return false;
  return !last_by_plugin_ || decision->begin - *last_by_plugin_ >= options_.by_plugin_period;
}

void DecisionRing::Ranked(const std::vector<SearchSpace::Ranked>& best, Decision* decision) {
  decision->best_count = best.size();
  decision->best.resize(std::max(decision->best.size(), best.size()));
  for (size_t i = 0; i < best.size(); ++i) {
    Decision::Node& node = decision->best[i];
    node.name = best[i].node->name();
    node.total = best[i].total;
    node.weighted.clear();
  }
}

void DecisionRing::Scored(uint64_t number, const SearchSpace& search) {
  const FeasibleNodes& feasible = search.feasible;
  const NodeScores& scores = search.scores;
  Decision* decision = At(number);
  if (decision == nullptr) return;
  if (search.is_ranked) return Ranked(search.best_ranked, decision);
  if (scores.totals.empty()) return;
  KS_CHECK(scores.totals.size() == feasible.size(), "scores of other nodes");
  std::array<size_t, kBestNodes> best{};
  decision->best_count = FindBest(scores.totals, &best);
  decision->best.resize(std::max(decision->best.size(), decision->best_count));
  const bool by_plugin = DetailsFit(scores, best[0]);
  if (by_plugin) {
    last_by_plugin_ = decision->begin;
    if (scorers_ == nullptr || !SameNames(*scorers_, scores.details)) {
      scorers_ = NamesOf(scores.details);
    }
    decision->scorers = scorers_;
  }
  for (size_t i = 0; i < decision->best_count; ++i) {
    Decision::Node& node = decision->best[i];
    node.name = feasible.nodes[best[i]]->name();
    node.total = scores.totals[best[i]];
    node.weighted.clear();
    if (!by_plugin) continue;
    for (const auto& plugin : scores.details) {
      node.weighted.push_back(plugin.normalized[best[i]] * plugin.weight);
    }
  }
}

void DecisionRing::Chosen(uint64_t number, const ScheduleResult& result, size_t all_nodes) {
  Decision* decision = At(number);
  if (decision == nullptr) return;
  KS_CHECK(result.node != nullptr, "a decision for no node");
  KS_CHECK(decision->result == DecisionResult::kUnderWay, "a pod is decided twice in one attempt");
  decision->result = DecisionResult::kScheduled;
  decision->node = result.node->name();
  decision->all_nodes = all_nodes;
  decision->evaluated_nodes = result.evaluated_nodes;
  decision->feasible_nodes = result.feasible_nodes;
  decision->decided = clock_.Now() - decision->begin;
  Decided(*decision);
}

void DecisionRing::Bound(uint64_t number) {
  Decision* decision = At(number);
  if (decision == nullptr) return;
  KS_CHECK(decision->result == DecisionResult::kScheduled, "a pod is bound without a decision");
  decision->result = DecisionResult::kBound;
  decision->ended = clock_.Now() - decision->begin;
  Complete(*decision);
}

void DecisionRing::Filtered(uint64_t number, const std::vector<ExtenderFiltering>& extenders) {
  Decision* decision = At(number);
  if (decision != nullptr) decision->extenders = extenders;
}

void DecisionRing::Failed(uint64_t number, const Failure& failure) {
  Decision* decision = At(number);
  if (decision == nullptr) return;
  const Duration passed = clock_.Now() - decision->begin;
  const bool was_scheduled = decision->result == DecisionResult::kScheduled;
  KS_CHECK(was_scheduled || decision->result == DecisionResult::kUnderWay,
           "an attempt fails twice");
  if (was_scheduled) {
    decision->result = DecisionResult::kBindingFailed;
    decision->ended = passed;
  } else {
    decision->result = failure.rejected ? DecisionResult::kUnschedulable : DecisionResult::kError;
    decision->decided = passed;
    decision->all_nodes = failure.all_nodes;
    decision->evaluated_nodes = failure.evaluated_nodes;
  }
  decision->message = failure.message;
  decision->nominated = failure.nominated;
  decision->unschedulable_plugins = failure.unschedulable_plugins;
  decision->pending_plugins = failure.pending_plugins;
  if (!was_scheduled) Decided(*decision);
  Complete(*decision);
}

std::vector<Decision> DecisionRing::Newest(
    size_t limit, const std::function<bool(const Decision&)>& wanted) const {
  std::vector<Decision> newest;
  const uint64_t kept = std::min<uint64_t>(next_ - 1, slots_.size());
  size_t count = 0;
  for (uint64_t i = 0; i < kept; ++i) {
    const Decision& decision = slots_[(next_ - 2 - i) % slots_.size()];
    if (wanted && !wanted(decision)) continue;
    const bool same =
        !newest.empty() && decision.group != nullptr && newest.back().group == decision.group;
    if (!same && ++count > limit) break;
    newest.push_back(decision);
  }
  return newest;
}

}  // namespace ks::scheduler
