// SPDX-License-Identifier: Apache-2.0
#include "cache/node_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/builders.h"

namespace ks::cache {
namespace {

using ks::testing::MakeNode;
using ks::testing::Texts;

std::vector<std::string> Names(const NodeTree& tree) {
  std::vector<std::string> names;
  for (const std::string_view name : tree.List()) names.emplace_back(name);
  return names;
}

constexpr const char* kBetaZone = "failure-domain.beta.kubernetes.io/zone";
constexpr const char* kBetaRegion = "failure-domain.beta.kubernetes.io/region";
constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kRegion = "topology.kubernetes.io/region";

TEST(ZoneKeyTest, Table) {
  const std::string separator(":\0:", 3);
  const struct {
    const char* name;
    Texts labels;
    std::string want;
  } cases[] = {
      {"ex21 region and zone", {{kRegion, "r1"}, {kZone, "z1"}}, "r1" + separator + "z1"},
      {"ex21 zone only", {{kZone, "z"}}, separator + "z"},
      {"ex22 an empty beta zone wins", {{kBetaZone, ""}, {kZone, "z1"}}, ""},
      {"empty zone, region set", {{kBetaZone, ""}, {kZone, "z1"}, {kRegion, "r"}}, "r" + separator},
      {"beta labels",
       {{kBetaRegion, "br"}, {kBetaZone, "bz"}, {kZone, "z"}, {kRegion, "r"}},
       "br" + separator + "bz"},
      {"no labels", {}, ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    ks::testing::NodeBuilder node = MakeNode();
    for (const auto& [key, value] : c.labels) node.Label(key, value);
    EXPECT_EQ(ZoneKey(*node.Obj()), c.want);
  }
}

TEST(NodeTreeTest, InterleavesZonesInOrderOfCreation) {
  NodeTree tree;
  for (const auto& [name, zone] : Texts{{"a1", "za"},
                                        {"a2", "za"},
                                        {"b1", "zb"},
                                        {"a3", "za"},
                                        {"c1", "zc"},
                                        {"c2", "zc"},
                                        {"x", ""}}) {
    EXPECT_TRUE(tree.Add(name, zone));
  }
  EXPECT_EQ(Names(tree), (std::vector<std::string>{"a1", "b1", "c1", "x", "a2", "c2", "a3"}));
  EXPECT_EQ(tree.size(), 7U);

  EXPECT_FALSE(tree.Add("a1", "za"));  // known
  EXPECT_TRUE(tree.Add("a2", "zb"));   // moves to the end of the other zone
  EXPECT_EQ(Names(tree), (std::vector<std::string>{"a1", "b1", "c1", "x", "a3", "a2", "c2"}));

  // An emptied zone comes back at the end.
  EXPECT_TRUE(tree.Remove("x", "").ok());
  EXPECT_TRUE(tree.Add("d", "zd"));
  EXPECT_TRUE(tree.Add("x", ""));
  EXPECT_EQ(Names(tree), (std::vector<std::string>{"a1", "b1", "c1", "d", "x", "a3", "a2", "c2"}));
}

TEST(NodeTreeTest, RemoveFromTheWrongZoneFails) {
  NodeTree tree;
  tree.Add("n", "za");
  const Result<void> wrong = tree.Remove("n", "zb");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "node \"n\" in group \"zb\" was not found");
  EXPECT_FALSE(tree.Remove("m", "za").ok());
  EXPECT_EQ(tree.size(), 1U);
  tree.Forget("n");
  tree.Forget("n");
  EXPECT_TRUE(tree.List().empty());
}

}  // namespace
}  // namespace ks::cache
