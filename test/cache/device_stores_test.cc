// SPDX-License-Identifier: Apache-2.0
#include "cache/device_stores.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testing/deltas.h"

namespace ks::cache {
namespace {

using framework::EventObject;
using framework::EventResource;
using framework::OptionalKind;
using testing::Delete;
using testing::Replace;
using testing::Upsert;
using Origin = framework::DeviceState::ClaimOrigin;
using Sharers = framework::DeviceState::Sharers;
template <class T>
using Deltas = std::vector<api::Delta<T>>;
using Names = std::vector<std::string>;

// An allocation of one device of that name; empty: none.
api::ClaimAllocationPtr Allocation(const std::string& device) {
  if (device.empty()) return nullptr;
  auto allocation = std::make_shared<api::ClaimAllocation>();
  allocation->results = {
      {.request = "r", .driver = Symbol("drv"), .pool = Symbol("p"), .device = Symbol(device)}};
  return allocation;
}

api::ResourceClaimPtr Claim(const char* name, const char* version, const std::string& device = "",
                            const char* uid = nullptr) {
  auto claim = std::make_shared<api::ResourceClaim>();
  claim->meta.ns = Symbol("ns");
  claim->meta.name = name;
  claim->meta.uid = uid == nullptr ? name + std::string("-uid") : uid;
  claim->meta.resource_version = version;
  claim->allocation = Allocation(device);
  return claim;
}

api::ResourceSlicePtr Slice(const char* name, const Names& devices) {
  auto slice = std::make_shared<api::ResourceSlice>();
  slice->meta.name = name;
  slice->driver = Symbol("drv");
  slice->pool = Symbol("p");
  for (const std::string& device : devices) slice->devices.emplace_back().name = Symbol(device);
  return slice;
}

// A rule for the devices of that name; empty: for all of the driver.
api::DeviceTaintRulePtr Rule(const char* name, const std::string& device) {
  auto rule = std::make_shared<api::DeviceTaintRule>();
  rule->meta.name = name;
  rule->selector.emplace().driver = Symbol("drv");
  if (!device.empty()) rule->selector->device = Symbol(device);
  rule->taint = {.key = Symbol(name), .value = {}, .effect = Symbol("NoSchedule")};
  return rule;
}

std::string DeviceOf(const api::ClaimAllocationPtr& allocation) {
  return allocation == nullptr ? "-" : allocation->results.at(0).device.str();
}

class DeviceStoresTest : public ::testing::Test {
 protected:
  template <class T>
  void Apply(Deltas<T> deltas) {
    stores.Apply(DeviceDeltas(std::move(deltas)));
  }
  template <class T>
  void See(std::shared_ptr<const T> object) {
    Apply(Deltas<T>{Upsert(std::move(object))});
  }
  // "ResourceClaimUpdate old new", of all since the last call.
  Names TakeEvents() {
    Names events;
    stores.TellChanges([&](EventResource resource, uint32_t action, const EventObject& old_object,
                           const EventObject& new_object) {
      const framework::ClusterEvent event{
          .resource = resource, .actions = action, .custom_label = {}};
      events.push_back(event.Label().substr(std::string("resource.k8s.io/").size()) +
                       (old_object.index() != 0 ? " old" : "") +
                       (new_object.index() != 0 ? " new" : ""));
    });
    return events;
  }
  std::string VersionOf(const char* key) {
    const api::ResourceClaimPtr claim = stores.FindClaim(key);
    return claim == nullptr ? "none" : claim->meta.resource_version;
  }
  // "removed+added", of all since the last call.
  Names TakeAllocationChanges() {
    Names changes;
    const framework::AllocationLog& log = stores.allocation_changes();
    for (; seen_allocations < log.end(); ++seen_allocations) {
      const framework::AllocationChange& change = log.At(seen_allocations);
      changes.push_back(DeviceOf(change.removed) + "+" + DeviceOf(change.added));
    }
    return changes;
  }
  std::string TaintsOf(const char* slice, size_t device) {
    std::string taints;
    for (const api::DeviceTaint& taint : stores.FindSlice(slice)->devices.at(device).taints) {
      taints += taint.key.str();
    }
    return taints;
  }

