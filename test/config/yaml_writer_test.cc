// SPDX-License-Identifier: Apache-2.0
// Expected texts are what kube-scheduler writes: docs/spec/config.md 7.1.
#include "config/text/yaml_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "config/text/yaml_plain.h"

namespace ks::config {
namespace {

using nlohmann::json;

std::string Written(const char* text) { return WriteYamlDocument(json::parse(text)); }

TEST(YamlWriter, LaysOutCollections) {
  EXPECT_EQ(Written(R"({"b":{"d":[],"c":{}},"a":[{"y":1,"x":null},[true,[2]],"z"]})"),
            "a:\n"
            "- x: null\n"
            "  \"y\": 1\n"
            "- - true\n"
            "  - - 2\n"
            "- z\n"
            "b:\n"
            "  c: {}\n"
            "  d: []\n");
  EXPECT_EQ(Written("{}"), "{}\n");
  EXPECT_EQ(Written("[]"), "[]\n");
  EXPECT_EQ(Written("null"), "null\n");
}

TEST(YamlWriter, SortsKeysWithNumbersByValueAndLettersLast) {
  EXPECT_EQ(Written(R"({"a10":1,"a2":2,"aB":3,"a":4,"a_":5,"é":6,"-":7,"a02":8})"),
            "'-': 7\na: 4\na_: 5\na2: 2\na02: 8\na10: 1\naB: 3\né: 6\n");
}

TEST(YamlWriter, KeysThatAreLongOrHaveLines) {
  const std::string key(129, 'k');
  EXPECT_EQ(WriteYamlDocument({{key, 1}}), "? " + key + "\n: 1\n");
  EXPECT_EQ(Written(R"({"a\nb":1})"), "? |-\n  a\n  b\n: 1\n");
}

struct TextRow {
  const char* text;
  const char* yaml;
};

class YamlText : public ::testing::TestWithParam<TextRow> {};

TEST_P(YamlText, IsWrittenAsUpstream) {
  EXPECT_EQ(WriteYamlDocument({{"k", GetParam().text}}),
            "k: " + std::string(GetParam().yaml) + "\n");
}

const TextRow kTexts[] = {
    // Would be read as something else.
    {"", "\"\""},
    {"~", "\"~\""},
    {"null", "\"null\""},
    {"yes", "\"yes\""},
    {"Y", "\"Y\""},
    {"OFF", "\"OFF\""},
    {"123", "\"123\""},
    {"+1", "\"+1\""},
    {"08", "\"08\""},
    {"0o17", "\"0o17\""},
    {"0b11", "\"0b11\""},
    {"0xF", "\"0xF\""},
    {"1__0", "\"1__0\""},
    {"18446744073709551615", "\"18446744073709551615\""},
    {".5", "\".5\""},
    {"1.", "\"1.\""},
    {"1e3", "\"1e3\""},
    {".inf", "\".inf\""},
    {"-.INF", "\"-.INF\""},
    {"2020-01-01", "\"2020-01-01\""},
    {"2020-1-2T3:4:5.6Z", "\"2020-1-2T3:4:5.6Z\""},
    {"2020-01-02 10:20:30", "\"2020-01-02 10:20:30\""},
    {"2020-01-02t10:20:30+01:00", "\"2020-01-02t10:20:30+01:00\""},
    {"1:30", "\"1:30\""},
    {"-12:30:45.5", "\"-12:30:45.5\""},
    // Would not.
    {"1:99", "1:99"},
    {"0o8", "0o8"},
    {"0x", "0x"},
    {"tRue", "tRue"},
    {"nO", "nO"},
    {"2020-13-45", "2020-13-45"},
    {"2021-02-29", "2021-02-29"},
    {"2020-01-02T10:20:30", "2020-01-02T10:20:30"},
    {"1e", "1e"},
    {"1e999", "1e999"},
    {"+", "+"},
    {"._5", "._5"},
    {":a", ":a"},
    {"?x", "?x"},
    {"-x", "-x"},
    {"~a", "~a"},
    {"a,", "a,"},
    {"=", "="},
    {"<<", "<<"},
    {"a:b#c", "a:b#c"},
    {"中é", "中é"},
    // Indicators and blanks.
    {" a", "' a'"},
    {"a ", "'a '"},
    {"a: b", "'a: b'"},
    {"a #b", "'a #b'"},
    {"a:", "'a:'"},
    {"*a", "'*a'"},
    {"%", "'%'"},
    {"@x", "'@x'"},
    {"it's", "it's"},
    {"'", "''''"},
    {"\"", "'\"'"},
    {"{a}", "'{a}'"},
    {"- a", "'- a'"},
    {"?", "'?'"},
    {"---", "'---'"},
    {"...", "'...'"},
    // Characters that need escapes.
    {"\tx", "\"\\tx\""},
    {"a\rb", "\"a\\rb\""},
    {"\x01", "\"\\x01\""},
    {"\xF0\x9F\x98\x80", "\"\\U0001F600\""},
    {"a \nb", "\"a \\nb\""},
    // Lines.
    {"a\nb", "|-\n  a\n  b"},
    {"a\n", "|\n  a"},
    {"\na", "|2-\n\n  a"},
    {"a\n\n", "|+\n  a\n"},
    // Folding at the first blank behind column 80.
    {"aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa b",
     "aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa\n  b"},
    // Not UTF-8.
    {"a\xFFz", "a\xEF\xBF\xBDz"},
};

INSTANTIATE_TEST_SUITE_P(Spec, YamlText, ::testing::ValuesIn(kTexts));

TEST(YamlWriter, Numbers) {
  EXPECT_EQ(
      Written("[0,-5,18446744073709551615,12.5,0.1,1e30,1234567.5,1.0,100000.5,0.00001,-0.0]"),
      "- 0\n- -5\n- 18446744073709551615\n- 12.5\n- 0.1\n- 1e+30\n- 1.2345675e+06\n- 1\n"
      "- 100000.5\n- 1e-05\n- -0\n");
}

}  // namespace
}  // namespace ks::config
