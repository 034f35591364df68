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
  size_t Get(size_t size, size_t capacity = 100) {
    return *cache.GetOrMake(size, capacity, [&] {
      made.push_back(size);
      return std::make_shared<size_t>(size);
    });
  }
  void Trim(size_t bytes) {
    cache.Trim(bytes, [](size_t size) { return size; });
  }

  BoundedCache<size_t, size_t> cache;
  std::vector<size_t> made;
};

TEST(BoundedCacheTest, ForgetsWhatWasUsedLongestAgo) {
  Sizes sizes;
  for (const size_t size : {1, 2, 3, 1, 4}) EXPECT_EQ(sizes.Get(size, 3), size);
  EXPECT_EQ(sizes.made, (std::vector<size_t>{1, 2, 3, 4}));
  for (const size_t size : {1, 3, 4}) sizes.Get(size, 3);
  EXPECT_EQ(sizes.made.size(), 4U);
  sizes.Get(2, 3);
  EXPECT_EQ(sizes.made.back(), 2U);
}

TEST(BoundedCacheTest, TrimKeepsTheNewestThatFit) {
  Sizes sizes;
  for (const size_t size : {10, 20, 30, 40}) sizes.Get(size);
  sizes.Trim(100);
  EXPECT_EQ(sizes.cache.size(), 4U);
  sizes.Trim(99);
  EXPECT_EQ(sizes.cache.size(), 3U);
  sizes.Get(30);
  sizes.Trim(70);
  EXPECT_EQ(sizes.cache.size(), 2U);
  sizes.made.clear();
  sizes.Get(30);
  sizes.Get(40);
  EXPECT_TRUE(sizes.made.empty());
  sizes.Get(20);
  EXPECT_EQ(sizes.made, std::vector<size_t>{20});
}

TEST(BoundedCacheTest, TrimAlwaysKeepsTheNewest) {
  Sizes sizes;
  sizes.Trim(5);
  sizes.Get(1);
  sizes.Get(50);
  sizes.Trim(5);
  EXPECT_EQ(sizes.cache.size(), 1U);
  sizes.Get(50);
  EXPECT_EQ(sizes.made.size(), 2U);
}

}  // namespace
}  // namespace ks
