// SPDX-License-Identifier: Apache-2.0
// Remembering verdicts and scores changes the time and nothing else, and neither does ranking nodes
// by them: algorithms over one changing cluster, one that remembers, one that ranks, too, and one
// that does neither, must agree on every pod and on what they count.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/pod_kinds.h"
#include "cache/cache.h"
#include "cache/owner_stores.h"
#include "cache/storage_stores.h"
#include "config/read/defaults.h"
#include "framework/metrics/framework_metrics.h"
#include "framework/runtime/offline_parts.h"
#include "framework/runtime/profiles.h"
#include "metrics/registry.h"
#include "plugins/registry.h"
#include "queue/nominator.h"
#include "scheduler/algorithm/scheduling_algorithm.h"
#include "testing/builders.h"
#include "testing/deltas.h"
#include "testing/fake_clock.h"
#include "testing/sanitized.h"

namespace ks::scheduler {
namespace {

using ks::bench::kHostname;
using ks::bench::kZone;
using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::PodBuilder;

constexpr size_t kNodes = 300;
constexpr size_t kTemplates = 12;
constexpr size_t kConstrainedTemplates = 5;
constexpr const char* kRow = "row";    // of which there are few
constexpr const char* kRack = "rack";  // more, several nodes each

std::string AppOf(size_t i) { return "app-" + std::to_string(i % 5); }

api::LabelSelectorSpec Selects(const std::string& app) { return {{{"app", app}}, {}}; }

const char* RandomKey(Random& random) {
  const char* const keys[] = {kZone, kZone, kZone, kHostname, kHostname, kHostname, kRow, kRack};
  return keys[random.Below(8)];
}

api::PodAffinityTerm RandomAffinityTerm(Random& random) {
  api::PodAffinityTerm term;
  term.label_selector = Selects(AppOf(random.Below(5)));
  term.topology_key = Symbol(RandomKey(random));
  return term;
}

// What makes it look at other pods.
void AddConstraints(Random& random, size_t i, api::PodSpec& spec) {
  if (random.Below(2) == 0) {
    api::TopologySpreadConstraint constraint;
    constraint.max_skew = static_cast<int32_t>(1 + random.Below(3));
    constraint.topology_key = Symbol(RandomKey(random));
    constraint.when_unsatisfiable = random.Below(2) == 0 ? "DoNotSchedule" : "ScheduleAnyway";
    constraint.label_selector = Selects(AppOf(i));
    if (random.Below(3) == 0) constraint.node_taints_policy = "Honor";
    spec.topology_spread_constraints.push_back(constraint);
    if (random.Below(2) == 0) {
      constraint.topology_key = Symbol(RandomKey(random));
      const bool differs =
          constraint.topology_key != spec.topology_spread_constraints[0].topology_key;
      if (differs) spec.topology_spread_constraints.push_back(constraint);
    }
  }
  if (random.Below(3) == 0) {
    spec.pod_affinity = api::PodAffinity{{}, {{7, RandomAffinityTerm(random)}}};
    if (random.Below(3) == 0) {
      spec.pod_affinity->required.push_back(RandomAffinityTerm(random));
    }
  }
  if (random.Below(3) == 0) {
    spec.pod_anti_affinity = api::PodAffinity{{}, {}};
    if (random.Below(2) == 0) {
      spec.pod_anti_affinity->required.push_back(RandomAffinityTerm(random));
    }
    spec.pod_anti_affinity->preferred.push_back({3, RandomAffinityTerm(random)});
  }
}

// What pods of one template have in common; their specs are one object, as after decoding.
PodBuilder Template(Random& random, size_t i, bool constrained) {
  PodBuilder pod = MakePod();
  pod.Labels({{"app", AppOf(i)}});
  pod.Priority(static_cast<int32_t>(i % 3));
  const char* const cpus[] = {"0", "100m", "1", "2500m", "9"};
  pod.Req({{"cpu", cpus[random.Below(5)]}, {"memory", random.Below(2) == 0 ? "64Mi" : "3Gi"}},
          "registry.example/app:" + std::to_string(random.Below(3)));
  if (random.Below(4) == 0) pod.Req({{"example.com/gpu", "1"}});
  if (random.Below(4) == 0) pod.HostPort(static_cast<int32_t>(8080 + random.Below(2)));
  if (random.Below(3) == 0) pod.NodeSelector({{"disk", "ssd"}});
  if (random.Below(3) == 0) pod.Toleration("dedicated", "Exists", "", "");
  if (random.Below(3) == 0) {
    pod.PreferredTerm(5, {{"disk", "In", {"ssd"}}});
    pod.PreferredTerm(3, {{kZone, "In", {"zone-1"}}});
  }
  if (constrained) AddConstraints(random, i, pod.spec());
  return pod;
}

class Triplets {
 public:
  // `constrained`: pods look at other pods.
  Triplets(uint64_t seed, bool constrained)
      : random_(seed), constrained_(constrained), mislabeled_(constrained ? 20 : 0) {
    for (size_t i = 0; i < (constrained ? kConstrainedTemplates : kTemplates); ++i) {
      specs_.push_back(Template(random_, i, constrained).Obj());
    }
    MakeAll();
    if (constrained) PutServices();
  }
  // Of these templates; one pod in `mislabeled` has another label than its template.
  Triplets(uint64_t seed, std::vector<api::PodPtr> specs, uint64_t mislabeled)
      : random_(seed), constrained_(false), mislabeled_(mislabeled), specs_(std::move(specs)) {
    MakeAll();
  }

