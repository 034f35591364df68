// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "api/decoding.h"

namespace ks::api {
namespace {

constexpr std::string_view kMeta =
    R"("metadata":{"name":"web","namespace":"ns","uid":"u1","resourceVersion":"7",)"
    R"("labels":{"dropped":"x"},"annotations":{"dropped":"x"},"generation":3,)"
    R"("ownerReferences":[{"kind":"Deployment","name":"d","controller":true}]})";

std::string WithMeta(std::string_view spec) {
  return "{" + std::string(kMeta) + ",\"spec\":" + std::string(spec) + "}";
}

void ExpectIdentity(const ObjectMeta& meta) {
  EXPECT_EQ(meta.Key(), "ns/web");
  EXPECT_EQ(meta.uid, "u1");
  EXPECT_EQ(meta.resource_version, "7");
  EXPECT_TRUE(meta.labels.empty());
  EXPECT_TRUE(meta.annotations.empty());
  EXPECT_TRUE(meta.owner_references->empty());
}

const LabelMap kWeb{{Symbol("app"), Symbol("web")}};
const LabelMap kOther{{Symbol("app"), Symbol("other")}};

TEST(DecodeWorkloadTest, Service) {
  const ServicePtr service =
      Decode<Service>(WithMeta(R"({"clusterIP":"10.0.0.1","selector":{"app":"web"}})"));
  ASSERT_TRUE(service);
  ExpectIdentity(service->meta);
  EXPECT_EQ(service->selector, kWeb);
}

TEST(DecodeWorkloadTest, ServiceWithoutSelectorIsNotOneWithAnEmptyOne) {
  EXPECT_FALSE(Decode<Service>(WithMeta(R"({"type":"ExternalName"})"))->selector.has_value());
  EXPECT_FALSE(Decode<Service>(WithMeta(R"({"selector":null})"))->selector.has_value());
  const ServicePtr empty = Decode<Service>(WithMeta(R"({"selector":{}})"));
  ASSERT_TRUE(empty->selector.has_value());
  EXPECT_TRUE(empty->selector->empty());
}

TEST(DecodeWorkloadTest, ReplicationController) {
  const ReplicationControllerPtr controller =
      Decode<ReplicationController>(WithMeta(R"({"replicas":2,"selector":{"app":"web"}})"));
  ASSERT_TRUE(controller);
  ExpectIdentity(controller->meta);
  EXPECT_EQ(controller->selector, kWeb);
  EXPECT_TRUE(Decode<ReplicationController>(WithMeta("{}"))->selector.empty());
}

template <class T>
class DecodeSelectingTest : public ::testing::Test {};
using SelectingKinds = ::testing::Types<ReplicaSet, StatefulSet>;
TYPED_TEST_SUITE(DecodeSelectingTest, SelectingKinds);

TYPED_TEST(DecodeSelectingTest, Selector) {
  const auto set =
      Decode<TypeParam>(WithMeta(R"({"selector":{"matchLabels":{"app":"web"},"matchExpressions":[
        {"key":"tier","operator":"DoesNotExist"}]},"template":{"metadata":{"labels":{"a":"b"}}}})"));
  ASSERT_TRUE(set);
  ExpectIdentity(set->meta);
  EXPECT_EQ(set->selector.ToString(), "app=web,!tier");
  EXPECT_TRUE(set->selector.Matches(kWeb));
  EXPECT_FALSE(set->selector.Matches(kOther));
}

TYPED_TEST(DecodeSelectingTest, NullAndInvalidSelectorsMatchNothingEmptyOnesAll) {
  for (const char* const spec :
       {"{}", R"({"selector":null})",
        R"({"selector":{"matchExpressions":[{"key":"a","operator":"Near"}]}})"}) {
    EXPECT_TRUE(Decode<TypeParam>(WithMeta(spec))->selector.MatchesNothing()) << spec;
  }
  const auto empty = Decode<TypeParam>(WithMeta(R"({"selector":{}})"));
  EXPECT_TRUE(empty->selector.Empty());
  EXPECT_TRUE(empty->selector.Matches(kOther));
}

