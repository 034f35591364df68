// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/filter_state.h"

#include <algorithm>

#include "plugins/kit/cross_pod/places.h"

namespace ks::plugins {

LowestCounts::LowestCounts(const DomainCounts& counts) {
  const auto domains = static_cast<int32_t>(counts.topology().domains());
  for (int32_t domain = 0; domain < domains; ++domain) {
    if (counts.Exists(domain)) Update(domain, counts.Count(domain));
  }
}

void LowestCounts::Update(int32_t domain, int64_t count) {
  if (domain == low_.domain || domain == high_.domain) {
    (domain == low_.domain ? low_ : high_).count = count;
    if (low_.count > high_.count) std::swap(low_, high_);
  } else if (count < low_.count) {
    high_ = low_;
    low_ = {domain, count};
  } else if (count < high_.count) {
    high_ = {domain, count};
  }
}

int64_t SpreadOverlay::Count(int32_t domain, int64_t base) const {
  for (const auto& [changed, count] : counts_) {
    if (changed == domain) return count;
  }
  return base;
}

void SpreadOverlay::Add(int32_t domain, int64_t base, int64_t difference) {
  auto it = std::find_if(counts_.begin(), counts_.end(),
                         [domain](const auto& entry) { return entry.first == domain; });
  if (it == counts_.end()) it = counts_.insert(counts_.end(), {domain, base});
  it->second += difference;
  lowest_.Update(domain, it->second);
}

SpreadFilterState::SpreadFilterState(std::shared_ptr<const SpreadPlan> plan, const api::Pod& pod,
                                     SpreadCounters& counters, const framework::Snapshot& snapshot)
    : base_(std::make_shared<Base>()) {
  base_->plan = std::move(plan);
  base_->ns = pod.meta.ns;
  const SpreadPhase& phase = base_->plan->hard;
  base_->constraints.resize(phase.constraints.size());
  for (size_t i = 0; i < phase.constraints.size(); ++i) {
    const SpreadConstraint& given = phase.constraints[i];
    const size_t k = phase.counter_of[i];
    Constraint& constraint = base_->constraints[i];
    constraint.counter = counters.Get(phase.keys[k], phase.counters[k], snapshot);
    constraint.topology = &constraint.counter->topology();
    constraint.max_skew = given.max_skew;
    constraint.self = given.selector.Matches(pod.meta.labels) ? 1 : 0;
    constraint.too_few_domains =
        static_cast<int64_t>(constraint.counter->existing()) < given.min_domains;
    constraint.minimum = constraint.too_few_domains ? 0 : constraint.counter->minimum();
  }
}

std::shared_ptr<framework::StateData> SpreadFilterState::Clone(
    const std::shared_ptr<framework::StateData>&) const {
  return std::make_shared<SpreadFilterState>(*this);
}

void SpreadFilterState::Base::FindLowest() {
  std::call_once(once, [this] {
    for (const Constraint& each : constraints) lowest.emplace_back(*each.counter);
  });
}

std::shared_ptr<framework::StateData> SpreadFilterState::Fix(
    const std::shared_ptr<framework::StateData>&, const framework::NodeInfo&) {
  auto base = std::make_shared<Base>();
  base->plan = base_->plan;
  base->ns = base_->ns;
  base->constraints = base_->constraints;
  for (Constraint& constraint : base->constraints) {
    const auto domains = static_cast<int32_t>(constraint.topology->domains());
    for (int32_t domain = 0; domain < domains; ++domain) {
      constraint.fixed.push_back(constraint.counter->Count(domain));
    }
  }
  base->FindLowest();
  std::shared_ptr<SpreadFilterState> fixed(new SpreadFilterState(std::move(base)));
  fixed->overlays_ = overlays_;
  return fixed;
}

SpreadVerdict SpreadFilterState::Verdict(const framework::NodeInfo& node) const {
  for (size_t i = 0; i < base_->constraints.size(); ++i) {
    const Constraint& constraint = base_->constraints[i];
    const int32_t domain = constraint.topology->DomainOf(node.slot());
    if (domain == kNoDomain) return SpreadVerdict::kMissingLabel;
    int64_t count = constraint.Count(domain);
    int64_t minimum = constraint.minimum;
    if (!overlays_.empty()) {
      count = overlays_[i].Count(domain, count);
      if (!constraint.too_few_domains) minimum = overlays_[i].lowest();
    }
    if (count + constraint.self - minimum > constraint.max_skew) return SpreadVerdict::kSkewed;
  }
  return SpreadVerdict::kFits;
}

bool SpreadFilterState::FindPlaces(std::vector<uint64_t>* basis) const {
  if (!overlays_.empty()) return false;
  for (const Constraint& constraint : base_->constraints) {
    if (!constraint.fixed.empty()) return false;
    if (!AppendBasisOf(*constraint.counter, *constraint.topology, false, basis)) return false;
  }
  return true;
}

void SpreadFilterState::AppendPlace(const framework::NodeInfo& node,
                                    std::vector<int64_t>* place) const {
  for (const Constraint& constraint : base_->constraints) {
    plugins::AppendPlace(
        *constraint.topology, false, node,
        [&constraint](int32_t domain) { return constraint.Count(domain); }, place);
  }
}

// Unlike the counters: pods that are terminating count, and so does an empty selector. A node that
// takes part has all keys, and its domains exist already.
void SpreadFilterState::Change(const api::Pod& other, const framework::NodeInfo& node,
                               int64_t sign) {
  if (other.meta.ns != base_->ns) return;
  for (size_t i = 0; i < base_->constraints.size(); ++i) {
    const Constraint& constraint = base_->constraints[i];
    if (!constraint.counter->Includes(node.slot())) continue;
    if (!base_->plan->hard.constraints[i].selector.Matches(other.meta.labels)) continue;
    if (overlays_.empty()) {
      base_->FindLowest();
      for (const LowestCounts& lowest : base_->lowest) overlays_.emplace_back(lowest);
    }
    const int32_t domain = constraint.topology->DomainOf(node.slot());
    overlays_[i].Add(domain, constraint.Count(domain), sign);
  }
}

}  // namespace ks::plugins
