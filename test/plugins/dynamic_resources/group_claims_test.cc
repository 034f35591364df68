// SPDX-License-Identifier: Apache-2.0
// docs/spec/plugins-dra.md section 12: claims of pod groups, and claims that members share.
#include "plugins/dynamic_resources/group_claims.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json/claim_requests.h"
#include "framework/group_plugins.h"
#include "plugins/dynamic_resources/device_objects.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/plugin_rig.h"

namespace ks::plugins {
namespace {

using config::Gate;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeNode;
using testing::MakePod;
using ::testing::Not;
using Verb = api::ClaimRequest::Verb;

const std::string kAway = "UnschedulableAndUnresolvable: resourceclaim not available on the node";
const std::string kGroupUser =
    "{'apiGroup':'scheduling.k8s.io','resource':'podgroups','name':'g','uid':'uid-g'}";
const std::string kOtherUser = "{'resource':'pods','name':'o','uid':'o'}";
const api::PodResourceClaim kNamed{.name = "x", .resource_claim_name = "c"};

// Of device d0 of the node, for this node.
std::string GivenOn(const std::string& node, const std::string& result = "") {
  return "'allocation':{'devices':{'results':[{'request':'r','driver':'drv.example','pool':'" +
         node + "','device':'d0'" + result +
         "}]},'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name',"
         "'operator':'In','values':['" +
         node + "']}]}]}}";
}
std::string ReservedFor(const std::string& users) { return ",'reservedFor':[" + users + "]"; }

// A member, and the attempt with it.
struct TriedPod {
  api::PodPtr pod;
  framework::CycleState state;
  bool tried = false;
};

// Nodes n1 and n2 with a device each, and group g.
struct GroupClaimsTest : ::testing::Test {
  explicit GroupClaimsTest(const std::vector<Gate>& gates = {Gate::kGenericWorkload,
                                                             Gate::kDRAWorkloadResourceClaims})
      : rig(NewDynamicResources, "null", gates) {
    Show<api::DeviceClass>(stores(), "{'metadata':{'name':'gpu'},'spec':{}}");
    for (const char* name : {"n1", "n2"}) {
      const std::string node(name);
      rig.AddNode(MakeNode().Name(node));
      Show<api::ResourceSlice>(stores(), "{'metadata':{'name':'s-" + node +
                                             "'},'spec':{'driver':'drv.example','nodeName':'" +
                                             node + "','pool':{'name':'" + node +
                                             "','generation':1,'resourceSliceCount':1},"
                                             "'devices':[{'name':'d0'}]}}");
    }
    ShowGroup({kNamed});
  }

  cache::DeviceStores& stores() { return rig.handle.fake_devices(); }
  testing::FakeApiWriter& api() { return rig.handle.fake_api(); }
  cache::PodGroups& groups() { return rig.handle.fake_pod_groups(); }

