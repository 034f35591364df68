// SPDX-License-Identifier: Apache-2.0
#include "framework/pod_charges.h"

#include <string>

#include <gtest/gtest.h>

#include "testing/builders.h"

namespace ks::framework {
namespace {

using testing::MakePod;
using testing::MakeResources;

// A pod of the same template as `pod`.
api::Pod LikeIt(const api::PodPtr& pod, const std::string& name) {
  api::Pod copy = *pod;
  copy.meta.name = name;
  return copy;
}

TEST(PodChargesTest, PodsOfATemplateShareTheirs) {
  const api::PodPtr pod = MakePod().Req({{"cpu", "1"}}).HostPort(80).Obj();
  PodCharges charges;
  const PodChargePtr charge = charges.Of(*pod);
  EXPECT_EQ(charge->request.requested, AccountPod(*pod).requested);
  EXPECT_EQ(charge->ports.size(), 1U);
  EXPECT_EQ(charges.Of(LikeIt(pod, "other")), charge);
  const api::PodPtr twin = MakePod().Req({{"cpu", "2"}}).Obj();
  EXPECT_EQ(charges.Of(*twin)->request.requested.milli_cpu, 2000);
}

// What counts of the status is told apart, and so is a resize.
TEST(PodChargesTest, TheStatusCounts) {
  const api::PodPtr pod = MakePod().Req({{"cpu", "1"}}).Obj();
  PodCharges charges;
  EXPECT_EQ(charges.Of(*pod)->request.requested.milli_cpu, 1000);

  api::Pod grown = LikeIt(pod, "grown");
  grown.status.resources.Mutable().containers = {
      {.name = "c0",
       .allocated_resources = MakeResources({{"cpu", "3"}}),
       .resources_requests = {}}};
  const PodChargePtr charge = charges.Of(grown);
  EXPECT_EQ(charge->request.requested.milli_cpu, 3000);
  api::Pod infeasible = grown;
  infeasible.status.conditions.Mutable().Add({.type = "PodResizePending", .reason = "Infeasible"});
  infeasible.status.resources.Mutable().containers[0].allocated_resources =
      MakeResources({{"cpu", "500m"}});
  EXPECT_EQ(charges.Of(infeasible)->request.requested.milli_cpu, 500);
  EXPECT_EQ(charges.Of(grown)->request.requested.milli_cpu, 3000);
  EXPECT_EQ(charges.Of(*pod)->request.requested.milli_cpu, 1000);
}

// However many templates there are, each pod gets its own charge.
TEST(PodChargesTest, ManyTemplates) {
  PodCharges charges;
  std::vector<api::PodPtr> pods;
  for (int i = 1; i <= 5000; ++i) {
    pods.push_back(MakePod().Req({{"cpu", std::to_string(i) + "m"}}).Obj());
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i <= 5000; ++i) {
      ASSERT_EQ(charges.Of(*pods[static_cast<size_t>(i - 1)])->request.requested.milli_cpu, i);
    }
  }
}

}  // namespace
}  // namespace ks::framework
