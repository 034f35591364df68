// SPDX-License-Identifier: Apache-2.0
#include "server/http/deadline.h"

#include <gtest/gtest.h>

#include <memory>

namespace ks::server {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class DeadlineTest : public ::testing::Test {
 protected:
  DeadlineTest() {
    deadline_->Start(owner_, [this] { ++missed_; });
  }

  boost::asio::io_context io_;
  std::unique_ptr<Deadline> deadline_ = std::make_unique<Deadline>(io_);
  std::shared_ptr<int> owner_ = std::make_shared<int>();
  int missed_ = 0;
};

TEST_F(DeadlineTest, PassesOnce) {
  deadline_->ExpireAfter(milliseconds(1));
  io_.run();
  EXPECT_EQ(missed_, 1);
  EXPECT_TRUE(deadline_->missed());
}

TEST_F(DeadlineTest, MovesBothWays) {
  deadline_->ExpireAfter(hours(1));
  const auto begin = std::chrono::steady_clock::now();
  deadline_->ExpireAfter(milliseconds(1));
  deadline_->ExpireAfter(milliseconds(30));
  io_.run();
  EXPECT_EQ(missed_, 1);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(30));
}

TEST_F(DeadlineTest, ClearedDoesNotPassAndCanBeSetAgain) {
  deadline_->ExpireAfter(milliseconds(1));
  deadline_->Clear();
  io_.run();
  EXPECT_EQ(missed_, 0);
  EXPECT_FALSE(deadline_->missed());
  io_.restart();
  deadline_->ExpireAfter(milliseconds(1));
  io_.run();
  EXPECT_EQ(missed_, 1);
}

TEST_F(DeadlineTest, NobodyIsToldForAnOwnerThatIsGone) {
  deadline_->ExpireAfter(milliseconds(1));
  owner_.reset();
  deadline_.reset();
  io_.run();
  EXPECT_EQ(missed_, 0);
}

}  // namespace
}  // namespace ks::server
