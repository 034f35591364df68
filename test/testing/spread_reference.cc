// SPDX-License-Identifier: Apache-2.0
#include "testing/spread_reference.h"

#include <algorithm>
#include <cmath>

#include "api/node.h"
#include "api/selector.h"
#include "base/check.h"

namespace ks::testing {
namespace {

const char* const kHostname = "kubernetes.io/hostname";

bool IsHostname(const Symbol& key) { return key.view() == kHostname; }

// Gate TaintTolerationComparisonOperators off.
bool Tolerates(const api::Toleration& toleration, const api::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == "Equal") return toleration.value == taint.value;
  return toleration.op == "Exists";
}

}  // namespace

bool SpreadReference::Constraint::Matches(const api::LabelMap& pod_labels) const {
  if (null_selector) return false;
  for (const auto& [name, value] : labels) {
    const Symbol* found = pod_labels.Find(name);
    if (found == nullptr || *found != value) return false;
  }
  return std::all_of(requirements.begin(), requirements.end(),
                     [&](const api::Requirement& wanted) { return wanted.Matches(pod_labels); });
}

SpreadReference::SpreadReference(const api::Pod& pod, const framework::Snapshot& snapshot,
                                 const api::LabelMap& derived)
    : pod_(pod), snapshot_(snapshot) {
  for (const api::TopologySpreadConstraint& given : pod.spec->topology_spread_constraints) {
    if (given.when_unsatisfiable == "DoNotSchedule") hard_.push_back(Own(given));
    if (given.when_unsatisfiable == "ScheduleAnyway") soft_.push_back(Own(given));
  }
  if (pod.spec->topology_spread_constraints.empty() && !derived.empty()) {
    require_all_ = false;
    Constraint constraint;
    constraint.labels = derived;
    constraint.key = Symbol(kHostname);
    constraint.max_skew = 3;
    soft_.push_back(constraint);
    constraint.key = Symbol("topology.kubernetes.io/zone");
    constraint.max_skew = 5;
    soft_.push_back(constraint);
  }
  FillHardTables();
}

SpreadReference::Constraint SpreadReference::Own(const api::TopologySpreadConstraint& given) const {
  Constraint constraint;
  constraint.key = given.topology_key;
  constraint.max_skew = given.max_skew;
  constraint.min_domains = given.min_domains ? *given.min_domains : 1;
  constraint.honor_affinity = given.node_affinity_policy != "Ignore";
  constraint.honor_taints = given.node_taints_policy == "Honor";
  const auto selector = api::LabelSelector::Compile(given.label_selector);
  KS_CHECK(selector.ok(), selector.error().message);
  constraint.null_selector = selector->MatchesNothing();
  constraint.requirements = selector->requirements();
  for (const std::string& text : given.match_label_keys) {
    const Symbol* value = pod_.meta.labels.Find(Symbol(text));
    if (value != nullptr) constraint.labels.Set(Symbol(text), *value);
  }
  constraint.empty_selector =
      !constraint.null_selector && constraint.requirements.empty() && constraint.labels.empty();
  return constraint;
}

// 4.4.
bool SpreadReference::Passes(const Constraint& constraint, const api::Node& node) const {
  if (constraint.honor_affinity) {
    for (const auto& [key, value] : pod_.spec->node_selector) {
      const Symbol* label = node.meta.labels.Find(key);
      if (label == nullptr || *label != value) return false;
    }
    const auto& affinity = pod_.spec->node_affinity;
    if (affinity && affinity->required &&
        !api::NodeSelector::Compile(*affinity->required)
             .Matches(node.meta.labels, node.meta.name)) {
      return false;
    }
  }
  if (!constraint.honor_taints) return true;
  return std::all_of(node.taints.begin(), node.taints.end(), [this](const api::Taint& taint) {
    const auto& all = pod_.spec->tolerations;
    return taint.effect.view() == "PreferNoSchedule" ||
           std::any_of(all.begin(), all.end(),
                       [&taint](const api::Toleration& one) { return Tolerates(one, taint); });
  });
}

// 4.5.
int64_t SpreadReference::CountOn(const Constraint& constraint,
                                 const framework::NodeInfo& node) const {
  if (constraint.empty_selector) return 0;
  return std::count_if(node.pods().begin(), node.pods().end(), [&](const auto& other) {
    const api::ObjectMeta& meta = other->pod().meta;
    return meta.ns == pod_.meta.ns && !meta.deletion_timestamp && constraint.Matches(meta.labels);
  });
}

bool SpreadReference::HasAllKeys(const Constraints& constraints, const api::Node& node) {
  return std::all_of(constraints.begin(), constraints.end(), [&node](const Constraint& constraint) {
    return node.meta.labels.Contains(constraint.key);
  });
}

