// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/pending_releases.h"

#include <string>

#include <gtest/gtest.h>

namespace ks::plugins {
namespace {

TEST(PendingReleases, FailuresAreKnownUntilTheReservationIsWritten) {
  const PendingReleases::Key key("claim", "pod");
  PendingReleases releases;
  releases.Begin(key);
  EXPECT_TRUE(releases.Contains(key));
  EXPECT_FALSE(releases.IsUnsure(key));
  releases.EndUnsure(key, [] { return true; });
  EXPECT_FALSE(releases.Contains(key));
  EXPECT_TRUE(releases.IsUnsure(key));
  releases.Begin(key);
  releases.End(key);
  EXPECT_TRUE(releases.IsUnsure(key)) << "the first of them may come later";
  releases.Settle(key);
  EXPECT_FALSE(releases.IsUnsure(key));
}

// Pods that never come again do not stay for ever, and looking for them is seldom.
TEST(PendingReleases, WhatIsGoneIsForgotten) {
  constexpr int kStaying = 100;
  PendingReleases releases;
  int asked = 0;
  const auto fail = [&](const std::string& pod, bool stays) {
    releases.EndUnsure({"claim", pod}, [&asked, stays] {
      ++asked;
      return stays;
    });
  };
  for (int i = 0; i < kStaying; ++i) fail("staying-" + std::to_string(i), true);
  EXPECT_LT(asked, 3 * kStaying);
  for (int i = 0; i < kStaying; ++i) fail("gone-" + std::to_string(i), false);
  for (int i = 0; i < kStaying; ++i) fail("later-" + std::to_string(i), true);
  for (int i = 0; i < kStaying; ++i) {
    EXPECT_TRUE(releases.IsUnsure({"claim", "staying-" + std::to_string(i)}));
    EXPECT_FALSE(releases.IsUnsure({"claim", "gone-" + std::to_string(i)}));
  }
  EXPECT_LT(asked, 10 * kStaying);
}

}  // namespace
}  // namespace ks::plugins
