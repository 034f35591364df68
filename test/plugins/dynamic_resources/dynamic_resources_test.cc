// SPDX-License-Identifier: Apache-2.0
// docs/spec/plugins-dra.md sections 4 and 10; rows of section 16.
#include "plugins/dynamic_resources/dynamic_resources.h"

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json/claim_requests.h"
#include "plugins/dynamic_resources/device_objects.h"
#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeNode;
using testing::MakePod;
using testing::PodBuilder;
using Reasons = std::vector<std::string>;
using Verb = api::ClaimRequest::Verb;

const char* const kNoSolution = "UnschedulableAndUnresolvable: cannot allocate all claims";
const char* const kElsewhere =
    "UnschedulableAndUnresolvable: resourceclaim not available on the node";

// Allocated for the devices and the node; parts may be replaced.
std::string Allocation(const std::string& node, const std::string& result = "") {
  return "'allocation':{'devices':{'results':[{'request':'r','driver':'drv.example','pool':'" +
         node + "','device':'d0'" + result +
         "}]},'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name',"
         "'operator':'In','values':['" +
         node + "']}]}]}}";
}

struct DevicesTest : ::testing::Test {
  DevicesTest() : rig(NewDynamicResources) {
    Show<api::DeviceClass>(stores(), "{'metadata':{'name':'gpu'},'spec':{}}");
    AddNode("n1", "{'name':'d0'},{'name':'d1'}");
    AddNode("n2", "{'name':'d0'}");
  }

  cache::DeviceStores& stores() { return rig.handle.fake_devices(); }
  testing::FakeApiWriter& api() { return rig.handle.fake_api(); }

  void AddNode(const std::string& name, const std::string& devices) {
    rig.AddNode(MakeNode().Name(name));
    Show<api::ResourceSlice>(stores(), "{'metadata':{'name':'s-" + name +
                                           "'},'spec':{'driver':'drv.example','nodeName':'" + name +
                                           "','pool':{'name':'" + name +
                                           "','generation':1,'resourceSliceCount':1},'devices':[" +
                                           devices + "]}}");
  }

  // Version 1 of claim `name`, of one request r for one device, or as `spec` says.
  api::ResourceClaimPtr AddClaim(const std::string& name, const std::string& status = "",
                                 const std::string& meta = "",
                                 const std::string& requests =
                                     "{'name':'r','exactly':{'deviceClassName':'gpu',"
                                     "'allocationMode':'ExactCount','count':1}}") {
    return Show<api::ResourceClaim>(
        stores(), "{'metadata':{'name':'" + name + "','namespace':'ns','uid':'uid-" + name +
                      "','resourceVersion':'1'" + meta + "},'spec':{'devices':{'requests':[" +
                      requests + "]}},'status':{" + status + "}}");
  }

  static PodBuilder PodWith(const Reasons& claims) {
    PodBuilder pod = MakePod().Req({{"cpu", "1"}});
    for (const std::string& claim : claims) {
      pod.spec().resource_claims.push_back({.name = claim, .resource_claim_name = claim});
    }
    return pod;
  }

  PluginRig rig;
};

