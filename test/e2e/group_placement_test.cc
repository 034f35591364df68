// SPDX-License-Identifier: Apache-2.0
// Placement of pod groups: kubesched must choose, and say, as kube-scheduler does, group by group.
//
// Groups come one after the other: first a marker, a pod like others, whose binding tells that the
// scheduler has seen what went away before; then the PodGroup, then its pods, the last of which
// completes it. What came of a group is noted, then groups that failed go, and from time to time
// the oldest of the others. Racks and nodes differ in size, so that few scores are equal.
//
// All groups are gangs of all their members, because only with these kube-scheduler repeats itself:
// it takes any of equally good racks, may pop a group before all of its pods are queued, and where
// a group is scheduled without some of its members it may say so or say what became of those.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "e2e/cluster.h"

namespace ks::e2e {
namespace {

constexpr int kNodes = 9;
constexpr size_t kLeft = 4;  // groups that stay
constexpr char kGroups[] = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";
constexpr char kGates[] =
    "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true";
const std::chrono::seconds kPatience(60);

std::string PodPath(const std::string& name) { return "/api/v1/namespaces/default/pods/" + name; }

// What a group came to: its condition and each member's node, or why it has none.
using Outcomes = std::map<std::string, std::string>;

class Groups {
 public:
  Groups(Cluster& cluster, uint64_t seed) : cluster_(cluster), random_(seed) {
    for (int i = 0; i < kNodes; ++i) {
      const int rack = i % 3;
      cluster_.CreateNode(NodeManifest("node-" + std::to_string(i),
                                       {{"cpu", std::to_string(2500 + 1900 * rack + 137 * i) + "m"},
                                        {"memory", std::to_string(8000 + 311 * i) + "Mi"},
                                        {"pods", "110"}},
                                       {{"rack", "rack-" + std::to_string(rack)}}));
    }
  }

  void Next(int number) {
    Live made{"group-" + std::to_string(100 + number), {}};
    const bool topology = random_.Below(3) == 0 && all_kinds_;
    const int size = 1 + static_cast<int>(random_.Below(5));
    const int milli = 300 + static_cast<int>(random_.Below(2200));
    ASSERT_NO_FATAL_FAILURE(Mark(made.name));
    json group = {{"apiVersion", "scheduling.k8s.io/v1beta1"},
                  {"kind", "PodGroup"},
                  {"metadata", {{"name", made.name}}}};
    const bool basic = random_.Below(4) == 0 && all_kinds_;
    const auto some = static_cast<int>(1 + random_.Below(static_cast<uint64_t>(size)));
    if (basic) {
      group["spec"]["schedulingPolicy"]["basic"] = json::object();
    } else {
      group["spec"]["schedulingPolicy"]["gang"] = {{"minCount", all_kinds_ ? some : size}};
    }
    if (topology) group["spec"]["schedulingConstraints"]["topology"] = {{{"key", "rack"}}};
    cluster_.Create(kGroups, group);
    for (int i = 0; i < size; ++i) {
      made.pods.push_back(made.name + "-" + std::to_string(i));
      const int jitter = static_cast<int>(random_.Below(400));
      json pod = PodManifest(made.pods.back(),
                             {{"cpu", std::to_string(milli + jitter) + "m"}, {"memory", "100Mi"}});
      pod["spec"]["schedulingGroup"] = {{"podGroupName", made.name}};
      cluster_.CreatePod(pod);
    }
    ASSERT_NO_FATAL_FAILURE(Await(made, topology));
    cluster_.Delete(PodPath("mark-" + made.name) + "?gracePeriodSeconds=0");
    if (!scheduled_) {
      Remove(made);
    } else {
      live_.push_back(made);
    }
    while (live_.size() > kLeft) {
      Remove(live_.front());
      live_.pop_front();
    }
  }

  const Outcomes& outcomes() const { return outcomes_; }

 private:
  struct Live {
    std::string name;
    std::vector<std::string> pods;
  };

  static std::string GroupPath(const Live& group) {
    return std::string(kGroups) + "/" + group.name;
  }

