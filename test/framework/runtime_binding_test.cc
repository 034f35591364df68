// SPDX-License-Identifier: Apache-2.0
// Reserve, Permit, PreBind groups, Bind, PostBind: docs/spec/framework.md 3.6 to 3.10, examples 20
// and 22; what a framework tells about itself and gives to plugins: sections 7 and 8.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "framework/runtime/runtime.h"
#include "framework/runtime/waiting_pods.h"
#include "testing/builders.h"
#include "testing/fake_api_writer.h"
#include "testing/fake_clock.h"
#include "testing/fake_snapshot.h"
#include "testing/test_plugins.h"

namespace ks::framework {
namespace {

using ks::testing::Binds;
using ks::testing::Events;
using ks::testing::Filters;
using ks::testing::MakePod;
using ks::testing::Permits;
using ks::testing::PostBinds;
using ks::testing::PreBinds;
using ks::testing::PreFilters;
using ks::testing::Reserves;
using ks::testing::Says;
using ks::testing::Scores;
using ks::testing::TestProfile;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

using Texts = std::vector<std::string>;

constexpr Code kU = Code::kUnschedulable;
constexpr Code kUU = Code::kUnschedulableAndUnresolvable;

api::PodPtr Pod() { return MakePod().Name("p").Obj(); }

// Every failing code, and what the point makes of it: rejections stay, others become Error.
struct CodeCase {
  const char* name;
  Status answer;
  Status want_rejection;  // success: the answer is no rejection
  const char* want_error_text;
};

const std::vector<CodeCase>& FailingCodes() {
  static const std::vector<CodeCase> cases = {
      {"U", Status(kU, {"u"}), Status(kU, {"u"}, "B"), ""},
      {"UU", Status(kUU, {"u"}), Status(kUU, {"u"}, "B"), ""},
      {"Pending", Status(Code::kPending, {"u"}), Status(Code::kPending, {"u"}, "B"), ""},
      {"Error", Status::Error("boom"), Status(), "boom"},
      {"Skip", Status(Code::kSkip, {"s"}), Status(), "%!w(<nil>)"},
      {"Wait", Status(Code::kWait, {"w"}), Status(), "%!w(<nil>)"},
  };
  return cases;
}

// ---- Reserve

TEST(ReserveTest, FailuresStopTheRun) {
  for (const CodeCase& test : FailingCodes()) {
    SCOPED_TRACE(test.name);
    Texts log;
    TestProfile profile;
    profile.Add<Reserves>({.name = "A", .log = &log})
        .Add<Reserves>({.name = "B", .log = &log, .reserve = Says(test.answer)})
        .Add<Reserves>({.name = "C", .log = &log});
    CycleState state;
    const Status status = profile.Build()->RunReservePluginsReserve(state, Pod(), "n1");
    EXPECT_EQ(status, test.want_rejection.ok() ? Status::Error("running Reserve plugin \"B\": " +
                                                               std::string(test.want_error_text))
                                               : test.want_rejection);
    EXPECT_EQ(log, (Texts{"Reserve A", "Reserve B"}));
  }
}

TEST(ReserveTest, UnreserveRunsAllInReverse) {
  Texts log;
  TestProfile profile;
  for (const char* name : {"A", "B", "C"}) profile.Add<Reserves>({.name = name, .log = &log});
  const auto framework = profile.Build();
  CycleState state;
  EXPECT_TRUE(framework->RunReservePluginsReserve(state, Pod(), "n1").ok());
  framework->RunReservePluginsUnreserve(state, Pod(), "n1");
  EXPECT_EQ(log, (Texts{"Reserve A", "Reserve B", "Reserve C", "Unreserve C", "Unreserve B",
                        "Unreserve A"}));
}

// ---- Permit

const char* const kWaitReason = "one or more plugins asked to wait and no plugin rejected pod";

PermitResult Wait(Duration timeout, Texts reasons = {}) {
  return {Status(Code::kWait, std::move(reasons)), timeout};
}

TEST(PermitTest, RejectionsAndErrorsStopWithTheName) {
  for (const CodeCase& test : FailingCodes()) {
    if (test.answer.IsWait()) continue;
    SCOPED_TRACE(test.name);
    Texts log;
    TestProfile profile;
    profile.Add<Permits>({.name = "A", .log = &log, .permit = Says(Wait(seconds(1)))})
        .Add<Permits>({.name = "B", .log = &log, .permit = Says(PermitResult{test.answer, {}})})
        .Add<Permits>({.name = "C", .log = &log});
    CycleState state;
    const PermitOutcome outcome =
        profile.Build()->binding_points().RunPermitPlugins(state, Pod(), "n1");
    EXPECT_EQ(outcome.status, test.want_rejection.ok()
                                  ? Status::Error("running Permit plugin \"B\": " +
                                                  std::string(test.want_error_text))
                                        .WithPlugin("B")
                                  : test.want_rejection);
    EXPECT_TRUE(outcome.timeouts.empty());
    EXPECT_EQ(log.size(), 2U);
  }
}

TEST(PermitTest, Waiting) {
  using Timeouts = std::map<std::string, Duration>;
  const struct {
    const char* name;
    PermitResult a;
    PermitResult b;
    Status want;
    Timeouts want_timeouts;
  } cases[] = {
      {"NobodyWaits", {}, {}, Status(), {}},
      {"Ex20CappedAt15Minutes",
       Wait(hours(1), {"m1", "m2"}),
       {},
       Status(Code::kWait, {"m1", "m2", kWaitReason}, "A"),
       {{"A", minutes(15)}}},
      {"TheLastWaitingStatusStays",
       Wait(seconds(2), {"a"}),
       Wait(minutes(16), {"b"}),
       Status(Code::kWait, {"b", kWaitReason}, "B"),
       {{"A", seconds(2)}, {"B", minutes(15)}}},
      {"ZeroIsKept",
       Wait(seconds(0)),
       {},
       Status(Code::kWait, {kWaitReason}, "A"),
       {{"A", seconds(0)}}},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    TestProfile profile;
    profile.Add<Permits>({.name = "A", .permit = Says(test.a)})
        .Add<Permits>({.name = "B", .permit = Says(test.b)});
    CycleState state;
    const PermitOutcome outcome =
        profile.Build()->binding_points().RunPermitPlugins(state, Pod(), "n1");
    EXPECT_EQ(outcome.status, test.want);
    EXPECT_EQ(outcome.timeouts, test.want_timeouts);
  }
}

// ---- PreBindPreFlight and groups

PreBindPreFlightResult Flight(Status status, bool parallel = false) {
  return {std::move(status), parallel};
}
const Status kSkip(Code::kSkip, {});

struct GroupCase {
  const char* name;
  std::vector<PreBindPreFlightResult> plugins;  // p1, p2 …
  Status want;
  std::string want_groups;  // "[p1] [p2 p3]"
};

std::string Groups(const Framework& framework, const CycleState& state) {
  std::string text;
  for (const auto& group : framework.binding_points().PreBindGroups(state)) {
    if (!text.empty()) text += ' ';
    text += '[';
    for (const auto& member : group) {
      if (member.plugin != group.front().plugin) text += ' ';
      text += member.name;
    }
    text += ']';
  }
  return text;
}

TEST(PreBindTest, PreFlightsAndGroups) {
  const Status ok;
  const std::vector<GroupCase> cases = {
      {"Ex22a",
       {Flight(ok), Flight(ok, true), Flight(ok, true), Flight(ok)},
       ok,
       "[p1] [p2 p3] [p4]"},
      {"Ex22bASkippedSerialOneSplits",
       {Flight(ok, true), Flight(kSkip), Flight(ok, true)},
       ok,
       "[p1] [p3]"},
      {"Ex22cASkippedParallelOneDoesNot",
       {Flight(ok, true), Flight(kSkip, true), Flight(ok, true)},
       ok,
       "[p1 p3]"},
      {"AllSkip", {Flight(kSkip), Flight(kSkip, true)}, kSkip, ""},
      {"NoPlugins", {}, kSkip, ""},
      {"OneWorks", {Flight(kSkip), Flight(ok)}, ok, "[p2]"},
  };
  for (const GroupCase& test : cases) {
    SCOPED_TRACE(test.name);
    TestProfile profile;
    for (size_t i = 0; i < test.plugins.size(); ++i) {
      profile.Add<PreBinds>(
          {.name = "p" + std::to_string(i + 1), .pre_flight = Says(test.plugins[i])});
    }
    const auto framework = profile.Build();
    CycleState state;
    EXPECT_EQ(framework->binding_points().RunPreBindPreFlights(state, Pod(), "n1"), test.want);
    EXPECT_EQ(Groups(*framework, state), test.want_groups);
  }
}

TEST(PreBindTest, WithoutPreFlightsEveryPluginRunsAlone) {
  TestProfile profile;
  profile.Add<PreBinds>({.name = "p1"}).Add<PreBinds>({.name = "p2"});
  EXPECT_EQ(Groups(*profile.Build(), CycleState()), "[p1] [p2]");
}

TEST(PreBindTest, PreFlightFailures) {
  const auto unsupported = [](const std::string& code) {
    return "PreBindPreFlight B returned \"" + code +
           "\", which is unsupported. It is supposed to return Success, Skip, or Error status";
  };
  const struct {
    Status answer;
    std::string want;
  } cases[] = {
      {Status::Error("boom"), "running PreBindPreFlight \"B\": boom"},
      {Status(kU, {"u"}), unsupported("Unschedulable")},
      {Status(kUU, {"u"}), unsupported("UnschedulableAndUnresolvable")},
      {Status(Code::kPending, {"u"}), unsupported("Pending")},
      {Status(Code::kWait, {"u"}), unsupported("Wait")},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.want);
    TestProfile profile;
    profile.Add<PreBinds>({.name = "A", .pre_flight = Says(Flight(kSkip, true))})
        .Add<PreBinds>({.name = "B", .pre_flight = Says(Flight(test.answer))});
    const auto framework = profile.Build();
    CycleState state;
    EXPECT_EQ(framework->binding_points().RunPreBindPreFlights(state, Pod(), "n1"),
              Status::Error(test.want));
    EXPECT_EQ(state.skip_pre_bind, 0U) << "nothing is stored on an error";
    EXPECT_EQ(state.parallel_pre_bind, 0U);
  }
}

TEST(PreBindTest, FailuresAsReported) {
  for (const CodeCase& test : FailingCodes()) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(BindingPoints::PreBindFailure("B", test.answer),
              test.want_rejection.ok() ? Status::Error("running PreBind plugin \"B\": " +
                                                       std::string(test.want_error_text))
                                       : test.want_rejection);
  }
}

