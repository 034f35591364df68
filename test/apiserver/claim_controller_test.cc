// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/claim_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "apiserver/controlled_service.h"

namespace ks::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

constexpr Duration kMoment = std::chrono::milliseconds(10);
constexpr const char* kProtection = "resource.kubernetes.io/delete-protection";

const KindInfo& Claims() { return *FindResource("resource.k8s.io", "v1", "resourceclaims"); }
const KindInfo& Templates() {
  return *FindResource("resource.k8s.io", "v1", "resourceclaimtemplates");
}

class ClaimControllerTest : public ::testing::Test {
 protected:
  ClaimControllerTest() { world_.service.AddController(NewClaimController(world_.service)); }

  void Template(const std::string& name) {
    world_.Create(Templates(), R"({"metadata":{"name":")" + name + R"("},"spec":{
        "metadata":{"labels":{"l":"1"},"annotations":{"x":"y"}},
        "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}}}})");
  }
  // `claims`: elements of spec.resourceClaims.
  void Pod(const std::string& name, const std::string& claims) {
    world_.Create(Core("pods"), R"({"metadata":{"name":")" + name + R"("},"spec":{
        "containers":[{"name":"c","image":"i"}],"resourceClaims":[)" +
                                    claims + "]}}");
    world_.Run(kMoment);
  }
  void Claim(const std::string& name, const std::string& owner = "") {
    std::string metadata = R"({"name":")" + name + R"(","finalizers":[")" + kProtection + R"("])";
    if (!owner.empty()) {
      metadata += R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":")" + owner +
                  R"(","uid":")" + Uid(owner) + R"(","controller":true}])";
    }
    world_.Create(Claims(), R"({"metadata":)" + metadata + R"(},"spec":{"devices":{"requests":[
        {"name":"r","exactly":{"deviceClassName":"gpu"}}]}}})");
  }
  std::string Uid(const std::string& pod) {
    return world_.At(Core("pods"), pod, "/metadata/uid").get<std::string>();
  }
  std::string Consumer(const std::string& pod) {
    return R"({"resource":"pods","name":")" + pod + R"(","uid":")" + Uid(pod) + R"("})";
  }
  // As a scheduler does it. `consumers`: elements of reservedFor.
  void Allocate(const std::string& claim, const std::string& consumers) {
    world_.Edit(Claims(), claim,
                R"({"metadata":{"finalizers":[")" + std::string(kProtection) +
                    R"("]},"status":{"allocation":{"devices":{"results":[
        {"request":"r","driver":"d","pool":"p","device":"x"}]}},"reservedFor":[)" +
                    consumers + "]}}");
  }
  // The names of the claims that there are.
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& [key, object] : world_.service.store().objects(Claims())) {
      names.push_back(object->name);
    }
    return names;
  }
  bool Allocated(const std::string& claim) {
    return world_.At(Claims(), claim, "/status/allocation").is_object();
  }

  ControlledService world_;
};

TEST_F(ClaimControllerTest, MakesTheClaimOfATemplate) {
  Template("t");
  Pod("p", R"({"name":"g","resourceClaimTemplateName":"t"})");
  const auto names = Names();
  ASSERT_THAT(names, ElementsAre(StartsWith("p-g-")));
  const Json claim = world_.Get(Claims(), names[0]);
  EXPECT_EQ(claim["metadata"]["generateName"], "p-g-");
  EXPECT_EQ(claim["metadata"]["labels"], Json::parse(R"({"l":"1"})"));
  EXPECT_EQ(claim["metadata"]["annotations"],
            Json::parse(R"({"x":"y","resource.kubernetes.io/pod-claim-name":"g"})"));
  EXPECT_EQ(claim["metadata"]["ownerReferences"], Json::array({{{"apiVersion", "v1"},
                                                                {"kind", "Pod"},
                                                                {"name", "p"},
                                                                {"uid", Uid("p")},
                                                                {"controller", true}}}));
  EXPECT_EQ(claim["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"], "gpu");
  EXPECT_EQ(world_.At(Core("pods"), "p", "/status/resourceClaimStatuses"),
            Json::array({{{"name", "g"}, {"resourceClaimName", names[0]}}}));
}