TEST_F(DevicesTest, Resolution) {
  AddClaim("there");
  AddClaim("going", "", ",'deletionTimestamp':'2026-01-02T03:04:05Z'");
  AddClaim("mine", "",
           ",'ownerReferences':[{'kind':'Pod','name':'pod','uid':'uid-pod','controller':true}]");
  AddClaim("theirs", "",
           ",'ownerReferences':[{'kind':'Pod','name':'pod','uid':'x','controller':true}]");
  struct Case {
    std::string name;
    std::string claim;
    std::string claim_template;
    std::optional<std::string> generated;
    bool has_status;
    std::string want;
  };
  const Case cases[] = {
      {"named", "there", "", {}, false, "Success"},
      {"unknown", "none", "", {}, false, "could not find ResourceClaim \"ns/none\""},
      {"deleted", "going", "", {}, false, "resourceclaim \"going\" is being deleted"},
      {"named, of another pod", "theirs", "", {}, false, "Success"},
      {"template, none yet", "", "t", {}, false, "pod \"ns/pod\": ResourceClaim not created yet"},
      {"template, not needed", "", "t", {}, true, "Success"},
      {"template", "", "t", "mine", true, "Success"},
      {"template, of another pod", "", "t", "theirs", true,
       "ResourceClaim ns/theirs was not created for Pod ns/pod (Pod is not owner)"},
      {"template, without owner", "", "t", "there", true,
       "ResourceClaim ns/there was not created for Pod ns/pod (Pod is not owner)"},
      {"neither",
       "",
       "",
       {},
       false,
       "pod \"ns/pod\", spec.resourceClaim \"entry\": none of the supported fields are set"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PodBuilder pod = MakePod().Name("pod").Req({});
    pod.spec().resource_claims.push_back({"entry", c.claim, c.claim_template});
    if (c.has_status) {
      pod.pod().status.claims.Mutable().resource_claims.push_back({"entry", c.generated});
    }
    const api::PodPtr object = pod.Obj();
    const std::string want =
        c.want == "Success" ? c.want : "UnschedulableAndUnresolvable: " + c.want;
    EXPECT_EQ(Describe(rig.As<framework::PreEnqueuePlugin>()->PreEnqueue(*object)), want);
    rig.state.Reset();
    const framework::Status filtered = rig.PreFilter(*object).status;
    if (c.want != "Success") {
      EXPECT_EQ(Describe(filtered), want);
    } else {
      EXPECT_EQ(filtered.IsSkip(), c.name == "template, not needed");
    }
  }
}

TEST_F(DevicesTest, RequestsAreChecked) {
  struct Case {
    std::string request;
    std::string want;
  };
  const Case cases[] = {
      {"{'name':'r','exactly':{'deviceClassName':'gpu'}}", "Success"},
      {"{'name':'r','exactly':{'deviceClassName':'x'}}",
       "UnschedulableAndUnresolvable: request r: device class x does not exist"},
      {"{'name':'r','exactly':{}}", "Error: request r: unsupported request type"},
      {"{'name':'r','firstAvailable':[{'name':'s','deviceClassName':'gpu'},"
       "{'name':'t','deviceClassName':'x'}]}",
       "UnschedulableAndUnresolvable: request r/t: device class x does not exist"},
      {"{'name':'r'}",
       "UnschedulableAndUnresolvable: resource claim ns/c, request r: unknown request type"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.request);
    Remove<api::ResourceClaim>(stores(), AddClaim("c", "", "", c.request));
    AddClaim("c", "", "", c.request);
    rig.state.Reset();
    EXPECT_EQ(Describe(rig.PreFilter(*PodWith({"c"}).Obj()).status), c.want);
  }
}

TEST_F(DevicesTest, DevicesInUseAreNotGivenAgain) {
  AddClaim("c");
  EXPECT_THAT(rig.FilterAll(*PodWith({"c"}).Obj()), ElementsAre("Success", "Success"));
  const auto user = AddClaim("user", Allocation("n2"));
  EXPECT_THAT(rig.FilterAll(*PodWith({"c"}).Obj()), ElementsAre("Success", kNoSolution));
  Remove(stores(), user);
  EXPECT_THAT(rig.FilterAll(*PodWith({"c"}).Obj()), ElementsAre("Success", "Success"));
}

// Rows 44 and 45.
TEST_F(DevicesTest, ClaimsOfOtherNodesAreFreed) {
  struct Case {
    std::string name;
    std::string reserved;
    bool second;  // a claim that no node can give
    Reasons filtered;
    std::string freed;
  };
  const Case cases[] = {
      {"nobody's", "", false, {kElsewhere, kElsewhere}, "deallocation of ResourceClaim completed"},
      {"the pod's",
       "{'resource':'pods','name':'pod','uid':'uid-pod'}",
       false,
       {kElsewhere, kElsewhere},
       "deallocation of ResourceClaim completed"},
      {"another's",
       "{'resource':'pods','name':'x','uid':'x'}",
       false,
       {kElsewhere, kElsewhere},
       ""},
      {"beside one without solution", "", true, {kNoSolution, kNoSolution}, ""},
  };
  AddClaim(
      "none", "", "",
      "{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'ExactCount','count':9}}");
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto claim = AddClaim("c", Allocation("n9") + ",'reservedFor':[" + c.reserved + "]");
    const api::PodPtr pod =
        PodWith(c.second ? Reasons{"c", "none"} : Reasons{"c"}).Name("pod").Obj();
    EXPECT_EQ(rig.FilterAll(*pod), c.filtered);
    api().claim_requests.clear();
    const auto result = rig.As<framework::PostFilterPlugin>()->PostFilter(rig.state, pod, {});
    EXPECT_EQ(result.status.code(), framework::Code::kUnschedulable);
    EXPECT_EQ(result.status.Message(), c.freed);
    ASSERT_EQ(api().claim_requests.size(), c.freed.empty() ? 0 : 1);
    if (!c.freed.empty()) {
      EXPECT_EQ(api().claim_requests[0].request.body, api::DeallocateRequest(*claim).body);
    }
    Remove(stores(), claim);
  }
}

// docs/spec/cycle.md, trap T8: preemption is not tried where another plugin ended PreFilter before.
TEST_F(DevicesTest, PostFilterMissesWhatPreFilterLeaves) {
  auto* plugin = rig.As<framework::PostFilterPlugin>();
  const api::PodPtr pod = MakePod().Obj();
  EXPECT_EQ(Describe(plugin->PostFilter(rig.state, pod, {}).status), "Error: not found");
  EXPECT_TRUE(rig.PreFilter(*pod).status.IsSkip());
  EXPECT_EQ(Describe(plugin->PostFilter(rig.state, pod, {}).status), "Unschedulable");
}

// Row 57.
TEST_F(DevicesTest, EarlierAlternativesScoreMore) {
  AddClaim("c", "", "",
           "{'name':'r','firstAvailable':["
           "{'name':'s0','deviceClassName':'gpu','allocationMode':'ExactCount','count':2},"
           "{'name':'s1','deviceClassName':'gpu','allocationMode':'ExactCount','count':1}]}");
  const api::PodPtr pod = PodWith({"c"}).Obj();
  EXPECT_THAT(rig.FilterAll(*pod), ElementsAre("Success", "Success"));
  EXPECT_THAT(rig.RawScores(*pod), ElementsAre(8, 7));
  EXPECT_THAT(rig.Normalized(*pod, {8, 7}), ElementsAre(100, 87));
  EXPECT_FALSE(rig.As<framework::ScorePlugin>()->ScoresNothing(rig.state));
  EXPECT_TRUE(rig.PreFilter(*MakePod().Obj()).status.IsSkip());
  EXPECT_TRUE(rig.As<framework::ScorePlugin>()->ScoresNothing(rig.state));
}

