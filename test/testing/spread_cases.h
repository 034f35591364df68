// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random nodes and pods that PodTopologySpread has something to say about, and the comparison of
// the plugin with the reference.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "framework/plugin.h"
#include "testing/builders.h"
#include "testing/spread_reference.h"

namespace ks::testing {

// Threads: one.
class SpreadCases {
 public:
  explicit SpreadCases(uint64_t seed) : random(seed) {}

  bool Chance(uint64_t percent) { return random.Below(100) < percent; }
  std::string Any(const std::vector<std::string>& texts) {
    return texts[random.Below(texts.size())];
  }

  NodeBuilder Node(const std::string& name) {
    NodeBuilder node = MakeNode().Name(name);
    if (Chance(95)) node.Label("kubernetes.io/hostname", Chance(90) ? name : "shared");
    if (Chance(85)) node.Label("topology.kubernetes.io/zone", Any({"z1", "z2", "z3", ""}));
    if (Chance(80)) node.Label("rack", Any({"r1", "r2", ""}));
    if (Chance(50)) node.Label("disk", Any({"ssd", "hdd"}));
    if (Chance(25)) node.Taint("t", Any({"", "v"}), Any({"NoSchedule", "NoExecute"}));
    if (Chance(10)) node.Taint("t", "", "PreferNoSchedule");
    return node;
  }

  Texts Labels() {
    Texts labels;
    if (Chance(75)) labels.emplace_back("app", Any({"web", "db"}));
    if (Chance(40)) labels.emplace_back("rev", Any({"1", "2"}));
    return labels;
  }

  PodBuilder Existing(const std::string& name, const std::string& node) {
    PodBuilder pod = MakePod().Name(name).Node(node).Labels(Labels());
    if (Chance(10)) pod.Namespace("other");
    if (Chance(10)) pod.Terminating();
    return pod;
  }

  // Constraints of its own, or (one in four) none.
  PodBuilder Incoming() {
    PodBuilder pod = MakePod().Name("incoming").Labels(Labels());
    const uint64_t constraints = Chance(25) ? 0 : 1 + random.Below(3);
    for (uint64_t i = 0; i < constraints; ++i) {
      pod.spec().topology_spread_constraints.push_back(Constraint());
    }
    if (Chance(30)) pod.NodeSelector({{"disk", "ssd"}});
    if (Chance(15)) pod.RequiredTerm({{"rack", "In", {"r1", "r2"}}});
    if (Chance(40)) pod.Toleration("t", Any({"Exists", "Equal"}), "", Any({"", "NoSchedule"}));
    return pod;
  }

  // All extension points, then a what-if on one node, on all nodes of the snapshot.
  void Compare(framework::Plugin& plugin, const framework::Snapshot& snapshot, const api::Pod& pod,
               const api::LabelMap& derived) {
    SpreadReference reference(pod, snapshot, derived);
    framework::CycleState state;
    auto* pre_filter = dynamic_cast<framework::PreFilterPlugin*>(&plugin);
    const framework::Status before = pre_filter->PreFilter(state, pod, snapshot).status;
    ASSERT_EQ(before.IsSkip(), reference.SkipsFilter()) << before.Message();
    if (before.ok()) {
      ASSERT_EQ(Letters(plugin, state, pod, snapshot), reference.Letters());
      if (!snapshot.nodes().empty()) CompareWhatIf(plugin, state, pod, snapshot, reference);
      ASSERT_EQ(Letters(plugin, state, pod, snapshot),
                SpreadReference(pod, snapshot, derived).Letters());
    }
    CompareScores(plugin, state, pod, snapshot, reference);
  }

  Random random;

