// SPDX-License-Identifier: Apache-2.0
// The tie mechanics of docs/spec/queue.md section 4.
#include "queue/heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"

namespace ks::queue {
namespace {

struct Item {
  std::string name;
  int key = 0;
  uint32_t index = 0;
};

class HeapTest : public ::testing::Test {
 protected:
  Item* Push(const std::string& name, int key) {
    items_.push_back(std::make_unique<Item>(Item{.name = name, .key = key, .index = 0}));
    heap_.Push(items_.back().get());
    return items_.back().get();
  }
  std::string Array() const {
    std::string text;
    for (const Item* item : heap_.items()) text += item->name;
    return text;
  }
  std::string PopAll() {
    std::string text;
    while (Item* top = heap_.Top()) {
      text += top->name;
      heap_.Remove(top);
    }
    return text;
  }

  std::vector<std::unique_ptr<Item>> items_;
  IndexedHeap<Item> heap_{[](const Item& a, const Item& b) { return a.key < b.key; }};
};

TEST_F(HeapTest, EqualItemsComeOutByTheMechanicsNotInOrder) {
  for (const char* name : {"a", "b", "c", "d", "e"}) Push(name, 1);
  EXPECT_EQ(Array(), "abcde");
  // a goes, e takes its place and stays there, because no child is strictly less.
  EXPECT_EQ(PopAll(), "aedcb");
}

TEST_F(HeapTest, TheLeftChildWinsATie) {
  Push("a", 1);
  Push("b", 2);
  Push("c", 2);
  Push("d", 3);
  // d becomes the root, b and c tie, the left one rises.
  EXPECT_EQ(PopAll(), "abcd");
}

TEST_F(HeapTest, SiftUpStopsAtAnEqualParent) {
  Push("a", 2);
  Push("b", 2);
  Push("c", 1);
  EXPECT_EQ(Array(), "cba");
}

TEST_F(HeapTest, RemoveFromTheMiddleSiftsTheLastItem) {
  Push("a", 1);
  Item* b = Push("b", 10);
  Push("c", 2);
  Push("d", 11);
  Push("e", 12);
  Push("f", 3);
  heap_.Remove(b);
  EXPECT_EQ(Array(), "afcde");
  EXPECT_EQ(PopAll(), "acfde");
}

TEST_F(HeapTest, FixSiftsDownOrElseUp) {
  Item* a = Push("a", 1);
  Push("b", 2);
  Item* c = Push("c", 3);
  a->key = 5;
  heap_.Fix(a);
  EXPECT_EQ(Array(), "bac");
  c->key = 0;
  heap_.Fix(c);
  EXPECT_EQ(Array(), "cab");
}

TEST_F(HeapTest, RandomOperationsKeepTheOrder) {
  const uint64_t seed = 20260102;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t action = random.Below(4);
    if (heap_.empty() || action < 2) {
      Push("x", static_cast<int>(random.Below(50)));
    } else {
      Item* item = heap_.items()[random.Below(heap_.size())];
      if (action == 2) {
        heap_.Remove(item);
      } else {
        item->key = static_cast<int>(random.Below(50));
        heap_.Fix(item);
      }
    }
    for (size_t i = 0; i < heap_.size(); i += 1 + random.Below(20)) {
      ASSERT_EQ(heap_.items()[i]->index, i);
      if (i > 0) {
        ASSERT_GE(heap_.items()[i]->key, heap_.items()[(i - 1) / 2]->key);
      }
    }
  }
}

}  // namespace
}  // namespace ks::queue