TEST_F(ClaimControllerTest, ANamedClaimIsLeftToItsOwner) {
  Claim("mine");
  Pod("p", R"({"name":"g","resourceClaimName":"mine"})");
  EXPECT_THAT(Names(), ElementsAre("mine"));
  EXPECT_TRUE(world_.At(Core("pods"), "p", "/status/resourceClaimStatuses").is_null());
}

TEST_F(ClaimControllerTest, ATemplateMayComeLater) {
  Pod("p", R"({"name":"g","resourceClaimTemplateName":"t"})");
  EXPECT_THAT(Names(), ElementsAre());
  EXPECT_THAT(world_.EventsOf("p"),
              ElementsAre("FailedResourceClaimCreation: PodResourceClaim g: resource claim "
                          "template \"t\": resourceclaimtemplate.resource.k8s.io \"t\" not found"));
  Template("t");
  world_.Run(kMoment);
  EXPECT_THAT(Names(), ElementsAre(StartsWith("p-g-")));
}

TEST_F(ClaimControllerTest, WhatWasMadeBeforeTheStatusIsTaken) {
  Template("t");
  Pod("p", R"({"name":"g","resourceClaimTemplateName":"t"})");
  const auto names = Names();
  world_.Edit(Core("pods"), "p", R"({"status":{"resourceClaimStatuses":null}})");
  world_.Run(kMoment);
  EXPECT_EQ(Names(), names);
  EXPECT_EQ(world_.At(Core("pods"), "p", "/status/resourceClaimStatuses/0/resourceClaimName"),
            names.at(0));
}

