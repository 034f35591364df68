// SPDX-License-Identifier: Apache-2.0
#include "base/bounded_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace ks {
namespace {

// Values are their own sizes. The keys that were made, and not found.
class Sizes {
 public:
  explicit Sizes(const CacheLimits& limits) : limits(limits) {}

  size_t Get(size_t size) {
    return *cache.GetOrMake(
        size, limits,
        [&] {
          made.push_back(size);
          return std::make_shared<size_t>(size);
        },
        [](size_t value) { return value; });
  }

  CacheLimits limits;
  BoundedCache<size_t, size_t> cache;
  std::vector<size_t> made;
};

TEST(BoundedCacheTest, ForgetsWhatWasUsedLongestAgo) {
  Sizes sizes({.values = 3});
  for (const size_t size : {1, 2, 3, 1, 4}) EXPECT_EQ(sizes.Get(size), size);
  EXPECT_EQ(sizes.made, (std::vector<size_t>{1, 2, 3, 4}));
  for (const size_t size : {1, 3, 4}) sizes.Get(size);
  EXPECT_EQ(sizes.made.size(), 4U);
  sizes.Get(2);
  EXPECT_EQ(sizes.made.back(), 2U);
}

TEST(BoundedCacheTest, KeepsTheNewestThatFit) {
  Sizes sizes({.bytes = 100});
  for (const size_t size : {10, 20, 30, 40}) sizes.Get(size);
  EXPECT_EQ(sizes.cache.size(), 4U);
  sizes.Get(10);
  sizes.Get(25);  // 125: without the 20 it is still too much
  EXPECT_EQ(sizes.cache.size(), 3U);
  sizes.made.clear();
  for (const size_t size : {10, 25, 40}) sizes.Get(size);
  EXPECT_TRUE(sizes.made.empty());
  sizes.Get(20);
  EXPECT_EQ(sizes.made, std::vector<size_t>{20});
}

TEST(BoundedCacheTest, FindingIsUsing) {
  Sizes sizes({.values = 2});
  EXPECT_EQ(sizes.cache.Find(1), nullptr);
  sizes.Get(1);
  sizes.Get(2);
  EXPECT_EQ(*sizes.cache.Find(1), 1U);
  sizes.Get(3);
  EXPECT_NE(sizes.cache.Find(1), nullptr);
  EXPECT_EQ(sizes.cache.Find(2), nullptr);
}

TEST(BoundedCacheTest, AlwaysKeepsTheNewest) {
  Sizes sizes({.bytes = 5});
  sizes.Get(1);
  sizes.Get(50);
  EXPECT_EQ(sizes.cache.size(), 1U);
  sizes.Get(50);
  EXPECT_EQ(sizes.made.size(), 2U);
}

// Uses of what is there are enough for the others that grew to be noticed.
TEST(BoundedCacheTest, ValuesThatGrowAreMeasuredAgain) {
  BoundedCache<int, std::vector<int>> cache;
  const auto get = [&cache](int key) {
    return cache.GetOrMake(
        key, {.bytes = 100}, [] { return std::make_shared<std::vector<int>>(10); },
        [](const std::vector<int>& value) { return value.size(); });
  };
  for (int key = 0; key < 5; ++key) get(key)->resize(30);
  EXPECT_EQ(cache.size(), 5U);
  for (int use = 0; use < 2000; ++use) get(4);
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_TRUE(cache.Contains(2));
  EXPECT_FALSE(cache.Contains(1));
}

}  // namespace
}  // namespace ks