// What a pod goes through on n1, step by step.
struct BindingTest : DevicesTest {
  // Up to Reserve.
  framework::Status Reserve() {
    rig.FilterAll(*pod);
    return rig.As<framework::ReservePlugin>()->Reserve(rig.state, pod, "n1");
  }
  void Unreserve() { rig.As<framework::ReservePlugin>()->Unreserve(rig.state, pod, "n1"); }
  // Starts PreBind.
  void Bind() {
    sequence = rig.As<framework::PreBindPlugin>()->PreBind(rig.state, pod, "n1");
    Go({});
  }
  // Asks for the next step and starts its calls.
  void Go(const framework::Status& status) {
    step = sequence->Next(status);
    for (const auto& call : step.calls) call(api(), [](const auto& error) { ASSERT_FALSE(error); });
  }
  // The request that is waiting for an answer.
  const api::ClaimRequest& Asked() { return api().claim_requests.back().request; }
  void Answer(api::ResourceClaimPtr claim) {
    ASSERT_TRUE(api().AnswerClaimRequest(std::nullopt, std::move(claim)));
    Go({});
  }
  void Fail(int32_t code, const std::string& message, const std::string& reason = "") {
    api::ApiError error;
    error.code = code;
    error.reason = reason;
    error.message = message;
    ASSERT_TRUE(api().AnswerClaimRequest(error));
    Go({});
  }
  // As the API server shows a claim after a write.
  static api::ResourceClaimPtr Version(const std::string& name, const std::string& version,
                                       const std::string& status, bool finalizer = true) {
    return ReadObject<api::ResourceClaim>(
        "{'metadata':{'name':'" + name + "','namespace':'ns','uid':'uid-" + name +
        "','resourceVersion':'" + version + "'" +
        (finalizer ? ",'finalizers':['resource.kubernetes.io/delete-protection']" : "") +
        "},'spec':{},'status':{" + status + "}}");
  }
  std::string Ended() const { return step.finished ? Describe(step.status) : "not yet"; }

  api::PodPtr pod = PodWith({"c"}).Name("pod").Obj();
  std::unique_ptr<framework::PreBindSequence> sequence;
  framework::PreBindStep step;
  const std::string reserved_ = ",'reservedFor':[{'resource':'pods','name':'pod','uid':'uid-pod'}]";
};

TEST_F(BindingTest, FinalizerThenStatus) {
  AddClaim("c");
  ASSERT_TRUE(Reserve().ok());
  EXPECT_NE(stores().PendingAllocation("uid-c"), nullptr);
  Bind();
  EXPECT_EQ(Asked().verb, Verb::kPatch);
  EXPECT_THAT(Asked().body, HasSubstr("delete-protection"));
  Answer(Version("c", "2", ""));
  EXPECT_EQ(Asked().verb, Verb::kPatchStatus);
  EXPECT_THAT(Asked().body, HasSubstr(R"("resourceVersion":"2")"));
  EXPECT_THAT(Asked().body, HasSubstr(R"("device":"d0")"));
  EXPECT_THAT(Asked().body, HasSubstr(R"("allocationTimestamp")"));
  EXPECT_THAT(Asked().body, HasSubstr(R"("uid":"uid-pod")"));
  Answer(Version("c", "3", Allocation("n1") + reserved_));
  EXPECT_EQ(Ended(), "Success");
  EXPECT_EQ(stores().PendingAllocation("uid-c"), nullptr);
  EXPECT_NE(stores().FindClaim("ns/c")->allocation, nullptr) << "assumed";
}

// Members of a group reserve twice.
TEST_F(BindingTest, AFixedStateReservesAgainWhatItDid) {
  AddClaim("c");
  rig.FilterAll(*pod);
  auto* reserve = rig.As<framework::ReservePlugin>();
  rig.state.Fix(*rig.nodes()[0]);
  ASSERT_TRUE(reserve->Reserve(rig.state, pod, "n1").ok());
  const auto first = stores().PendingAllocation("uid-c");
  ASSERT_NE(first, nullptr);
  Unreserve();
  EXPECT_EQ(stores().PendingAllocation("uid-c"), nullptr);
  EXPECT_EQ(Describe(rig.As<framework::FilterPlugin>()->Filter(rig.state, *pod, *rig.nodes()[1])),
            "Success");
  ASSERT_TRUE(reserve->Reserve(rig.state, pod, "n1").ok());
  const auto second = stores().PendingAllocation("uid-c");
  ASSERT_NE(second, nullptr);
  ASSERT_EQ(second->results.size(), 1U);
  EXPECT_EQ(second->results[0].device, first->results[0].device);
}

TEST_F(BindingTest, AnAllocatedClaimIsReserved) {
  AddClaim("c", Allocation("n1"));
  ASSERT_TRUE(Reserve().ok());
  Bind();
  EXPECT_EQ(Asked().verb, Verb::kPatchStatus);
  Fail(500, "boom");
  EXPECT_EQ(Ended(), "Error: add reservation to claim ns/c: boom");
}

TEST_F(BindingTest, AReservedClaimNeedsNothing) {
  AddClaim("c", Allocation("n1") + reserved_);
  ASSERT_TRUE(Reserve().ok());
  Bind();
  EXPECT_EQ(Ended(), "Success");
  EXPECT_THAT(api().claim_requests, IsEmpty());
}

TEST_F(BindingTest, ConflictsAreTriedAgain) {
  AddClaim("c");
  ASSERT_TRUE(Reserve().ok());
  Bind();
  for (int tries = 1; tries < 5; ++tries) {
    Fail(409, "changed");
    ASSERT_TRUE(step.condition);
    EXPECT_FALSE(step.condition()) << "ten milliseconds later";
    rig.handle.fake_clock().Advance(milliseconds(10));
    ASSERT_TRUE(step.condition());
    Go({});
    EXPECT_EQ(Asked().verb, Verb::kGet);
    Answer(Version("c", std::to_string(tries + 1), "", false));
    EXPECT_EQ(Asked().verb, Verb::kPatch);
  }
  Fail(409, "changed");
  EXPECT_EQ(Ended(), "Error: add finalizer to claim ns/c: changed");
}

