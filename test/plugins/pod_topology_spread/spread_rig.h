// SPDX-License-Identifier: Apache-2.0
#pragma once
// PodTopologySpread in the notation of docs/spec/plugins-crosspod.md section 5.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/plugin_rig.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace ks::plugins {

using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::NodeBuilder;
using ks::testing::PodBuilder;
using ks::testing::Texts;

inline const Texts kFoo = {{"foo", ""}};
inline constexpr const char* kHostname = "kubernetes.io/hostname";
inline constexpr const char* kZone = "topology.kubernetes.io/zone";

inline api::LabelSelectorSpec Exists(const std::string& key) {
  api::LabelSelectorSpec spec;
  spec.match_expressions = {{key, "Exists", {}}};
  return spec;
}

// A constraint; selector "foo exists" unless changed.
struct Spread {
  explicit Spread(const std::string& key, int32_t max_skew = 1) {
    given.topology_key = Symbol(key);
    given.max_skew = max_skew;
    given.when_unsatisfiable = "DoNotSchedule";
    given.label_selector = Exists("foo");
  }
  Spread& Soft() { return given.when_unsatisfiable = "ScheduleAnyway", *this; }
  Spread& Selector(std::optional<api::LabelSelectorSpec> selector) {
    given.label_selector = std::move(selector);
    return *this;
  }
  Spread& MinDomains(int32_t count) { return given.min_domains = count, *this; }
  Spread& Affinity(const char* policy) { return given.node_affinity_policy = policy, *this; }
  Spread& Taints(const char* policy) { return given.node_taints_policy = policy, *this; }
  Spread& LabelKeys(std::vector<std::string> keys) {
    given.match_label_keys = std::move(keys);
    return *this;
  }
  Spread& Action(const char* text) { return given.when_unsatisfiable = text, *this; }

  api::TopologySpreadConstraint given;
};

// The incoming pod.
inline PodBuilder Incoming(const std::vector<Spread>& constraints, const Texts& labels = kFoo) {
  PodBuilder pod = MakePod().Name("incoming").Labels(labels);
  for (const Spread& spread : constraints) {
    pod.spec().topology_spread_constraints.push_back(spread.given);
  }
  return pod;
}

using Pods = std::vector<PodBuilder>;

// `count` existing pods with these labels.
inline Pods Existing(int count, const Texts& labels = kFoo) {
  return Pods(static_cast<size_t>(count), MakePod().Labels(labels));
}

struct SpreadNode {
  SpreadNode(const std::string& node_name, const Texts& labels, const Pods& on_it = {})
      : node(MakeNode().Name(node_name)), pods(on_it) {
    for (const auto& [key, value] : labels) node.Label(key, value);
  }
  SpreadNode& Taint(const char* effect) { return node.Taint("t", "", effect), *this; }

  NodeBuilder node;
  Pods pods;
};

class SpreadRig : public PluginRig {
 public:
  explicit SpreadRig(const std::vector<SpreadNode>& nodes = {}, const std::string& args = "null")
      : PluginRig(NewPodTopologySpread, args) {
    for (const SpreadNode& node : nodes) Add(node);
  }

  void Add(SpreadNode node) {
    std::vector<api::PodPtr> pods;
    for (PodBuilder& pod : node.pods) {
      pods.push_back(pod.Name("existing-" + std::to_string(next_pod_++)).Obj());
    }
    AddNode(node.node, pods);
  }

  // The letters of section 5 for each node: S, L, K. "Skip", or what else PreFilter says.
  std::string Letters(const api::PodPtr& pod) {
    state.Reset();
    const framework::Status status = PreFilter(*pod).status;
    return status.ok() ? Filters(*pod) : Describe(status);
  }
  // Filter alone, on the state as it is.
  std::string Filters(const api::Pod& pod) {
    std::string letters;
    for (const framework::NodeInfo* node : nodes()) {
      letters += Letter(As<framework::FilterPlugin>()->Filter(state, pod, *node));
    }
    return letters;
  }

  // Through AddPod (+1) or RemovePod (-1).
  void Simulate(const api::Pod& pod, int sign, PodBuilder other, size_t node) {
    const framework::PodInfo given(other.Name("simulated").Obj());
    auto* extensions = As<framework::PreFilterExtensions>();
    const framework::Status status = sign > 0
                                         ? extensions->AddPod(state, pod, given, *nodes()[node])
                                         : extensions->RemovePod(state, pod, given, *nodes()[node]);
    EXPECT_TRUE(status.ok()) << Describe(status);
  }

  struct Scores {
    std::vector<int64_t> raw;
    std::vector<int64_t> final;
    friend bool operator==(const Scores&, const Scores&) = default;
  };
  // The scores of the nodes with these indices; empty after Skip.
  Scores ScoresOf(const api::PodPtr& pod, const std::vector<size_t>& feasible) {
    std::vector<const framework::NodeInfo*> chosen;
    for (const size_t i : feasible) chosen.push_back(nodes()[i]);
    state.Reset();
    Scores scores;
    const framework::Status before = As<framework::PreScorePlugin>()->PreScore(state, *pod, chosen);
    EXPECT_TRUE(before.ok() || before.IsSkip()) << Describe(before);
    if (!before.ok()) return scores;
    for (const framework::NodeInfo* node : chosen) {
      const framework::Status status =
          As<framework::ScorePlugin>()->Score(state, *pod, *node, &scores.raw.emplace_back(-1));
      EXPECT_TRUE(status.ok()) << Describe(status);
    }
    scores.final = scores.raw;
    const framework::Status status =
        As<framework::ScoreNormalizer>()->NormalizeScore(state, *pod, chosen, scores.final);
    EXPECT_TRUE(status.ok()) << Describe(status);
    return scores;
  }

 private:
  static char Letter(const framework::Status& status) {
    const std::string text = Describe(status);
    if (text == "Success") return 'S';
    if (text ==
        "UnschedulableAndUnresolvable: node(s) didn't match pod topology spread "
        "constraints (missing required label)") {
      return 'L';
    }
    if (text == "Unschedulable: node(s) didn't match pod topology spread constraints") return 'K';
    ADD_FAILURE() << text;
    return '?';
  }

  int next_pod_ = 0;
};

}  // namespace ks::plugins
