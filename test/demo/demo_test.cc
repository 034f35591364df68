// SPDX-License-Identifier: Apache-2.0
// The demo and the soak from the command line to their exit status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "testing/run_program.h"
#include "testing/temp_dir.h"

namespace ks::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

constexpr std::chrono::seconds kLimit{90};

class DemoTest : public ::testing::Test {
 protected:
  ProgramResult Run(std::vector<std::string> flags,
                    const std::string& program = KS_KUBESCHEDCTL_PATH) {
    flags.insert(flags.begin(), program);
    const auto ran = RunProgram(std::move(flags), folder_.path(), "demo", kLimit);
    EXPECT_TRUE(ran.ok()) << ran.error().message;
    return ran.ok() ? *ran : ProgramResult{};
  }
  std::string Write(const std::string& text) {
    std::string path = folder_.path() + "/workload.yaml";
    std::ofstream(path) << text;
    return path;
  }

  TempDir folder_;
};

TEST_F(DemoTest, EverythingThatCanBePlacedIsPlaced) {
  const ProgramResult ran = Run({"demo", "--nodes=20", "--pods=100", "--arrival=1s"});
  EXPECT_THAT(ran.exit_status, Optional(0)) << ran.output;
  EXPECT_THAT(ran.output, AllOf(HasSubstr("96 of 96 placeable pods"),
                                HasSubstr("left pending  4 of 4 pods that fit nowhere"),
                                HasSubstr("   1  Insufficient cpu\n"),
                                HasSubstr("   1  held back by a scheduling gate\n"),
                                HasSubstr("every pod is bound once, no node is over its capacity"),
                                HasSubstr("all that can be placed is placed"),
                                Not(HasSubstr("FAILED")), Not(HasSubstr("\x1b["))));
}

TEST_F(DemoTest, AClaimForADeviceThatNoNodeHas) {
  const std::string file = Write(
      "kind: ResourceClaimTemplate\n"
      "metadata: {name: ninth}\n"
      "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: "
      "9}}]}}}\n"
      "---\n"
      "- count: 3\n"
      "  name: web\n"
      "  pod: {spec: {containers: [{name: c, image: i}]}}\n"
      "- name: greedy\n"
      "  expect: pending\n"
      "  pod: {spec: {resourceClaims: [{name: g, resourceClaimTemplateName: ninth}],\n"
      "               containers: [{name: c, image: i, resources: {claims: [{name: g}]}}]}}\n");
  const ProgramResult ran =
      Run({"demo", "--nodes=2", "--arrival=1s", "--devices=8xgpu", "--workload=" + file});
  EXPECT_THAT(ran.exit_status, Optional(0)) << ran.output;
  EXPECT_THAT(ran.output, AllOf(HasSubstr("3 of 3 placeable pods"),
                                HasSubstr("left pending  1 of 1 pods that fit nowhere")));
}

TEST_F(DemoTest, GangsArePlacedAsAWholeOrNotAtAll) {
  const ProgramResult ran =
      Run({"demo", "--nodes=20", "--arrival=2s", "--workload=" KS_EXAMPLES "/gang.yaml"});
  EXPECT_THAT(ran.exit_status, Optional(0)) << ran.output;
  EXPECT_THAT(ran.output, AllOf(HasSubstr("30 of 30 placeable pods"),
                                HasSubstr("left pending  4 of 4 pods that fit nowhere"),
                                HasSubstr(" in-one-zone: Scheduled, 8 of 8 members bound\n"),
                                HasSubstr(" too-large: Unschedulable, 0 of 4 members bound: "),
                                HasSubstr(" training: Scheduled, 16 of 16 members bound\n"),
                                HasSubstr(" workers: Scheduled, 6 of 6 members bound\n")));
}

TEST_F(DemoTest, BadDevicesAreRefused) {
  const ProgramResult ran = Run({"demo", "--devices=8gpu"});
  EXPECT_THAT(ran.exit_status, Optional(Not(0)));
  EXPECT_THAT(ran.output, HasSubstr("character 1, \"8gpu\": there is no count and name (write "
                                    "COUNTxNAME, as in 8xgpu)"));
}

TEST_F(DemoTest, WhatDoesNotFitFails) {
  const std::string file = Write(
      "- count: 3\n"
      "  name: web\n"
      "  pod: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}}\n"
      "- name: huge\n"
      "  pod: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: \"99\"}}}]}}\n");
  const ProgramResult ran = Run(
      {"demo", "--nodes=3", "--node-cpu=4", "--workload=" + file, "--arrival=0s", "--timeout=4s"});
  EXPECT_THAT(ran.exit_status, Optional(1)) << ran.output;
  EXPECT_THAT(ran.output,
              AllOf(HasSubstr("FAILED: 1 of 4 placeable pods were not bound 4 s after"),
                    HasSubstr("FAILED: 1 pods that should be bound are not: Insufficient cpu"),
                    HasSubstr("the end of the scheduler's log")));
}

TEST_F(DemoTest, ASchedulerThatEndsFails) {
  const ProgramResult ran =
      Run({"demo", "--nodes=2", "--pods=4", "--arrival=1s", "--scheduler=/bin/false"});
  EXPECT_THAT(ran.exit_status, Optional(1)) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("FAILED: the scheduler ended: exit status 1"));
}

TEST_F(DemoTest, ABadWorkloadIsRefusedWithItsPlace) {
  const std::string file = Write("- count: 3\n  replicas: 1\n");
  const ProgramResult ran = Run({"demo", "--workload=" + file});
  EXPECT_THAT(ran.exit_status, Optional(1)) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("workload.yaml:2:3: [0].replicas: unknown field"));
}

TEST_F(DemoTest, AShortSoak) {
  const ProgramResult ran =
      Run({"soak", "--minutes=0.05", "--nodes=20", "--rate=40", "--lifetime=1s"}, KS_KSDEV_PATH);
  EXPECT_THAT(ran.exit_status, Optional(0)) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("every pod was bound once, no node was over its capacity"));
}

}  // namespace
}  // namespace ks::testing