TEST_F(BindingTest, WhatConflictsMayShow) {
  struct Case {
    std::string claim;
    std::string want;
  };
  const Case cases[] = {
      {Allocation("n1") + ",'reservedFor':[{'resource':'pods','name':'x','uid':'x'}]",
       "Error: claim ns/c got allocated elsewhere in the meantime"},
      // An earlier attempt's write, whose answer was an error.
      {Allocation("n2") + reserved_, "Error: claim ns/c got allocated elsewhere in the meantime"},
      // A repeated write meets its own effect.
      {Allocation("n1") + reserved_, "Success"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.want);
    const auto claim = AddClaim("c");
    ASSERT_TRUE(Reserve().ok());
    Bind();
    Fail(409, "changed");
    rig.handle.fake_clock().Advance(milliseconds(10));
    Go({});
    Answer(Version("c", "2", c.claim));
    EXPECT_EQ(Ended(), c.want);
    Unreserve();
    Remove<api::ResourceClaim>(stores(), claim);
  }
}

TEST_F(BindingTest, AClaimThatIsMadeAgainIsAnotherOne) {
  AddClaim("c");
  ASSERT_TRUE(Reserve().ok());
  Bind();
  Fail(409, "changed");
  rig.handle.fake_clock().Advance(milliseconds(10));
  Go({});
  Answer(ReadObject<api::ResourceClaim>(
      "{'metadata':{'name':'c','namespace':'ns','uid':'other','resourceVersion':'2'},'spec':{}}"));
  EXPECT_EQ(Ended(), "Error: claim ns/c got deleted in the meantime");
}

// While Permit held the pod, say.
TEST_F(BindingTest, AClaimThatGotOtherDevicesMeanwhileIsNotReliedOn) {
  const std::string want = "Error: claim ns/c got allocated elsewhere in the meantime";
  const auto first = AddClaim("c", Allocation("n1"));
  ASSERT_TRUE(Reserve().ok());
  Bind();
  Fail(409, "changed");
  rig.handle.fake_clock().Advance(milliseconds(10));
  Go({});
  Answer(Version("c", "3", Allocation("n2")));
  EXPECT_EQ(Ended(), want) << "the API server says so";
  Unreserve();
  Remove<api::ResourceClaim>(stores(), first);
  for (const std::string& reserved : {std::string(), reserved_}) {
    SCOPED_TRACE(reserved);
    const auto claim = AddClaim("c", Allocation("n1"));
    ASSERT_TRUE(Reserve().ok());
    ASSERT_TRUE(stores().Assume(Version("c", "3", Allocation("n2") + reserved)).ok());
    Bind();
    EXPECT_EQ(Ended(), want) << "it is known here";
    Unreserve();
    Remove<api::ResourceClaim>(stores(), claim);
  }
}

// An earlier attempt took the reservation back after this one had seen it, and then nothing kept
// the claim.
TEST_F(BindingTest, AReservedClaimThatIsGoneIsNotReliedOn) {
  const auto claim = AddClaim("c", Allocation("n1") + reserved_);
  ASSERT_TRUE(Reserve().ok());
  Remove<api::ResourceClaim>(stores(), claim);
  Bind();
  EXPECT_EQ(Ended(), "Error: claim ns/c got deleted in the meantime");
}

TEST_F(BindingTest, UnreserveTakesBack) {
  AddClaim("c");
  ASSERT_TRUE(Reserve().ok());
  Unreserve();
  EXPECT_EQ(stores().PendingAllocation("uid-c"), nullptr);
  EXPECT_THAT(api().claim_requests, IsEmpty()) << "nothing was written";

  ASSERT_TRUE(Reserve().ok());
  Bind();
  Answer(Version("c", "2", ""));
  Answer(Version("c", "3", Allocation("n1") + reserved_));
  EXPECT_EQ(Ended(), "Success");
  Unreserve();
  EXPECT_TRUE(Asked().strategic);
  EXPECT_THAT(Asked().body, HasSubstr(R"({"$patch": "delete", "uid": "uid-pod"})"));
  EXPECT_NE(stores().FindClaim("ns/c")->allocation, nullptr) << "the devices stay taken";
}

// Another plugin fails while a claim is being written.
TEST_F(BindingTest, WhatIsAnsweredAfterACancellationIsTakenBack) {
  AddClaim("c");
  ASSERT_TRUE(Reserve().ok());
  Bind();
  Answer(Version("c", "2", ""));
  ASSERT_FALSE(step.calls.empty()) << "the reservation is under way";
  sequence->Cancel("gone");
  ASSERT_TRUE(
      api().AnswerClaimRequest(std::nullopt, Version("c", "3", Allocation("n1") + reserved_)));
  Unreserve();
  EXPECT_TRUE(Asked().strategic);
  EXPECT_THAT(Asked().body, HasSubstr(R"({"$patch": "delete", "uid": "uid-pod"})"));
  EXPECT_EQ(stores().PendingAllocation("uid-c"), nullptr);
  EXPECT_NE(stores().FindClaim("ns/c")->allocation, nullptr)
      << "nobody else gets the devices before the informer shows who has them";
}
// What says neither that something was done nor that it was not.
const api::ApiError kNoAnswers[] = {{.connection_refused = true},
                                    {.code = 500},
                                    {.timed_out = true},
                                    {.code = 429},
                                    {.code = 503},
                                    {},
                                    {.connection_refused = true}};

