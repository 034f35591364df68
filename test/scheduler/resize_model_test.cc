// SPDX-License-Identifier: Apache-2.0
// A long random run with pods that run and wait for room for their resize: whatever comes in, and
// in whatever order, the queue has exactly the pods it should have, and the cache counts each pod
// once.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "scheduler/preemption_rig.h"
#include "testing/deltas.h"

namespace ks::scheduler {
namespace {

using ks::testing::PodBuilder;

constexpr int kModelNodes = 3;
constexpr int kModelPods = 14;
constexpr int kModelSteps = 4000;

// A pod as the API server has it.
struct Known {
  std::string node;  // empty: pending
  int cpu = 1;
  int priority = 0;
  bool deferred = false;
  bool ours = true;
  int incarnation = 0;
};

class ResizeModel {
 public:
  explicit ResizeModel(uint64_t seed) : random_(seed), rig_(WithGate()) {
    std::vector<api::NodePtr> nodes;
    for (int i = 0; i < kModelNodes; ++i) nodes.push_back(Node(i, false));
    rig_.Sync(nodes);
    rig_.Settle();
  }

  void Run() {
    for (int step = 0; step < kModelSteps && !::testing::Test::HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      Step();
      rig_.Settle();
      Check();
    }
    EXPECT_GT(rig_.api.evictions.size(), 20U) << "too few to mean anything";
    EXPECT_GT(rig_.scheduler->context().stats.bound, 20U);
  }

 private:
  static Rig::Options WithGate() {
    static const config::FeatureGates gates = [] {
      config::FeatureGates made;
      made.Set(config::Gate::kInPlacePodVerticalScalingSchedulerPreemption, true);
      return made;
    }();
    Rig::Options options;
    options.configuration = config::DefaultConfiguration(gates);
    options.gates = &gates;
    return options;
  }
  static std::string NodeName(uint64_t i) { return "n" + std::to_string(i); }
  static api::NodePtr Node(uint64_t i, bool closed) {
    testing::NodeBuilder node = CpuNode(NodeName(i), "8");
    if (closed) node.node().disable_resize_preemption = "Always";
    return node.Obj();
  }

  api::PodPtr Object(const std::string& name) {
    const Known& known = known_.at(name);
    PodBuilder pod = CpuPod(name, known.priority, std::to_string(known.cpu));
    pod.Uid(name + "-" + std::to_string(known.incarnation)).Node(known.node);
    pod.ResourceVersion(std::to_string(++version_));
    if (!known.ours) pod.SchedulerName("somebody-else");
    if (known.deferred) {
      api::Condition condition;
      condition.type = "PodResizePending";
      condition.reason = "Deferred";
      pod.Condition(condition);
    }
    return pod.Obj();
  }
  // Some changes are seen in the next list only.
  void Show(const std::string& name) {
    if (random_.Below(5) != 0) rig_.UpsertPod(Object(name));
  }