  // Pods of two applications spread by default, unless they say how.
  void PutServices() {
    for (size_t i = 0; i < 2; ++i) PutService(AppOf(i));
  }

  void Round() {
    if (random_.Below(4) == 0) Churn();
    // By turns, since nothing is ranked while pods are nominated.
    if (++rounds_ % 200 < 80) {
      Nominate();
    } else {
      while (!nominated_.empty()) Denominate();
    }
    ASSERT_TRUE(cache_.RefreshSnapshot().ok());
    const bool again = !nominated_.empty() && random_.Below(3) == 0;
    const api::PodPtr popped = again ? nominated_[random_.Below(nominated_.size())] : NewPod();
    auto pod = std::make_shared<api::Pod>(*popped);
    // Pods that are in no store meanwhile: this one, and maybe another one.
    std::vector<api::PodPtr> away;
    if (again) away.push_back(popped);
    if (!nominated_.empty() && random_.Below(2) == 0) {
      away.push_back(nominated_[random_.Below(nominated_.size())]);
    }
    for (const api::PodPtr& each : away) nominator_.PodLeft(*each);
    const Outcome a = Decide(remembering_, pod);
    const Outcome b = Decide(forgetful_, pod);
    ASSERT_EQ(a.text, b.text);
    ASSERT_EQ(a.diagnosis, b.diagnosis);
    ASSERT_EQ(a.totals, b.totals);
    const Outcome c = Decide(ranking_, pod);
    ASSERT_EQ(a.text, c.text);
    ASSERT_EQ(a.best, c.best);
    if (!c.is_ranked) {  // a ranking found a node: nobody asks why others were rejected
      ASSERT_EQ(a.diagnosis, c.diagnosis);
      ASSERT_EQ(a.totals, c.totals);
    }
    ranked_ += c.is_ranked ? 1 : 0;
    ASSERT_FALSE(a.is_ranked || b.is_ranked);
    for (const api::PodPtr& each : away) nominator_.PodStored(each);
    if (a.node.empty()) return;
    if (again) Denominate(*popped);
    pod->node_name = Symbol(a.node);
    ASSERT_TRUE(cache_.AssumePod(pod).ok());
    running_.push_back(pod);
  }

  void CompareCounts() {
    const std::string counts = Evaluations(forgetful_);
    ASSERT_NE(counts, "");
    EXPECT_EQ(Evaluations(remembering_), counts);
    EXPECT_EQ(Evaluations(ranking_), counts);
  }
  // Decisions made out of a ranking.
  int ranked() const { return ranked_; }

 private:
  struct Triplet {
    std::unique_ptr<metrics::Registry> registry = std::make_unique<metrics::Registry>();
    std::unique_ptr<framework::FrameworkMetrics> metrics;
    framework::Profiles profiles;
    std::unique_ptr<Parallelizer> parallelizer;
    std::unique_ptr<SchedulingAlgorithm> algorithm;
  };
  struct Outcome {
    std::string text;
    std::string diagnosis;  // why nodes were rejected
    std::string node;
    std::vector<int64_t> totals;
    std::string best;  // three nodes with their totals
    bool is_ranked = false;
  };