// The devices stay taken until the API server has said what became of the write, however long it is
// away.
TEST_F(BindingTest, AWriteThatFailedMayHaveBeenDone) {
  const auto conflict = [this] { Fail(409, "changed"); };
  const auto look = [this] {
    rig.handle.fake_clock().Advance(milliseconds(10));
    Go({});
    ASSERT_EQ(Asked().verb, Verb::kGet);
  };
  struct Case {
    std::string name;
    std::function<void()> happens;
    std::string ended;
  };
  const Case cases[] = {
      {"an error", [this] { Fail(500, "who knows"); },
       "Error: add allocation and reservation to claim ns/c: who knows"},
      // A request that is repeated because its answer was lost conflicts with itself.
      {"a conflict with whatever",
       [&] {
         conflict();
         look();
         Fail(500, "who knows");
       },
       "Error: get updated claim ns/c after conflict: who knows"},
      {"given up after a conflict",
       [&] {
         conflict();
         sequence->Cancel("gone");
       },
       "not yet"},
      {"given up at a conflict",
       [&] {
         sequence->Cancel("gone");
         ASSERT_TRUE(api().AnswerClaimRequest(api::ApiError{.code = 409}));
       },
       "not yet"},
      {"given up while looking",
       [&] {
         conflict();
         look();
         sequence->Cancel("gone");
         ASSERT_TRUE(api().AnswerClaimRequest(api::ApiError{.code = 429}));
       },
       "not yet"},
  };
  for (int i = 0; i < 2 * static_cast<int>(std::size(cases)); ++i) {
    const Case& c = cases[i / 2];
    const bool done = i % 2 != 0;
    SCOPED_TRACE(c.name + (done ? ", done" : ""));
    const auto claim = AddClaim("c");
    ASSERT_TRUE(Reserve().ok());
    Bind();
    Answer(Version("c", "2", ""));
    c.happens();
    EXPECT_EQ(Ended(), c.ended);
    Unreserve();
    for (const api::ApiError& nothing : kNoAnswers) {
      EXPECT_EQ(Asked().verb, Verb::kGet);
      EXPECT_NE(stores().PendingAllocation("uid-c"), nullptr);
      ASSERT_TRUE(api().AnswerClaimRequest(nothing));
    }
    EXPECT_EQ(Asked().after, seconds(8));
    ASSERT_TRUE(api().AnswerClaimRequest(
        std::nullopt, Version("c", done ? "3" : "2", done ? Allocation("n1") + reserved_ : "")));
    EXPECT_EQ(stores().PendingAllocation("uid-c"), nullptr);
    EXPECT_EQ(stores().FindClaim("ns/c")->allocation != nullptr, done);
    EXPECT_EQ(Asked().verb, done ? Verb::kPatchStatus : Verb::kGet);
    if (done) {
      ASSERT_TRUE(api().AnswerClaimRequest(std::nullopt, Version("c", "4", "")));
    }
    Remove<api::ResourceClaim>(stores(), claim);
  }
}

// Whether it was done nobody knows: the next attempt writes the reservation again.
TEST_F(BindingTest, AReleaseThatFailedIsNotReliedOn) {
  AddClaim("c", Allocation("n1") + reserved_);
  ASSERT_TRUE(Reserve().ok());
  Unreserve();
  api::ApiError error;
  error.code = 500;
  ASSERT_TRUE(api().AnswerClaimRequest(error));
  for (const bool again : {true, false}) {
    SCOPED_TRACE(again);
    ASSERT_TRUE(Reserve().ok());
    Bind();
    ASSERT_EQ(step.calls.empty(), !again);
    if (again) Answer(Version("c", "3", Allocation("n1") + reserved_));
    EXPECT_EQ(Ended(), "Success");
  }
}

// A pod that is gone does not come again.
TEST_F(BindingTest, AReleaseThatFailedIsForgottenWithItsPod) {
  AddClaim("c", Allocation("n1") +
                    ",'reservedFor':[{'resource':'pods','name':'pod','uid':'uid-pod'},"
                    "{'resource':'pods','name':'other','uid':'uid-other'}]");
  const api::PodPtr first = pod;
  const api::PodPtr other = PodWith({"c"}).Name("other").Obj();
  for (const bool there : {false, true}) {
    SCOPED_TRACE(there);
    if (there) rig.handle.fake_pods().Add(first);
    for (const api::PodPtr& released : {first, other}) {
      pod = released;
      ASSERT_TRUE(Reserve().ok());
      Unreserve();
      api::ApiError error;
      error.code = 500;
      ASSERT_TRUE(api().AnswerClaimRequest(error));
    }
    pod = first;
    ASSERT_TRUE(Reserve().ok());
    Bind();
    EXPECT_EQ(!step.calls.empty(), there);
  }
}

// The answer to the release may come after the next attempt has begun.
TEST_F(BindingTest, AReservationThatIsBeingTakenBackIsNotReliedOn) {
  AddClaim("c", Allocation("n1") + reserved_);
  ASSERT_TRUE(Reserve().ok());
  Unreserve();
  EXPECT_TRUE(Asked().strategic);
  ASSERT_TRUE(Reserve().ok());
  Bind();
  ASSERT_TRUE(step.condition) << Ended();
  EXPECT_FALSE(step.condition());
}

