// SPDX-License-Identifier: Apache-2.0
#include "api/json/json_split.h"

#include <gtest/gtest.h>

#include <string>

namespace ks::api {
namespace {

// The parts with a bar between, or the error.
std::string Values(const std::string& text) {
  const JsonSplitter splitter(text);
  const auto values = splitter.Values();
  if (!values.ok()) return values.error().message;
  std::string joined;
  for (const std::string_view value : *values) joined += std::string(value) + "|";
  return joined;
}

std::string Elements(const std::string& text) {
  const JsonSplitter splitter(text);
  const auto elements = splitter.Elements(text);
  if (!elements.ok()) return elements.error().message;
  std::string joined;
  for (const std::string_view element : *elements) joined += std::string(element) + "|";
  return joined;
}

std::string Members(const std::string& text) {
  const JsonSplitter splitter(text);
  const auto members = splitter.Members(text);
  if (!members.ok()) return members.error().message;
  std::string joined;
  for (const JsonMember& member : *members) {
    joined += std::string(member.key) + "=" + std::string(member.value) + "|";
  }
  return joined;
}

TEST(JsonSplitTest, FindsValuesOneBehindTheOther) {
  EXPECT_EQ(Values(""), "");
  EXPECT_EQ(Values(" {} \n{\"a\": [1, {\"b\": 2}]}[]5 true\"x\""),
            "{}|{\"a\": [1, {\"b\": 2}]}|[]|5|true|\"x\"|");
  EXPECT_EQ(Values(R"({"a": "}\"]\\"} {})"), R"({"a": "}\"]\\"}|{}|)");
}

TEST(JsonSplitTest, FindsElementsAndMembers) {
  EXPECT_EQ(Elements("[ ]"), "");
  EXPECT_EQ(Elements("[1 , {\"a\":[2,3]},\"x,y\"]"), "1|{\"a\":[2,3]}|\"x,y\"|");
  EXPECT_EQ(Members("{ }"), "");
  EXPECT_EQ(Members(R"({"a" : {"b": ","}, "c":null})"), R"(a={"b": ","}|c=null|)");
}

TEST(JsonSplitTest, FaultsHaveTheirPlace) {
  EXPECT_EQ(Values("{\n  \"a\": [1\n}"), "line 3, column 1: invalid JSON: a ']' is missing");
  EXPECT_EQ(Values("{}\n {\"a\":1"), "line 2, column 2: invalid JSON: '{' is not closed");
  EXPECT_EQ(Values("{\"a"), "line 1, column 2: invalid JSON: the string does not end");
  EXPECT_EQ(Values("}"), "line 1, column 1: invalid JSON: '}' is no value");
  EXPECT_EQ(Elements("[1 2]"), "line 1, column 4: invalid JSON: a ',' is missing");
  EXPECT_EQ(Elements("[1,"), "line 1, column 4: invalid JSON: a value is missing");
  EXPECT_EQ(Members("{a:1}"), "line 1, column 2: invalid JSON: a key in quotes is missing");
  EXPECT_EQ(Members("{\"a\" 1}"), "line 1, column 6: invalid JSON: a ':' is missing");
  EXPECT_EQ(Members("{\"a\":1,}"), "line 1, column 8: invalid JSON: a key in quotes is missing");
  EXPECT_EQ(Values(std::string(1001, '[')), "line 1, column 1001: invalid JSON: nested too deeply");
}

TEST(JsonSplitTest, TextIsWhatStandsInQuotes) {
  EXPECT_EQ(PlainJsonText("\"Pod\""), "Pod");
  EXPECT_EQ(PlainJsonText("5"), "");
  EXPECT_EQ(PlainJsonText("{}"), "");
}

}  // namespace
}  // namespace ks::api