// 4.6.
void SpreadReference::FillHardTables() {
  for (const framework::NodeInfo* node : snapshot_.nodes()) {
    if (!HasAllKeys(hard_, *node->node())) continue;
    for (Constraint& constraint : hard_) {
      if (!Passes(constraint, *node->node())) continue;
      constraint.table[node->node()->meta.labels.Find(constraint.key)->str()] +=
          CountOn(constraint, *node);
    }
  }
}

// 4.7; on one node only, so that upstream's memory of the minimum is the minimum.
void SpreadReference::Change(const api::Pod& other, const api::Node& node, int sign) {
  if (other.meta.ns != pod_.meta.ns || !HasAllKeys(hard_, node)) return;
  for (Constraint& constraint : hard_) {
    if (!Passes(constraint, node) || !constraint.Matches(other.meta.labels)) continue;
    constraint.table[node.meta.labels.Find(constraint.key)->str()] += sign;
  }
}

std::string SpreadReference::Letters() const {
  std::string letters;
  for (const framework::NodeInfo* node : snapshot_.nodes()) {
    char letter = 'S';
    for (const Constraint& constraint : hard_) {
      const Symbol* value = node->node()->meta.labels.Find(constraint.key);
      if (value == nullptr) {
        letter = 'L';
        break;
      }
      int64_t minimum = INT64_MAX;
      for (const auto& [domain, count] : constraint.table) minimum = std::min(minimum, count);
      if (static_cast<int64_t>(constraint.table.size()) < constraint.min_domains) minimum = 0;
      const auto found = constraint.table.find(value->str());
      const int64_t count = found == constraint.table.end() ? 0 : found->second;
      const int64_t self = constraint.Matches(pod_.meta.labels) ? 1 : 0;
      if (count + self - minimum > constraint.max_skew) {
        letter = 'K';
        break;
      }
    }
    letters += letter;
  }
  return letters;
}

// 4.8.
SpreadReference::Known SpreadReference::KnownDomains(
    std::span<const framework::NodeInfo* const> feasible, size_t* ignored) const {
  const auto value_of = [](const Constraint& constraint, const api::Node& node) {
    const Symbol* value = node.meta.labels.Find(constraint.key);
    return value == nullptr ? std::string() : value->str();
  };
  Known known(soft_.size());
  *ignored = 0;
  for (const framework::NodeInfo* node : feasible) {
    if (require_all_ && !HasAllKeys(soft_, *node->node())) {
      ++*ignored;
      continue;
    }
    for (size_t i = 0; i < soft_.size(); ++i) {
      if (!IsHostname(soft_[i].key)) known[i][value_of(soft_[i], *node->node())];
    }
  }
  for (const framework::NodeInfo* node : snapshot_.nodes()) {
    if (require_all_ && !HasAllKeys(soft_, *node->node())) continue;
    for (size_t i = 0; i < soft_.size(); ++i) {
      if (IsHostname(soft_[i].key) || !Passes(soft_[i], *node->node())) continue;
      const auto found = known[i].find(value_of(soft_[i], *node->node()));
      if (found != known[i].end()) found->second += CountOn(soft_[i], *node);
    }
  }
  return known;
}

int64_t SpreadReference::Raw(const framework::NodeInfo& node, const Known& known,
                             const std::vector<double>& weights) const {
  double sum = 0.0;
  for (size_t i = 0; i < soft_.size(); ++i) {
    const Symbol* value = node.node()->meta.labels.Find(soft_[i].key);
    if (value == nullptr) continue;
    const int64_t count =
        IsHostname(soft_[i].key) ? CountOn(soft_[i], node) : known[i].at(value->str());
    sum += static_cast<double>(count) * weights[i] + static_cast<double>(soft_[i].max_skew - 1);
  }
  return static_cast<int64_t>(std::round(sum));
}

SpreadReference::Scores SpreadReference::ScoresOf(
    std::span<const framework::NodeInfo* const> feasible) const {
  size_t ignored = 0;
  const Known known = KnownDomains(feasible, &ignored);
  std::vector<double> weights;
  for (size_t i = 0; i < soft_.size(); ++i) {
    const size_t size = IsHostname(soft_[i].key) ? feasible.size() - ignored : known[i].size();
    weights.push_back(std::log(static_cast<double>(size) + 2.0));
  }
  Scores scores;
  int64_t lowest = INT64_MAX;
  int64_t highest = INT64_MIN;
  for (const framework::NodeInfo* node : feasible) {
    const bool is_ignored = require_all_ && !HasAllKeys(soft_, *node->node());
    scores.raw.push_back(is_ignored ? 0 : Raw(*node, known, weights));
    if (is_ignored) continue;
    lowest = std::min(lowest, scores.raw.back());
    highest = std::max(highest, scores.raw.back());
  }
  for (size_t i = 0; i < feasible.size(); ++i) {
    if (require_all_ && !HasAllKeys(soft_, *feasible[i]->node())) {
      scores.final.push_back(0);
    } else {
      scores.final.push_back(highest == 0 ? 100
                                          : 100 * (highest + lowest - scores.raw[i]) / highest);
    }
  }
  return scores;
}

}  // namespace ks::testing