// ---- Bind, PostBind

TEST(BindTest, FailuresAtOnce) {
  for (const CodeCase& test : FailingCodes()) {
    if (test.answer.IsSkip()) continue;
    SCOPED_TRACE(test.name);
    Texts log;
    TestProfile profile;
    profile.WithoutBind()
        .Add<Binds>({.name = "A", .log = &log, .bind = Says(kSkip)})
        .Add<Binds>({.name = "B", .log = &log, .bind = Says(test.answer)})
        .Add<Binds>({.name = "C", .log = &log});
    CycleState state;
    bool told = false;
    EXPECT_EQ(profile.Build()->binding_points().RunBindPlugins(state, Pod(), "n1",
                                                               [&](Status) { told = true; }),
              test.want_rejection.ok()
                  ? Status::Error("running Bind plugin \"B\": " + std::string(test.want_error_text))
                  : test.want_rejection);
    EXPECT_FALSE(told);
    EXPECT_EQ(log, (Texts{"Bind A", "Bind B"}));
  }
}

TEST(BindTest, FailuresLater) {
  for (const CodeCase& test : FailingCodes()) {
    SCOPED_TRACE(test.name);
    BindPlugin::Done plugin_done;
    TestProfile profile;
    profile.WithoutBind().Add<Binds>({.name = "B", .bind = [&](BindPlugin::Done done) {
                                        plugin_done = std::move(done);
                                        return Status();
                                      }});
    CycleState state;
    std::vector<Status> told;
    auto framework = profile.Build();
    EXPECT_TRUE(framework->binding_points()
                    .RunBindPlugins(state, Pod(), "n1",
                                    [&](Status status) { told.push_back(std::move(status)); })
                    .ok());
    EXPECT_TRUE(told.empty());
    framework.reset();  // an answer may outlive it
    plugin_done(test.answer);
    plugin_done(Status());
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0], test.want_rejection.ok() ? Status::Error("running Bind plugin \"B\": " +
                                                                std::string(test.want_error_text))
                                                : test.want_rejection);
    EXPECT_TRUE(told[1].ok());
  }
}

