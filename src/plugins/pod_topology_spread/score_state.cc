// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/score_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plugins/kit/cross_pod/places.h"

namespace ks::plugins {

void DomainMarks::Start(size_t domains) {
  if (rounds_.size() < domains) rounds_.resize(domains);
  marked_ = 0;
  if (++round_ != 0) return;
  std::fill(rounds_.begin(), rounds_.end(), 0U);
  round_ = 1;
}

void DomainMarks::Mark(int32_t domain) {
  uint32_t& round = rounds_[static_cast<size_t>(domain)];
  if (round == round_) return;
  round = round_;
  ++marked_;
}

SpreadScoreState::SpreadScoreState(std::shared_ptr<const SpreadPlan> plan, SpreadCounters& counters,
                                   const framework::Snapshot& snapshot,
                                   std::span<const framework::NodeInfo* const> nodes,
                                   std::span<const size_t> counts, DomainMarks& marks)
    : plan_(std::move(plan)), require_all_(plan_->soft.require_all) {
  static const Symbol hostname(kHostnameKey);
  const SpreadPhase& phase = plan_->soft;
  constraints_.resize(phase.constraints.size());
  for (size_t i = 0; i < phase.constraints.size(); ++i) {
    const SpreadConstraint& given = phase.constraints[i];
    const size_t k = phase.counter_of[i];
    Constraint& constraint = constraints_[i];
    constraint.counter = counters.Get(phase.keys[k], phase.counters[k], snapshot);
    if (given.topology_key == hostname) {
      constraint.hostnames = counters.GetTopology(hostname, snapshot);
      constraint.topology = constraint.hostnames.get();
    } else {
      constraint.topology = &constraint.counter->topology();
    }
    constraint.offset = static_cast<double>(given.max_skew - 1);
  }
  Weigh(nodes, counts, marks);
}

bool SpreadScoreState::Ignores(const framework::NodeInfo& node) const {
  if (!require_all_) return false;
  return std::any_of(constraints_.begin(), constraints_.end(),
                     [&node](const Constraint& constraint) {
                       return constraint.topology->DomainOf(node.slot()) == kNoDomain;
                     });
}

// The more domains, the more one pod in a domain weighs.
void SpreadScoreState::Weigh(std::span<const framework::NodeInfo* const> nodes,
                             std::span<const size_t> counts, DomainMarks& marks) {
  size_t scored = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!Ignores(*nodes[i])) scored += counts.empty() ? 1 : counts[i];
  }
  for (Constraint& constraint : constraints_) {
    const size_t size =
        constraint.CountsNodes() ? scored : CountDomains(*constraint.topology, nodes, marks);
    constraint.weight = std::log(static_cast<double>(size + 2));
  }
}

// Counts the domains of the nodes that are not ignored.
size_t SpreadScoreState::CountDomains(const Topology& topology,
                                      std::span<const framework::NodeInfo* const> nodes,
                                      DomainMarks& marks) const {
  marks.Start(topology.domains());
  for (const framework::NodeInfo* node : nodes) {
    if (!Ignores(*node)) marks.Mark(topology.DomainOf(node->slot()));
  }
  return marks.marked();
}

int64_t SpreadScoreState::Score(const framework::NodeInfo& node) const {
  if (Ignores(node)) return 0;
  double sum = 0;
  for (const Constraint& constraint : constraints_) {
    const int32_t domain = constraint.topology->DomainOf(node.slot());
    if (domain == kNoDomain) continue;
    int64_t count = 0;
    if (constraint.CountsNodes()) {
      count = constraint.counter->PodsOn(node.slot());
    } else {
      // Where nodes without the key are in the domain of the empty value, they are not scored by
      // it.
      if (!require_all_ && constraint.IsMissing(node, domain)) continue;
      count = constraint.counter->Count(domain);
    }
    const double product = static_cast<double>(count) * constraint.weight;
    sum = sum + (product + constraint.offset);
  }
  return static_cast<int64_t>(std::round(sum));
}

// What a domain weighs depends on how many there are, so that nodes are not alike by its count.
bool SpreadScoreState::FindPlaces(std::vector<uint64_t>* basis) const {
  for (const Constraint& constraint : constraints_) {
    const bool per_node = constraint.CountsNodes();
    const Topology& topology = *constraint.topology;
    if (!per_node && HowAlike(topology, false) != AlikeBy::kDomain) return false;
    if (!AppendBasisOf(*constraint.counter, topology, per_node, basis)) return false;
  }
  return true;
}

void SpreadScoreState::AppendPlace(const framework::NodeInfo& node,
                                   std::vector<int64_t>* place) const {
  for (const Constraint& constraint : constraints_) {
    plugins::AppendPlace(
        *constraint.topology, constraint.CountsNodes(), node,
        [&](int32_t) { return int64_t{constraint.counter->PodsOn(node.slot())}; }, place);
    if (constraint.CountsNodes()) continue;
    const int32_t domain = constraint.topology->DomainOf(node.slot());
    place->push_back(domain != kNoDomain && constraint.IsMissing(node, domain) ? 1 : 0);
  }
}

}  // namespace ks::plugins