  void Await(const Live& made, bool topology) {
    json condition;
    ASSERT_TRUE(cluster_.WaitUntil(
        [&] {
          const json conditions =
              cluster_.Get(GroupPath(made))["status"].value("conditions", json::array());
          if (conditions.empty()) return false;
          condition = conditions[0];
          return true;
        },
        kPatience))
        << made.name;
    scheduled_ = condition["status"] == "True";
    std::string message = condition.value("message", "");
    // The first placement that is tried is any of them.
    const size_t first = message.find(", first placement status: ");
    if (first != std::string::npos) message.resize(first);
    outcomes_[made.name] = condition["status"].get<std::string>() + " " +
                           condition["reason"].get<std::string>() + ": " + message;
    for (const std::string& pod : made.pods) {
      ASSERT_TRUE(cluster_.view().WaitFor(
          [&](const PodView::Pods& pods) {
            const auto it = pods.find("default/" + pod);
            return it != pods.end() && (!it->second->node_name.empty() ||
                                        it->second->FindCondition("PodScheduled") != nullptr);
          },
          kPatience))
          << pod;
      const api::PodPtr seen = cluster_.view().pods()["default/" + pod];
      const bool bound = !seen->node_name.empty();
      if (!bound && topology) continue;
      outcomes_[pod] = bound ? seen->node_name.str() : seen->FindCondition("PodScheduled")->message;
    }
  }

  // What was created and deleted before is known to the scheduler.
  void Mark(const std::string& group) {
    const std::string name = "mark-" + group;
    cluster_.CreatePod(PodManifest(name, {{"cpu", "1m"}}));
    ASSERT_TRUE(cluster_.view().WaitFor(
        [&](const PodView::Pods& pods) {
          const auto it = pods.find("default/" + name);
          return it != pods.end() && !it->second->node_name.empty();
        },
        kPatience))
        << name;
    outcomes_[name] = cluster_.view().pods()["default/" + name]->node_name.str();
  }

  void Remove(const Live& gone) {
    for (const std::string& pod : gone.pods) {
      cluster_.Delete(PodPath(pod) + "?gracePeriodSeconds=0");
    }
    cluster_.MergePatch(GroupPath(gone), {{"metadata", {{"finalizers", nullptr}}}});
    cluster_.Delete(GroupPath(gone));
  }

  Cluster& cluster_;
  Random random_;
  const bool all_kinds_ = std::getenv("KS_GROUP_PLACEMENT_ALL") != nullptr;
  std::deque<Live> live_;
  bool scheduled_ = false;  // the last one
  Outcomes outcomes_;
};

void Choose(bool kubesched, uint64_t seed, int count, Outcomes* outcomes) {
  const auto cluster = Cluster::Start(
      {.apiserver_args = {kGates, "--runtime-config=scheduling.k8s.io/v1beta1=true"}});
  ASSERT_NE(cluster, nullptr);
  Groups groups(*cluster, seed);
  const std::string configuration =
      SchedulerConfiguration(cluster->plane().SchedulerKubeconfig(), /*parallelism=*/1);
  kubesched ? cluster->StartKubesched(configuration, kGates)
            : cluster->StartKubeScheduler(configuration, kGates);
  for (int number = 0; number < count; ++number) {
    ASSERT_NO_FATAL_FAILURE(groups.Next(number)) << "group " << number;
  }
  EXPECT_TRUE(cluster->view().moved().empty());
  *outcomes = groups.outcomes();
}

// KS_GROUP_PLACEMENT_ALL: also basic groups, gangs of some of their members, and groups within one
// rack, to be looked at by hand.
// KS_GROUP_PLACEMENT_TWICE: kube-scheduler in both places, to see whether it repeats.
// KS_GROUP_PLACEMENT_COUNT, KS_GROUP_PLACEMENT_SEED: other sequences.
TEST(GroupPlacement, EqualsKubeScheduler) {
  std::string why;
  if (!testing::ControlPlane::Available(&why, {37, "pod groups in scheduling.k8s.io/v1beta1"})) {
    GTEST_SKIP() << why;
  }
  const auto setting = [](const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::atoi(text);
  };
  const auto seed = static_cast<uint64_t>(setting("KS_GROUP_PLACEMENT_SEED", 909));
  const int count = setting("KS_GROUP_PLACEMENT_COUNT", 40);
  SCOPED_TRACE("seed " + std::to_string(seed));
  const bool twice = std::getenv("KS_GROUP_PLACEMENT_TWICE") != nullptr;
  Outcomes theirs;
  Outcomes ours;
  ASSERT_NO_FATAL_FAILURE(Choose(/*kubesched=*/false, seed, count, &theirs));
  ASSERT_NO_FATAL_FAILURE(Choose(/*kubesched=*/!twice, seed, count, &ours));
  ASSERT_GT(theirs.size(), static_cast<size_t>(2 * count)) << "few members";
  int different = 0;
  for (const auto& [what, outcome] : theirs) {
    if (ours[what] == outcome) continue;
    if (++different <= 8) {
      ADD_FAILURE() << what << ":\nkube-scheduler " << outcome << "\nkubesched      " << ours[what];
    }
  }
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace ks::e2e