 private:
  api::TopologySpreadConstraint Constraint() {
    api::TopologySpreadConstraint constraint;
    constraint.topology_key =
        Symbol(Any({"kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack"}));
    constraint.max_skew = static_cast<int32_t>(1 + random.Below(3));
    constraint.when_unsatisfiable = Any({"DoNotSchedule", "ScheduleAnyway"});
    if (Chance(90)) {
      api::LabelSelectorSpec& selector = constraint.label_selector.emplace();
      if (Chance(60)) selector.match_labels = {{"app", Any({"web", "db"})}};
      if (Chance(20)) selector.match_expressions = {{"rev", Any({"Exists", "DoesNotExist"}), {}}};
    }
    if (Chance(30)) constraint.match_label_keys = {"rev", "absent"};
    if (Chance(25)) constraint.min_domains = static_cast<int32_t>(1 + random.Below(4));
    if (Chance(50)) constraint.node_affinity_policy = Any({"Honor", "Ignore"});
    if (Chance(50)) constraint.node_taints_policy = Any({"Honor", "Ignore"});
    return constraint;
  }

  static std::string Letters(framework::Plugin& plugin, const framework::CycleState& state,
                             const api::Pod& pod, const framework::Snapshot& snapshot) {
    auto* filter = dynamic_cast<framework::FilterPlugin*>(&plugin);
    std::string letters;
    for (const framework::NodeInfo* node : snapshot.nodes()) {
      const framework::Status status = filter->Filter(state, pod, *node);
      const bool missing = status.code() == framework::Code::kUnschedulableAndUnresolvable;
      letters += status.ok() ? 'S' : (missing ? 'L' : 'K');
    }
    return letters;
  }

  void CompareWhatIf(framework::Plugin& plugin, const framework::CycleState& state,
                     const api::Pod& pod, const framework::Snapshot& snapshot,
                     SpreadReference& reference) {
    auto* extensions = dynamic_cast<framework::PreFilterExtensions*>(&plugin);
    framework::CycleState clone = state.Clone();
    const framework::NodeInfo& node = *snapshot.nodes()[random.Below(snapshot.nodes().size())];
    const framework::NodeInfo copy = node;
    for (const framework::PodInfoPtr& victim : copy.pods()) {
      if (Chance(30)) continue;
      ASSERT_TRUE(extensions->RemovePod(clone, pod, *victim, copy).ok());
      reference.Change(victim->pod(), *copy.node(), -1);
      ASSERT_EQ(Letters(plugin, clone, pod, snapshot), reference.Letters());
    }
    for (int i = 0; i < 3; ++i) {
      const framework::PodInfo nominated(Existing("nominated", "").Obj());
      ASSERT_TRUE(extensions->AddPod(clone, pod, nominated, copy).ok());
      reference.Change(nominated.pod(), *copy.node(), 1);
      ASSERT_EQ(Letters(plugin, clone, pod, snapshot), reference.Letters());
      clone = clone.Clone();
    }
  }

  void CompareScores(framework::Plugin& plugin, framework::CycleState& state, const api::Pod& pod,
                     const framework::Snapshot& snapshot, const SpreadReference& reference) {
    std::vector<const framework::NodeInfo*> feasible;
    const uint64_t percent = 20 + random.Below(81);
    for (const framework::NodeInfo* node : snapshot.nodes()) {
      if (Chance(percent)) feasible.push_back(node);
    }
    auto* pre_score = dynamic_cast<framework::PreScorePlugin*>(&plugin);
    const framework::Status before = pre_score->PreScore(state, pod, feasible);
    ASSERT_EQ(before.IsSkip(), reference.SkipsScore() || snapshot.nodes().empty())
        << before.Message();
    if (!before.ok()) return;
    SpreadReference::Scores scores;
    for (const framework::NodeInfo* node : feasible) {
      ASSERT_TRUE(dynamic_cast<framework::ScorePlugin*>(&plugin)
                      ->Score(state, pod, *node, &scores.raw.emplace_back(-1))
                      .ok());
    }
    scores.final = scores.raw;
    ASSERT_TRUE(dynamic_cast<framework::ScoreNormalizer*>(&plugin)
                    ->NormalizeScore(state, pod, feasible, scores.final)
                    .ok());
    const SpreadReference::Scores want = reference.ScoresOf(feasible);
    ASSERT_EQ(scores.raw, want.raw);
    ASSERT_EQ(scores.final, want.final);
  }
};

}  // namespace ks::testing
