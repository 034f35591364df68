// SPDX-License-Identifier: Apache-2.0
#include "daemon/permission_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/mutex.h"
#include "client/fake_transport.h"

namespace ks::daemon {
namespace {

using framework::OptionalKind;
using nlohmann::json;

using Texts = std::set<std::string>;

// "verb[|substitute] resource.group [namespace[/name]]"
Texts TextsOf(const std::vector<Permission>& permissions) {
  Texts texts;
  for (const Permission& permission : permissions) {
    std::string text = permission.verb;
    if (!permission.or_verb.empty()) text += "|" + permission.or_verb;
    text += " " + permission.resource;
    if (!permission.group.empty()) text += "." + permission.group;
    if (!permission.ns.empty()) text += " " + permission.ns;
    if (!permission.name.empty()) text += "/" + permission.name;
    EXPECT_TRUE(texts.insert(text).second) << text << " is there twice";
    EXPECT_FALSE(permission.needed_for.empty()) << text;
    EXPECT_FALSE(permission.granted_by.empty()) << text;
  }
  return texts;
}

Texts Plus(Texts texts, const Texts& more) {
  texts.insert(more.begin(), more.end());
  return texts;
}

const Texts kLeast = {"list pods",
                      "watch pods",
                      "list nodes",
                      "watch nodes",
                      "create pods/binding",
                      "get pods",
                      "patch pods/status",
                      "create events.events.k8s.io",
                      "patch events.events.k8s.io"};

PermissionNeeds Least() {
  PermissionNeeds needs;
  needs.preempts = false;
  needs.leader_election.leader_elect = false;
  needs.delegates = false;
  return needs;
}

TEST(NeededPermissionsTest, TheLeast) { EXPECT_EQ(TextsOf(NeededPermissions(Least())), kLeast); }

TEST(NeededPermissionsTest, WhatEachPartAdds) {
  PermissionNeeds needs = Least();
  needs.preempts = true;
  EXPECT_EQ(TextsOf(NeededPermissions(needs)), Plus(kLeast, {"delete pods"}));

  needs = Least();
  needs.kinds = {OptionalKind::kReplicaSet, OptionalKind::kPodDisruptionBudget};
  EXPECT_EQ(
      TextsOf(NeededPermissions(needs)),
      Plus(kLeast, {"list replicasets.apps", "watch replicasets.apps",
                    "list poddisruptionbudgets.policy", "watch poddisruptionbudgets.policy"}));

  needs = Least();
  needs.kinds = {OptionalKind::kPersistentVolume, OptionalKind::kPersistentVolumeClaim,
                 OptionalKind::kCsiNode};
  EXPECT_EQ(TextsOf(NeededPermissions(needs)),
            Plus(kLeast, {"list persistentvolumes", "watch persistentvolumes",
                          "get persistentvolumes", "patch|update persistentvolumes",
                          "list persistentvolumeclaims", "watch persistentvolumeclaims",
                          "get persistentvolumeclaims", "patch|update persistentvolumeclaims",
                          "list csinodes.storage.k8s.io", "watch csinodes.storage.k8s.io"}));

  needs = Least();
  needs.kinds = {OptionalKind::kResourceClaim, OptionalKind::kResourceSlice,
                 OptionalKind::kDeviceClass, OptionalKind::kDeviceTaintRule};
  EXPECT_EQ(
      TextsOf(NeededPermissions(needs)),
      Plus(kLeast,
           {"list resourceclaims.resource.k8s.io", "watch resourceclaims.resource.k8s.io",
            "get resourceclaims.resource.k8s.io", "patch resourceclaims.resource.k8s.io",
            "patch resourceclaims/status.resource.k8s.io",
            "patch resourceclaims/binding.resource.k8s.io", "create resourceclaims.resource.k8s.io",
            "delete resourceclaims.resource.k8s.io", "list resourceslices.resource.k8s.io",
            "watch resourceslices.resource.k8s.io", "list deviceclasses.resource.k8s.io",
            "watch deviceclasses.resource.k8s.io", "list devicetaintrules.resource.k8s.io",
            "watch devicetaintrules.resource.k8s.io"}));
  needs.kinds = {OptionalKind::kDeviceClass};  // who scores by classes writes no claims
  EXPECT_EQ(
      TextsOf(NeededPermissions(needs)),
      Plus(kLeast, {"list deviceclasses.resource.k8s.io", "watch deviceclasses.resource.k8s.io"}));

  needs = Least();
  needs.kinds = {OptionalKind::kPodGroup, OptionalKind::kCompositePodGroup};
  EXPECT_EQ(TextsOf(NeededPermissions(needs)),
            Plus(kLeast, {"list podgroups.scheduling.k8s.io", "watch podgroups.scheduling.k8s.io",
                          "patch podgroups/status.scheduling.k8s.io",
                          "list compositepodgroups.scheduling.k8s.io",
                          "watch compositepodgroups.scheduling.k8s.io"}));

  needs = Least();
  needs.leader_election.leader_elect = true;
  needs.leader_election.resource_namespace = "kube-system";
  needs.leader_election.resource_name = "mine";
  EXPECT_EQ(TextsOf(NeededPermissions(needs)),
            Plus(kLeast, {"create leases.coordination.k8s.io kube-system",
                          "get leases.coordination.k8s.io kube-system/mine",
                          "update leases.coordination.k8s.io kube-system/mine",
                          "create events kube-system"}));

  needs.coordinated = true;  // the server makes the lease
  EXPECT_EQ(TextsOf(NeededPermissions(needs)),
            Plus(kLeast, {"create leasecandidates.coordination.k8s.io kube-system",
                          "delete leasecandidates.coordination.k8s.io kube-system",
                          "list leasecandidates.coordination.k8s.io kube-system",
                          "update leasecandidates.coordination.k8s.io kube-system",
                          "watch leasecandidates.coordination.k8s.io kube-system",
                          "get leases.coordination.k8s.io kube-system/mine",
                          "update leases.coordination.k8s.io kube-system/mine",
                          "create events kube-system"}));

  needs = Least();
  needs.delegates = true;
  EXPECT_EQ(TextsOf(NeededPermissions(needs)),
            Plus(kLeast, {"create tokenreviews.authentication.k8s.io",
                          "create subjectaccessreviews.authorization.k8s.io",
                          "get configmaps kube-system/extension-apiserver-authentication",
                          "watch configmaps kube-system/extension-apiserver-authentication"}));
}

TEST(NeededPermissionsTest, LegacyEvents) {
  PermissionNeeds needs = Least();
  needs.legacy_events = true;
  const Texts texts = TextsOf(NeededPermissions(needs));
  EXPECT_TRUE(texts.contains("create events"));
  EXPECT_FALSE(texts.contains("create events.events.k8s.io"));
}

class AskPermissionsTest : public ::testing::Test {
 protected:
  void Ask(std::vector<Permission> needed) {
    AskPermissions(*client_, std::move(needed), [this](const PermissionAnswers& answers) {
      MutexLock lock(mutex_);
      answers_.push_back(answers);
    });
  }
  std::vector<PermissionAnswers> answers() {
    MutexLock lock(mutex_);
    return answers_;
  }
  json Attributes(size_t i) {
    return json::parse(net_.transport.request(i).body)["spec"]["resourceAttributes"];
  }
  void Allow(size_t i, bool allowed) {
    net_.transport.Answer(i, 201, json{{"status", {{"allowed", allowed}}}}.dump());
  }

