// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/derived_selector.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/builders.h"
#include "testing/fake_owner_listers.h"

namespace ks::plugins {
namespace {

using ks::testing::FakeOwnerListers;
using ks::testing::MakeLabels;
using ks::testing::MakePod;
using ks::testing::MakeReplicationController;
using ks::testing::MakeService;
using ks::testing::MakeSet;
using ks::testing::Texts;

api::LabelSelectorSpec Wants(const std::string& key, const std::string& value) {
  return {.match_labels = {{key, value}}, .match_expressions = {}};
}

// Web's pod is selected by two Services, a controller and sets of that name.
FakeOwnerListers Cluster() {
  FakeOwnerListers listers;
  listers.Add(MakeService("ns", "web", Texts{{"app", "web"}}));
  listers.Add(MakeService("ns", "front", Texts{{"tier", "front"}}));
  listers.Add(MakeService("ns", "db", Texts{{"app", "db"}}));
  listers.Add(MakeService("ns", "external", std::nullopt));
  listers.Add(MakeService("ns", "everything", Texts{}));
  listers.Add(MakeService("other", "foreign", Texts{{"foreign", "yes"}}));
  listers.Add(MakeReplicationController("ns", "owner", {{"app", "controller"}}));
  listers.Add(MakeSet<api::ReplicaSet>("ns", "owner", Wants("set", "replica")));
  listers.Add(MakeSet<api::ReplicaSet>("ns", "null", std::nullopt));
  listers.Add(MakeSet<api::ReplicaSet>("ns", "empty", api::LabelSelectorSpec()));
  listers.Add(MakeSet<api::StatefulSet>("ns", "owner", Wants("set", "stateful")));
  return listers;
}

std::string Text(const DerivedSelector& selector) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : selector.labels) parts.push_back(key.str() + "=" + value.str());
  std::sort(parts.begin(), parts.end());
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  if (selector.requirements) text += "+" + selector.requirements->ToString();
  return text;
}

struct Case {
  std::string name;
  Texts labels;
  std::vector<api::OwnerReference> owners;
  std::string want;
};

api::OwnerReference Controller(const std::string& version, const std::string& kind,
                               const std::string& name = "owner") {
  return {.api_version = version, .kind = kind, .name = name, .uid = "any", .controller = true};
}

class DerivedSelectorTest : public ::testing::TestWithParam<Case> {};

TEST_P(DerivedSelectorTest, OfAPod) {
  const Case& row = GetParam();
  const FakeOwnerListers listers = Cluster();
  ks::testing::PodBuilder pod = MakePod();
  pod.Labels(row.labels);
  pod.pod().meta.owner_references.Mutable() = row.owners;
  const DerivedSelector selector = DeriveSelector(*pod.Obj(), listers);
  EXPECT_EQ(Text(selector), row.want);
  EXPECT_EQ(selector.Empty(), row.want.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Owners, DerivedSelectorTest,
    ::testing::Values(
        Case{"NothingSelectsIt", {{"app", "none"}}, {}, ""},
        Case{"OneService", {{"app", "web"}, {"more", "x"}}, {}, "app=web"},
        Case{"ServicesAreMerged", {{"app", "web"}, {"tier", "front"}}, {}, "app=web,tier=front"},
        Case{"ForeignNamespace", {{"foreign", "yes"}}, {}, ""},
        Case{"TheControllerWins",
             {{"app", "web"}},
             {Controller("v1", "ReplicationController")},
             "app=controller"},
        Case{"ReplicaSet",
             {{"app", "web"}},
             {Controller("apps/v1", "ReplicaSet")},
             "app=web+set=replica"},
        Case{"StatefulSet", {}, {Controller("apps/v1", "StatefulSet")}, "+set=stateful"},
        Case{"NullSelector", {}, {Controller("apps/v1", "ReplicaSet", "null")}, ""},
        Case{"EmptySelector", {}, {Controller("apps/v1", "ReplicaSet", "empty")}, ""},
        Case{"UnknownOwner", {}, {Controller("apps/v1", "ReplicaSet", "gone")}, ""},
        Case{"OldGroup", {}, {Controller("extensions/v1beta1", "ReplicaSet")}, ""},
        Case{"OtherVersionOfAController", {}, {Controller("v2", "ReplicationController")}, ""},
        Case{"Job", {}, {Controller("batch/v1", "Job")}, ""},
        Case{"OnlyTheFirstControllerCounts",
             {},
             {Controller("batch/v1", "Job"), Controller("apps/v1", "ReplicaSet")},
             ""},
        Case{"AnOwnerThatDoesNotControl",
             {},
             {{.api_version = "apps/v1", .kind = "ReplicaSet", .name = "owner", .uid = "u"}},
             ""}),
    [](const auto& row) { return row.param.name; });

TEST(DerivedSelectorMatchTest, AllPartsMustMatch) {
  const FakeOwnerListers listers = Cluster();
  ks::testing::PodBuilder pod = MakePod();
  pod.Labels({{"app", "web"}});
  pod.pod().meta.owner_references.Mutable() = {Controller("apps/v1", "ReplicaSet")};
  const DerivedSelector selector = DeriveSelector(*pod.Obj(), listers);
  EXPECT_TRUE(selector.Matches(MakeLabels({{"app", "web"}, {"set", "replica"}, {"x", "y"}})));
  EXPECT_FALSE(selector.Matches(MakeLabels({{"app", "web"}})));
  EXPECT_FALSE(selector.Matches(MakeLabels({{"set", "replica"}})));
  EXPECT_FALSE(selector.Matches(MakeLabels({{"app", "db"}, {"set", "replica"}})));
}

TEST(ServicesOfTest, AscendingByNameEmptySelectorsIncluded) {
  const FakeOwnerListers listers = Cluster();
  const api::PodPtr pod = MakePod().Labels({{"app", "web"}, {"tier", "front"}}).Obj();
  std::vector<std::string> names;
  for (const api::Service* service : ServicesOf(*pod, listers)) {
    names.push_back(service->meta.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"everything", "front", "web"}));
}

}  // namespace
}  // namespace ks::plugins