  void ShowGroup(std::vector<api::PodResourceClaim> entries,
                 std::vector<api::PodResourceClaimStatus> statuses = {}) {
    auto group = std::make_shared<api::PodGroup>();
    group->meta.name = "g";
    group->meta.ns = Symbol("ns");
    group->meta.uid = "uid-g";
    group->spec.topology_keys = topology;
    group->resource_claims = std::move(entries);
    group->resource_claim_statuses = std::move(statuses);
    groups().SetGroup(group);
  }
  api::ResourceClaimPtr ShowClaim(const std::string& name, const std::string& status = "",
                                  const std::string& owner = "") {
    return Show<api::ResourceClaim>(stores(), Text(name, "1", status, owner));
  }
  static std::string Text(const std::string& name, const std::string& version,
                          const std::string& status, const std::string& owner = "") {
    return "{'metadata':{'name':'" + name + "','namespace':'ns','uid':'uid-" + name +
           "','resourceVersion':'" + version + "','ownerReferences':[" + owner +
           "],'finalizers':['resource.kubernetes.io/delete-protection']},"
           "'spec':{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'gpu',"
           "'allocationMode':'ExactCount','count':1}}]}},'status':{" +
           status + "}}";
  }
  std::unique_ptr<TriedPod> Member(const std::string& name,
                                   const std::vector<api::PodResourceClaim>& entries) {
    testing::PodBuilder pod = MakePod().Name(name).Req({{"cpu", "1"}});
    pod.spec().scheduling_group = "g";
    pod.spec().resource_claims = entries;
    auto tried = std::make_unique<TriedPod>();
    tried->pod = pod.Obj();
    groups().AddMember(tried->pod);
    return tried;
  }
  // PreFilter, then Filter of the nodes with these names.
  std::vector<std::string> Filter(TriedPod& tried,
                                  const std::vector<std::string>& names = {"n1", "n2"}) {
    const auto before = rig.As<framework::PreFilterPlugin>()->PreFilter(tried.state, *tried.pod,
                                                                        rig.handle.snapshot());
    std::vector<std::string> results;
    for (const std::string& name : names) {
      if (!before.status.ok()) {
        results.push_back(Describe(before.status));
        continue;
      }
      results.push_back(Describe(rig.As<framework::FilterPlugin>()->Filter(
          tried.state, *tried.pod, *rig.handle.snapshot().Find(name))));
    }
    return results;
  }
  std::string Reserve(TriedPod& tried, const std::string& node) {
    return Describe(rig.As<framework::ReservePlugin>()->Reserve(tried.state, tried.pod, node));
  }
  void Unreserve(TriedPod& tried) {
    rig.As<framework::ReservePlugin>()->Unreserve(tried.state, tried.pod, "n1");
  }
  void Assume(const TriedPod& tried, const std::string& node) {
    auto assumed = std::make_shared<api::Pod>(*tried.pod);
    assumed->node_name = Symbol(node);
    groups().Assume(assumed);
  }

