// SPDX-License-Identifier: Apache-2.0
#include "testing/affinity_random.h"

#include <memory>

#include "testing/fake_owner_listers.h"

namespace ks::testing {
namespace {

using framework::NodeInfo;
using framework::Status;

const char* const kHostname = "kubernetes.io/hostname";

std::string Text(const Status& status) {
  const std::string code(framework::CodeText(status.code()));
  return status.reasons().empty() ? code : code + ": " + status.Message();
}

// Filters all nodes; `changed` stands for its original.
std::string CompareNodes(framework::Plugin& plugin, const framework::CycleState& state,
                         const framework::Snapshot& snapshot, const AffinityReference& reference,
                         const api::Pod& pod, const NodeInfo* changed) {
  const auto& filter = dynamic_cast<const framework::FilterPlugin&>(plugin);
  for (const NodeInfo* listed : snapshot.nodes()) {
    const NodeInfo* node =
        changed != nullptr && changed->name() == listed->name() ? changed : listed;
    const std::string got = Text(filter.Filter(state, pod, *node));
    const std::string want = reference.Filter(*node);
    if (got != want) return node->name() + ": " + got + ", want " + want;
  }
  return "";
}

std::string CompareSimulation(framework::Plugin& plugin, const framework::CycleState& state,
                              const framework::Snapshot& snapshot, AffinityReference reference,
                              const api::Pod& pod, AffinityRandom& random) {
  if (snapshot.nodes().empty()) return "";
  const auto& hooks = dynamic_cast<const framework::PreFilterExtensions&>(plugin);
  framework::CycleState clone = state.Clone();
  NodeInfo node = *snapshot.nodes()[random.Below(snapshot.nodes().size())];
  std::vector<framework::PodInfoPtr> removed;
  for (uint64_t i = 0; i < 3 && !node.pods().empty(); ++i) {
    const framework::PodInfoPtr victim = node.pods()[random.Below(node.pods().size())];
    node.RemovePod(victim->pod());
    if (!hooks.RemovePod(clone, pod, *victim, node).ok()) return "RemovePod fails";
    reference.Simulate(victim->pod(), node, -1);
    removed.push_back(victim);
  }
  if (random.OneIn(2)) {
    const auto other = random.Pod("nominated", 1).Obj();
    removed.push_back(std::make_shared<framework::PodInfo>(other));
  }
  for (const framework::PodInfoPtr& added : removed) {
    if (random.OneIn(2)) continue;
    node.AddPod(added);
    if (!hooks.AddPod(clone, pod, *added, node).ok()) return "AddPod fails";
    reference.Simulate(added->pod(), node, 1);
  }
  const std::string difference = CompareNodes(plugin, clone, snapshot, reference, pod, &node);
  return difference.empty() ? "" : "simulation on " + node.name() + ", " + difference;
}

std::string CompareScores(framework::Plugin& plugin, framework::CycleState& state,
                          const framework::Snapshot& snapshot, const AffinityReference& reference,
                          const api::Pod& pod) {
  const auto want = reference.Scores();
  const Status before =
      dynamic_cast<framework::PreScorePlugin&>(plugin).PreScore(state, pod, snapshot.nodes());
  if (before.IsSkip() != !want.has_value()) return "PreScore: " + Text(before);
  if (!want) return "";
  if (!before.ok()) return "PreScore: " + Text(before);
  std::vector<int64_t> got;
  for (const NodeInfo* node : snapshot.nodes()) {
    got.push_back(-1);
    const Status status =
        dynamic_cast<const framework::ScorePlugin&>(plugin).Score(state, pod, *node, &got.back());
    if (!status.ok()) return "Score: " + Text(status);
    if (got.back() == (*want)[got.size() - 1]) continue;
    return "score of " + node->name() + ": " + std::to_string(got.back()) + ", want " +
           std::to_string((*want)[got.size() - 1]);
  }
  const Status after = dynamic_cast<const framework::ScoreNormalizer&>(plugin).NormalizeScore(
      state, pod, snapshot.nodes(), got);
  return after.ok() && got == AffinityReference::Normalize(*want) ? "" : "normalized scores";
}

}  // namespace

api::NodePtr AffinityRandom::Node(const std::string& name) {
  NodeBuilder node;
  node.Name(name);
  if (!OneIn(5)) node.Label("zone", Pick({"z1", "z2", ""}));
  if (OneIn(2)) node.Label("rack", Pick({"r1", "r2", "r3"}));
  if (!OneIn(6)) node.Label(kHostname, OneIn(6) ? "shared" : name);
  return node.Obj();
}

// Now and then among so many that no pod has, that they are held in another form.
std::vector<std::string> AffinityRandom::Values(std::vector<std::string> values) {
  if (OneIn(3)) {
    for (int i = 0; i < 70; ++i) values.push_back("nobody-" + std::to_string(i));
  }
  return values;
}

Term AffinityRandom::RandomTerm(bool well_formed) {
  Term term(Pick({"zone", "zone", "rack", kHostname, "nowhere"}));
  switch (Below(9)) {
    case 0:
      break;
    case 1:
      term.Everything();
      break;
    case 2:
      term.Expression("app", "In", Values({"x", "y"}));
      break;
    case 3:
      term.Expression("app", "NotIn", Values({"x"}));
      break;
    case 4:
      term.Expression("tier", OneIn(2) ? "Exists" : "DoesNotExist");
      break;
    case 5:
      term.Labels({{"app", Pick({"x", "y"})}, {"tier", Pick({"1", "2"})}});
      break;
    default:
      term.App(Pick({"x", "y", "z"}));
  }
  if (!well_formed && OneIn(60)) term.Expression("app", "Bogus");
  if (OneIn(3)) term.In({OneIn(2) ? "n1" : "n3", "n2"});
  switch (Below(9)) {
    case 0:
      term.InNamespacesWith({});
      break;
    case 1:
      term.InNamespacesWith({{"team", Pick({"a", "b"})}});
      break;
    case 2:
      term.InNamespacesWith({}, {{"team", "DoesNotExist", {}}});
      break;
    default:
      break;
  }
  return term;
}

AffinePod AffinityRandom::Pod(const std::string& name, uint64_t terms, bool well_formed) {
  AffinePod pod;
  pod.Name(name).Namespace(Pick({"n1", "n1", "n2", "n3"}));
  Texts labels;
  if (!OneIn(5)) labels.emplace_back("app", Pick({"x", "y", "z"}));
  if (OneIn(2)) labels.emplace_back("tier", Pick({"1", "2"}));
  pod.Labels(labels);
  if (OneIn(8)) pod.Terminating();
  const auto some = [&](auto add) {
    if (OneIn(2)) return;
    for (uint64_t count = Below(terms + 1); count > 0; --count) add(RandomTerm(well_formed));
  };
  const auto weight = [&] { return static_cast<int32_t>(Below(100) + 1); };
  some([&](const Term& term) { pod.Near(term); });
  some([&](const Term& term) { pod.Far(term); });
  some([&](const Term& term) { pod.PrefersNear(weight(), term); });
  some([&](const Term& term) { pod.PrefersFar(weight(), term); });
  if (OneIn(20)) pod.Affinity();
  return pod;
}

api::NamespacePtr AffinityRandom::Namespace() {
  Texts labels;
  if (!OneIn(3)) labels.emplace_back("team", Pick({"a", "b"}));
  return MakeNamespace(Pick({"n1", "n2"}), labels);
}

std::string CompareWithReference(framework::Plugin& plugin, const framework::Snapshot& snapshot,
                                 const framework::OwnerListers& listers,
                                 const AffinityOptions& options, const api::Pod& pod,
                                 AffinityRandom& random) {
  const AffinityReference reference(snapshot, listers, options, pod);
  framework::CycleState state;
  const Status before =
      dynamic_cast<framework::PreFilterPlugin&>(plugin).PreFilter(state, pod, snapshot).status;
  if (!reference.parse_error().empty()) {
    const std::string want = "UnschedulableAndUnresolvable: " + reference.parse_error();
    return Text(before) == want ? "" : "PreFilter: " + Text(before) + ", want " + want;
  }
  if (before.IsSkip() != reference.PreFilterSkips()) return "PreFilter: " + Text(before);
  if (!before.IsSkip()) {
    if (!before.ok()) return "PreFilter: " + Text(before);
    std::string difference = CompareNodes(plugin, state, snapshot, reference, pod, nullptr);
    for (int i = 0; i < 4 && difference.empty(); ++i) {
      difference = CompareSimulation(plugin, state, snapshot, reference, pod, random);
    }
    // Simulations leave the cycle's state alone.
    if (difference.empty()) {
      difference = CompareNodes(plugin, state, snapshot, reference, pod, nullptr);
    }
    if (!difference.empty()) return difference;
  }
  return CompareScores(plugin, state, snapshot, reference, pod);
}

}  // namespace ks::testing
