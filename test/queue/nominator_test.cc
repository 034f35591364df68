// SPDX-License-Identifier: Apache-2.0
// Nominations: docs/spec/queue.md section 11.
#include "queue/nominator.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "testing/builders.h"

namespace ks::queue {
namespace {

using framework::NominatingInfo;
using ks::testing::MakePod;

api::PodPtr Pod(const std::string& name, const std::string& nominated = "") {
  return MakePod().Name(name).Priority(3).NominatedNode(nominated).Req({{"cpu", "1"}}).Obj();
}

class NominatorTest : public ::testing::Test {
 protected:
  // Known to the informer and stored in the queue.
  void Store(const api::PodPtr& pod) { informer_[pod->meta.name] = stored_[pod->meta.name] = pod; }
  std::vector<std::string> Names(const std::string& node) const {
    std::vector<std::string> names;
    for (const auto& info : nominator_.NominatedPodsForNode(node)) {
      names.push_back(info->pod().meta.name);
    }
    return names;
  }
  static api::PodPtr Lookup(const std::map<std::string, api::PodPtr>& pods, const api::Pod& pod) {
    const auto it = pods.find(pod.meta.name);
    return it == pods.end() ? nullptr : it->second;
  }
  using Texts = std::vector<std::string>;

  std::map<std::string, api::PodPtr> informer_;
  std::map<std::string, api::PodPtr> stored_;
  PodNominator nominator_{{.informer = [this](const api::Pod& p) { return Lookup(informer_, p); },
                           .stored = [this](const api::Pod& p) { return Lookup(stored_, p); }}};
};

TEST_F(NominatorTest, Modes) {
  const api::PodPtr plain = Pod("p");
  const api::PodPtr named = Pod("p", "n1");
  Store(named);
  nominator_.AddNominatedPod(plain, std::nullopt);
  EXPECT_FALSE(nominator_.HasNominatedPods()) << "no-op without a node in the status";
  nominator_.AddNominatedPod(named, std::nullopt);
  EXPECT_EQ(Names("n1"), Texts{"p"});
  nominator_.AddNominatedPod(named, NominatingInfo{"n2"});
  EXPECT_EQ(Names("n1"), Texts{});
  EXPECT_EQ(Names("n2"), Texts{"p"}) << "override; one node at most";
  nominator_.AddNominatedPod(named, NominatingInfo{""});
  EXPECT_FALSE(nominator_.HasNominatedPods());
}

TEST_F(NominatorTest, TheInformerMustKnowThePodUnassigned) {
  nominator_.AddNominatedPod(Pod("p", "n1"), std::nullopt);
  EXPECT_FALSE(nominator_.HasNominatedPods());
  informer_["p"] = MakePod().Name("p").Node("n9").Obj();
  nominator_.AddNominatedPod(Pod("p", "n1"), std::nullopt);
  EXPECT_FALSE(nominator_.HasNominatedPods());
}

TEST_F(NominatorTest, EntryMovesToTheEndWithEachUpdate) {
  for (const char* name : {"a", "b", "c"}) {
    Store(Pod(name, "n"));
    nominator_.AddNominatedPod(stored_[name], std::nullopt);
  }
  nominator_.Update(*stored_["a"], stored_["a"]);
  EXPECT_EQ(Names("n"), (Texts{"b", "c", "a"}));
  nominator_.DeleteNominatedPodIfExists(*stored_["c"]);
  nominator_.DeleteNominatedPodIfExists(*stored_["c"]);
  EXPECT_EQ(Names("n"), (Texts{"b", "a"}));
}

TEST_F(NominatorTest, UpdateKeepsWhatTheApiDoesNotKnow) {
  const api::PodPtr plain = Pod("p");
  const api::PodPtr named = Pod("p", "n2");
  Store(plain);
  nominator_.Update(*plain, plain);
  EXPECT_FALSE(nominator_.HasNominatedPods());
  nominator_.AddNominatedPod(plain, NominatingInfo{"n1"});
  nominator_.Update(*plain, plain);
  EXPECT_EQ(nominator_.NodeOf("uid-p"), "n1");
  nominator_.Update(*plain, named);
  EXPECT_EQ(nominator_.NodeOf("uid-p"), "n2");
  nominator_.Update(*named, plain);
  EXPECT_EQ(nominator_.NodeOf("uid-p"), "");
}

TEST_F(NominatorTest, StubsWhileInFlight) {
  const api::PodPtr pod = Pod("p", "n");
  informer_["p"] = pod;
  nominator_.AddNominatedPod(pod, std::nullopt);
  const auto shown = [this] { return nominator_.NominatedPodsForNode("n")[0]; };
  EXPECT_EQ(shown()->pod().Priority(), 0);
  EXPECT_EQ(shown()->request().requested.milli_cpu, 0);
  nominator_.PodStored(pod);
  EXPECT_EQ(shown()->ptr(), pod);
  EXPECT_EQ(shown()->request().requested.milli_cpu, 1000);
  nominator_.PodLeft(*pod);
  EXPECT_EQ(shown()->pod().Priority(), 0);
  EXPECT_EQ(shown()->pod().meta.Key(), "ns/p");
  nominator_.PodStored(Pod("other"));
  nominator_.PodLeft(*Pod("other"));
  EXPECT_EQ(nominator_.NominatedPodsForNode("n").size(), 1U);
}

}  // namespace
}  // namespace ks::queue
