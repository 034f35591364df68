// SPDX-License-Identifier: Apache-2.0
// Every extension point with every status code: which codes are legal, whether the later plugins
// are still asked, and what the framework makes of illegal answers. docs/spec/framework.md section
// 2 (table), section 3 (texts), traps 9 to 17 and 29, example 18.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/runtime/prebind_runner.h"
#include "framework/runtime/runtime.h"
#include "testing/builders.h"
#include "testing/fake_snapshot.h"
#include "testing/test_plugins.h"

namespace ks::framework {
namespace {

using ks::testing::Binds;
using ks::testing::FakeSnapshot;
using ks::testing::Filters;
using ks::testing::Hooks;
using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::Normalizes;
using ks::testing::Permits;
using ks::testing::PluginScript;
using ks::testing::PostFilters;
using ks::testing::PreBinds;
using ks::testing::PreEnqueues;
using ks::testing::PreFilters;
using ks::testing::PreScores;
using ks::testing::Reserves;
using ks::testing::Says;
using ks::testing::Scores;
using ks::testing::Signs;
using ks::testing::TestProfile;

constexpr Code kSuccess = Code::kSuccess;
constexpr Code kError = Code::kError;
constexpr Code kU = Code::kUnschedulable;
constexpr Code kUU = Code::kUnschedulableAndUnresolvable;
constexpr Code kWait = Code::kWait;
constexpr Code kSkip = Code::kSkip;
constexpr Code kPending = Code::kPending;

// The plugins A, B and C are listed at one point; B gives the answer, the others succeed, except
// that A and C reject at PostFilter, and A skips at Bind, so that B is reached.
struct MatrixCase {
  const char* point;
  Code answer;  // of B: an Error "e", reasons "r1" and "r2" else
  Code want;
  const char* want_message;
  const char* want_plugin;
  const char* want_calls;
};

Status Answer(Code code) {
  if (code == kSuccess) return {};
  if (code == kError) return Status::Error("e");
  return Status(code, {"r1", "r2"});
}

const FakeSnapshot& OneNode() {
  static const FakeSnapshot snapshot({MakeNode().Name("n").Obj()});
  return snapshot;
}

const NodeInfo& Node() { return *OneNode().nodes()[0]; }

PodInfoPtr OtherPod() { return std::make_shared<const PodInfo>(MakePod().Name("other").Obj()); }

// One sequence whose only step is the result.
class OneStep final : public PreBindSequence {
 public:
  explicit OneStep(Status status) : status_(std::move(status)) {}
  PreBindStep Next(const Status& /*previous*/) override {
    PreBindStep step;
    step.finished = true;
    step.status = status_;
    return step;
  }

