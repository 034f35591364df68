// SPDX-License-Identifier: Apache-2.0
#include "cel/value.h"

#include <limits>

#include <gtest/gtest.h>

namespace ks::cel {
namespace {

TEST(ValueTest, IsSixteenBytes) { EXPECT_EQ(sizeof(Value), 16u); }

TEST(ValueTest, NumbersAreEqualAcrossTypesAsDoubles) {
  EXPECT_TRUE(Equal(Value::Int(1), Value::Double(1)).is_true());
  EXPECT_TRUE(Equal(Value::Uint(1), Value::Int(1)).is_true());
  EXPECT_TRUE(Equal(Value::Int(-1), Value::Uint(~uint64_t{0})).is_false());
  EXPECT_TRUE(Equal(Value::Int(9007199254740993), Value::Double(9007199254740992.0)).is_true());
  const Value nan = Value::Double(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(Equal(nan, nan).is_false());
}

TEST(ValueTest, KeysAreExact) {
  EXPECT_TRUE(SameKey(Value::Int(1), Value::Double(1)));
  EXPECT_FALSE(SameKey(Value::Int(9007199254740993), Value::Double(9007199254740992.0)));
  EXPECT_FALSE(SameKey(Value::Int(1), Value::Bool(true)));
}

TEST(ValueTest, OrderIsWithinATypeOrAmongNumbers) {
  LocalArena arena;
  EXPECT_EQ(Compare(Value::Int(-1), Value::Uint(0)), -1);
  EXPECT_EQ(Compare(MakeString(arena, "b"), MakeString(arena, "a")), 1);
  EXPECT_EQ(Compare(MakeString(arena, "b"), Value::Int(1)), std::nullopt);
  EXPECT_EQ(Compare(Value::Timestamp(1, 5), Value::Timestamp(1, 5, 60)), 0);
}

TEST(ValueTest, TextsKnowTheirLength) {
  LocalArena arena;
  EXPECT_EQ(MakeText(arena, "h\u00e9llo")->length, 5u);
  EXPECT_FALSE(MakeText(arena, "h\u00e9llo")->ascii());
  EXPECT_TRUE(MakeText(arena, "hello")->ascii());
}

TEST(ValueTest, MapsFindKeysSmallAndLarge) {
  LocalArena arena;
  for (const int64_t size : {3, 8, 9, 1000}) {
    SCOPED_TRACE(size);
    Map* map = Map::Make(arena, 0);
    for (int64_t i = 0; i < size; ++i) map->Insert(arena, Value::Int(i), Value::Int(i * i));
    for (int64_t i = 0; i < size; ++i) {
      const Value* found = map->Find(Value::Double(static_cast<double>(i)));
      ASSERT_NE(found, nullptr);
      EXPECT_EQ(found->integer, i * i);
    }
    EXPECT_EQ(map->Find(Value::Int(size)), nullptr);
  }
}

TEST(ValueTest, MapsForgetRemovedKeys) {
  LocalArena arena;
  for (const int64_t size : {1, 7, 8, 9, 40}) {
    SCOPED_TRACE(size);
    Map* map = Map::Make(arena, 0);
    for (int64_t i = 0; i < size; ++i) map->Insert(arena, Value::Int(i), Value::Int(i * i));
    map->Remove(Value::Int(size));
    EXPECT_EQ(map->size, static_cast<size_t>(size));
    for (int64_t i = 0; i < size; i += 2) map->Remove(Value::Int(i));
    EXPECT_EQ(map->size, static_cast<size_t>(size / 2));
    for (int64_t i = 0; i < size; i += 4) map->Insert(arena, Value::Int(i), Value::Int(-i));
    for (int64_t i = 0; i < size; ++i) {
      const Value* found = map->Find(Value::Int(i));
      ASSERT_EQ(found != nullptr, i % 4 != 2) << i;
      if (found != nullptr) EXPECT_EQ(found->integer, i % 4 == 0 ? -i : i * i);
    }
  }
}

TEST(ValueTest, ListsGrow) {
  LocalArena arena;
  List* list = List::Make(arena, 0);
  for (int64_t i = 0; i < 100; ++i) list->Append(arena, Value::Int(i));
  ASSERT_EQ(list->size, 100u);
  EXPECT_EQ((*list)[99].integer, 99);
}

}  // namespace
}  // namespace ks::cel
