// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/score_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
                                   DomainMarks& marks)
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
  Weigh(nodes, marks);
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
                             DomainMarks& marks) {
  const auto ignored = static_cast<size_t>(
      std::count_if(nodes.begin(), nodes.end(),
                    [this](const framework::NodeInfo* node) { return Ignores(*node); }));
  for (Constraint& constraint : constraints_) {
    const size_t size = constraint.hostnames != nullptr
                            ? nodes.size() - ignored
                            : CountDomains(*constraint.topology, nodes, marks);
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
    if (constraint.hostnames != nullptr) {
      count = constraint.counter->PodsOn(node.slot());
    } else {
      // Where nodes without the key are in the domain of the empty value, they are not scored by
      // it.
      const Topology& topology = *constraint.topology;
      if (!require_all_ && topology.value(domain).empty() &&
          !node.node()->meta.labels.Contains(topology.key())) {
        continue;
      }
      count = constraint.counter->Count(domain);
    }
    const double product = static_cast<double>(count) * constraint.weight;
    sum = sum + (product + constraint.offset);
  }
  return static_cast<int64_t>(std::round(sum));
}

}  // namespace ks::plugins
