// SPDX-License-Identifier: Apache-2.0
// What pods of texts of their own leave behind when they are gone: nothing that grows with their
// number.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/symbol_table.h"
#include "framework/change_log.h"
#include "rig.h"

namespace ks::scheduler {
namespace {

using testing::MakeNode;
using testing::MakePod;
using testing::PodBuilder;

struct Case {
  std::string name;
  std::function<void(PodBuilder&, const std::string& text)> set;
};

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"Bound",
       [](PodBuilder& pod, const std::string& text) {
         pod.Namespace("namespace-" + text)
             .Labels({{"key-" + text, text}})
             .NominatedNode("node-" + text)
             .PreferredTerm(1, {{"wish-" + text, "In", {text}}})
             .Toleration("taint-" + text, "Equal", text, "NoSchedule")
             .Req({{"cpu", "1m"}}, "image-" + text);
       }},
      {"Pending",
       [](PodBuilder& pod, const std::string& text) {
         pod.Labels({{"key-" + text, text}})
             .NodeSelector({{"place-" + text, text}})
             .RequiredTerm({{"term-" + text, "In", {text}}})
             .Req({{"example.com/" + text, "1"}});
       }},
      {"OnNodesThatAreNotThere",
       [](PodBuilder& pod, const std::string& text) {
         pod.Node("node-" + text).Labels({{"key-" + text, text}});
       }},
      {"OfOtherSchedulers",
       [](PodBuilder& pod, const std::string& text) { pod.SchedulerName("scheduler-" + text); }},
  };
  return cases;
}

class ForgottenSymbols : public ::testing::TestWithParam<Case> {
 protected:
  ForgottenSymbols() {
    rig_.Sync({MakeNode().Name("a").Allocatable({{"cpu", "4"}, {"pods", "10"}}).Obj(),
               MakeNode().Name("b").Allocatable({{"cpu", "4"}, {"pods", "10"}}).Obj()});
    rig_.Settle();
  }

  // Pods that come, are bound if they can be, and go.
  void Pass(size_t pods) {
    for (size_t i = 0; i < pods; ++i) {
      PodBuilder pod = MakePod().Name("pod-" + std::to_string(passed_));
      GetParam().set(pod, "text-" + std::to_string(passed_));
      ++passed_;
      api::PodPtr object = pod.Obj();
      rig_.UpsertPod(object);
      rig_.Settle();
      if (!rig_.api.binds.empty()) {
        auto bound = std::make_shared<api::Pod>(*object);
        bound->node_name = Symbol(rig_.api.binds.back().node_name);
        object = bound;
      }
      rig_.Bind();
      rig_.DeletePod(object);
      rig_.Settle();
      rig_.api.binds.clear();
      rig_.api.patches.clear();
      rig_.api.events.clear();
      rig_.clock.Advance(std::chrono::seconds(1));
    }
  }

 private:
  Rig rig_;
  int passed_ = 0;
};

TEST_P(ForgottenSymbols, ManyPodsLeaveNoMoreThanFew) {
  // As many as the log of the cache's changes can hold: two of each, or more.
  Pass(framework::ChangeLog::kDefaultCapacity / 2 + 200);
  const size_t few = ProcessSymbols().size();
  // One text that each pod left would be a thousand. Tables of a bounded size fill and drop what
  // they hold: a saw of up to 300 texts.
  constexpr size_t kMorePods = 1000;
  Pass(kMorePods);
  EXPECT_LE(ProcessSymbols().size(), few + kMorePods / 2);
}

INSTANTIATE_TEST_SUITE_P(Of, ForgottenSymbols, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ks::scheduler