// Nor may that of PostFilter's: a pod that finds another node meanwhile still sees its devices.
TEST_F(BindingTest, AClaimThatIsBeingFreedIsNotReliedOn) {
  struct Case {
    std::string name;
    std::optional<api::ApiError> error;
    api::ResourceClaimPtr freed;
    std::string ended;
  };
  const Case cases[] = {
      {"freed", std::nullopt, Version("c", "3", ""),
       "Error: claim ns/c got deallocated elsewhere in the meantime"},
      {"nobody knows", api::ApiError{.code = 500}, nullptr, "not yet"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto claim = AddClaim("c", Allocation("n1") + reserved_);
    ASSERT_TRUE(Reserve().ok());
    const auto result = rig.As<framework::PostFilterPlugin>()->PostFilter(rig.state, pod, {});
    EXPECT_EQ(result.status.Message(), "deallocation of ResourceClaim completed");
    EXPECT_EQ(Asked().body, api::DeallocateRequest(*claim).body);
    ASSERT_TRUE(Reserve().ok());
    Bind();
    ASSERT_TRUE(step.condition) << Ended();
    EXPECT_FALSE(step.condition());
    ASSERT_TRUE(api().AnswerClaimRequest(c.error, c.freed));
    EXPECT_TRUE(step.condition());
    Go({});
    EXPECT_EQ(Ended(), c.ended);
    if (c.error) {
      EXPECT_THAT(Asked().body, HasSubstr(R"("uid":"uid-pod")")) << "reserved once more";
    }
    Remove<api::ResourceClaim>(stores(), claim);
  }
}

TEST_F(BindingTest, ClaimsOfOthersInFlightReject) {
  AddClaim("c");
  ASSERT_TRUE(Reserve().ok());
  rig.state.Reset();
  EXPECT_EQ(Describe(rig.PreFilter(*PodWith({"c"}).Name("other").Obj()).status),
            "UnschedulableAndUnresolvable: resource claim ns/c is in the process of being "
            "allocated");
  AddClaim("d");
  EXPECT_THAT(rig.FilterAll(*PodWith({"d"}).Obj()), ElementsAre("Success", "Success"));
  AddClaim("e");
  EXPECT_THAT(rig.FilterAll(*PodWith({"d", "e"}).Obj()), ElementsAre(kNoSolution, kNoSolution))
      << "one of the two devices of n1 is on its way to c";
}

// Rows 54 to 56.
struct ConditionsTest : BindingTest {
  static std::string Waits() {
    return ",'bindingConditions':['ok'],'bindingFailureConditions':['bad']";
  }
  static std::string Devices(const std::string& type) {
    return ",'devices':[{'driver':'drv.example','pool':'n1','device':'d0','conditions':[{'type':'" +
           type + "','status':'True','reason':'R','message':'M'}]}]";
  }
  // Allocated at the beginning of time, less so many seconds.
  static std::string At(const std::string& time) {
    std::string text = Allocation("n1", Waits());
    text.insert(text.size() - 1, ",'allocationTimestamp':'" + time + "'");
    return text;
  }
};

TEST_F(ConditionsTest, Filter) {
  struct Case {
    std::string name;
    std::string devices;
    bool old;
    bool usable;
  };
  const Case cases[] = {{"ready", Devices("ok"), true, true},
                        {"pending", "", false, true},
                        {"pending for too long", "", true, false},
                        {"failed", Devices("bad"), false, false}};
  const TimePoint now = rig.handle.fake_clock().WallNow();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const std::string time = FormatTime(c.old ? now - seconds(700) : now - seconds(5));
    const auto claim = AddClaim("c", At(time) + c.devices);
    EXPECT_EQ(rig.FilterAll(*pod)[0], c.usable ? "Success" : kElsewhere);
    Remove<api::ResourceClaim>(stores(), claim);
  }
}

TEST_F(ConditionsTest, PreBindWaits) {
  const std::string now = FormatTime(rig.handle.fake_clock().WallNow());
  AddClaim("c", At(now) + reserved_);
  ASSERT_TRUE(Reserve().ok());
  Bind();
  ASSERT_EQ(api().events.size(), 1);
  EXPECT_EQ(api().events[0].note, "waiting for binding conditions for device on node n1");
  EXPECT_EQ(api().events[0].reason, "BindingConditionsPending");
  EXPECT_FALSE(step.condition());
  Show<api::ResourceClaim>(
      stores(),
      "{'metadata':{'name':'c','namespace':'ns','uid':'uid-c','resourceVersion':'2'},"
      "'spec':{},'status':{" +
          At(now) + reserved_ + Devices("ok") + "}}");
  ASSERT_TRUE(step.condition());
  Go({});
  EXPECT_EQ(Ended(), "Success");
}

TEST_F(ConditionsTest, PreBindFails) {
  const std::string now = FormatTime(rig.handle.fake_clock().WallNow());
  AddClaim("c", At(now) + reserved_);
  ASSERT_TRUE(Reserve().ok());
  Bind();
  Show<api::ResourceClaim>(
      stores(),
      "{'metadata':{'name':'c','namespace':'ns','uid':'uid-c','resourceVersion':'2'},"
      "'spec':{},'status':{" +
          At(now) + reserved_ + Devices("bad") + "}}");
  ASSERT_TRUE(step.condition());
  Go({});
  EXPECT_EQ(Ended(), R"(Error: device binding failed: claim=c, reason=R, message="M")");
}

TEST_F(ConditionsTest, PreBindTimesOut) {
  const std::string now = FormatTime(rig.handle.fake_clock().WallNow());
  AddClaim("c", Allocation("n1", Waits()) + reserved_);
  ASSERT_TRUE(Reserve().ok());
  Bind();
  for (int i = 0; i < 120 && !step.finished; ++i) {
    rig.handle.fake_clock().Advance(seconds(5));
    if (!step.condition()) {
      ASSERT_LE(*step.deadline, rig.handle.fake_clock().Now());
    }
    Go({});
  }
  EXPECT_EQ(Ended(), "Error: device binding timeout: context deadline exceeded");
}