  client::FakeNetwork net_;
  Mutex mutex_;
  std::vector<PermissionAnswers> answers_ KS_GUARDED_BY(mutex_);
  std::unique_ptr<client::RestClient> client_ = net_.Client();
};

TEST_F(AskPermissionsTest, AsksForEachAndNamesWhatIsMissing) {
  const Permission binding{.verb = "create", .resource = "pods/binding"};
  const Permission lease{.verb = "update",
                         .group = "coordination.k8s.io",
                         .resource = "leases",
                         .ns = "kube-system",
                         .name = "mine"};
  Ask({binding, lease});
  ASSERT_EQ(net_.transport.size(), 2U);
  EXPECT_EQ(net_.transport.request(0).method, "POST");
  EXPECT_EQ(net_.transport.request(0).target,
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
  EXPECT_EQ(
      Attributes(0),
      (json{{"verb", "create"}, {"group", ""}, {"resource", "pods"}, {"subresource", "binding"}}));
  EXPECT_EQ(Attributes(1), (json{{"verb", "update"},
                                 {"group", "coordination.k8s.io"},
                                 {"resource", "leases"},
                                 {"namespace", "kube-system"},
                                 {"name", "mine"}}));
  Allow(0, true);
  EXPECT_TRUE(answers().empty());
  Allow(1, false);
  ASSERT_EQ(answers().size(), 1U);
  EXPECT_EQ(answers()[0].missing, std::vector<Permission>{lease});
  EXPECT_TRUE(answers()[0].failures.empty());
}

TEST_F(AskPermissionsTest, ASubstituteIsAskedForWhenTheVerbIsRefused) {
  const Permission volumes{.verb = "patch", .resource = "persistentvolumes", .or_verb = "update"};
  Ask({volumes});
  Allow(0, true);
  ASSERT_EQ(net_.transport.size(), 1U);
  for (const bool allowed : {true, false}) {
    SCOPED_TRACE(allowed);
    const size_t before = net_.transport.size();
    Ask({volumes});
    Allow(before, false);
    ASSERT_EQ(net_.transport.size(), before + 2);
    EXPECT_EQ(Attributes(before + 1),
              (json{{"verb", "update"}, {"group", ""}, {"resource", "persistentvolumes"}}));
    Allow(before + 1, allowed);
    EXPECT_EQ(answers().back().missing.empty(), allowed);
  }
  EXPECT_EQ(answers().size(), 3U);
  EXPECT_EQ(answers().back().missing, std::vector<Permission>{volumes});
}

TEST_F(AskPermissionsTest, FourQuestionsAtATime) {
  const std::vector<Permission> needed(7, {.verb = "list", .resource = "pods"});
  Ask(needed);
  for (size_t answered = 0; answered < 7; ++answered) {
    EXPECT_EQ(net_.transport.size(), std::min<size_t>(7, answered + 4));
    EXPECT_TRUE(answers().empty());
    Allow(answered, answered != 5);
  }
  ASSERT_EQ(answers().size(), 1U);
  EXPECT_EQ(answers()[0].missing.size(), 1U);
}

TEST_F(AskPermissionsTest, WhatCannotBeAskedIsNotMissing) {
  Ask({{.verb = "list", .resource = "pods"},
       {.verb = "watch", .resource = "pods"},
       {.verb = "list", .resource = "nodes"},
       {.verb = "watch", .resource = "nodes"}});
  for (const size_t i : {0, 1}) {
    net_.transport.Answer(i, 403,
                          R"({"kind":"Status","code":403,"message":"no","reason":"Forbidden"})");
  }
  net_.transport.Answer(2, 201, "[]");
  net_.transport.Answer(3, 201, R"({"status":{"allowed":"yes"}})");
  ASSERT_EQ(answers().size(), 1U);
  EXPECT_TRUE(answers()[0].missing.empty());
  EXPECT_EQ(
      answers()[0].failures,
      (std::vector<std::string>{"no", "the answer to an access review has no status.allowed"}));
}

}  // namespace
}  // namespace ks::daemon