  void MakeAll() {
    for (size_t i = 0; i < kNodes; ++i) PutNode(i);
    Make(true, SIZE_MAX, &remembering_);
    Make(true, 0, &ranking_);
    Make(false, 0, &forgetful_);
  }
  void Make(bool remember, size_t least_ranked_nodes, Triplet* twin) {
    twin->metrics = std::make_unique<framework::FrameworkMetrics>(*twin->registry, clock_, 7);
    auto profiles = framework::BuildProfiles(
        registry_, configuration_,
        {.parts = parts_.parts(), .metrics = twin->metrics.get(), .remember_verdicts = remember});
    ASSERT_TRUE(profiles.ok()) << profiles.error().message;
    twin->profiles = std::move(profiles).value();
    twin->parallelizer = std::make_unique<Parallelizer>(1);
    twin->algorithm = std::make_unique<SchedulingAlgorithm>(cache_, *twin->parallelizer, 40);
    twin->algorithm->set_least_ranked_nodes(least_ranked_nodes);
  }

  api::PodPtr NewPod() {
    auto pod = std::make_shared<api::Pod>(*specs_[random_.Below(specs_.size())]);
    pod->meta.name = "pod-" + std::to_string(next_pod_++);
    // Of one spec, but others' terms match it or not.
    if (mislabeled_ != 0 && random_.Below(mislabeled_) == 0) {
      pod->meta.labels = MakePod().Labels({{"app", AppOf(random_.Below(5))}}).Obj()->meta.labels;
    }
    pod->meta.uid = "uid-" + pod->meta.name;
    return pod;
  }
  // A pod more counts on a node; now and then one less, or one is seen anew.
  void Nominate() {
    if (nominated_.size() > 60) Denominate();
    if (nodes_.empty()) return;
    const auto node = std::next(nodes_.begin(), static_cast<int>(random_.Below(nodes_.size())));
    nominated_.push_back(NewPod());
    nominator_.AddNominatedPod(nominated_.back(),
                               framework::NominatingInfo{node->second->meta.name});
    auto& seen_anew = nominated_[random_.Below(nominated_.size())];
    auto changed = std::make_shared<api::Pod>(*seen_anew);
    changed->spec = specs_[random_.Below(specs_.size())]->spec;
    seen_anew = std::move(changed);
    nominator_.PodStored(seen_anew);
  }
  void Denominate() { Denominate(*nominated_[random_.Below(nominated_.size())]); }
  void Denominate(const api::Pod& pod) {
    nominator_.DeleteNominatedPodIfExists(pod);
    std::erase_if(nominated_, [name = pod.meta.name](const api::PodPtr& other) {
      return other->meta.name == name;
    });
  }

  // How often each plugin counts as asked.
  static std::string Evaluations(const Triplet& twin) {
    std::istringstream text(twin.registry->Text());
    std::string found;
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("scheduler_plugin_evaluation_total{")) found += line + "\n";
    }
    return found;
  }

  static std::string BestOf(const SearchSpace& search) {
    std::vector<SearchSpace::Ranked> best = search.best_ranked;
    for (size_t i = 0; i < search.scores.totals.size(); ++i) {
      best.push_back({search.feasible.nodes[i], search.scores.totals[i]});
    }
    std::stable_sort(best.begin(), best.end(),
                     [](const auto& a, const auto& b) { return a.total > b.total; });
    std::string text;
    for (size_t i = 0; i < std::min(best.size(), SearchSpace::kBestRanked); ++i) {
      text += best[i].node->name() + " " + std::to_string(best[i].total) + "\n";
    }
    return text;
  }

  Outcome Decide(Triplet& twin, const api::PodPtr& pod) {
    Attempt attempt(*twin.profiles.begin()->second, pod, spaces_);
    attempt.decision = 1;  // so that the best nodes are told
    twin.algorithm->SchedulePod(attempt);
    const ScheduleResult& result = attempt.result;
    const framework::Diagnosis& diagnosis = attempt.search->diagnosis;
    Outcome outcome;
    if (result.node != nullptr) outcome.node = result.node->name();
    outcome.text = result.status.Message() + "|" + std::to_string(result.evaluated_nodes) + "|" +
                   std::to_string(result.feasible_nodes) + "|" + outcome.node;
    outcome.diagnosis = diagnosis.Text();
    for (const std::string& name : diagnosis.unschedulable_plugins) outcome.diagnosis += "|" + name;
    outcome.totals = attempt.search->scores.totals;
    outcome.best = BestOf(*attempt.search);
    outcome.is_ranked = attempt.search->is_ranked;
    return outcome;
  }