// Rows 46 to 52.
struct ExtendedTest : BindingTest {
  ExtendedTest() {
    rig.handle.fake_device_classes().Put(
        {.name = "gpu", .creation_timestamp = {}, .extended_resource_name = "example.com/gpu"});
  }
};

TEST_F(ExtendedTest, DevicesOrThePluginOfTheNode) {
  rig.AddNode(MakeNode().Name("n3").Allocatable({{"example.com/gpu", "4"}}));
  const api::PodPtr two = MakePod().Req({{"cpu", "1"}, {"example.com/gpu", "2"}}).Obj();
  EXPECT_THAT(rig.FilterAll(*two), ElementsAre("Success", kNoSolution, "Success"));
  const api::PodPtr other =
      MakePod().Req({{"example.com/gpu", "1"}, {"example.com/other", "1"}}).Obj();
  EXPECT_EQ(rig.FilterAll(*other)[0], "UnschedulableAndUnresolvable: cannot fit resource");
  EXPECT_TRUE(rig.PreFilter(*MakePod().Req({{"example.com/other", "1"}}).Obj()).status.IsSkip());
}

// What the API server answers when the claim for two devices is made.
constexpr const char* kMade =
    "{'metadata':{'name':'made','namespace':'ns','uid':'uid-made','resourceVersion':'2'},"
    "'spec':{'devices':{'requests':[{'name':'container-0-request-1','exactly':"
    "{'deviceClassName':'gpu','allocationMode':'ExactCount','count':2}}]}},'status':{}}";

TEST_F(ExtendedTest, AClaimIsMade) {
  pod = MakePod().Name("pod").Req({{"cpu", "1"}, {"example.com/gpu", "2"}}).Obj();
  ASSERT_TRUE(Reserve().ok());
  Bind();
  EXPECT_EQ(Asked().verb, Verb::kCreate);
  EXPECT_THAT(Asked().body, HasSubstr(R"("generateName":"pod-extended-resources-")"));
  EXPECT_THAT(Asked().body, HasSubstr(R"("name":"container-0-request-1")"));
  Answer(ReadObject<api::ResourceClaim>(kMade));
  EXPECT_NE(stores().PendingAllocation("uid-made"), nullptr);
  Answer(Version("made", "3", ""));
  EXPECT_EQ(Asked().verb, Verb::kPatchStatus);
  Answer(Version("made", "4", Allocation("n1") + reserved_));
  ASSERT_TRUE(step.condition);
  EXPECT_FALSE(step.condition()) << "until the informer shows it";
  Show<api::ResourceClaim>(stores(), kMade);
  ASSERT_TRUE(step.condition());
  Go({});
  ASSERT_EQ(api().patches.size(), 1);
  const auto& status = api().patches[0].change.extended_resource_claim;
  ASSERT_TRUE(status);
  EXPECT_EQ(status->claim_name, "made");
  EXPECT_EQ(status->mappings.size(), 1);
  Go({});
  EXPECT_EQ(Ended(), "Success");
  Unreserve();
  EXPECT_EQ(Asked().verb, Verb::kPatch) << "the finalizer goes first";
  ASSERT_TRUE(api().AnswerClaimRequest(std::nullopt, Version("made", "5", "", false)));
  EXPECT_EQ(Asked().verb, Verb::kDelete);
}

// ---- the name of the claim is taken ----

struct TakenNameTest : ExtendedTest {
  static constexpr const char* kOfPod =
      ",'ownerReferences':[{'kind':'Pod','name':'pod','uid':'uid-pod','controller':true}]";

  TakenNameTest() {
    pod = MakePod().Name("pod").Req({{"example.com/gpu", "2"}}).Obj();
    EXPECT_TRUE(Reserve().ok());
    Bind();
    NameIsTaken();
  }
  // Of the creation that was asked for.
  std::string NameAsked() {
    return nlohmann::json::parse(Asked().body)["metadata"]["name"].get<std::string>();
  }
  void NameIsTaken() {
    ASSERT_EQ(Asked().verb, Verb::kCreate);
    taken = NameAsked();
    Fail(409, "there is one", "AlreadyExists");
    EXPECT_EQ(Asked().verb, Verb::kGet);
    EXPECT_EQ(Asked().name, taken);
  }
  static api::ResourceClaimPtr Found(const std::string& owners) {
    std::string text = kMade;
    text.insert(text.find("},'spec'"), owners);
    return ReadObject<api::ResourceClaim>(text);
  }

  std::string taken;
};

TEST_F(TakenNameTest, ByAnEarlierSending) {
  EXPECT_THAT(taken, ::testing::MatchesRegex("pod-extended-resources-[b-z2-9]{5}"));
  Answer(Found(kOfPod));
  EXPECT_EQ(Asked().verb, Verb::kPatch) << "the finalizer is next";
  EXPECT_EQ(Asked().name, "made");
  EXPECT_NE(stores().PendingAllocation("uid-made"), nullptr);
}

TEST_F(TakenNameTest, BySomebodyElse) {
  for (const char* const owners :
       {"", ",'ownerReferences':[{'kind':'Pod','name':'pod','uid':'uid-former','controller':true}]",
        ",'ownerReferences':[{'kind':'Pod','name':'pod','uid':'uid-pod'}]"}) {
    SCOPED_TRACE(owners);
    const std::string former = taken;
    Answer(Found(owners));
    EXPECT_NE(NameAsked(), former);
    NameIsTaken();
  }
  Answer(Found(""));
  NameIsTaken();
  Answer(Found(""));
  EXPECT_EQ(Ended(), "Error: create claim for extended resources ns/: no unique name was found");
  Unreserve();
  EXPECT_EQ(Asked().verb, Verb::kGet) << "theirs is left alone";
  EXPECT_TRUE(stores().Allocations().empty());
}

