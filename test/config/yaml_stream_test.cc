// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "config/text/yaml_document.h"

namespace ks::config {
namespace {

// The documents as JSON with a bar between, or the error.
std::string Documents(const std::string& text) {
  const auto parsed = ParseYamlStream(text);
  if (const auto* fault = std::get_if<Finding>(&parsed)) return fault->message;
  std::string joined;
  for (const Document& document : std::get<0>(parsed)) {
    joined += CompactJson(document.root, document.syntax) + "|";
  }
  return joined;
}

TEST(YamlStreamTest, ReadsEveryDocument) {
  EXPECT_EQ(Documents(""), "");
  EXPECT_EQ(Documents("a: 1\n"), "{\"a\":1}|");
  EXPECT_EQ(Documents("---\na: 1\n---\n- x\n...\n---\n"), "{\"a\":1}|[\"x\"]|null|");
}

TEST(YamlStreamTest, AnchorsEndWithTheirDocument) {
  EXPECT_EQ(Documents("a: &x 1\nb: *x\n---\nc: *x\n"), "yaml: unknown anchor 'x' referenced");
}

TEST(YamlStreamTest, AFaultAnywhereRefusesAll) {
  EXPECT_EQ(Documents("a: 1\n---\nb: [\n"), "yaml: line 3: did not find expected node content");
}

// A file of configuration may not be that long.
TEST(YamlStreamTest, LongTextsAreRead) {
  std::string text;
  for (int i = 0; i < 110'000; ++i) text += "- 1\n- 2\n";
  const auto parsed = ParseYamlStream(text);
  ASSERT_EQ(parsed.index(), 0u);
  EXPECT_EQ(std::get<0>(parsed).at(0).root.items.size(), 220'000u);
  EXPECT_EQ(ParseYamlDocument(text).index(), 1u);
}

TEST(YamlStreamTest, AliasesCannotMultiplyAText) {
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string former(1, static_cast<char>(c - 1));
    text += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) text += "*" + former + (i < 9 ? ", " : "]\n");
  }
  EXPECT_EQ(Documents(text), "yaml: document contains excessive aliasing");
}

}  // namespace
}  // namespace ks::config