  PluginRig rig;
  std::vector<Symbol> topology;
};

struct OnlyGroupsTest : GroupClaimsTest {
  OnlyGroupsTest() : GroupClaimsTest({Gate::kGenericWorkload}) {}
};

std::string OwnedBy(const std::string& version, const std::string& kind, const std::string& name) {
  return "{'apiVersion':'" + version + "','kind':'" + kind + "','name':'" + name +
         "','uid':'u','controller':true}";
}

const std::string kNotMine =
    "UnschedulableAndUnresolvable: ResourceClaim ns/c was not created for Pod ns/a ";

TEST_F(GroupClaimsTest, ThePodsStatusNamesTheClaimOfItsGroup) {
  struct Case {
    std::string owner;
    std::string want;
  };
  const std::string refused = kNotMine + "(neither Pod nor PodGroup g is the owner)";
  const Case cases[] = {
      {OwnedBy("scheduling.k8s.io/v1beta1", "PodGroup", "g"), "Success"},
      {OwnedBy("scheduling.k8s.io/v9", "PodGroup", "g"), "Success"},
      {OwnedBy("scheduling.k8s.io/v1beta1", "PodGroup", "other"), refused},
      {OwnedBy("scheduling.k8s.io/v1beta1", "Workload", "g"), refused},
      {OwnedBy("scheduling.k8s.iox/v1", "PodGroup", "g"), refused},
      {OwnedBy("v1", "PodGroup", "g"), refused},
      {"", refused},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.owner);
    const auto claim = ShowClaim("c", "", c.owner);
    const auto member = Member("a", {{"x", "", "t"}});
    auto pod = std::make_shared<api::Pod>(*member->pod);
    auto* plugin = rig.As<framework::PreEnqueuePlugin>();
    EXPECT_EQ(Describe(plugin->PreEnqueue(*pod)),
              "UnschedulableAndUnresolvable: pod \"ns/a\": ResourceClaim not created yet")
        << "whatever the group's status says";
    pod->status.claims.Mutable().resource_claims = {{"x", "c"}};
    EXPECT_EQ(Describe(plugin->PreEnqueue(*pod)), c.want);
    const auto events = rig.As<framework::EnqueueExtensions>()->EventsToRegister();
    for (const auto& registration : events) {
      if (registration.event.resource != framework::EventResource::kTargetPod) continue;
      const auto hint = registration.hint(*pod, member->pod, api::PodPtr(pod));
      EXPECT_EQ(hint.value() == framework::QueueingHint::kQueue, c.want == "Success");
    }
    Remove(stores(), claim);
  }
}

TEST_F(OnlyGroupsTest, HaveNoClaims) {
  ShowClaim("c", "", OwnedBy("scheduling.k8s.io/v1beta1", "PodGroup", "g"));
  const auto member = Member("a", {{"x", "", "t"}});
  auto pod = std::make_shared<api::Pod>(*member->pod);
  pod->status.claims.Mutable().resource_claims = {{"x", "c"}};
  EXPECT_EQ(Describe(rig.As<framework::PreEnqueuePlugin>()->PreEnqueue(*pod)),
            kNotMine + "(Pod is not owner)");
}

// What a member was given on trial is shared by those that follow, and by nobody later.
TEST_F(OnlyGroupsTest, MembersShareWhatTheFirstOneIsGiven) {
  ShowClaim("c");
  const auto a = Member("a", {kNamed});
  const auto b = Member("b", {kNamed});
  EXPECT_THAT(Filter(*a), ElementsAre("Success", "Success"));
  ASSERT_EQ(Reserve(*a, "n1"), "Success");
  EXPECT_THAT(Filter(*b), ElementsAre("Success", kAway));
  ASSERT_EQ(Reserve(*b, "n1"), "Success");
  const api::ClaimAllocationPtr on_trial = stores().PendingAllocation("uid-c");
  ASSERT_NE(on_trial, nullptr);
  Unreserve(*b);
  EXPECT_EQ(stores().PendingAllocation("uid-c"), on_trial) << "a has it still";
  Unreserve(*a);
  EXPECT_EQ(stores().PendingAllocation("uid-c"), nullptr);
  EXPECT_THAT(api().claim_requests, IsEmpty());

  ASSERT_EQ(Reserve(*a, "n1"), "Success") << "in earnest";
  EXPECT_EQ(stores().PendingAllocation("uid-c"), on_trial) << "the same devices";
  ASSERT_EQ(Reserve(*b, "n1"), "Success");
  for (TriedPod* member : {a.get(), b.get()}) {
    auto* plugin = rig.As<framework::PreBindPlugin>();
    EXPECT_TRUE(plugin->PreBindPreFlight(member->state, member->pod, "n1").status.ok());
  }
  const auto late = Member("late", {kNamed});
  EXPECT_THAT(Filter(*late, {"n1"}),
              ElementsAre("UnschedulableAndUnresolvable: resource claim ns/c is in the process of "
                          "being allocated"));
}

TEST_F(OnlyGroupsTest, ASharedClaimStandsBesideOnesOwn) {
  ShowClaim("c");
  ShowClaim("own");
  const auto a = Member("a", {kNamed});
  const auto b = Member("b", {{"y", "own"}, kNamed});
  const auto c = Member("c", {kNamed});
  Filter(*a);
  ASSERT_EQ(Reserve(*a, "n1"), "Success");
  EXPECT_THAT(Filter(*b),
              ElementsAre("UnschedulableAndUnresolvable: cannot allocate all claims", kAway))
      << "a has the only device of n1";
  EXPECT_THAT(Filter(*c), ElementsAre("Success", kAway));
}

struct OptionalOperationsTest : GroupClaimsTest {
  OptionalOperationsTest()
      : GroupClaimsTest({Gate::kGenericWorkload, Gate::kNodeDeclaredFeatures,
                         Gate::kDRAOptionalNodeOperations}) {}
};

TEST_F(OptionalOperationsTest, ASharedDeviceMayNeedAFeatureOfTheNode) {
  for (const char* name : {"n3", "n4"}) {
    testing::NodeBuilder node = MakeNode().Name(name);
    if (std::string(name) == "n3") {
      node.node().declared_features = {"DRAOptionalNodeOperations"};
    }
    rig.AddNode(node);
  }
  Show<api::ResourceSlice>(
      stores(),
      "{'metadata':{'name':'all'},'spec':{'driver':'all.example','allNodes':true,"
      "'skipNodeOperations':['NodePrepareResources'],"
      "'pool':{'name':'all','generation':1,'resourceSliceCount':1},'devices':[{'name':'d'}]}}");
  ShowClaim("c");
  const auto a = Member("a", {kNamed});
  const auto b = Member("b", {kNamed});
  ASSERT_THAT(Filter(*a, {"n3"}), ElementsAre("Success"));
  ASSERT_EQ(Reserve(*a, "n3"), "Success");
  EXPECT_THAT(Filter(*b, {"n3", "n4"}),
              ElementsAre("Success",
                          "UnschedulableAndUnresolvable: resource claim ns/c allocation requires "
                          "DRAOptionalNodeOperations feature on the node"));
}

// ---- PreBind ----

struct GroupBindingTest : GroupClaimsTest {
  struct Sequence {
    std::unique_ptr<framework::PreBindSequence> sequence;
    framework::PreBindStep step;
  };