  api::NodePtr Node(size_t i) {
    auto node = MakeNode();
    node.Name("node-" + std::to_string(i));
    const uint64_t zoneless = constrained_ ? random_.Below(40) : 2;  // no zone, or no name of it
    if (zoneless != 0) node.Zone(zoneless == 1 ? "" : "zone-" + std::to_string(i % 3));
    // Now and then two nodes say that they are one, for some time, or one says nothing.
    const bool is_odd = constrained_ && random_.Below(2000) == 0;
    const size_t says = is_odd ? random_.Below(kNodes) : i;
    if (!is_odd || random_.Below(3) != 0) node.Label(kHostname, "node-" + std::to_string(says));
    node.Label(kRow, "row-" + std::to_string(i % 30));
    node.Label(kRack, "rack-" + std::to_string(i % 100));
    if (random_.Below(3) == 0) node.Label("disk", "ssd");
    if (random_.Below(5) == 0) node.Taint("dedicated", "", "NoSchedule");
    if (random_.Below(4) == 0) node.Taint("slow", "", "PreferNoSchedule");
    if (random_.Below(20) == 0) node.Unschedulable();
    ks::testing::Resources resources{{"cpu", random_.Below(3) == 0 ? "2" : "16"},
                                     {"memory", "32Gi"},
                                     {"pods", random_.Below(6) == 0 ? "3" : "110"}};
    if (random_.Below(3) == 0) resources.emplace_back("example.com/gpu", "2");
    node.Allocatable(resources);
    if (random_.Below(2) == 0) node.Image({"registry.example/app:1"}, 500 << 20);
    return node.Obj();
  }
  void PutNode(size_t i) {
    const api::NodePtr node = Node(i);
    const auto [it, inserted] = nodes_.try_emplace(i, node);
    if (inserted) {
      cache_.AddNode(node);
    } else {
      cache_.UpdateNode(*it->second, node);
      it->second = node;
    }
  }
  void PutService(const std::string& app) {
    auto service = std::make_shared<api::Service>();
    service->meta.name = app;
    service->meta.ns = MakePod().Obj()->meta.ns;
    service->selector = api::LabelMap{{Symbol("app"), Symbol(app)}};
    cache::OwnerDeltas deltas;
    std::get<std::vector<api::Delta<api::Service>>>(deltas).push_back(
        testing::Upsert<api::Service>(std::move(service)));
    owners_.Apply(deltas, {});
  }
  // So that a search may begin behind the last one.
  void HalfOfTheNodesGoOrCome() {
    if (nodes_.size() <= kNodes / 2) {
      for (size_t i = 0; i < kNodes; ++i) PutNode(i);
      return;
    }
    while (nodes_.size() > kNodes / 2) {
      ASSERT_TRUE(cache_.RemoveNode(*nodes_.begin()->second).ok());
      nodes_.erase(nodes_.begin());
    }
  }
  void Churn() {
    if (random_.Below(10) == 0) HalfOfTheNodesGoOrCome();
    const size_t i = random_.Below(kNodes);
    switch (random_.Below(5)) {
      case 0:
        if (nodes_.contains(i)) {
          ASSERT_TRUE(cache_.RemoveNode(*nodes_[i]).ok());
          nodes_.erase(i);
        }
        break;
      case 1:
        PutNode(i);
        break;
      default:
        if (running_.empty()) return;
        std::swap(running_[random_.Below(running_.size())], running_.back());
        ASSERT_TRUE(cache_.RemovePod(*running_.back()).ok());
        running_.pop_back();
    }
  }