TEST_F(TakenNameTest, ByOneThatIsGone) {
  Fail(404, "not found");
  EXPECT_EQ(Asked().verb, Verb::kCreate);
  Answer(Found(kOfPod));
  EXPECT_EQ(Asked().verb, Verb::kPatch);
}

TEST_F(TakenNameTest, NobodyKnowsByWhom) {
  Fail(500, "boom");
  EXPECT_EQ(Ended(), "Error: create claim for extended resources ns/: boom");
}

// The pod's attempt ends while it is asked who has the name: theirs is not deleted.
TEST_F(TakenNameTest, Cancel) {
  sequence->Cancel("gone");
  ASSERT_TRUE(api().AnswerClaimRequest(std::nullopt, Found("")));
  Unreserve();
  EXPECT_EQ(Asked().verb, Verb::kGet);
}

// The watch is silent: upstream gives up after two minutes and takes the devices for free.
TEST_F(ExtendedTest, DevicesStayTakenThoughTheClaimIsNeverShown) {
  pod = MakePod().Name("pod").Req({{"example.com/gpu", "2"}}).Obj();
  ASSERT_TRUE(Reserve().ok());
  Bind();
  Answer(ReadObject<api::ResourceClaim>(kMade));
  Answer(Version("made", "3", ""));
  Answer(Version("made", "4", Allocation("n1") + reserved_));
  ASSERT_TRUE(step.condition);
  rig.handle.fake_clock().Advance(seconds(120));
  ASSERT_TRUE(step.condition());
  Go({});
  Go({});
  EXPECT_EQ(Ended(), "Success");
  EXPECT_NE(stores().PendingAllocation("uid-made"), nullptr);
  Show<api::ResourceClaim>(
      stores(),
      "{'metadata':{'name':'made','namespace':'ns','uid':'uid-made','resourceVersion':'4'},"
      "'spec':{},'status':{" +
          Allocation("n1") + reserved_ + "}}");
  EXPECT_EQ(stores().PendingAllocation("uid-made"), nullptr) << "the claim has them itself";
  EXPECT_EQ(stores().Allocations().size(), 1U);
}

// The informer has not shown that the claim has them.
TEST_F(ExtendedTest, DevicesAreTakenUntilTheClaimIsGone) {
  pod = MakePod().Name("pod").Req({{"example.com/gpu", "2"}}).Obj();
  ASSERT_TRUE(Reserve().ok());
  Bind();
  Answer(ReadObject<api::ResourceClaim>(kMade));
  sequence->Cancel("gone");
  ASSERT_TRUE(api().AnswerClaimRequest(std::nullopt, Version("made", "3", "")));
  Unreserve();
  ASSERT_TRUE(api().AnswerClaimRequest(std::nullopt, Version("made", "4", "", false)));
  for (const api::ApiError& nothing : kNoAnswers) {
    EXPECT_EQ(Asked().verb, Verb::kDelete);
    ASSERT_TRUE(api().AnswerClaimRequest(nothing));
    EXPECT_EQ(Asked().verb, Verb::kPatch) << "all over again";
    EXPECT_GT(Asked().after, milliseconds(0));
    EXPECT_NE(stores().PendingAllocation("uid-made"), nullptr);
    ASSERT_TRUE(api().AnswerClaimRequest(nothing));
    ASSERT_TRUE(api().AnswerClaimRequest(std::nullopt, Version("made", "4", "", false)));
  }
  ASSERT_TRUE(api().AnswerClaimRequest(api::ApiError{.code = 500}));
  EXPECT_NE(stores().PendingAllocation("uid-made"), nullptr);
  ASSERT_TRUE(api().AnswerClaimRequest(api::ApiError{.code = 404}));
  EXPECT_EQ(stores().PendingAllocation("uid-made"), nullptr) << "somebody else deleted it";
}

TEST_F(ExtendedTest, AnEarlierClaimIsInTheWay) {
  pod = MakePod().Name("pod").Req({{"example.com/gpu", "1"}}).Obj();
  AddClaim("old", "",
           ",'annotations':{'resource.kubernetes.io/extended-resource-claim':'true'},"
           "'ownerReferences':[{'kind':'Pod','name':'pod','uid':'uid-pod','controller':true}]");
  EXPECT_THAT(
      rig.FilterAll(*pod),
      ::testing::Each("UnschedulableAndUnresolvable: cannot schedule extended resource claim"));
  const auto freed = rig.As<framework::PostFilterPlugin>()->PostFilter(rig.state, pod, {});
  EXPECT_EQ(freed.status.Message(), "deletion of ResourceClaim completed");
  EXPECT_EQ(Asked().verb, Verb::kPatch);
  const size_t asked = api().claim_requests.size();
  ASSERT_TRUE(api().AnswerClaimRequest(api::ApiError{.code = 500}));
  EXPECT_EQ(api().claim_requests.size(), asked) << "the next attempt frees it again";
}

TEST_F(DevicesTest, ClaimsAreNotSignable) {
  std::vector<framework::SignFragment> fragments;
  const auto* signer = rig.As<framework::SignPlugin>();
  EXPECT_EQ(signer->Sign(*PodWith({"c"}).Obj(), &fragments).Message(),
            "pods with dra resource claims are not signable");
  EXPECT_TRUE(signer->Sign(*MakePod().Obj(), &fragments).ok());
  EXPECT_THAT(fragments, IsEmpty());
}

}  // namespace
}  // namespace ks::plugins