  // Tries all members on n1, then reserves in earnest.
  void ReserveAll(const std::vector<TriedPod*>& members) {
    for (TriedPod* member : members) {
      Filter(*member);
      ASSERT_EQ(Reserve(*member, "n1"), "Success");
    }
    for (TriedPod* member : members) Unreserve(*member);
    for (TriedPod* member : members) ASSERT_EQ(Reserve(*member, "n1"), "Success");
    api().claim_requests.clear();
  }
  Sequence Bind(TriedPod& member) {
    Sequence made;
    made.sequence = rig.As<framework::PreBindPlugin>()->PreBind(member.state, member.pod, "n1");
    Go(made);
    return made;
  }
  void Go(Sequence& of) {
    of.step = of.sequence->Next({});
    for (const auto& call : of.step.calls) {
      call(api(), [](const auto& error) { ASSERT_FALSE(error); });
    }
  }
  void Answer(Sequence& of, const std::string& version, const std::string& status) {
    ASSERT_TRUE(api().AnswerClaimRequest(
        std::nullopt, ReadObject<api::ResourceClaim>(Text("c", version, status))));
    Go(of);
  }
  static std::string Ended(const Sequence& of) {
    return of.step.finished ? Describe(of.step.status) : "not yet";
  }
};

TEST_F(GroupBindingTest, OneReservationIsForAllMembers) {
  ShowClaim("c");
  const auto a = Member("a", {kNamed});
  const auto b = Member("b", {kNamed});
  ASSERT_NO_FATAL_FAILURE(ReserveAll({a.get(), b.get()}));
  Sequence of_a = Bind(*a);
  Sequence of_b = Bind(*b);
  ASSERT_TRUE(of_b.step.condition) << "it is a's turn";
  EXPECT_FALSE(of_b.step.condition());
  ASSERT_EQ(api().claim_requests.size(), 1U);
  const api::ClaimRequest& write = api().claim_requests[0].request;
  EXPECT_EQ(write.verb, Verb::kPatchStatus);
  EXPECT_THAT(write.body, HasSubstr(R"("device":"d0")"));
  EXPECT_THAT(write.body,
              HasSubstr(R"("reservedFor":[{"apiGroup":"scheduling.k8s.io","resource":"podgroups",)"
                        R"("name":"g","uid":"uid-g"}])"));
  Answer(of_a, "2", GivenOn("n1") + ReservedFor(kGroupUser));
  EXPECT_EQ(Ended(of_a), "Success");
  ASSERT_TRUE(of_b.step.condition());
  Go(of_b);
  EXPECT_EQ(Ended(of_b), "Success");
  EXPECT_EQ(api().claim_requests.size(), 1U) << "b found all done";
  Unreserve(*b);
  EXPECT_EQ(api().claim_requests.size(), 1U) << "the group's reservation stays";
}

TEST_F(GroupBindingTest, AnEntryThatIsNotTheGroupsIsReservedForThePod) {
  ShowGroup({{"x", "", "t"}, {"y", "c"}});
  ShowClaim("c");
  const auto a = Member("a", {kNamed});
  const auto b = Member("b", {kNamed});
  ASSERT_NO_FATAL_FAILURE(ReserveAll({a.get(), b.get()}));
  Sequence of_a = Bind(*a);
  Sequence of_b = Bind(*b);
  EXPECT_THAT(api().claim_requests[0].request.body, HasSubstr(R"("uid":"uid-a")"));
  const std::string mine = "{'resource':'pods','name':'a','uid':'uid-a'}";
  Answer(of_a, "2", GivenOn("n1") + ReservedFor(mine));
  ASSERT_TRUE(of_b.step.condition());
  Go(of_b);
  ASSERT_EQ(api().claim_requests.size(), 2U);
  const std::string& body = api().claim_requests[1].request.body;
  EXPECT_THAT(body, HasSubstr(R"("uid":"uid-b")"));
  EXPECT_THAT(body, Not(HasSubstr(R"("device":"d0")"))) << "a has written the allocation";
  Answer(of_b, "3",
         GivenOn("n1") + ReservedFor(mine + ",{'resource':'pods','name':'b','uid':'b'}"));
  EXPECT_EQ(Ended(of_b), "Success");
}

TEST_F(GroupBindingTest, AMemberThatFailsGivesItsTurnAway) {
  ShowClaim("c");
  const auto a = Member("a", {kNamed});
  const auto b = Member("b", {kNamed});
  ASSERT_NO_FATAL_FAILURE(ReserveAll({a.get(), b.get()}));
  Sequence of_a = Bind(*a);
  Sequence of_b = Bind(*b);
  api::ApiError error;
  error.code = 500;
  error.message = "boom";
  ASSERT_TRUE(api().AnswerClaimRequest(error));
  Go(of_a);
  EXPECT_EQ(Ended(of_a), "Error: add allocation and reservation to claim ns/c: boom");
  ASSERT_TRUE(of_b.step.condition());
  Go(of_b);
  EXPECT_EQ(api().claim_requests.size(), 2U) << "b writes it";
  Sequence again = Bind(*a);
  ASSERT_TRUE(again.step.condition);
  of_b.sequence->Cancel("gone");
  EXPECT_TRUE(again.step.condition());
}

TEST_F(GroupBindingTest, OnlyTheGroupsOwnReservationCounts) {
  struct Case {
    std::string reserved;
    bool done;
  };
  const Case cases[] = {
      {kGroupUser, true},
      {"{'apiGroup':'scheduling.k8s.io','resource':'podgroups','name':'g','uid':'u'}", false},
      {"{'apiGroup':'scheduling.k8s.io','resource':'podgroups','name':'h','uid':'uid-g'}", false},
      {"{'apiGroup':'scheduling.k8s.io','resource':'others','name':'g','uid':'uid-g'}", false},
      {"{'resource':'podgroups','name':'g','uid':'uid-g'}", false},
      {kOtherUser, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.reserved);
    const auto claim = ShowClaim("c", GivenOn("n1") + ReservedFor(c.reserved));
    // The entry need not be the group's for that.
    for (const api::PodResourceClaim& entry : {kNamed, api::PodResourceClaim{"z", "c", ""}}) {
      const auto member = Member("a", {entry});
      Filter(*member);
      ASSERT_EQ(Reserve(*member, "n1"), "Success");
      api().claim_requests.clear();
      EXPECT_EQ(Ended(Bind(*member)), c.done ? "Success" : "not yet");
      EXPECT_EQ(api().claim_requests.empty(), c.done);
    }
    Remove(stores(), claim);
  }
}

// ---- PostFilter ----

struct GroupPostFilterTest : GroupClaimsTest {
  std::string PostFilter(const std::vector<TriedPod*>& members) {
    framework::GroupPreemptor preemptor{
        .root = {.ns = Symbol("ns"), .name = "g"}, .members = {}, .propose = {}};
    for (TriedPod* member : members) {
      preemptor.members.push_back(
          {.pod = member->pod, .node = nullptr, .state = member->tried ? &member->state : nullptr});
    }
    const auto result =
        rig.As<framework::PodGroupPostFilterPlugin>()->PodGroupPostFilter(preemptor);
    return Describe(result.status);
  }
  // Other plugins leave only these nodes.
  TriedPod* Try(TriedPod* member, const std::vector<std::string>& nodes) {
    member->tried = true;
    Filter(*member, nodes);
    return member;
  }
  // The claims that were written to, and how.
  std::vector<std::string> Written() {
    std::vector<std::string> written;
    for (const auto& call : api().claim_requests) {
      const bool unreserves = call.request.strategic;
      written.push_back((unreserves ? "unreserve " : "free ") + call.request.name);
    }
    api().claim_requests.clear();
    return written;
  }
};

const std::string kCompleted =
    "Unschedulable: deallocation and deletion of ResourceClaims completed";
const std::string kGroupsFreed = "Unschedulable: deallocation of PodGroup ResourceClaim completed";
const std::string kUnreserved =
    "UnschedulableAndUnresolvable: ResourceClaim unreserved for PodGroup";

// Each row as kube-scheduler answered it.
TEST_F(GroupPostFilterTest, Branches) {
  struct Case {
    std::string name;
    std::string reserved;
    std::vector<std::string> first;                  // nodes of the first member
    std::optional<std::vector<std::string>> second;  // not tried
    std::string want;
    std::vector<std::string> written;
    std::vector<api::PodResourceClaim> entries = {kNamed};
    bool scheduled = false;  // another member is on a node
  };
  using Nodes = std::vector<std::string>;
  const Nodes n1{"n1"};
  const Nodes n2{"n2"};
  const Nodes none;
  const std::string both = kGroupUser + "," + kOtherUser;
  const Case cases[] = {
      {"nobody's", "", n2, {}, kCompleted, {"free c"}},
      {"nobody's, both members", "", n2, n2, kCompleted, {"free c"}},
      {"nobody's, one member fits", "", n1, n2, kGroupsFreed, {"free c"}},
      {"the group's", kGroupUser, n2, {}, kGroupsFreed, {"free c"}},
      {"the group's, not by an entry", kGroupUser, n2, {}, kGroupsFreed, {"free c"}, {}},
      {"the group's and another's", both, n2, {}, kUnreserved, {"unreserve c"}},
      {"the same, not by an entry", both, n2, {}, kCompleted, {}, {}},
      {"the group's, but in nobody's way", kGroupUser, none, {}, kUnreserved, {"unreserve c"}},
      {"both's, one member fits", both, n1, n2, kUnreserved, {"unreserve c"}},
      {"another's", kOtherUser, n2, {}, kCompleted, {}},
      {"the group's, a member is on a node", kGroupUser, n2, {}, kCompleted, {}, {kNamed}, true},
      {"both's, a member is on a node", both, n2, {}, kCompleted, {}, {kNamed}, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ShowGroup(c.entries);
    const auto claim = ShowClaim("c", GivenOn("n1") + ReservedFor(c.reserved));
    const auto first = Member("first", {kNamed});
    const auto second = Member("second", {kNamed});
    const auto third = Member("third", {});
    if (c.scheduled) Assume(*third, "n1");
    Try(first.get(), c.first);
    if (c.second) Try(second.get(), *c.second);
    EXPECT_EQ(PostFilter({first.get(), second.get()}), c.want);
    EXPECT_EQ(Written(), c.written);
    groups().Forget(*third->pod);
    Remove(stores(), claim);
  }
}

TEST_F(GroupPostFilterTest, ClaimsOfTheGroupAreFoundByItsStatus) {
  const std::string mine = OwnedBy("scheduling.k8s.io/v1beta1", "PodGroup", "g");
  struct Case {
    std::string name;
    std::vector<api::PodResourceClaimStatus> statuses;
    std::string owner;
    std::string want;
  };
  const Case cases[] = {
      {"the group's", {{"x", "c"}}, mine, kUnreserved},
      {"made for nobody", {{"x", "c"}}, "", kCompleted},
      {"none is needed", {{"x", std::nullopt}}, mine, kCompleted},
      {"none yet", {}, mine, "Error: PodGroup ns/g: ResourceClaim not created yet"},
      {"gone", {{"x", "d"}}, mine, "Error: could not find ResourceClaim \"ns/d\""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ShowGroup({{"x", "", "t"}}, c.statuses);
    const auto claim =
        ShowClaim("c", GivenOn("n1") + ReservedFor(kGroupUser + "," + kOtherUser), c.owner);
    const auto member = Member("m", {{"y", "c"}});
    Try(member.get(), {"n2"});
    EXPECT_EQ(PostFilter({member.get()}), c.want);
    EXPECT_EQ(Written().size(), c.want == kUnreserved ? 1U : 0U);
    Remove(stores(), claim);
  }
}

// Nothing was written yet, so nothing has to be taken back.
TEST_F(GroupPostFilterTest, DevicesGivenOnTrialAreNotFreedAtTheServer) {
  ShowClaim("c");
  const auto first = Member("first", {kNamed});
  const auto second = Member("second", {kNamed});
  Try(first.get(), {"n1"});
  ASSERT_EQ(Reserve(*first, "n1"), "Success");
  Try(second.get(), {"n2"});
  Unreserve(*first);
  EXPECT_EQ(PostFilter({first.get(), second.get()}), kGroupsFreed);
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(GroupPostFilterTest, AGroupWithoutAttemptIsAnError) {
  const auto first = Member("first", {kNamed});
  const auto second = Member("second", {kNamed});
  EXPECT_EQ(PostFilter({first.get(), second.get()}), "Error: not found");
}

TEST_F(GroupPostFilterTest, GroupsWithinADomainAreLeftAlone) {
  topology = {Symbol("rack")};
  ShowGroup({kNamed});
  ShowClaim("c", GivenOn("n1") + ReservedFor(kGroupUser));
  const auto member = Member("m", {kNamed});
  Try(member.get(), {"n2"});
  EXPECT_EQ(PostFilter({member.get()}), "Unschedulable") << "nothing is said of it";
  EXPECT_THAT(Written(), IsEmpty());
}

// The late answer must not take the reservation of members that are bound meanwhile.
TEST_F(GroupPostFilterTest, AReservationThatIsBeingTakenBackIsNotReliedOn) {
  ShowClaim("c", GivenOn("n1") + ReservedFor(kGroupUser + "," + kOtherUser));
  const auto member = Member("m", {kNamed});
  Try(member.get(), {"n2"});
  ASSERT_EQ(PostFilter({member.get()}), kUnreserved);
  Filter(*member);
  ASSERT_EQ(Reserve(*member, "n1"), "Success");
  const auto sequence =
      rig.As<framework::PreBindPlugin>()->PreBind(member->state, member->pod, "n1");
  const framework::PreBindStep step = sequence->Next({});
  ASSERT_TRUE(step.condition);
  EXPECT_FALSE(step.condition());
}

struct OnlyGroupsPostFilterTest : OnlyGroupsTest {};

TEST_F(OnlyGroupsPostFilterTest, ClaimsOfMembersAreFreed) {
  for (const std::string& reserved : {std::string(), kGroupUser}) {
    SCOPED_TRACE(reserved);
    const auto claim = ShowClaim("c", GivenOn("n1") + ReservedFor(reserved));
    const auto member = Member("m", {kNamed});
    Filter(*member);
    api().claim_requests.clear();
    framework::GroupPreemptor preemptor{
        .root = {.ns = Symbol("ns"), .name = "g"},
        .members = {{.pod = member->pod, .node = nullptr, .state = &member->state}},
        .propose = {}};
    const auto result =
        rig.As<framework::PodGroupPostFilterPlugin>()->PodGroupPostFilter(preemptor);
    EXPECT_EQ(Describe(result.status), kCompleted);
    EXPECT_EQ(api().claim_requests.size(), reserved.empty() ? 1U : 0U);
    Remove(stores(), claim);
  }
}

}  // namespace
}  // namespace ks::plugins