  Random random_;
  const bool constrained_;
  const uint64_t mislabeled_;
  queue::PodNominator nominator_{{.informer = {}, .stored = [this](const api::Pod& pod) {
                                    const auto found = std::find_if(
                                        nominated_.begin(), nominated_.end(), [&](const auto& p) {
                                          return p->meta.name == pod.meta.name;
                                        });
                                    return found == nominated_.end() ? nullptr : *found;
                                  }}};
  std::vector<api::PodPtr> nominated_;
  const framework::OfflineParts parts_{{.snapshot = &cache_,
                                        .owner_listers = &owners_,
                                        .storage = &storage_,
                                        .clock = &clock_,
                                        .random = &random_,
                                        .nominator = &nominator_}};
  ks::testing::FakeClock clock_;
  cache::Cache cache_;
  cache::OwnerStores owners_;
  cache::StorageStores storage_;
  framework::Registry registry_ = plugins::InTreeRegistry();
  config::Configuration configuration_ = config::DefaultConfiguration();
  std::vector<api::PodPtr> specs_;
  std::map<size_t, api::NodePtr> nodes_;
  std::vector<api::PodPtr> running_;
  int next_pod_ = 0;
  int rounds_ = 0;
  SearchSpaces spaces_;
  Triplet remembering_;
  Triplet ranking_;
  Triplet forgetful_;
  int ranked_ = 0;
};

void ExpectTheSameDecisions(uint64_t seeds, bool constrained, uint64_t least_ranked) {
  int ranked = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Triplets triplets(seed, constrained);
    for (int round = 0; round < 900; ++round) {
      SCOPED_TRACE("round " + std::to_string(round));
      triplets.Round();
      if (::testing::Test::HasFatalFailure()) return;
    }
    triplets.CompareCounts();
    ranked += triplets.ranked();
  }
  EXPECT_GE(static_cast<uint64_t>(ranked), seeds * least_ranked)
      << "what the test is about hardly happens";
}

TEST(NodeVerdictsTest, RememberingAndRankingChangeNoDecision) {
  ExpectTheSameDecisions(testing::Cases(8), false, 25);
}

TEST(NodeVerdictsTest, NorDoTheyForPodsThatLookAtOthers) {
  ExpectTheSameDecisions(testing::Cases(6), true, 50);
}

// Others' terms match some of them, and of those only some; so do Services.
TEST(NodeVerdictsTest, NorDoTheyForPodsOfOneSpecWithOtherLabels) {
  const auto keeping_off = [](const std::string& app, const std::string& other) {
    PodBuilder pod = bench::Plain(app);
    pod.spec().pod_anti_affinity = api::PodAffinity{{bench::Term(other, kHostname)}, {}};
    return pod.Obj();
  };
  const api::PodPtr plain = bench::Plain(AppOf(0)).Obj();
  int ranked = 0;
  for (uint64_t seed = 1; seed <= testing::Cases(8); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const bool spread = seed % 2 == 0;
    std::vector<api::PodPtr> specs{plain, plain};
    if (!spread) {
      specs.insert(specs.end(), {keeping_off(AppOf(2), AppOf(0)), keeping_off(AppOf(3), AppOf(1)),
                                 keeping_off(AppOf(4), AppOf(1))});
    }
    Triplets triplets(seed, specs, spread ? 5 : 12);
    if (spread) triplets.PutServices();
    for (int round = 0; round < 500; ++round) {
      triplets.Round();
      if (::testing::Test::HasFatalFailure()) return;
    }
    ranked += triplets.ranked();
  }
  EXPECT_GE(static_cast<uint64_t>(ranked), testing::Cases(8) * 25);
}

// How often a node was found out of a ranking, of 200 pods like this one; while 80 of them come,
// others are nominated.
int RankedOf(const PodBuilder& pod) {
  Triplets triplets(7, {pod.Obj()}, 0);
  for (int round = 0; round < 200 && !::testing::Test::HasFatalFailure(); ++round) {
    triplets.Round();
  }
  return triplets.ranked();
}

TEST(NodeVerdictsTest, WindowsOfPodsThatLookAtOthersAreJudgedByPlaces) {
  for (const bench::PodKind& kind : bench::kPodKinds) {
    SCOPED_TRACE(kind.name);
    EXPECT_GE(RankedOf(kind.make("app")), 30);  // fewer where they fill the nodes
  }
}

// Nodes of one rack differ from those of others, and racks are too many to be places.
TEST(NodeVerdictsTest, NotByThoseOfAKeyWithManyDomainsOfSeveralNodes) {
  EXPECT_EQ(RankedOf(bench::Spread("app", "DoNotSchedule", kRack)), 0);
  EXPECT_EQ(RankedOf(bench::Spread("app", "ScheduleAnyway", kRack)), 0);
}

}  // namespace
}  // namespace ks::scheduler
