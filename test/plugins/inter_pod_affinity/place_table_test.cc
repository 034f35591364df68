// SPDX-License-Identifier: Apache-2.0
// A table must be the map that it stands for, whatever form it has.
#include "plugins/inter_pod_affinity/place_table.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace ks::plugins {
namespace {

TEST(PlaceTableTest, IsAMap) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    PlaceTable<int64_t> table;
    std::map<int32_t, int64_t> want;
    // Low places only, or seldom others, or any; and how many.
    const uint64_t others = random.Below(3) * 50;
    const uint64_t spread = random.Below(2) == 0 ? 80 : 3000;
    const size_t most = 1 + random.Below(300);
    for (int step = 0; step < 1000; ++step) {
      const bool is_low = random.Below(100) >= others;
      auto place = static_cast<int32_t>(random.Below(is_low ? 60 : spread));
      int64_t difference = 1;
      if (want.size() > most) {
        place = want.lower_bound(place) == want.end() ? want.begin()->first
                                                      : want.lower_bound(place)->first;
        difference = -want[place];
      }
      table.Update(place, [difference](int64_t& value) { value += difference; });
      if ((want[place] += difference) == 0) want.erase(place);
    }
    std::map<int32_t, int64_t> got;
    table.ForEach([&got](size_t place, int64_t value) {
      if (value != 0) got[static_cast<int32_t>(place)] = value;
    });
    ASSERT_EQ(got, want) << "seed " << seed;
    for (int32_t place = -1; place < 3100; ++place) {
      const auto found = want.find(place);
      ASSERT_EQ(table.At(place), found == want.end() ? 0 : found->second) << "seed " << seed;
    }
  }
}

// What a counter takes that counts nothing, few pods on many nodes, and zones.
TEST(PlaceTableTest, TakesWhatItHolds) {
  const auto bytes = [](std::initializer_list<int32_t> places) {
    PlaceTable<int64_t> table;
    for (const int32_t place : places) table.Update(place, [](int64_t& value) { value = 1; });
    return table.MemoryBytes();
  };
  EXPECT_EQ(bytes({}), 0U);
  EXPECT_LE(bytes({0, 1, 2}), 32U);
  EXPECT_LE(bytes({3, 4999}), 100U);
  EXPECT_LE(bytes({4999, 3, 100'000'000}), 200U);
}

}  // namespace
}  // namespace ks::plugins