TEST(DecodeWorkloadTest, ErrorsNameThePath) {
  EXPECT_EQ(ErrorOf<Service>(R"({"spec":{"selector":{"app":1}}})"),
            "spec.selector.app: must be a string, not a number");
  EXPECT_EQ(ErrorOf<ReplicationController>(R"({"spec":{"selector":[]}})"),
            "spec.selector: must be an object, not an array");
  EXPECT_EQ(ErrorOf<ReplicaSet>(R"({"spec":{"selector":{"matchExpressions":{}}}})"),
            "spec.selector.matchExpressions: must be an array, not an object");
  EXPECT_EQ(ErrorOf<StatefulSet>(R"({"metadata":{"name":1}})"),
            "metadata.name: must be a string, not a number");
}

TEST(DecodeWorkloadTest, ListsAndWatchEvents) {
  Decoder decoder;
  const auto page = decoder.List<ReplicaSet>(
      Padded(R"({"kind":"ReplicaSetList","metadata":{"resourceVersion":"9"},"items":[)" +
             WithMeta(R"({"selector":{"matchLabels":{"app":"web"}}})") + "]}"));
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->items.size(), 1U);
  ExpectIdentity(page->items[0]->meta);
  EXPECT_EQ(page->resource_version, "9");

  const auto wrong = decoder.List<StatefulSet>(Padded(R"({"kind":"ReplicaSetList","items":[]})"));
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "kind: must be StatefulSetList, not ReplicaSetList");

  const auto event = decoder.Event<Service>(
      Padded(R"({"type":"MODIFIED","object":)" + WithMeta(R"({"selector":{"app":"web"}})") + "}"));
  ASSERT_TRUE(event.ok()) << event.error().message;
  EXPECT_EQ(event->type, WatchEventType::kModified);
  EXPECT_EQ(event->resource_version, "7");
  ASSERT_TRUE(event->object);
  EXPECT_EQ(event->object->selector, kWeb);

  const auto bookmark = decoder.Event<Service>(
      Padded(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"12","annotations":)"
             R"({"k8s.io/initial-events-end":"true"}}}})"));
  ASSERT_TRUE(bookmark.ok()) << bookmark.error().message;
  EXPECT_TRUE(bookmark->initial_events_end);
}

TEST(DecodeWorkloadTest, PodDisruptionBudget) {
  const auto budget = Decode<PodDisruptionBudget>(
      R"({"kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"ns"},"spec":)"
      R"({"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}},"status":{)"
      R"("disruptionsAllowed":2,"disruptedPods":{"p":"2026-11-21T00:00:00Z","q":null},)"
      R"("expectedPods":3}})");
  EXPECT_EQ(budget->meta.Key(), "ns/b");
  EXPECT_TRUE(budget->selector.Matches(kWeb));
  EXPECT_FALSE(budget->selector.Matches(kOther));
  EXPECT_EQ(budget->disruptions_allowed, 2);
  EXPECT_EQ(budget->disrupted_pods, (std::vector<std::string>{"p", "q"}));

  const auto bare = Decode<PodDisruptionBudget>(R"({"metadata":{"name":"b"},"spec":{}})");
  EXPECT_TRUE(bare->selector.MatchesNothing());
  EXPECT_EQ(bare->disruptions_allowed, 0);
  const auto empty = Decode<PodDisruptionBudget>(R"({"spec":{"selector":{}}})");
  EXPECT_TRUE(empty->selector.Empty());
  const auto invalid = Decode<PodDisruptionBudget>(
      R"({"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Wrong"}]}}})");
  EXPECT_TRUE(invalid->selector.MatchesNothing());
}

TEST(DecodeWorkloadTest, TheControllerIsTheFirstOwnerMarkedSo) {
  ObjectMeta meta;
  EXPECT_EQ(meta.Controller(), nullptr);
  meta.owner_references.Mutable() = {
      {.kind = "A"}, {.kind = "B", .controller = true}, {.kind = "C", .controller = true}};
  ASSERT_NE(meta.Controller(), nullptr);
  EXPECT_EQ(meta.Controller()->kind, "B");
}

}  // namespace
}  // namespace ks::api
