// SPDX-License-Identifier: Apache-2.0
// What an elector knows of the lease, and how old it is (docs/spec/api.md 11.3).
#include "client/election/observed_record.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace ks::client {
namespace {

using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1'767'323'045)};

std::string LeaseJson(const std::string& holder, const std::string& renewed,
                      const std::string& version, const std::string& preferred = "") {
  std::string text = R"({"kind":"Lease","metadata":{"uid":"u","resourceVersion":")" + version +
                     R"("},"spec":{"holderIdentity":")" + holder +
                     R"(","leaseDurationSeconds":15,"acquireTime":"t0","renewTime":")" + renewed +
                     R"(","leaseTransitions":3)";
  if (!preferred.empty()) text += R"(,"preferredHolder":")" + preferred + "\"";
  return text + "}}";
}

LeaseObject Lease(const std::string& holder, const std::string& renewed, const std::string& version,
                  const std::string& preferred = "") {
  return LeaseObject::Parse(LeaseJson(holder, renewed, version, preferred)).value();
}

TEST(ObservedRecord, NothingIsHeldOrValidBeforeItIsSeen) {
  const ObservedRecord observed;
  EXPECT_FALSE(observed.lease().exists());
  EXPECT_FALSE(observed.IsHeldBy("a"));
  EXPECT_FALSE(observed.IsLeaseValid(kStart));
}

TEST(ObservedRecord, AgeCountsFromTheLastChangeOfTheSpec) {
  ObservedRecord observed;
  observed.Observe(Lease("a", "t1", "1"), kStart);
  observed.Observe(Lease("a", "t1", "2"), kStart + seconds(10));
  EXPECT_EQ(observed.lease().resource_version(), "2");
  EXPECT_TRUE(observed.IsLeaseValid(kStart + seconds(15) - Duration(1)));
  EXPECT_FALSE(observed.IsLeaseValid(kStart + seconds(15)));
  observed.Observe(Lease("a", "t2", "3"), kStart + seconds(20));
  EXPECT_TRUE(observed.IsLeaseValid(kStart + seconds(34)));
}

TEST(ObservedRecord, AWriteCountsFromWhenItWasSent) {
  ObservedRecord observed;
  observed.Observe(Lease("b", "t1", "1"), kStart);
  const LeaseRecord written = observed.NextRecord("a", seconds(15), kStart);
  EXPECT_FALSE(observed.ObserveWrite("{}", written, kStart)) << "no Lease";
  EXPECT_TRUE(observed.IsHeldBy("b"));
  EXPECT_TRUE(observed.ObserveWrite(LeaseJson("a", "t2", "2"), written, kStart + seconds(20)));
  EXPECT_TRUE(observed.IsHeldBy("a"));
  EXPECT_FALSE(observed.IsLeaseValid(kStart + seconds(35)));
}

TEST(ObservedRecord, TheNextRecord) {
  ObservedRecord observed;
  EXPECT_EQ(observed.NextRecord("a", seconds(15), kStart).transitions, 0) << "a lease is made";
  observed.Observe(Lease("a", "t1", "1"), kStart);
  const LeaseRecord renewed = observed.NextRecord("a", seconds(15), kStart);
  EXPECT_EQ(renewed.transitions, 3);
  EXPECT_EQ(renewed.acquire_time, "t0");
  EXPECT_EQ(renewed.renew_time, FormatMicroTime(kStart));
  EXPECT_EQ(renewed.duration_seconds, 15);
  const LeaseRecord acquired = observed.NextRecord("b", seconds(15), kStart);
  EXPECT_EQ(acquired.transitions, 4);
  EXPECT_EQ(acquired.acquire_time, acquired.renew_time);
  observed.Clear();
  EXPECT_EQ(observed.NextRecord("a", seconds(15), kStart).transitions, 0) << "it was deleted";
}

TEST(ObservedRecord, APreferredHolderIsToleratedUntilAnotherOneIs) {
  ObservedRecord observed;
  observed.Observe(Lease("a", "t1", "1"), kStart);
  EXPECT_FALSE(observed.PrefersAnotherThan("a"));
  observed.Observe(Lease("a", "t1", "2", "b"), kStart);
  EXPECT_TRUE(observed.PrefersAnotherThan("a"));
  EXPECT_FALSE(observed.PrefersAnotherThan("b"));
  observed.ToleratePreferred();
  EXPECT_FALSE(observed.PrefersAnotherThan("a"));
  observed.Observe(Lease("a", "t1", "3", "c"), kStart);
  EXPECT_TRUE(observed.PrefersAnotherThan("a"));
}

}  // namespace
}  // namespace ks::client
