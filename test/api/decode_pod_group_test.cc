// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/decoding.h"
#include "api/pod_group.h"

namespace ks::api {
namespace {

TEST(DecodePodGroupTest, Gang) {
  const auto group = Decode<PodGroup>(R"({"apiVersion":"scheduling.k8s.io/v1beta1",
    "kind":"PodGroup","metadata":{"name":"g","namespace":"ns","uid":"u","resourceVersion":"7",
      "creationTimestamp":"2026-01-02T03:04:05Z","annotations":{"a":"b"},
      "finalizers":["scheduling.k8s.io/podgroup-protection"]},
    "spec":{"parentCompositePodGroupName":"c","workloadRef":{"workloadName":"w"},
      "schedulingPolicy":{"gang":{"minCount":3}},
      "schedulingConstraints":{"topology":[{"key":"zone"},{"key":"rack"}]},
      "resourceClaims":[{"name":"a","resourceClaimName":"ca"},
                        {"name":"b","resourceClaimTemplateName":"tb"}],
      "disruptionMode":{"all":{}},"priorityClassName":"high","priority":12,
      "preemptionPolicy":"Never"},
    "status":{"conditions":[{"type":"PodGroupInitiallyScheduled","status":"False",
        "reason":"Unschedulable","message":"m","lastTransitionTime":"2026-01-02T03:04:05Z"}],
      "resourceClaimStatuses":[{"name":"b","resourceClaimName":"g-b-x"}]}})");
  EXPECT_EQ(group->meta.Key(), "ns/g");
  EXPECT_EQ(group->meta.uid, "u");
  EXPECT_TRUE(group->meta.creation_timestamp.has_value());
  EXPECT_TRUE(group->meta.annotations.empty());
  EXPECT_EQ(group->min_count, 3);
  EXPECT_EQ(group->spec, (GroupSpec{.parent_composite_pod_group_name = "c",
                                    .topology_keys = {Symbol("zone"), Symbol("rack")},
                                    .disruption_mode = DisruptionMode::kAll,
                                    .priority_class_name = "high",
                                    .priority = 12,
                                    .preemption_policy = Symbol("Never")}));
  EXPECT_EQ(group->resource_claims,
            (std::vector<PodResourceClaim>{{"a", "ca", ""}, {"b", "", "tb"}}));
  ASSERT_EQ(group->conditions.size(), 1u);
  EXPECT_EQ(group->conditions[0].type, kPodGroupInitiallyScheduled);
  EXPECT_EQ(group->conditions[0].reason, "Unschedulable");
  ASSERT_EQ(group->resource_claim_statuses.size(), 1u);
  EXPECT_EQ(group->resource_claim_statuses[0].resource_claim_name, "g-b-x");
}

TEST(DecodePodGroupTest, BasicAndWhatIsAbsent) {
  const auto group = Decode<PodGroup>(R"({"apiVersion":"scheduling.k8s.io/v1alpha3",
    "kind":"PodGroup","metadata":{"name":"g","namespace":"ns"},
    "spec":{"schedulingPolicy":{"basic":{},"gang":null},"disruptionMode":{"single":{},"all":null},
      "schedulingConstraints":null,"resourceClaims":null,"parentCompositePodGroupName":null},
    "status":null})");
  EXPECT_EQ(group->min_count, std::nullopt);
  EXPECT_EQ(group->spec, GroupSpec());
  EXPECT_TRUE(group->resource_claims.empty());
  EXPECT_TRUE(group->conditions.empty());
}

TEST(DecodePodGroupTest, GangWithoutCount) {
  const auto group =
      Decode<PodGroup>(R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{}}}})");
  EXPECT_EQ(group->min_count, 0);
}

TEST(DecodePodGroupTest, Composite) {
  const auto group = Decode<CompositePodGroup>(R"({"metadata":{"name":"c","namespace":"ns"},
    "spec":{"parentCompositePodGroupName":"top","workloadRef":{"workloadName":"w"},
      "schedulingPolicy":{"gang":{"minGroupCount":2}},
      "schedulingConstraints":{"topology":[{"key":"zone"}]},"priority":-5}})");
  EXPECT_EQ(group->meta.Key(), "ns/c");
  EXPECT_EQ(group->min_group_count, 2);
  EXPECT_EQ(group->spec.parent_composite_pod_group_name, "top");
  EXPECT_EQ(group->spec.topology_keys, std::vector<Symbol>{Symbol("zone")});
  EXPECT_EQ(group->spec.priority, -5);
  const auto basic = Decode<CompositePodGroup>(
      R"({"metadata":{"name":"c"},"spec":{"schedulingPolicy":{"basic":{}}}})");
  EXPECT_EQ(basic->min_group_count, std::nullopt);
}

}  // namespace
}  // namespace ks::api
