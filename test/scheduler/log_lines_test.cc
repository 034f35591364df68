// SPDX-License-Identifier: Apache-2.0
// The log lines that operators look for (docs/spec/operations.md 10.4), with their keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/logging.h"
#include "scheduler/algorithm/attempt_trace.h"
#include "scheduler/preemption_rig.h"

namespace ks::scheduler {
namespace {

using ks::testing::MakePod;
using std::chrono::milliseconds;

// What is logged meanwhile, without klog's headers.
std::vector<std::string> LinesOf(int verbosity, const std::function<void()>& work) {
  ::testing::internal::CaptureStderr();
  log::SetVerbosity(verbosity);
  work();
  log::SetVerbosity(0);
  const std::string text = ::testing::internal::GetCapturedStderr();
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    const size_t header = line.find("] ");
    lines.push_back(header == std::string::npos ? line : line[0] + line.substr(header + 1));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

void ExpectLine(const std::vector<std::string>& lines, const std::string& wanted) {
  for (const std::string& line : lines) {
    if (line == wanted) return;
  }
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  ADD_FAILURE() << "no line\n" << wanted << "\namong\n" << all;
}

TEST(LogLinesTest, FromArrivalToBinding) {
  const auto lines = LinesOf(3, [] {
    Rig rig;
    rig.Sync({CpuNode("n1", "4").Label("topology.kubernetes.io/zone", "z1").Obj()});
    rig.UpsertPod(MakePod().Name("ok").Namespace("default").Obj());
    rig.Settle();
    rig.Bind();
    rig.DeleteNode(CpuNode("n1", "4").Label("topology.kubernetes.io/zone", "z1").Obj());
    rig.Settle();
  });
  ExpectLine(lines, R"(I "Added node to NodeTree" node="n1" zone=":\x00:z1")");
  ExpectLine(lines, R"(I "Add event for unscheduled pod" pod="default/ok")");
  ExpectLine(lines, R"(I "Attempting to schedule pod" pod="default/ok")");
  ExpectLine(lines,
             R"(I "Successfully bound pod to node" pod="default/ok" node="n1" evaluatedNodes=1)"
             R"( feasibleNodes=1)");
  ExpectLine(lines, R"(I "Removed node from NodeTree" node="n1" zone=":\x00:z1")");
}

TEST(LogLinesTest, NoFit) {
  const auto lines = LinesOf(3, [] {
    Rig rig;
    rig.Sync({CpuNode("n1", "1").Obj()});
    rig.UpsertPod(CpuPod("big", 0, "2").Namespace("default").Obj());
    rig.Settle();
  });
  ExpectLine(lines,
             R"(I "Unable to schedule pod; no fit; waiting" pod="default/big" err="0/1 nodes are )"
             R"(available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption )"
             R"(is not helpful for scheduling.")");
  ExpectLine(lines, R"(I "Updating pod condition and nominated node name" pod="default/big" )"
                    R"(conditionType="PodScheduled" conditionStatus="False" )"
                    R"(conditionReason="Unschedulable" nominatedNodeName="" nominatingMode=1)");
  ExpectLine(lines,
             R"(I "No preemption candidate is found; preemption is not helpful for scheduling" )"
             R"(pod="default/big")");
}

TEST(LogLinesTest, NoNodes) {
  const auto lines = LinesOf(2, [] {
    Rig rig;
    rig.Sync({});
    rig.UpsertPod(MakePod().Name("p").Namespace("default").Obj());
    rig.Settle();
  });
  ExpectLine(lines,
             R"(I "Unable to schedule pod; no nodes are registered to the cluster; waiting" )"
             R"(pod="default/p")");
}

TEST(LogLinesTest, BindingFails) {
  const auto lines = LinesOf(1, [] {
    Rig rig;
    rig.Sync({CpuNode("n1", "4").Obj()});
    rig.UpsertPod(MakePod().Name("p").Namespace("default").Obj());
    rig.Settle();
    api::ApiError error;
    error.message = "boom";
    rig.api.AnswerBinds(error);
    rig.Settle();
  });
  ExpectLine(lines, R"(I "Failed to bind pod" pod="default/p")");
  ExpectLine(lines,
             R"(E "Error scheduling pod; retrying" err="running Bind plugin \"DefaultBinder\": )"
             R"(boom" pod="default/p")");
}

TEST(LogLinesTest, Preemption) {
  const auto lines = LinesOf(2, [] {
    PreemptionRig rig;
    rig.Sync({CpuNode("n1", "1").Obj()}, {Running("low", 0, "1").Namespace("default").Obj()});
    rig.UpsertPod(CpuPod("vip", 10, "1").Namespace("default").Obj());
    rig.Settle();
    rig.AnswerOne();
  });
  ExpectLine(lines,
             R"(I "the target node for the preemption is determined" node="n1" pod="default/vip")");
  ExpectLine(lines, R"(I "Start the preemption asynchronously" preemptor="default/vip" node="n1" )"
                    R"(numVictims=1 numVictimsToDelete=1)");
  ExpectLine(lines, R"(I "Preemptor Pod preempted victim Pod" preemptor="default/vip" )"
                    R"(victim="default/low" node="n1")");
  ExpectLine(lines, R"(I "Async Preemption finished completely" preemptor="default/vip" node="n1" )"
                    R"(result="success")");
}

// Two lines for a slow attempt and one for each of its slow steps; the number tells blocks apart.
TEST(LogLinesTest, SlowAttempt) {
  const api::PodPtr pod = MakePod().Name("p").Namespace("default").Obj();
  const auto traced = [&pod](int verbosity, milliseconds filter, milliseconds score) {
    return LinesOf(verbosity, [&] {
      ks::testing::FakeClock clock;
      AttemptTrace trace(&clock, *pod);
      clock.Advance(filter);
      trace.Step("Computing predicates done");
      clock.Advance(score);
      trace.Step("Prioritizing done");
    });
  };
  EXPECT_TRUE(traced(1, milliseconds(500), milliseconds(0)).empty());
  EXPECT_TRUE(traced(2, milliseconds(50), milliseconds(49)).empty());
  const auto lines = traced(2, milliseconds(120), milliseconds(10));
  ASSERT_EQ(lines.size(), 3U);
  using ::testing::MatchesRegex;
  EXPECT_THAT(lines[0],
              MatchesRegex(R"(I Trace.[0-9]+.: "Scheduling" namespace:default,name:p )"
                           R"(.[0-9]+-[A-Z][a-z]+-[0-9]+ [0-9:.]+. .total time: 130ms.:)"));
  EXPECT_THAT(lines[1], MatchesRegex(R"(.*: ---"Computing predicates done" 120ms .[0-9:.]+.)"));
  EXPECT_THAT(lines[2], MatchesRegex(".*.130ms. END"));
}

}  // namespace
}  // namespace ks::scheduler
