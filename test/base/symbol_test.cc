// SPDX-License-Identifier: Apache-2.0
#include "base/symbol.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/symbol_table.h"

namespace ks {
namespace {

TEST(SymbolTable, EqualTextsAreEqualSymbolsFromEveryThread) {
  constexpr int kThreads = 4;
  constexpr int kTexts = 2000;
  std::vector<std::vector<Symbol>> symbols(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&symbols, t] {
      for (int i = 0; i < kTexts; ++i) {
        symbols[t].emplace_back("symbol-" + std::to_string(i));
        EXPECT_EQ(symbols[t].back().view(), "symbol-" + std::to_string(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 1; t < kThreads; ++t) EXPECT_EQ(symbols[t], symbols[0]);
  std::map<Symbol, int> distinct;
  for (const Symbol& symbol : symbols[0]) ++distinct[symbol];
  EXPECT_EQ(distinct.size(), static_cast<size_t>(kTexts));
}

TEST(SymbolTable, TheEmptyTextIsTheDefault) {
  EXPECT_EQ(Symbol(), Symbol(""));
  EXPECT_TRUE(Symbol("").empty());
  EXPECT_FALSE(Symbol("x").empty());
  const std::string longer(100'000, 'y');
  const Symbol symbol(longer);
  EXPECT_EQ(symbol.view(), longer);
}

TEST(SymbolTable, ForgetsATextThatNothingNames) {
  SymbolTable table({.first_counted = 2});
  const uint32_t lasting = table.Intern("lasting");
  EXPECT_EQ(lasting, 1U);
  const uint32_t once = table.Intern("once");
  const uint32_t twice = table.Intern("twice");
  EXPECT_EQ(table.Intern("twice"), twice);
  EXPECT_EQ(table.size(), 4U);

  table.Release(once);
  EXPECT_EQ(table.size(), 3U);
  table.Release(twice);
  EXPECT_EQ(table.size(), 3U) << "a name is left";
  EXPECT_EQ(table.Text(twice), "twice");

  EXPECT_EQ(table.Intern("another"), once) << "the next text takes the id";
  EXPECT_EQ(table.Text(once), "another");
  EXPECT_EQ(table.Intern("lasting"), lasting);
}

TEST(SymbolTable, KeepsSomeUnnamedTexts) {
  SymbolTable table({.first_counted = 1, .most_unnamed = 2});
  const uint32_t a = table.Intern("a");
  const uint32_t b = table.Intern("b");
  const uint32_t c = table.Intern("c");
  table.Release(a);
  table.Release(b);
  EXPECT_EQ(table.Intern("a"), a) << "named again while it waits";
  table.Release(c);
  EXPECT_EQ(table.size(), 4U) << "the longest unnamed was a, which has a name";
  const uint32_t d = table.Intern("d");
  table.Release(d);
  EXPECT_EQ(table.size(), 4U) << "b is forgotten";
  EXPECT_EQ(table.Intern("c"), c);
  EXPECT_EQ(table.Intern("e"), b) << "its id is free";
}

TEST(SymbolTable, ForeverIsForever) {
  SymbolTable table({.first_counted = 1});
  const uint32_t id = table.Intern("kept");
  table.KeepForever(id);
  table.Release(id);
  EXPECT_EQ(table.Text(id), "kept");
  EXPECT_EQ(table.Intern("kept"), id);
  table.Release(id);
  EXPECT_EQ(table.Text(id), "kept");
}

// Threads name and drop a few texts, so that the last name's end and the next one's beginning meet.
TEST(SymbolTable, ThreadsNameAndDropTheSameTexts) {
  SymbolTable table({.first_counted = 1, .most_unnamed = 3});
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&table, seed] {
      Random random(seed);
      std::vector<std::pair<uint32_t, std::string>> held;
      for (int i = 0; i < 20'000; ++i) {
        if (held.size() < 4 && random.Below(2) == 0) {
          std::string text = "a text of some length, number " + std::to_string(random.Below(8));
          const uint32_t id = table.Intern(text);
          if (random.Below(4) == 0) {
            table.Retain(id);
            held.emplace_back(id, text);
          }
          held.emplace_back(id, std::move(text));
        } else if (!held.empty()) {
          const size_t place = random.Below(held.size());
          ASSERT_EQ(table.Text(held[place].first), held[place].second) << "seed " << seed;
          table.Release(held[place].first);
          held.erase(held.begin() + static_cast<ptrdiff_t>(place));
        }
      }
      for (const auto& [id, text] : held) table.Release(id);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(table.size(), 4U) << "the empty text and three unnamed ones";
}

// Names of one text are counted through copies, moves and assignments of every kind.
TEST(Symbol, ATextLivesAsLongAsItsLastSymbol) {
  std::vector<Symbol> others;  // so that what follows is counted
  for (uint32_t i = 0; others.empty() || others.back().id() < Symbol::kFirstCounted; ++i) {
    others.emplace_back("other-" + std::to_string(i));
  }
  const size_t before = ProcessSymbols().size();
  {
    std::optional<Symbol> first(std::in_place, "a text that nothing else names");
    ASSERT_GE(first->id(), Symbol::kFirstCounted);
    Symbol copy = *first;
    Symbol assigned;
    assigned = copy;
    const Symbol& self = assigned;
    assigned = self;
    Symbol moved = std::move(copy);
    EXPECT_TRUE(copy.empty());  // NOLINT(bugprone-use-after-move)
    first.reset();
    assigned = std::move(moved);
    EXPECT_EQ(assigned.view(), "a text that nothing else names");
    std::vector<Symbol> many(100, assigned);
    assigned = Symbol("another text that nothing else names");
    many.erase(many.begin(), many.begin() + 99);
    EXPECT_EQ(many.front(), Symbol("a text that nothing else names"));
    EXPECT_EQ(ProcessSymbols().size(), before + 2);
  }
#ifdef KS_SANITIZED
  EXPECT_EQ(ProcessSymbols().size(), before);
#endif
}

TEST(Symbol, ABorrowedOneFindsAndCountsNothing) {
  const std::map<Symbol, int> places = {{Symbol("here"), 1}};
  const uint32_t id = places.begin()->first.id();
  EXPECT_TRUE(places.contains(BorrowedSymbol(id).symbol()));
  EXPECT_FALSE(places.contains(BorrowedSymbol(0xffffffff).symbol()));
}

}  // namespace
}  // namespace ks