TEST(BindTest, AllSkip) {
  TestProfile profile;
  profile.WithoutBind()
      .Add<Binds>({.name = "A", .bind = Says(kSkip)})
      .Add<Binds>({.name = "B", .bind = Says(Status(Code::kSkip, {"not mine"}))});
  CycleState state;
  EXPECT_EQ(profile.Build()->binding_points().RunBindPlugins(state, Pod(), "n1", [](Status) {}),
            kSkip);
}

TEST(BindTest, PostBindRunsAllInOrder) {
  Texts log;
  TestProfile profile;
  profile.Add<PostBinds>({.name = "A", .log = &log}).Add<PostBinds>({.name = "B", .log = &log});
  CycleState state;
  profile.Build()->binding_points().RunPostBindPlugins(state, Pod(), "n1");
  EXPECT_EQ(log, (Texts{"PostBind A", "PostBind B"}));
}

// ---- Queue sort, events, handle

TEST(FrameworkTest, QueueSort) {
  TestProfile profile;
  profile.profile().plugins.queue_sort.enabled.clear();
  profile.Add<ks::testing::QueueSorts>(
      {.name = "ByPriority", .less = [](const QueuedEntity& a, const QueuedEntity& b) {
         return a.Priority() > b.Priority();
       }});
  const auto framework = profile.Build();
  const QueuedPod low(MakePod().Name("low").Priority(1).Obj());
  const QueuedPod high(MakePod().Name("high").Priority(2).Obj());
  EXPECT_TRUE(framework->queue_points().QueueSortLess(high, low));
  EXPECT_FALSE(framework->queue_points().QueueSortLess(low, high));
  EXPECT_EQ(framework->plugins().QueueSortPluginName(), "ByPriority");
}