TEST_F(ClaimControllerTest, AClaimThatSomebodyDeletedIsNotMadeAgain) {
  Template("t");
  Pod("p", R"({"name":"g","resourceClaimTemplateName":"t"})");
  world_.Delete(Claims(), Names().at(0));
  world_.Run(kMoment);
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(ClaimControllerTest, ThePodsEndGivesBackItsDevices) {
  Template("t");
  for (const char* phase : {"Succeeded", "Failed"}) {
    const std::string pod = phase == std::string("Failed") ? "f" : "s";
    Pod(pod, R"({"name":"g","resourceClaimTemplateName":"t"})");
    world_.Edit(Core("pods"), pod, R"({"spec":{"nodeName":"n"}})");
    Allocate(Names().at(0), Consumer(pod));
    world_.Run(kMoment);
    ASSERT_EQ(Names().size(), 1U);
    EXPECT_TRUE(Allocated(Names().at(0)));
    world_.Edit(Core("pods"), pod, R"({"status":{"phase":")" + std::string(phase) + R"("}})");
    world_.Run(kMoment);
    EXPECT_THAT(Names(), ElementsAre()) << phase;
  }
}

TEST_F(ClaimControllerTest, AGonePodsClaimGoesOnlyWhenNothingHoldsIt) {
  Template("t");
  Pod("p", R"({"name":"g","resourceClaimTemplateName":"t"})");
  const std::string name = Names().at(0);
  Allocate(name, Consumer("p"));
  world_.Edit(
      Claims(), name,
      R"({"metadata":{"finalizers":["example.com/more",")" + std::string(kProtection) + R"("]}})");
  world_.Delete(Core("pods"), "p");
  world_.Run(kMoment);
  EXPECT_FALSE(Allocated(name));
  EXPECT_TRUE(world_.At(Claims(), name, "/metadata/deletionTimestamp").is_string());
  EXPECT_EQ(world_.At(Claims(), name, "/metadata/finalizers"), Json::array({"example.com/more"}));
  world_.Edit(Claims(), name, R"({"metadata":{"finalizers":null}})");
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(ClaimControllerTest, ASharedClaimStaysAllocatedUntilTheLastPodIsGone) {
  Claim("mine");
  for (const char* pod : {"a", "b"}) Pod(pod, R"({"name":"g","resourceClaimName":"mine"})");
  const Json second = Json::array({Json::parse(Consumer("b"))});
  Allocate("mine", Consumer("a") + "," + Consumer("b"));
  world_.Delete(Core("pods"), "a");
  world_.Run(kMoment);
  EXPECT_EQ(world_.At(Claims(), "mine", "/status/reservedFor"), second);
  EXPECT_TRUE(Allocated("mine"));
  world_.Delete(Core("pods"), "b");
  world_.Run(kMoment);
  EXPECT_FALSE(Allocated("mine"));
  EXPECT_TRUE(world_.At(Claims(), "mine", "/status/reservedFor").is_null());
  EXPECT_TRUE(world_.At(Claims(), "mine", "/metadata/finalizers").is_null());
  EXPECT_THAT(Names(), ElementsAre("mine"));
}

TEST_F(ClaimControllerTest, WithoutItsFinalizerAnAllocationIsSomebodyElses) {
  Claim("mine");
  Pod("a", R"({"name":"g","resourceClaimName":"mine"})");
  Allocate("mine", Consumer("a"));
  world_.Edit(Claims(), "mine", R"({"metadata":{"finalizers":null}})");
  world_.Delete(Core("pods"), "a");
  world_.Run(kMoment);
  EXPECT_TRUE(Allocated("mine"));
  EXPECT_TRUE(world_.At(Claims(), "mine", "/status/reservedFor").is_null());
}

TEST_F(ClaimControllerTest, AnAllocationThatNobodyReservedStays) {
  Claim("mine");
  Allocate("mine", "");
  world_.Run(kMoment);
  EXPECT_TRUE(Allocated("mine"));
  world_.Delete(Claims(), "mine");
  world_.Run(kMoment);
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(ClaimControllerTest, APodOfTheSameNameIsAnotherPod) {
  Claim("mine");
  Pod("a", R"({"name":"g","resourceClaimName":"mine"})");
  Allocate("mine", Consumer("a"));
  world_.Delete(Core("pods"), "a");
  Pod("a", R"({"name":"g","resourceClaimName":"mine"})");
  EXPECT_FALSE(Allocated("mine"));
}

TEST_F(ClaimControllerTest, ATerminatingPodKeepsItsDevicesOnceItHasANode) {
  Claim("mine");
  Pod("a", R"({"name":"g","resourceClaimName":"mine"})");
  world_.Edit(Core("pods"), "a",
              R"({"spec":{"nodeName":"n"},"metadata":{"finalizers":["a.b/c"]}})");
  Allocate("mine", Consumer("a"));
  world_.Delete(Core("pods"), "a");
  world_.Run(kMoment);
  EXPECT_TRUE(Allocated("mine"));
  world_.Edit(Core("pods"), "a", R"({"spec":{"nodeName":null}})");
  world_.Run(kMoment);
  EXPECT_FALSE(Allocated("mine"));
}

TEST_F(ClaimControllerTest, AClaimOfExtendedResourcesGoesWithItsPod) {
  world_.Create(Core("pods"),
                R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  Claim("p-extended-resources-x", "p");
  Allocate("p-extended-resources-x", Consumer("p"));
  world_.Run(kMoment);
  EXPECT_THAT(Names(), ElementsAre("p-extended-resources-x"));
  world_.Delete(Core("pods"), "p");
  world_.Run(kMoment);
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(ClaimControllerTest, APodThatGotItsNodeByHandReservesItsClaims) {
  Claim("mine");
  Allocate("mine", "");
  world_.Create(Core("pods"), R"({"metadata":{"name":"p"},"spec":{"nodeName":"n",
      "containers":[{"name":"c","image":"i"}],
      "resourceClaims":[{"name":"g","resourceClaimName":"mine"}]}})");
  world_.Run(kMoment);
  EXPECT_EQ(world_.At(Claims(), "mine", "/status/reservedFor"),
            Json::array({Json::parse(Consumer("p"))}));
}

TEST_F(ClaimControllerTest, WhatWasThereBeforeIsLookedAt) {
  ControlledService world{{.store = {.history = 1}}};
  world.Create(Templates(), R"({"metadata":{"name":"t"},"spec":{"spec":{"devices":{"requests":[
      {"name":"r","exactly":{"deviceClassName":"gpu"}}]}}}})");
  for (const char* pod : {"a", "b", "c"}) {
    world.Create(Core("pods"), R"({"metadata":{"name":")" + std::string(pod) + R"("},"spec":{
        "containers":[{"name":"c","image":"i"}],
        "resourceClaims":[{"name":"g","resourceClaimTemplateName":"t"}]}})");
  }
  world.service.AddController(NewClaimController(world.service));
  world.Run(kMoment);
  EXPECT_EQ(world.service.store().objects(Claims()).size(), 3U);
}

