// SPDX-License-Identifier: Apache-2.0
// PreEnqueue, PreFilter with its hooks, Filter, PostFilter: docs/spec/framework.md 3.1 to 3.4, 9,
// and examples 14 to 18.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "framework/runtime/runtime.h"
#include "testing/builders.h"
#include "testing/fake_nominator.h"
#include "testing/fake_snapshot.h"
#include "testing/test_plugins.h"

namespace ks::framework {
namespace {

using ks::testing::FakeNominator;
using ks::testing::FakeSnapshot;
using ks::testing::Filters;
using ks::testing::Hooks;
using ks::testing::MakeNode;
using ks::testing::MakePod;
using ks::testing::PluginScript;
using ks::testing::PostFilters;
using ks::testing::PreEnqueues;
using ks::testing::PreFilters;
using ks::testing::Says;
using ks::testing::TestProfile;

using Names = std::set<std::string>;
using Texts = std::vector<std::string>;

constexpr Code kU = Code::kUnschedulable;
constexpr Code kUU = Code::kUnschedulableAndUnresolvable;

const FakeSnapshot& TwoNodes() {
  static const FakeSnapshot snapshot({MakeNode().Name("n1").Obj(), MakeNode().Name("n2").Obj()});
  return snapshot;
}

std::unique_ptr<Framework> Build(TestProfile& profile, Nominator* nominator = nullptr) {
  return profile.Build({.parts = {.snapshot = &TwoNodes(), .nominator = nominator}});
}

// ---- PreEnqueue

TEST(PreEnqueueTest, EveryOtherCodeGates) {
  for (const Code code : {Code::kError, kU, kUU, Code::kWait, Code::kSkip, Code::kPending}) {
    SCOPED_TRACE(CodeText(code));
    Texts log;
    TestProfile profile;
    profile.Add<PreEnqueues>({.name = "A", .log = &log})
        .Add<PreEnqueues>({.name = "B", .log = &log, .pre_enqueue = Says(Status(code, {"why"}))})
        .Add<PreEnqueues>({.name = "C", .log = &log});
    const Status status =
        Build(profile)->queue_points().RunPreEnqueuePlugins(*MakePod().Name("p").Obj(), "");
    EXPECT_EQ(status, Status(code, {"why"}, "B"));
    EXPECT_EQ(log, (Texts{"PreEnqueue A", "PreEnqueue B"}));
  }
}

TEST(PreEnqueueTest, TheLastGateIsAskedFirstAndOnce) {
  Texts log;
  TestProfile profile;
  for (const char* name : {"A", "B", "C"}) profile.Add<PreEnqueues>({.name = name, .log = &log});
  const auto framework = Build(profile);
  const auto pod = MakePod().Name("p").Obj();
  EXPECT_TRUE(framework->queue_points().RunPreEnqueuePlugins(*pod, "B").ok());
  EXPECT_EQ(log, (Texts{"PreEnqueue B", "PreEnqueue A", "PreEnqueue C"}));
  log.clear();
  EXPECT_TRUE(framework->queue_points().RunPreEnqueuePlugins(*pod, "Unknown").ok());
  EXPECT_EQ(log, (Texts{"PreEnqueue A", "PreEnqueue B", "PreEnqueue C"}));
}

// ---- PreFilter

PreFilterResult Only(Names nodes) { return {Status(), std::move(nodes)}; }
PreFilterResult With(Status status, std::optional<Names> nodes = std::nullopt) {
  return {std::move(status), std::move(nodes)};
}

struct PreFilterCase {
  std::string name;
  std::vector<std::pair<std::string, PreFilterResult>> plugins;  // in order
  Status want;
  std::optional<Names> want_nodes = {};
  Names want_narrowing = {};
  Texts want_calls;
  Texts want_filtered = {};  // plugins whose Filter still runs; checked when not empty
};

class PreFilterTest : public ::testing::TestWithParam<PreFilterCase> {};

TEST_P(PreFilterTest, Merging) {
  const PreFilterCase& test = GetParam();
  Texts log;
  TestProfile profile;
  for (const auto& [name, result] : test.plugins) {
    profile.Add<PreFilters, Filters>({.name = name, .log = &log, .pre_filter = Says(result)});
  }
  const auto framework = Build(profile);
  const auto pod = MakePod().Name("p").Obj();
  CycleState state;
  state.skip_filter = ~PluginMask{0};  // of an earlier run: replaced in every case
  const PreFilterOutcome outcome = framework->RunPreFilterPlugins(state, *pod);
  EXPECT_EQ(outcome.status, test.want) << outcome.status.Message();
  EXPECT_EQ(outcome.nodes, test.want_nodes);
  EXPECT_EQ(outcome.narrowing_plugins, test.want_narrowing);
  Texts calls;
  for (const std::string& name : test.want_calls) calls.push_back("PreFilter " + name);
  EXPECT_EQ(log, calls);
  if (test.want_filtered.empty()) return;
  log.clear();
  EXPECT_TRUE(framework->RunFilterPlugins(state, *pod, *TwoNodes().nodes()[0]).ok());
  Texts filtered;
  for (const std::string& name : test.want_filtered) filtered.push_back("Filter " + name + " n1");
  EXPECT_EQ(log, filtered);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, PreFilterTest,
    ::testing::Values(
        PreFilterCase{.name = "AllSucceed",
                      .plugins = {{"A", With(Status())}, {"B", With(Status())}},
                      .want = Status(),
                      .want_calls = {"A", "B"},
                      .want_filtered = {"A", "B"}},
        PreFilterCase{.name = "SkipTurnsItsFilterOffAndIgnoresItsNodes",
                      .plugins = {{"A", With(Status(Code::kSkip, {"s"}), Names{"n9"})},
                                  {"B", With(Status())}},
                      .want = Status(),
                      .want_calls = {"A", "B"},
                      .want_filtered = {"B"}},
        PreFilterCase{.name = "Ex14",
                      .plugins = {{"A", Only({"n1", "n2"})}, {"B", Only({"n2"})}},
                      .want = Status(),
                      .want_nodes = Names{"n2"},
                      .want_narrowing = {"A", "B"},
                      .want_calls = {"A", "B"},
                      .want_filtered = {"A", "B"}},
        PreFilterCase{
            .name = "Ex15Disjoint",
            .plugins = {{"B", Only({"n1"})}, {"A", Only({"n2"})}, {"C", With(Status())}},
            .want = Status(kUU, {"node(s) didn't satisfy plugin(s) [A B] simultaneously"}),
            .want_nodes = Names{},
            .want_narrowing = {"A", "B"},
            .want_calls = {"B", "A"}},
        PreFilterCase{.name = "Ex15Empty",
                      .plugins = {{"B", Only({})}, {"A", With(Status())}},
                      .want = Status(kUU, {"node(s) didn't satisfy plugin B"}),
                      .want_nodes = Names{},
                      .want_narrowing = {"B"},
                      .want_calls = {"B"}},
        PreFilterCase{.name = "EmptyIntersectionLosesAnEarlierU",
                      .plugins = {{"A", With(Status(kU, {"a"}))}, {"B", Only({})}},
                      .want = Status(kUU, {"node(s) didn't satisfy plugin B"}),
                      .want_nodes = Names{},
                      .want_narrowing = {"B"},
                      .want_calls = {"A", "B"}},
        PreFilterCase{.name = "Ex16LastUWins",
                      .plugins = {{"A", With(Status(kU, {"a"}), Names{"n9"})},
                                  {"B", With(Status(kU, {"b"}))},
                                  {"C", Only({"n1"})}},
                      .want = Status(kU, {"b"}, "B"),
                      .want_nodes = Names{"n1"},
                      .want_narrowing = {"C"},
                      .want_calls = {"A", "B", "C"}},
        PreFilterCase{.name = "Ex17UUStops",
                      .plugins = {{"A", Only({"n1"})},
                                  {"B", With(Status(kU, {"b"}))},
                                  {"C", With(Status(kUU, {"c"}), Names{"n1"})},
                                  {"D", With(Status())}},
                      .want = Status(kUU, {"c"}, "C"),
                      .want_calls = {"A", "B", "C"}},
        PreFilterCase{.name = "Error",
                      .plugins = {{"A", Only({"n1"})},
                                  {"B", With(Status::Error("boom"))},
                                  {"C", With(Status())}},
                      .want = Status::Error("running PreFilter plugin \"B\": boom").WithPlugin("B"),
                      .want_calls = {"A", "B"}},
        PreFilterCase{
            .name = "WaitHasNoError",
            .plugins = {{"A", With(Status(Code::kWait, {"w"}))}},
            .want = Status::Error("running PreFilter plugin \"A\": %!w(<nil>)").WithPlugin("A"),
            .want_calls = {"A"}},
        PreFilterCase{.name = "PendingIsAnError",
                      .plugins = {{"A", With(Status(Code::kPending, {"x", "y"}))}},
                      .want = Status::Error("running PreFilter plugin \"A\": x, y").WithPlugin("A"),
                      .want_calls = {"A"}}),
    [](const auto& row) { return row.param.name; });

TEST(PreFilterSkipTest, TheSkipSetIsStoredAlsoOnFailure) {
  TestProfile profile;
  profile.Add<PreFilters, Filters>({.name = "A", .pre_filter = Says(With(Status(Code::kSkip, {})))})
      .Add<PreFilters>({.name = "B", .pre_filter = Says(With(Status::Error("x")))})
      .Add<PreFilters>({.name = "C", .pre_filter = Says(With(Status(Code::kSkip, {})))});
  CycleState state;
  (void)Build(profile)->RunPreFilterPlugins(state, *MakePod().Name("p").Obj());
  EXPECT_EQ(state.skip_filter, 1U);
}

// ---- AddPod, RemovePod

TEST(HooksTest, CalledInOrderWithoutSkippedPlugins) {
  Texts log;
  TestProfile profile;
  profile.Add<PreFilters, Hooks>({.name = "A", .log = &log})
      .Add<PreFilters, Hooks>(
          {.name = "B", .log = &log, .pre_filter = Says(With(Status(Code::kSkip, {})))})
      .Add<PreFilters>({.name = "WithoutHooks", .log = &log})
      .Add<PreFilters, Hooks>({.name = "C", .log = &log});
  const auto framework = Build(profile);
  const auto pod = MakePod().Name("p").Obj();
  const PodInfo other(MakePod().Name("o").Obj());
  CycleState state;
  (void)framework->RunPreFilterPlugins(state, *pod);
  log.clear();
  const NodeInfo& node = *TwoNodes().nodes()[0];
  EXPECT_TRUE(framework->RunPreFilterExtensionAddPod(state, *pod, other, node).ok());
  EXPECT_TRUE(framework->RunPreFilterExtensionRemovePod(state, *pod, other, node).ok());
  EXPECT_EQ(log, (Texts{"AddPod A o", "AddPod C o", "RemovePod A o", "RemovePod C o"}));
}

TEST(HooksTest, ARejectionIsAnErrorToo) {
  TestProfile profile;
  profile.Add<PreFilters, Hooks>(
      {.name = "A", .add_pod = Says(Status(kU, {"no"})), .remove_pod = Says(Status::Error("bad"))});
  const auto framework = Build(profile);
  const auto pod = MakePod().Name("p").Obj();
  const PodInfo other(pod);
  CycleState state;
  const NodeInfo& node = *TwoNodes().nodes()[0];
  EXPECT_EQ(framework->RunPreFilterExtensionAddPod(state, *pod, other, node),
            Status::Error("running AddPod on PreFilter plugin \"A\": no"));
  EXPECT_EQ(framework->RunPreFilterExtensionRemovePod(state, *pod, other, node),
            Status::Error("running RemovePod on PreFilter plugin \"A\": bad"));
}

// ---- Filter

TEST(FilterTest, CodesOfOneNode) {
  const struct {
    const char* name;
    Status answer;
    Status want;
  } cases[] = {
      {"Success", Status(), Status()},
      {"U", Status(kU, {"r"}), Status(kU, {"r"}, "P")},
      {"UU", Status(kUU, {"r"}, "Other"), Status(kUU, {"r"}, "P")},
      {"Pending", Status(Code::kPending, {"r"}), Status(Code::kPending, {"r"}, "P")},
      {"Ex18Error", Status(Code::kError, {"m1", "m2"}),
       Status::Error("running \"P\" filter plugin: m1, m2").WithPlugin("P")},
      {"Ex18Skip", Status(Code::kSkip, {"s"}),
       Status::Error("running \"P\" filter plugin: %!w(<nil>)").WithPlugin("P")},
      {"Wait", Status(Code::kWait, {}),
       Status::Error("running \"P\" filter plugin: %!w(<nil>)").WithPlugin("P")},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    Texts log;
    TestProfile profile;
    profile.Add<Filters>({.name = "P", .log = &log, .filter = Says(test.answer)})
        .Add<Filters>({.name = "Q", .log = &log});
    const Status status = Build(profile)->RunFilterPlugins(CycleState(), *MakePod().Name("p").Obj(),
                                                           *TwoNodes().nodes()[0]);
    EXPECT_EQ(status, test.want);
    EXPECT_EQ(log.size(), test.want.ok() ? 2U : 1U);
  }
}

TEST(FilterTest, AStampedRejectionIsPassedOnWithoutCopy) {
  const Status rejection(kU, {"r"}, "P");
  TestProfile profile;
  profile.Add<Filters>({.name = "P", .filter = Says(rejection)});
  EXPECT_EQ(Build(profile)
                ->RunFilterPlugins(CycleState(), *MakePod().Name("p").Obj(), *TwoNodes().nodes()[0])
                .id(),
            rejection.id());
}

// Workers run the filters of different nodes at the same time; rejections share one body.
TEST(FilterTest, ManyWorkersAtOnce) {
  const Status rejection(kU, {"r"}, "P");
  TestProfile profile;
  profile.Add<Filters>({.name = "P", .filter = [&](const CycleState&, const NodeInfo& node) {
                          return node.index() == 0 ? Status() : rejection;
                        }});
  const auto framework = Build(profile);
  const auto pod = MakePod().Name("p").Obj();
  const CycleState state;
  std::atomic<int> rejected = 0;
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        const Status status = framework->RunFilterPlugins(state, *pod, *TwoNodes().nodes()[i % 2]);
        if (status == rejection) ++rejected;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(rejected, 2000);
}

// ---- Filter with nominated pods

PodInfoPtr Nominated(const std::string& name, std::optional<int32_t> priority) {
  auto pod = MakePod().Name(name);
  if (priority) pod.Priority(*priority);
  return std::make_shared<PodInfo>(pod.Obj());
}

// What the AddPod hooks count: a datum that a clone copies.
struct Added : StateData {
  int pods = 0;
  std::shared_ptr<StateData> Clone(const std::shared_ptr<StateData>& /*self*/) const override {
    return std::make_shared<Added>(*this);
  }
};

// Keeps a count in the state by its hooks; its Filter logs the pods that the node and the state
// show, and rejects as scripted.
class CountingPlugin final : public Plugin,
                             public PreFilterPlugin,
                             public PreFilterExtensions,
                             public FilterPlugin {
 public:
  CountingPlugin(Handle& handle, Texts* log, int reject_at)
      : slot_(handle.NewStateSlot()), log_(*log), reject_at_(reject_at) {}

  std::string_view Name() const override { return "Counting"; }
  PreFilterResult PreFilter(CycleState& state, const api::Pod& /*pod*/,
                            const Snapshot& /*snapshot*/) override {
    slot_.Write(state, std::make_shared<Added>());
    return {};
  }
  Status AddPod(CycleState& state, const api::Pod& /*pod*/, const PodInfo& pod_to_add,
                const NodeInfo& node) const override {
    log_.push_back("add " + pod_to_add.pod().meta.name + " to " +
                   std::to_string(node.pods().size()));
    ++slot_.Mutable(state)->pods;
    return {};
  }
  Status RemovePod(CycleState& /*state*/, const api::Pod& /*pod*/, const PodInfo& /*pod_to_remove*/,
                   const NodeInfo& /*node*/) const override {
    return {};
  }
  Status Filter(const CycleState& state, const api::Pod& /*pod*/,
                const NodeInfo& node) const override {
    const int pods = slot_.Read(state)->pods;
    log_.push_back("filter " + node.name() + " with " + std::to_string(node.pods().size()) + "/" +
                   std::to_string(pods));
    return pods == reject_at_ ? Status(kU, {"full"}) : Status();
  }

 private:
  const StateSlot<Added> slot_;
  Texts& log_;
  const int reject_at_;
};

struct NominatedCase {
  std::string name;
  std::vector<PodInfoPtr> nominated;
  int reject_at = -1;  // number of added pods at which Filter rejects
  Status want;
  Texts want_log;
};

class NominatedTest : public ::testing::TestWithParam<NominatedCase> {};

TEST_P(NominatedTest, TwoPasses) {
  const NominatedCase& test = GetParam();
  Texts log;
  TestProfile profile;
  profile.registry().AddFactory(
      "Counting",
      [&](const config::PluginArgs&, Handle& handle) -> Result<std::unique_ptr<Plugin>> {
        return std::unique_ptr<Plugin>(new CountingPlugin(handle, &log, test.reject_at));
      });
  profile.profile().plugins.multi_point.enabled = {{"Counting"}};
  FakeNominator nominator;
  nominator.pods["n1"] = test.nominated;
  const auto framework = Build(profile, &nominator);
  const auto pod = MakePod().Name("p").Priority(5).Obj();
  CycleState state;
  (void)framework->RunPreFilterPlugins(state, *pod);
  const NodeInfo& node = *TwoNodes().nodes()[0];
  const Status status = framework->RunFilterPluginsWithNominatedPods(state, *pod, node);
  EXPECT_EQ(status, test.want);
  EXPECT_EQ(log, test.want_log);
  EXPECT_TRUE(node.pods().empty()) << "the original node must not change";
}

INSTANTIATE_TEST_SUITE_P(
    Section9, NominatedTest,
    ::testing::Values(
        NominatedCase{.name = "NoneHere", .nominated = {}, .want_log = {"filter n1 with 0/0"}},
        NominatedCase{.name = "LowerPriorityAndThePodItselfAreIgnored",
                      .nominated = {Nominated("low", 4), Nominated("null", {}), Nominated("p", 9)},
                      .want_log = {"filter n1 with 0/0"}},
        NominatedCase{
            .name = "EqualAndHigherJoinInOrder",
            .nominated = {Nominated("b", 5), Nominated("low", 1), Nominated("a", 7)},
            .want_log = {"add b to 1", "add a to 2", "filter n1 with 2/2", "filter n1 with 0/0"}},
        NominatedCase{.name = "RejectedInTheFirstPass",
                      .nominated = {Nominated("a", 7)},
                      .reject_at = 1,
                      .want = Status(kU, {"full"}, "Counting"),
                      .want_log = {"add a to 1", "filter n1 with 1/1"}},
        NominatedCase{.name = "RejectedInTheSecondPass",
                      .nominated = {Nominated("a", 7)},
                      .reject_at = 0,
                      .want = Status(kU, {"full"}, "Counting"),
                      .want_log = {"add a to 1", "filter n1 with 1/1", "filter n1 with 0/0"}}),
    [](const auto& row) { return row.param.name; });

TEST(NominatedHookTest, AFailingHookIsAnErrorWithoutPlugin) {
  Texts log;
  TestProfile profile;
  profile.Add<PreFilters, Hooks, Filters>(
      {.name = "A", .log = &log, .add_pod = Says(Status(kU, {"no"}))});
  FakeNominator nominator;
  nominator.pods["n1"] = {Nominated("a", 7)};
  const auto framework = Build(profile, &nominator);
  EXPECT_EQ(framework->RunFilterPluginsWithNominatedPods(CycleState(), *MakePod().Name("p").Obj(),
                                                         *TwoNodes().nodes()[0]),
            Status::Error("running AddPod on PreFilter plugin \"A\": no"));
  EXPECT_EQ(log, Texts{"AddPod A a"});
}

// ---- PostFilter

PostFilterResult Post(Status status, std::optional<std::string> nomination = std::nullopt) {
  PostFilterResult result{std::move(status), {}};
  if (nomination) result.nomination = NominatingInfo{*nomination};
  return result;
}

struct PostFilterCase {
  std::string name;
  std::vector<PostFilterResult> plugins;  // named A, B, C …
  Status want;
  std::optional<std::string> want_nomination = {};
  size_t want_calls = 0;
  bool skip_all = false;
};

class PostFilterTest : public ::testing::TestWithParam<PostFilterCase> {};

TEST_P(PostFilterTest, Codes) {
  const PostFilterCase& test = GetParam();
  Texts log;
  TestProfile profile;
  for (size_t i = 0; i < test.plugins.size(); ++i) {
    profile.Add<PostFilters>({.name = std::string(1, static_cast<char>('A' + i)),
                              .log = &log,
                              .post_filter = Says(test.plugins[i])});
  }
  CycleState state;
  state.skip_all_post_filter = test.skip_all;
  NodeStatuses statuses;
  statuses.Reset(2);
  const PostFilterResult result =
      Build(profile)->RunPostFilterPlugins(state, MakePod().Name("p").Obj(), statuses);
  EXPECT_EQ(result.status, test.want);
  ASSERT_EQ(result.nomination.has_value(), test.want_nomination.has_value());
  if (test.want_nomination) {
    EXPECT_EQ(result.nomination->node_name, *test.want_nomination);
  }
  EXPECT_EQ(log.size(), test.want_calls);
}

INSTANTIATE_TEST_SUITE_P(
    Section34, PostFilterTest,
    ::testing::Values(
        PostFilterCase{.name = "NoPlugins", .plugins = {}, .want = Status(kU, {})},
        PostFilterCase{.name = "SkipAll",
                       .plugins = {Post(Status())},
                       .want = Status(kU, {"All PostFilter plugins are skipped"}),
                       .skip_all = true},
        PostFilterCase{
            .name = "SuccessReturnsAtOnce",
            .plugins = {Post(Status(kU, {"a"}), ""), Post(Status(), "n1"), Post(Status(), "n2")},
            .want = Status(),
            .want_nomination = "n1",
            .want_calls = 2},
        PostFilterCase{
            .name = "UUReturnsAtOnce",
            .plugins = {Post(Status(kU, {"a"})), Post(Status(kUU, {"b"}), ""), Post(Status())},
            .want = Status(kUU, {"b"}, "B"),
            .want_nomination = "",
            .want_calls = 2},
        PostFilterCase{.name = "ErrorHasNoPrefix",
                       .plugins = {Post(Status(kU, {"a"}), "n1"),
                                   Post(Status::Error("not found"), "n2"), Post(Status())},
                       .want = Status::Error("not found").WithPlugin("B"),
                       .want_calls = 2},
        PostFilterCase{.name = "RejectionsAreCollected",
                       .plugins = {Post(Status(kU, {"a1", "a2"}), "n1"),
                                   Post(Status(Code::kPending, {"b"}), ""), Post(Status(kU, {}))},
                       .want = Status(kU, {"a1", "a2", "b"}, "A"),
                       .want_nomination = "",
                       .want_calls = 3},
        PostFilterCase{.name = "IllegalCodeIsAnError",
                       .plugins = {Post(Status(Code::kSkip, {})), Post(Status())},
                       .want = Status::Error("%!w(<nil>)").WithPlugin("A"),
                       .want_calls = 1}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ks::framework
