// SPDX-License-Identifier: Apache-2.0
#include "base/shared_value.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ks {
namespace {

using Names = SharedValue<std::vector<std::string>>;

TEST(SharedValueTest, NothingReadsAsTheDefault) {
  const Names none;
  EXPECT_TRUE(none->empty());
  EXPECT_EQ(none.ptr(), nullptr);
  EXPECT_EQ(none, Names(std::make_shared<const std::vector<std::string>>()));
}

TEST(SharedValueTest, ACopyIsTheSameValueUntilItIsChanged) {
  Names a;
  a.Mutable() = {"x"};
  Names b = a;
  EXPECT_EQ(a.ptr(), b.ptr());
  b.Mutable().push_back("y");
  EXPECT_EQ(*a, std::vector<std::string>{"x"});
  EXPECT_EQ(*b, (std::vector<std::string>{"x", "y"}));
  EXPECT_NE(a, b);
  a.Mutable().push_back("y");
  EXPECT_NE(a.ptr(), b.ptr());
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace ks