// ---- pod groups ----

class GroupClaimControllerTest : public ClaimControllerTest {
 protected:
  static const KindInfo& PodGroups() {
    return *FindResource("scheduling.k8s.io", "v1beta1", "podgroups");
  }
  // `claims`: elements of spec.resourceClaims.
  void Group(const std::string& name, const std::string& claims) {
    world_.Create(PodGroups(), R"({"metadata":{"name":")" + name + R"("},"spec":{
        "schedulingPolicy":{"basic":{}},"resourceClaims":[)" +
                                   claims + "]}}");
    world_.Run(kMoment);
  }
  void Member(const std::string& name, const std::string& claims, const std::string& more = "") {
    world_.Create(Core("pods"), R"({"metadata":{"name":")" + name + R"("},"spec":{
        "containers":[{"name":"c","image":"i"}],"schedulingGroup":{"podGroupName":"g"},)" +
                                    more + R"("resourceClaims":[)" + claims + "]}}");
    world_.Run(kMoment);
  }
  void DeleteGroup() {
    world_.Delete(PodGroups(), "g");
    world_.Run(kMoment);
  }
  std::string GroupConsumer(const std::string& uid) {
    return R"({"apiGroup":"scheduling.k8s.io","resource":"podgroups","name":"g","uid":")" + uid +
           R"("})";
  }
  std::string GroupUid() { return world_.At(PodGroups(), "g", "/metadata/uid").get<std::string>(); }
  std::string Noted(const KindInfo& kind, const std::string& name) {
    const Json claim = world_.At(kind, name, "/status/resourceClaimStatuses/0/resourceClaimName");
    return claim.is_null() ? "" : claim.get<std::string>();
  }

  const std::string shared_ = R"({"name":"x","resourceClaimTemplateName":"t"})";
  const std::string named_ = R"({"name":"x","resourceClaimName":"mine"})";
};

TEST_F(GroupClaimControllerTest, AGroupHasItsClaimBeforeItHasPods) {
  Template("t");
  Group("g", shared_);
  const auto names = Names();
  ASSERT_THAT(names, ElementsAre(StartsWith("g-x-")));
  const Json claim = world_.Get(Claims(), names[0]);
  EXPECT_EQ(claim["metadata"]["generateName"], "g-x-");
  EXPECT_EQ(claim["metadata"]["annotations"]["resource.kubernetes.io/pod-claim-name"], "x");
  EXPECT_EQ(claim["metadata"]["ownerReferences"],
            Json::array({{{"apiVersion", "scheduling.k8s.io/v1beta1"},
                          {"kind", "PodGroup"},
                          {"name", "g"},
                          {"uid", GroupUid()},
                          {"controller", true}}}));
  EXPECT_EQ(Noted(PodGroups(), "g"), names[0]);

  Member("a", shared_);
  EXPECT_EQ(Noted(Core("pods"), "a"), names[0]) << "an equal entry stands for the group's claim";
  Member("b", R"({"name":"y","resourceClaimTemplateName":"t"})");
  EXPECT_THAT(Noted(Core("pods"), "b"), StartsWith("b-y-"));
  EXPECT_EQ(Names().size(), 2U);
}