TEST(FrameworkTest, EventRegistrations) {
  const std::vector<EventRegistration> own = {
      {.event = {EventResource::kNode, kActionAdd}},
      {.event = {EventResource::kPod, kActionDelete}},
  };
  TestProfile profile;
  profile.Add<Filters, Events>({.name = "Own", .events = own})
      .Add<Filters, Events>({.name = "NoEvent"})
      .Add<Permits>({.name = "Default"})
      .Add<Scores, Events>({.name = "OnlyScores", .events = own})
      .Add<PreFilters, Filters, Scores, Events>({.name = "ByAbility", .events = own});
  // Enabled for Score only, yet its events count (trap 23).
  profile.profile().plugins.pre_filter.disabled = {{"ByAbility"}};
  profile.profile().plugins.filter.disabled = {{"ByAbility"}};
  const auto framework = profile.Build();
  const auto& events = framework->plugins().event_registrations();
  ASSERT_EQ(events.size(), 4U);
  ASSERT_EQ(events.at("Own").size(), 4U);
  EXPECT_EQ(events.at("Own")[0].event.resource, EventResource::kNode);
  EXPECT_EQ(events.at("Own")[1].event.resource, EventResource::kAssignedPod);
  EXPECT_EQ(events.at("Own")[2].event.resource, EventResource::kUnscheduledPod);
  EXPECT_EQ(events.at("Own")[3].event.resource, EventResource::kTargetPod);
  EXPECT_EQ(events.at("Own")[3].event.actions, static_cast<uint32_t>(kActionDelete));
  EXPECT_TRUE(events.at("NoEvent").empty());
  EXPECT_EQ(events.at("Default").size(), DefaultEventRegistrations().size());
  EXPECT_EQ(events.at("ByAbility").size(), 4U);
}

TEST(FrameworkTest, Handle) {
  const ks::testing::FakeSnapshot snapshot;
  const ks::testing::FakeClock clock;
  Random random(1);
  WaitingPods waiting_pods(clock);
  TestProfile profile;
  profile.profile().percentage_of_nodes_to_score = 0;
  ks::testing::FakeApiWriter api;
  const auto framework = profile.Build({.parts = {.snapshot = &snapshot,
                                                  .clock = &clock,
                                                  .random = &random,
                                                  .api = &api,
                                                  .waiting_pods = &waiting_pods}});
  const Handle& handle = framework->handle();
  EXPECT_EQ(framework->ProfileName(), "default-scheduler");
  EXPECT_EQ(&handle.snapshot(), &snapshot);
  EXPECT_EQ(&handle.clock(), &clock);
  EXPECT_EQ(&handle.random(), &random);
  EXPECT_EQ(&handle.waiting_pods(), &waiting_pods);
  EXPECT_EQ(&handle.api(), &api);
  EXPECT_EQ(framework->percentage_of_nodes_to_score(), 0);
  EXPECT_FALSE(framework->plugins().HasFilterPlugins());
  EXPECT_FALSE(framework->plugins().HasScorePlugins());
  EXPECT_FALSE(framework->plugins().HasPostFilterPlugins());
  EXPECT_EQ(framework->plugins().ListPlugins("Bind"), Texts{"Bind"});
  EXPECT_TRUE(framework->plugins().ListPlugins("NoSuchPoint").empty());
}

}  // namespace
}  // namespace ks::framework
