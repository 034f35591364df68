// SPDX-License-Identifier: Apache-2.0
// The order and the limits of a lane of the writer, by jobs that write nothing.
#include "client/write/write_lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/fake_transport.h"
#include "client/write/write_dispatcher.h"

namespace ks::client {
namespace {

using ::testing::ElementsAre;

class FakeJob final : public WriteJob {
 public:
  FakeJob(RestClient& client, std::string name, std::optional<TimePoint> decided)
      : WriteJob(nullptr, client, LaneName::kBind), name_(std::move(name)), decided_(decided) {}

  std::optional<TimePoint> EvictionDecided() const override { return decided_; }
  Counter CountedAs(bool /*ok*/) const override { return nullptr; }
  bool MayStart() const override { return may_start; }
  void Started() override { started = true; }
  void Report(std::optional<api::ApiError> /*error*/) override {}
  const std::string& name() const { return name_; }

  bool may_start = true;
  bool started = false;

 private:
  void Try() override {}

  const std::string name_;
  const std::optional<TimePoint> decided_;
};

class WriteLaneTest : public ::testing::Test {
 protected:
  WriteLaneTest() : client_(net_.Client()) {}

  std::shared_ptr<FakeJob> Add(WriteLane& lane, const std::string& name) {
    return AddJob(lane, name, std::nullopt);
  }
  std::shared_ptr<FakeJob> AddEviction(WriteLane& lane, const std::string& name, int decided) {
    return AddJob(lane, name, TimePoint(std::chrono::seconds(decided)));
  }
  // The names of all that may start.
  static std::vector<std::string> TakeNames(WriteLane& lane, int limit) {
    std::vector<std::string> names;
    while (const JobPtr job = lane.Take(limit)) {
      EXPECT_TRUE(static_cast<FakeJob&>(*job).started);
      names.push_back(static_cast<FakeJob&>(*job).name());
    }
    return names;
  }

 private:
  std::shared_ptr<FakeJob> AddJob(WriteLane& lane, const std::string& name,
                                  std::optional<TimePoint> decided) {
    auto job = std::make_shared<FakeJob>(*client_, name, decided);
    lane.Add(job);
    return job;
  }

  FakeNetwork net_;
  std::unique_ptr<RestClient> client_;
};

TEST_F(WriteLaneTest, FirstComeFirstServedUpToTheLimit) {
  WriteLane lane(2);
  const auto a = Add(lane, "a");
  for (const char* name : {"b", "c"}) Add(lane, name);
  EXPECT_THAT(TakeNames(lane, lane.limit()), ElementsAre("a", "b"));
  EXPECT_TRUE(lane.IsFull());
  EXPECT_EQ(lane.queued(), 1U);
  EXPECT_EQ(lane.pending(), 3U);
  lane.End(*a);
  EXPECT_THAT(TakeNames(lane, lane.limit()), ElementsAre("c"));
  EXPECT_EQ(lane.pending(), 3U) << "until the callback has run";
  lane.RemovePending();
  EXPECT_EQ(lane.pending(), 2U);
}

TEST_F(WriteLaneTest, WhatMayNotStartIsPassedBy) {
  WriteLane lane(8);
  const auto a = Add(lane, "a");
  a->may_start = false;
  Add(lane, "b");
  EXPECT_THAT(TakeNames(lane, 8), ElementsAre("b"));
  EXPECT_FALSE(a->started);
  a->may_start = true;
  EXPECT_THAT(TakeNames(lane, 8), ElementsAre("a"));
}

// Evictions have a quarter of the lane as long as they want it, and what nobody else wants.
TEST_F(WriteLaneTest, EvictionsStandBehindAllOthersInTheOrderOfTheirDecisions) {
  WriteLane lane(8);
  AddEviction(lane, "e3", 3);
  AddEviction(lane, "e1", 1);
  AddEviction(lane, "e2", 2);
  AddEviction(lane, "e2b", 2);
  for (const char* name : {"a", "b", "c"}) Add(lane, name);
  EXPECT_THAT(TakeNames(lane, 8), ElementsAre("e1", "e2", "a", "b", "c", "e2b", "e3"));
}

TEST_F(WriteLaneTest, ASmallerLimitHoldsBack) {
  WriteLane lane(8);
  EXPECT_EQ(lane.Quarter(), 2);
  EXPECT_EQ(WriteLane(3).Quarter(), 1) << "never nothing";
  for (const char* name : {"a", "b", "c"}) Add(lane, name);
  EXPECT_TRUE(lane.HasRoom(4));
  EXPECT_FALSE(lane.HasRoom(3));
  EXPECT_THAT(TakeNames(lane, lane.Quarter()), ElementsAre("a", "b"));
  EXPECT_FALSE(lane.IsFull());
}

TEST_F(WriteLaneTest, WhatIsTakenUnsentStaysPending) {
  WriteLane lane(1);
  for (const char* name : {"a", "b"}) Add(lane, name);
  AddEviction(lane, "e", 1);
  EXPECT_EQ(lane.TakeAll().size(), 3U);
  EXPECT_EQ(lane.queued(), 0U);
  EXPECT_EQ(lane.pending(), 3U);
  Add(lane, "c");
  AddEviction(lane, "f", 1);
  EXPECT_THAT(TakeNames(lane, 2), ElementsAre("f", "c"));
}

}  // namespace
}  // namespace ks::client