 private:
  Status status_;
};

// What the runs below work with.
struct Bench {
  std::unique_ptr<Framework> framework;
  CycleState state;
  api::PodPtr pod = MakePod().Name("p").Obj();
};

struct PointRig {
  // Adds one plugin with this answer at the point.
  std::function<void(TestProfile&, PluginScript, const Status&)> add;
  std::function<Status(Bench&)> run;
  Status a = {};  // what A answers
  Status c = {};
};

template <class... Parts, class Member>
auto Adds(Member member) {
  return [member](TestProfile& profile, PluginScript script, const Status& status) {
    script.*member = [status](const auto&...) { return status; };
    profile.Add<Parts...>(std::move(script));
  };
}

Status RunScores(Bench& bench) {
  NodeScores scores;
  return bench.framework->RunScorePlugins(bench.state, *bench.pod, OneNode().nodes(), &scores);
}

Status RunPreBinds(Bench& bench) {
  PreBindEnvironment environment;
  PreBindRunner runner(bench.framework->binding_points().PreBindGroups(bench.state),
                       PreBindRequest{.state = &bench.state, .pod = bench.pod, .node_name = "n"},
                       environment, [](const Status&) {});
  return runner.Start().value();
}

PointRig PreFilterRig(std::function<Status(Bench&)> run) {
  return {.add =
              [](TestProfile& profile, PluginScript script, const Status& status) {
                script.pre_filter = Says(PreFilterResult{status, {}});
                profile.Add<PreFilters>(std::move(script));
              },
          .run = std::move(run)};
}

std::map<std::string, PointRig> FilteringRigs() {
  return {
      {"PreEnqueue",
       {.add = Adds<PreEnqueues>(&PluginScript::pre_enqueue),
        .run =
            [](Bench& b) { return b.framework->queue_points().RunPreEnqueuePlugins(*b.pod, ""); }}},
      {"PreFilter", PreFilterRig([](Bench& b) {
         return b.framework->RunPreFilterPlugins(b.state, *b.pod).status;
       })},
      {"AddPod",
       {.add = Adds<PreFilters, Hooks>(&PluginScript::add_pod),
        .run =
            [](Bench& b) {
              return b.framework->RunPreFilterExtensionAddPod(b.state, *b.pod, *OtherPod(), Node());
            }}},
      {"RemovePod",
       {.add = Adds<PreFilters, Hooks>(&PluginScript::remove_pod),
        .run =
            [](Bench& b) {
              return b.framework->RunPreFilterExtensionRemovePod(b.state, *b.pod, *OtherPod(),
                                                                 Node());
            }}},
      {"Filter",
       {.add = Adds<Filters>(&PluginScript::filter),
        .run = [](Bench& b) { return b.framework->RunFilterPlugins(b.state, *b.pod, Node()); }}},
      {"PostFilter",
       {.add =
            [](TestProfile& profile, PluginScript script, const Status& status) {
              script.post_filter = Says(PostFilterResult{status, {}});
              profile.Add<PostFilters>(std::move(script));
            },
        .run =
            [](Bench& b) {
              return b.framework->RunPostFilterPlugins(b.state, b.pod, NodeStatuses()).status;
            },
        .a = Status(kU, {"a"}),
        .c = Status(kU, {"c"})}},
      {"PreScore",
       {.add = Adds<PreScores>(&PluginScript::pre_score),
        .run =
            [](Bench& b) {
              return b.framework->RunPreScorePlugins(b.state, *b.pod, OneNode().nodes());
            }}},
      {"Score", {.add = Adds<Scores>(&PluginScript::score), .run = RunScores}},
      {"NormalizeScore",
       {.add = Adds<Scores, Normalizes>(&PluginScript::normalize), .run = RunScores}},
      {"Sign",
       {.add = Adds<Filters, Signs>(&PluginScript::sign),
        .run = [](Bench& b) { return b.framework->SignPod(*b.pod).status; }}},
  };
}

std::map<std::string, PointRig> BindingRigs() {
  return {
      {"Reserve",
       {.add = Adds<Reserves>(&PluginScript::reserve),
        .run =
            [](Bench& b) { return b.framework->RunReservePluginsReserve(b.state, b.pod, "n"); }}},
      {"Permit",
       {.add =
            [](TestProfile& profile, PluginScript script, const Status& status) {
              script.permit = Says(PermitResult{status, std::chrono::seconds(1)});
              profile.Add<Permits>(std::move(script));
            },
        .run =
            [](Bench& b) {
              return b.framework->binding_points().RunPermitPlugins(b.state, b.pod, "n").status;
            }}},
      {"PreBindPreFlight",
       {.add =
            [](TestProfile& profile, PluginScript script, const Status& status) {
              script.pre_flight = Says(PreBindPreFlightResult{status, false});
              profile.Add<PreBinds>(std::move(script));
            },
        .run =
            [](Bench& b) {
              return b.framework->binding_points().RunPreBindPreFlights(b.state, b.pod, "n");
            }}},
      {"PreBind",
       {.add =
            [](TestProfile& profile, PluginScript script, const Status& status) {
              script.pre_bind = [status] { return std::make_unique<OneStep>(status); };
              profile.Add<PreBinds>(std::move(script));
            },
        .run = RunPreBinds}},
      {"Bind",
       {.add = Adds<Binds>(&PluginScript::bind),
        .run =
            [](Bench& b) {
              return b.framework->binding_points().RunBindPlugins(b.state, b.pod, "n",
                                                                  [](const Status&) {});
            },
        .a = Status(kSkip, {})}},
  };
}

// The plugins of the point's calls, in order.
std::string Calls(const std::vector<std::string>& log, const std::string& point) {
  std::string calls;
  for (const std::string& line : log) {
    if (!line.starts_with(point + " ")) continue;
    if (!calls.empty()) calls += ' ';
    calls += line[point.size() + 1];
  }
  return calls;
}

class CodeMatrixTest : public ::testing::TestWithParam<MatrixCase> {};

TEST_P(CodeMatrixTest, AnswerOfTheSecondOfThreePlugins) {
  static const auto rigs = [] {
    auto all = FilteringRigs();
    all.merge(BindingRigs());
    return all;
  }();
  const MatrixCase& test = GetParam();
  const PointRig& rig = rigs.at(test.point);
  std::vector<std::string> log;
  TestProfile profile;
  if (std::string(test.point) == "Bind") profile.WithoutBind();
  rig.add(profile, {.name = "A", .log = &log}, rig.a);
  rig.add(profile, {.name = "B", .log = &log}, Answer(test.answer));
  rig.add(profile, {.name = "C", .log = &log}, rig.c);
  Bench bench;
  bench.framework = profile.Build({.parts = {.snapshot = &OneNode()}});
  const Status status = rig.run(bench);
  EXPECT_EQ(CodeText(status.code()), CodeText(test.want));
  EXPECT_EQ(status.Message(), test.want_message);
  EXPECT_EQ(status.plugin(), test.want_plugin);
  EXPECT_EQ(Calls(log, test.point), test.want_calls);
}

#define KS_NIL "%!w(<nil>)"
#define KS_UNSUPPORTED(code)            \
  "PreBindPreFlight B returned \"" code \
  "\", which is unsupported. It is supposed to return Success, Skip, or Error status"

const MatrixCase kFilteringRows[] = {
    {"PreEnqueue", kSuccess, kSuccess, "", "", "A B C"},
    {"PreEnqueue", kError, kError, "e", "B", "A B"},
    {"PreEnqueue", kU, kU, "r1, r2", "B", "A B"},
    {"PreEnqueue", kUU, kUU, "r1, r2", "B", "A B"},
    {"PreEnqueue", kWait, kWait, "r1, r2", "B", "A B"},
    {"PreEnqueue", kSkip, kSkip, "r1, r2", "B", "A B"},
    {"PreEnqueue", kPending, kPending, "r1, r2", "B", "A B"},

    {"PreFilter", kSuccess, kSuccess, "", "", "A B C"},
    {"PreFilter", kError, kError, "running PreFilter plugin \"B\": e", "B", "A B"},
    {"PreFilter", kU, kU, "r1, r2", "B", "A B C"},
    {"PreFilter", kUU, kUU, "r1, r2", "B", "A B"},
    {"PreFilter", kWait, kError, "running PreFilter plugin \"B\": " KS_NIL, "B", "A B"},
    {"PreFilter", kSkip, kSuccess, "", "", "A B C"},
    {"PreFilter", kPending, kError, "running PreFilter plugin \"B\": r1, r2", "B", "A B"},

    {"AddPod", kSuccess, kSuccess, "", "", "A B C"},
    {"AddPod", kError, kError, "running AddPod on PreFilter plugin \"B\": e", "", "A B"},
    {"AddPod", kU, kError, "running AddPod on PreFilter plugin \"B\": r1, r2", "", "A B"},
    {"AddPod", kUU, kError, "running AddPod on PreFilter plugin \"B\": r1, r2", "", "A B"},
    {"AddPod", kWait, kError, "running AddPod on PreFilter plugin \"B\": " KS_NIL, "", "A B"},
    {"AddPod", kSkip, kError, "running AddPod on PreFilter plugin \"B\": " KS_NIL, "", "A B"},
    {"AddPod", kPending, kError, "running AddPod on PreFilter plugin \"B\": r1, r2", "", "A B"},

    {"RemovePod", kSuccess, kSuccess, "", "", "A B C"},
    {"RemovePod", kError, kError, "running RemovePod on PreFilter plugin \"B\": e", "", "A B"},
    {"RemovePod", kU, kError, "running RemovePod on PreFilter plugin \"B\": r1, r2", "", "A B"},
    {"RemovePod", kUU, kError, "running RemovePod on PreFilter plugin \"B\": r1, r2", "", "A B"},
    {"RemovePod", kWait, kError, "running RemovePod on PreFilter plugin \"B\": " KS_NIL, "", "A B"},
    {"RemovePod", kSkip, kError, "running RemovePod on PreFilter plugin \"B\": " KS_NIL, "", "A B"},
    {"RemovePod", kPending, kError, "running RemovePod on PreFilter plugin \"B\": r1, r2", "",
     "A B"},

    {"Filter", kSuccess, kSuccess, "", "", "A B C"},
    {"Filter", kError, kError, "running \"B\" filter plugin: e", "B", "A B"},
    {"Filter", kU, kU, "r1, r2", "B", "A B"},
    {"Filter", kUU, kUU, "r1, r2", "B", "A B"},
    {"Filter", kWait, kError, "running \"B\" filter plugin: " KS_NIL, "B", "A B"},
    {"Filter", kSkip, kError, "running \"B\" filter plugin: " KS_NIL, "B", "A B"},
    {"Filter", kPending, kPending, "r1, r2", "B", "A B"},

    {"PostFilter", kSuccess, kSuccess, "", "", "A B"},
    {"PostFilter", kError, kError, "e", "B", "A B"},
    {"PostFilter", kU, kU, "a, r1, r2, c", "A", "A B C"},
    {"PostFilter", kUU, kUU, "r1, r2", "B", "A B"},
    {"PostFilter", kWait, kError, KS_NIL, "B", "A B"},
    {"PostFilter", kSkip, kError, KS_NIL, "B", "A B"},
    {"PostFilter", kPending, kU, "a, r1, r2, c", "A", "A B C"},

    {"PreScore", kSuccess, kSuccess, "", "", "A B C"},
    {"PreScore", kError, kError, "running PreScore plugin \"B\": e", "", "A B"},
    {"PreScore", kU, kError, "running PreScore plugin \"B\": r1, r2", "", "A B"},
    {"PreScore", kUU, kError, "running PreScore plugin \"B\": r1, r2", "", "A B"},
    {"PreScore", kWait, kError, "running PreScore plugin \"B\": " KS_NIL, "", "A B"},
    {"PreScore", kSkip, kSuccess, "", "", "A B C"},
    {"PreScore", kPending, kError, "running PreScore plugin \"B\": r1, r2", "", "A B"},

    {"Score", kSuccess, kSuccess, "", "", "A B C"},
    {"Score", kError, kError, "running Score plugins: plugin \"B\" failed with: e", "", "A B"},
    {"Score", kU, kError, "running Score plugins: plugin \"B\" failed with: r1, r2", "", "A B"},
    {"Score", kUU, kError, "running Score plugins: plugin \"B\" failed with: r1, r2", "", "A B"},
    {"Score", kWait, kError, "running Score plugins: plugin \"B\" failed with: " KS_NIL, "", "A B"},
    {"Score", kSkip, kError, "running Score plugins: plugin \"B\" failed with: " KS_NIL, "", "A B"},
    {"Score", kPending, kError, "running Score plugins: plugin \"B\" failed with: r1, r2", "",
     "A B"},

    {"NormalizeScore", kSuccess, kSuccess, "", "", "A B C"},
    {"NormalizeScore", kError, kError,
     "running Normalize on Score plugins: plugin \"B\" failed with: e", "", "A B"},
    {"NormalizeScore", kU, kError,
     "running Normalize on Score plugins: plugin \"B\" failed with: r1, r2", "", "A B"},
    {"NormalizeScore", kUU, kError,
     "running Normalize on Score plugins: plugin \"B\" failed with: r1, r2", "", "A B"},
    {"NormalizeScore", kWait, kError,
     "running Normalize on Score plugins: plugin \"B\" failed with: " KS_NIL, "", "A B"},
    {"NormalizeScore", kSkip, kError,
     "running Normalize on Score plugins: plugin \"B\" failed with: " KS_NIL, "", "A B"},
    {"NormalizeScore", kPending, kError,
     "running Normalize on Score plugins: plugin \"B\" failed with: r1, r2", "", "A B"},

    {"Sign", kSuccess, kSuccess, "", "", "A B C"},
    {"Sign", kError, kError, "e", "B", "A B"},
    {"Sign", kU, kU, "r1, r2", "B", "A B"},
    {"Sign", kUU, kUU, "r1, r2", "B", "A B"},
    {"Sign", kWait, kWait, "r1, r2", "B", "A B"},
    {"Sign", kSkip, kSkip, "r1, r2", "B", "A B"},
    {"Sign", kPending, kPending, "r1, r2", "B", "A B"},
};

const MatrixCase kBindingRows[] = {
    {"Reserve", kSuccess, kSuccess, "", "", "A B C"},
    {"Reserve", kError, kError, "running Reserve plugin \"B\": e", "", "A B"},
    {"Reserve", kU, kU, "r1, r2", "B", "A B"},
    {"Reserve", kUU, kUU, "r1, r2", "B", "A B"},
    {"Reserve", kWait, kError, "running Reserve plugin \"B\": " KS_NIL, "", "A B"},
    {"Reserve", kSkip, kError, "running Reserve plugin \"B\": " KS_NIL, "", "A B"},
    {"Reserve", kPending, kPending, "r1, r2", "B", "A B"},

    {"Permit", kSuccess, kSuccess, "", "", "A B C"},
    {"Permit", kError, kError, "running Permit plugin \"B\": e", "B", "A B"},
    {"Permit", kU, kU, "r1, r2", "B", "A B"},
    {"Permit", kUU, kUU, "r1, r2", "B", "A B"},
    {"Permit", kWait, kWait, "r1, r2, one or more plugins asked to wait and no plugin rejected pod",
     "B", "A B C"},
    {"Permit", kSkip, kError, "running Permit plugin \"B\": " KS_NIL, "B", "A B"},
    {"Permit", kPending, kPending, "r1, r2", "B", "A B"},

    {"PreBindPreFlight", kSuccess, kSuccess, "", "", "A B C"},
    {"PreBindPreFlight", kError, kError, "running PreBindPreFlight \"B\": e", "", "A B"},
    {"PreBindPreFlight", kU, kError, KS_UNSUPPORTED("Unschedulable"), "", "A B"},
    {"PreBindPreFlight", kUU, kError, KS_UNSUPPORTED("UnschedulableAndUnresolvable"), "", "A B"},
    {"PreBindPreFlight", kWait, kError, KS_UNSUPPORTED("Wait"), "", "A B"},
    {"PreBindPreFlight", kSkip, kSuccess, "", "", "A B C"},
    {"PreBindPreFlight", kPending, kError, KS_UNSUPPORTED("Pending"), "", "A B"},

    {"PreBind", kSuccess, kSuccess, "", "", "A B C"},
    {"PreBind", kError, kError, "running PreBind plugin \"B\": e", "", "A B"},
    {"PreBind", kU, kU, "r1, r2", "B", "A B"},
    {"PreBind", kUU, kUU, "r1, r2", "B", "A B"},
    {"PreBind", kWait, kError, "running PreBind plugin \"B\": " KS_NIL, "", "A B"},
    {"PreBind", kSkip, kError, "running PreBind plugin \"B\": " KS_NIL, "", "A B"},
    {"PreBind", kPending, kPending, "r1, r2", "B", "A B"},

    {"Bind", kSuccess, kSuccess, "", "", "A B"},
    {"Bind", kError, kError, "running Bind plugin \"B\": e", "", "A B"},
    {"Bind", kU, kU, "r1, r2", "B", "A B"},
    {"Bind", kUU, kUU, "r1, r2", "B", "A B"},
    {"Bind", kWait, kError, "running Bind plugin \"B\": " KS_NIL, "", "A B"},
    {"Bind", kSkip, kSuccess, "", "", "A B C"},
    {"Bind", kPending, kPending, "r1, r2", "B", "A B"},
};

std::string RowName(const ::testing::TestParamInfo<MatrixCase>& row) {
  return std::string(row.param.point) + "_" + std::string(CodeText(row.param.answer));
}

INSTANTIATE_TEST_SUITE_P(Filtering, CodeMatrixTest, ::testing::ValuesIn(kFilteringRows), RowName);
INSTANTIATE_TEST_SUITE_P(Binding, CodeMatrixTest, ::testing::ValuesIn(kBindingRows), RowName);

// Signatures: the merge of all fragments and the scheduler name.
TEST(SignTest, FragmentsOfAllPluginsWithSortedKeys) {
  const auto fragments = [](std::vector<SignFragment> more) {
    return [more](std::vector<SignFragment>* all) {
      all->insert(all->end(), more.begin(), more.end());
      return Status();
    };
  };
  TestProfile profile;
  profile.Add<Filters, Signs>({.name = "A", .sign = fragments({{"z", "1"}, {"Labels", "null"}})})
      .Add<PreScores, Scores, Signs>(
          {.name = "B", .sign = fragments({{"Labels", "null"}, {"a", "[\"x\"]"}})})
      .Add<Reserves, Permits>({.name = "NeitherFiltersNorScores"});
  const SignOutcome outcome = profile.Build()->SignPod(*MakePod().Name("p").Obj());
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.signature,
            "{\"Labels\":null,\"SchedulerName\":\"default-scheduler\",\"a\":[\"x\"],\"z\":1}");
}

TEST(SignTest, APluginThatCannotSignRefusesEveryPod) {
  std::vector<std::string> log;
  TestProfile profile;
  profile.Add<Filters, Signs>({.name = "A", .log = &log}).Add<Filters>({.name = "B"});
  const SignOutcome outcome = profile.Build()->SignPod(*MakePod().Name("p").Obj());
  EXPECT_EQ(outcome.status, Status(kU, {"plugin cannot sign pods"}, "B"));
  EXPECT_TRUE(outcome.signature.empty());
  EXPECT_TRUE(log.empty());
}

}  // namespace
}  // namespace ks::framework