TEST_F(GroupClaimControllerTest, PodsWaitForTheirGroupAndItsTemplate) {
  Member("a", shared_);
  Template("other");
  EXPECT_THAT(Names(), ElementsAre());
  Group("g", shared_);
  EXPECT_THAT(world_.EventsOf("g"),
              ElementsAre("FailedResourceClaimCreation: PodGroupResourceClaim x: resource claim "
                          "template \"t\": resourceclaimtemplate.resource.k8s.io \"t\" not found"));
  EXPECT_THAT(world_.EventsOf("a"), ElementsAre());
  EXPECT_EQ(Noted(Core("pods"), "a"), "");
  Template("t");
  world_.Run(kMoment);
  ASSERT_THAT(Names(), ElementsAre(StartsWith("g-x-")));
  EXPECT_EQ(Noted(Core("pods"), "a"), Names()[0]);
}

TEST_F(GroupClaimControllerTest, AClaimThatSomebodyDeletedIsMadeAgainForTheGroup) {
  Template("t");
  Group("g", shared_);
  Member("a", shared_);
  const std::string first = Names().at(0);
  world_.Delete(Claims(), first);
  world_.Run(kMoment);
  ASSERT_EQ(Names().size(), 1U);
  EXPECT_NE(Names()[0], first);
  EXPECT_EQ(Noted(PodGroups(), "g"), Names()[0]);
  EXPECT_EQ(Noted(Core("pods"), "a"), first) << "as upstream";
  Member("b", shared_);
  EXPECT_EQ(Noted(Core("pods"), "b"), Names()[0]);
}

TEST_F(GroupClaimControllerTest, AReservationLastsAsLongAsTheGroup) {
  Template("t");
  Group("g", shared_);
  Member("a", shared_);
  const std::string made = Names().at(0);
  Allocate(made, GroupConsumer(GroupUid()));
  world_.Edit(Core("pods"), "a", R"({"status":{"phase":"Succeeded"}})");
  world_.Run(kMoment);
  EXPECT_TRUE(Allocated(made));
  world_.Delete(Core("pods"), "a");
  world_.Run(kMoment);
  EXPECT_TRUE(Allocated(made));
  Claim("mine");
  Allocate("mine", GroupConsumer(GroupUid()));
  world_.Run(kMoment);
  EXPECT_TRUE(Allocated("mine"));
  world_.Edit(PodGroups(), "g", R"({"metadata":{"finalizers":null}})");
  DeleteGroup();
  EXPECT_THAT(Names(), ElementsAre("mine")) << "the one that was made for it goes with it";
  EXPECT_FALSE(Allocated("mine"));
  EXPECT_TRUE(world_.At(Claims(), "mine", "/status/reservedFor").is_null());
  EXPECT_TRUE(world_.At(Claims(), "mine", "/metadata/finalizers").is_null());
}

TEST_F(GroupClaimControllerTest, AGroupOfTheSameNameIsAnotherGroup) {
  Group("g", named_);
  Claim("mine");
  Allocate("mine", GroupConsumer("former"));
  world_.Run(kMoment);
  EXPECT_FALSE(Allocated("mine"));
}

TEST_F(GroupClaimControllerTest, AMemberThatGotItsNodeByHandReservesForItsGroup) {
  Group("g", named_);
  Claim("mine");
  Allocate("mine", "");
  Member("a", named_, R"("nodeName":"n",)");
  const Json for_group = Json::array({Json::parse(GroupConsumer(GroupUid()))});
  EXPECT_EQ(world_.At(Claims(), "mine", "/status/reservedFor"), for_group);
  Member("b", R"({"name":"y","resourceClaimName":"mine"})", R"("nodeName":"n",)");
  EXPECT_EQ(world_.At(Claims(), "mine", "/status/reservedFor").size(), 2U);
}

}  // namespace
}  // namespace ks::apiserver