  DeviceStores stores;
  uint64_t seen_allocations = 0;
};

TEST_F(DeviceStoresTest, SyncedAfterTheFirstFullState) {
  EXPECT_TRUE(stores.Synced({OptionalKind::kCsiNode})) << "not kept here";
  EXPECT_FALSE(stores.Synced({OptionalKind::kDeviceTaintRule}));
  Apply(Deltas<api::DeviceTaintRule>(1));
  EXPECT_TRUE(stores.Synced({OptionalKind::kDeviceTaintRule}));
  EXPECT_FALSE(stores.Synced({OptionalKind::kDeviceTaintRule, OptionalKind::kResourceClaim}));
}

TEST_F(DeviceStoresTest, ClaimsAreOrderedByVersion) {
  See(Claim("c", "8"));
  See(Claim("c", "8"));
  See(Claim("c", "7"));
  EXPECT_EQ(TakeEvents(), Names{"ResourceClaimAdd new"}) << "not newer";
  EXPECT_EQ(VersionOf("ns/c"), "8");
  See(Claim("c", "10"));
  EXPECT_EQ(VersionOf("ns/c"), "10") << "a number, no text";
  See(Claim("c", "x"));
  EXPECT_EQ(VersionOf("ns/c"), "10");
  Apply(Deltas<api::ResourceClaim>{Delete(Claim("c", "9"))});
  EXPECT_EQ(VersionOf("ns/c"), "none");
  EXPECT_EQ(TakeEvents(), (Names{"ResourceClaimUpdate old new", "ResourceClaimDelete old"}));
}

TEST_F(DeviceStoresTest, AssumedClaimIsTheLatestUntilANewerOneIsShown) {
  See(Claim("c", "8"));
  TakeEvents();
  ASSERT_TRUE(stores.Assume(Claim("c", "9")).ok());
  EXPECT_EQ(VersionOf("ns/c"), "9");
  EXPECT_EQ(TakeEvents(), Names{"ResourceClaimUpdate old new"}) << "of what was assumed, too";
  See(Claim("c", "9"));
  EXPECT_TRUE(TakeEvents().empty()) << "known already";
  See(Claim("c", "10"));
  EXPECT_EQ(VersionOf("ns/c"), "10");
}

TEST_F(DeviceStoresTest, WhatCannotBeAssumed) {
  See(Claim("c", "8"));
  EXPECT_EQ(stores.Assume(Claim("d", "9")).error().message,
            "could not find ResourceClaim \"ns/d\"");
  EXPECT_EQ(stores.Assume(Claim("c", "7")).error().message,
            "ResourceClaim \"ns/c\" is out of sync (stored: 8, assume: 7)");
  EXPECT_EQ(stores.Assume(Claim("c", "v")).error().message,
            "error parsing ResourceVersion \"v\" for ResourceClaim \"ns/c\": "
            "strconv.ParseInt: parsing \"v\": invalid syntax");
  EXPECT_TRUE(stores.Assume(Claim("c", "8")).ok()) << "the same version";
}

TEST_F(DeviceStoresTest, PendingAllocationsHaveSharers) {
  See(Claim("c", "8"));
  EXPECT_EQ(stores.PendingAllocation("c-uid"), nullptr);
  ASSERT_TRUE(stores.AddPendingAllocation(Claim("c", "8", "d0"), Origin::kApi).ok());
  ASSERT_TRUE(stores.AddPendingAllocation(Claim("c", "8", "d1"), Origin::kApi).ok());
  EXPECT_EQ(DeviceOf(stores.PendingAllocation("c-uid")), "d0") << "the first decides";
  EXPECT_FALSE(stores.RemovePendingAllocation("c-uid", Sharers::kOne)) << "one is left";
  EXPECT_TRUE(stores.RemovePendingAllocation("c-uid", Sharers::kOne));
  EXPECT_FALSE(stores.RemovePendingAllocation("c-uid", Sharers::kOne)) << "nothing is left";
  ASSERT_TRUE(stores.AddPendingAllocation(Claim("c", "8", "d0"), Origin::kApi).ok());
  ASSERT_TRUE(stores.AddPendingAllocation(Claim("c", "8", "d0"), Origin::kApi).ok());
  EXPECT_TRUE(stores.RemovePendingAllocation("c-uid", Sharers::kAll));
}

TEST_F(DeviceStoresTest, WhatCannotBecomePending) {
  EXPECT_EQ(stores.AddPendingAllocation(Claim("c", "8", "d0"), Origin::kApi).error().message,
            "look up assumed claim ns/c, UID=c-uid: could not find ResourceClaim \"ns/c\"");
  EXPECT_TRUE(stores.AddPendingAllocation(Claim("m", "", "d0"), Origin::kInMemory).ok());
  EXPECT_NE(stores.PendingAllocation("m-uid"), nullptr);
  See(Claim("c", "8", "d1"));
  EXPECT_TRUE(stores.AddPendingAllocation(Claim("c", "8", "d0"), Origin::kApi).ok());
  EXPECT_EQ(stores.PendingAllocation("c-uid"), nullptr) << "it is allocated already";
  EXPECT_TRUE(stores.AddPendingAllocation(Claim("c", "8", "d0", "other"), Origin::kApi).ok());
  EXPECT_NE(stores.PendingAllocation("other"), nullptr) << "another claim of that name";
}

TEST_F(DeviceStoresTest, AnAllocationCountsOnceFromTheDecisionOn) {
  See(Claim("c", "8"));
  EXPECT_TRUE(TakeAllocationChanges().empty());
  ASSERT_TRUE(stores.AddPendingAllocation(Claim("c", "8", "d0"), Origin::kApi).ok());
  EXPECT_EQ(TakeAllocationChanges(), Names{"-+d0"});
  ASSERT_TRUE(stores.Assume(Claim("c", "9", "d0")).ok());
  EXPECT_TRUE(TakeAllocationChanges().empty()) << "it stands for the claim's own";
  EXPECT_TRUE(stores.RemovePendingAllocation("c-uid", Sharers::kAll));
  EXPECT_EQ(TakeAllocationChanges(), Names{"d0+d0"});
  See(Claim("c", "10", "d0"));
  EXPECT_TRUE(TakeAllocationChanges().empty()) << "the same devices";
  EXPECT_EQ(stores.Allocations().size(), 1u);
  See(Claim("c", "11"));
  EXPECT_EQ(TakeAllocationChanges(), Names{"d0+-"});
  EXPECT_TRUE(stores.Allocations().empty());
}

TEST_F(DeviceStoresTest, AClaimMayHaveOtherDevicesAfterAGap) {
  See(Claim("c", "8", "d0"));
  EXPECT_EQ(TakeAllocationChanges(), Names{"-+d0"});
  See(Claim("c", "12", "d1"));
  EXPECT_EQ(TakeAllocationChanges(), Names{"d0+d1"}) << "what was between was not told";
  ASSERT_EQ(stores.Allocations().size(), 1u);
  EXPECT_EQ(DeviceOf(stores.Allocations()[0]), "d1");
  See(Claim("c", "13"));
  EXPECT_EQ(TakeAllocationChanges(), Names{"d1+-"});
}

TEST_F(DeviceStoresTest, AllocationsGoWithTheirClaims) {
  See(Claim("c", "8", "d0"));
  See(Claim("c", "9", "d1", "reborn"));
  EXPECT_EQ(TakeAllocationChanges(), (Names{"-+d0", "d0+-", "-+d1"})) << "made again";
  Apply(Deltas<api::ResourceClaim>{Delete(Claim("c", "9", "d1", "reborn"))});
  EXPECT_EQ(TakeAllocationChanges(), Names{"d1+-"});
  See(Claim("e", "1"));
  ASSERT_TRUE(stores.AddPendingAllocation(Claim("e", "1", "d2"), Origin::kApi).ok());
  Apply(Deltas<api::ResourceClaim>{Delete(Claim("e", "1"))});
  EXPECT_EQ(TakeAllocationChanges(), Names{"-+d2"}) << "what is pending stays";
  EXPECT_TRUE(stores.RemovePendingAllocation("e-uid", Sharers::kOne));
  EXPECT_EQ(TakeAllocationChanges(), Names{"d2+-"});
}

// Written for a pod, and the watch is late.
TEST_F(DeviceStoresTest, DevicesOfAClaimThatIsNotShownYetStayTaken) {
  const auto settle = [this](const char* name, const char* uid) {
    ASSERT_TRUE(stores.AddPendingAllocation(Claim(name, "7", "d0", uid), Origin::kInMemory).ok());
    stores.SettlePendingAllocation(uid);
    EXPECT_EQ(TakeAllocationChanges(), Names{"-+d0"}) << uid;
    EXPECT_NE(stores.PendingAllocation(uid), nullptr) << uid;
  };
  settle("e", "shown");
  See(Claim("e", "8", "", "shown"));
  EXPECT_TRUE(TakeAllocationChanges().empty()) << "the version before its devices";
  See(Claim("e", "9", "d0", "shown"));
  EXPECT_EQ(TakeAllocationChanges(), Names{"d0+d0"}) << "its own now";
  EXPECT_EQ(stores.PendingAllocation("shown"), nullptr);
  EXPECT_EQ(stores.Allocations().size(), 1u);

  settle("f", "deleted");
  See(Claim("f", "10", "", "deleted"));
  Apply(Deltas<api::ResourceClaim>{Delete(Claim("f", "10", "", "deleted"))});
  EXPECT_EQ(TakeAllocationChanges(), Names{"d0+-"});

  settle("g", "replaced");
  See(Claim("g", "11", "", "replaced"));
  See(Claim("g", "12", "", "other"));
  EXPECT_EQ(TakeAllocationChanges(), Names{"d0+-"});

  settle("h", "listed without");
  Apply(Deltas<api::ResourceClaim>{Replace<api::ResourceClaim>({Claim("e", "9", "d0", "shown")})});
  EXPECT_EQ(TakeAllocationChanges(), Names{"d0+-"}) << "the list has no such claim";
  EXPECT_EQ(stores.Allocations().size(), 1u);
}

TEST_F(DeviceStoresTest, SettledAllocationsOfKnownClaimsGo) {
  ASSERT_TRUE(stores.AddPendingAllocation(Claim("m", "7", "d0"), Origin::kInMemory).ok());
  See(Claim("m", "8", "d0"));
  stores.SettlePendingAllocation("m-uid");
  EXPECT_EQ(stores.PendingAllocation("m-uid"), nullptr) << "it was shown before";
  ASSERT_TRUE(stores.AddPendingAllocation(Claim("n", "7", "d0"), Origin::kInMemory).ok());
  See(Claim("n", "10"));
  Apply(Deltas<api::ResourceClaim>{Delete(Claim("n", "10"))});
  stores.SettlePendingAllocation("n-uid");
  EXPECT_EQ(stores.PendingAllocation("n-uid"), nullptr) << "it was shown, and is gone";
  See(Claim("o", "11"));
  ASSERT_TRUE(stores.AddPendingAllocation(Claim("o", "7", "d0"), Origin::kInMemory).ok());
  Apply(Deltas<api::ResourceClaim>{Delete(Claim("o", "11"))});
  stores.SettlePendingAllocation("o-uid");
  EXPECT_EQ(stores.PendingAllocation("o-uid"), nullptr) << "shown before it was decided";
  See(Claim("c", "9"));
  ASSERT_TRUE(stores.AddPendingAllocation(Claim("c", "9", "d1"), Origin::kApi).ok());
  stores.SettlePendingAllocation("c-uid");
  EXPECT_EQ(stores.PendingAllocation("c-uid"), nullptr) << "whatever was assumed of it";
  stores.SettlePendingAllocation("unknown");
  ASSERT_TRUE(stores.AddPendingAllocation(Claim("l", "7", "d0"), Origin::kInMemory).ok());
  Apply(Deltas<api::ResourceClaim>{Replace<api::ResourceClaim>({})});
  stores.SettlePendingAllocation("l-uid");
  EXPECT_EQ(stores.PendingAllocation("l-uid"), nullptr) << "gone before it was listed";
}

TEST_F(DeviceStoresTest, RulesTaintTheDevicesThatTheySelect) {
  See(Slice("s1", {"d0", "d1"}));
  See(Slice("s2", {"d0"}));
  EXPECT_EQ(TakeEvents(), (Names{"ResourceSliceAdd new", "ResourceSliceAdd new"}));
  See(Rule("b", "d1"));
  EXPECT_EQ(TakeEvents(), Names{"ResourceSliceUpdate old new"}) << "s2 has no such device";
  EXPECT_EQ(TaintsOf("s1", 0), "");
  EXPECT_EQ(TaintsOf("s1", 1), "b");
  See(Rule("a", ""));
  EXPECT_EQ(TaintsOf("s1", 1), "ab") << "by the names of the rules";
  EXPECT_EQ(TaintsOf("s2", 0), "a");
  TakeEvents();
  See(Slice("s1", {"d1"}));
  EXPECT_EQ(TaintsOf("s1", 0), "ab") << "a new version is tainted, too";
  EXPECT_EQ(TakeEvents(), Names{"ResourceSliceUpdate old new"});
  See(Rule("a", ""));
  EXPECT_TRUE(TakeEvents().empty()) << "no taint changed";
  Apply(Deltas<api::DeviceTaintRule>{Delete(Rule("a", ""))});
  EXPECT_EQ(TaintsOf("s1", 0), "b");
  EXPECT_EQ(TaintsOf("s2", 0), "");
  EXPECT_EQ(TakeEvents().size(), 2u);
}

TEST_F(DeviceStoresTest, SlicesAreListedByName) {
  See(Slice("b", {}));
  See(Slice("a", {}));
  ASSERT_EQ(stores.Slices().size(), 2u);
  EXPECT_EQ(stores.Slices()[0]->meta.name, "a");
  Apply(Deltas<api::ResourceSlice>{Delete(Slice("a", {}))});
  EXPECT_EQ(stores.FindSlice("a"), nullptr);
  EXPECT_EQ(stores.changes().end(), 3u);
  EXPECT_EQ(stores.changes().At(2), (framework::ObjectChange{OptionalKind::kResourceSlice, "a"}));
}

TEST_F(DeviceStoresTest, ClassesServeExtendedResources) {
  auto device_class = std::make_shared<api::DeviceClass>();
  device_class->meta.name = "gpu";
  device_class->extended_resource_name = "example.com/gpu";
  See<api::DeviceClass>(device_class);
  EXPECT_EQ(stores.FindDeviceClass("gpu"), device_class);
  const std::string* serving = stores.device_classes().ClassServing(Symbol("example.com/gpu"));
  ASSERT_NE(serving, nullptr);
  EXPECT_EQ(*serving, "gpu");
  Apply(Deltas<api::DeviceClass>{Delete<api::DeviceClass>(device_class)});
  EXPECT_EQ(stores.device_classes().ClassServing(Symbol("example.com/gpu")), nullptr);
  EXPECT_EQ(TakeEvents(), (Names{"DeviceClassAdd new", "DeviceClassDelete old"}));
}

TEST_F(DeviceStoresTest, ExtendedResourceClaimOfAPod) {
  api::Pod pod;
  pod.meta.name = "p";
  pod.meta.uid = "pod-uid";
  auto claim = std::make_shared<api::ResourceClaim>(*Claim("x", "1"));
  claim->meta.owner_references.Mutable() = {{.name = "p", .uid = "pod-uid", .controller = true}};
  See<api::ResourceClaim>(claim);
  EXPECT_EQ(stores.FindExtendedResourceClaim(pod), nullptr) << "an ordinary claim of the pod";
  claim = std::make_shared<api::ResourceClaim>(*claim);
  claim->for_extended_resources = true;
  claim->meta.resource_version = "2";
  See<api::ResourceClaim>(claim);
  EXPECT_EQ(stores.FindExtendedResourceClaim(pod), claim);
  pod.meta.name = "q";
  EXPECT_EQ(stores.FindExtendedResourceClaim(pod), nullptr) << "by name, too";
  pod.meta.name = "p";
  Apply(Deltas<api::ResourceClaim>{Delete<api::ResourceClaim>(claim)});
  EXPECT_EQ(stores.FindExtendedResourceClaim(pod), nullptr);
}

}  // namespace
}  // namespace ks::cache