  void Step() {
    const std::string name = "p" + std::to_string(random_.Below(kModelPods));
    const auto it = known_.find(name);
    switch (random_.Below(10)) {
      case 0:
      case 1:
        if (it == known_.end()) return Add(name);
        it->second.deferred = !it->second.deferred && !it->second.node.empty();
        return Show(name);
      case 2:
        if (it == known_.end()) return;
        it->second.cpu = 1 + static_cast<int>(random_.Below(6));
        return Show(name);
      case 3:
        if (it == known_.end() || random_.Below(3) != 0) return;
        return Remove(name);
      case 4:
        return Relist();
      case 5:
        return rig_.UpsertNode(Node(random_.Below(kModelNodes), random_.Below(4) == 0));
      case 6:
        return rig_.Advance(std::chrono::milliseconds(random_.Below(20'000)));
      case 7:
      case 8:
        return AnswerBinding();
      default:
        return AnswerEviction();
    }
  }
  void Add(const std::string& name) {
    Known known{.cpu = 1 + static_cast<int>(random_.Below(4)),
                .priority = static_cast<int>(random_.Below(4)),
                .ours = random_.Below(6) != 0,
                .incarnation = ++incarnations_};
    if (random_.Below(2) == 0) known.node = NodeName(random_.Below(kModelNodes));
    known.deferred = !known.node.empty() && random_.Below(3) == 0;
    known_[name] = known;
    Show(name);
  }
  void Remove(const std::string& name) {
    const api::PodPtr last = Object(name);
    known_.erase(name);
    if (random_.Below(4) != 0) rig_.DeletePod(last);
  }
  void Relist() {
    std::vector<api::PodPtr> pods;
    for (const auto& [name, known] : known_) pods.push_back(Object(name));
    rig_.scheduler->Post(PodDeltas{testing::Replace<api::Pod>(pods)});
  }
  // The binding succeeds if the pod is still the one; its answer may come before what shows it.
  void AnswerBinding() {
    for (auto& call : rig_.api.binds) {
      if (!call.done) continue;
      EXPECT_TRUE(call.pod->meta.resource_version != "" && !Runs(*call.pod)) << "bound again";
      const auto it = known_.find(call.pod->meta.name);
      const bool same = it != known_.end() && Object(it->first)->meta.uid == call.pod->meta.uid;
      if (same) it->second.node = call.node_name;
      if (same && random_.Below(2) == 0) it->second.deferred = true;
      if (same) Show(it->first);
      rig_.Settle();
      const auto done = std::exchange(call.done, nullptr);
      done(same ? std::nullopt
                : std::optional<api::ApiError>(api::ApiError{.code = 404, .message = "gone"}));
      return;
    }
  }
  bool Runs(const api::Pod& pod) const {
    const auto it = known_.find(pod.meta.name);
    return it != known_.end() && !it->second.node.empty() &&
           pod.meta.uid == pod.meta.name + "-" + std::to_string(it->second.incarnation);
  }
  void AnswerEviction() {
    const api::PodPtr victim = rig_.api.AnswerEviction(framework::EvictionOutcome::kEvicted);
    if (victim == nullptr || !known_.contains(victim->meta.name)) return;
    if (Object(victim->meta.name)->meta.uid == victim->meta.uid) Remove(victim->meta.name);
  }

  // Against what the informer has been shown.
  void Check() {
    const Scheduler& scheduler = *rig_.scheduler;
    std::map<std::string, int64_t> cpu;
    size_t waiting = 0;
    for (const api::PodPtr& pod : scheduler.context().cluster.pods.List()) {
      const bool ours = pod->spec->scheduler_name.view() == "default-scheduler";
      // Its binding is under way, or no event has shown it yet.
      const bool on_its_way = scheduler.context().cluster.cache.IsAssumedPod(*pod);
      if (on_its_way) {
        const api::PodPtr assumed = scheduler.context().cluster.cache.GetPod(*pod).value();
        cpu[assumed->node_name.str()] += framework::PodRequest(*assumed).milli_cpu;
      }
      const framework::QueuedPod* queued =
          scheduler.context().queue.stores().FindPod(pod->meta.Key());
      if (!pod->node_name.empty())
        cpu[pod->node_name.str()] += framework::PodRequest(*pod).milli_cpu;
      const bool wanted =
          ours && (pod->node_name.empty() ? !on_its_way : framework::HasDeferredResize(*pod));
      EXPECT_EQ(queued != nullptr, wanted) << pod->meta.Key();
      if (queued == nullptr) continue;
      ++waiting;
      EXPECT_EQ(queued->pod(), pod) << pod->meta.Key() << " is queued as it was";
    }
    EXPECT_EQ(scheduler.context().queue.stores().Pods().size(), waiting)
        << "a pod that is gone is queued";
    ASSERT_TRUE(rig_.scheduler->context().cluster.cache.RefreshSnapshot().ok());
    for (const framework::NodeInfo* node : scheduler.context().cluster.cache.nodes()) {
      EXPECT_EQ(node->requested().milli_cpu, cpu[node->name()]) << node->name();
    }
    EXPECT_EQ(scheduler.context().queue.in_flight().pod_count(), 0U) << "nobody waits at Permit";
  }

  Random random_;
  PreemptionRig rig_;
  std::map<std::string, Known> known_;
  int version_ = 0;
  int incarnations_ = 0;
};

class ResizeModelTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(ResizeModelTest, QueueAndCacheAgreeWithWhatIsThere) { ResizeModel(GetParam()).Run(); }

INSTANTIATE_TEST_SUITE_P(Seeds, ResizeModelTest, ::testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace ks::scheduler
