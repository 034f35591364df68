// SPDX-License-Identifier: Apache-2.0
#include "golang/json_text.h"

#include <gtest/gtest.h>

namespace ks::golang {
namespace {

TEST(JsonTextTest, CompactJsonIsWhatAnEncoderMakesOfKeptText) {
  struct Case {
    const char* name;
    const char* json;
    const char* want;
  };
  const Case cases[] = {
      {"White", "{ \"a\" :\t[1,\n null ] }\r\n", R"({"a":[1,null]})"},
      {"WhiteInText", R"({"a b":" c\t"})", R"({"a b":" c\t"})"},
      {"EndOfText", R"(["\"", " ]", "\\", "x"])", R"(["\""," ]","\\","x"])"},
      {"Markup", R"({"<a>":"&"})", R"({"\u003ca\u003e":"\u0026"})"},
      {"LineEnds", "\"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\"", "\"\\u2028\\u2029\xe2\x80\xaa\""},
      {"Escapes", R"("\u00fc\u003c\/")", R"("\u00fc\u003c\/")"},
      {"Empty", "", ""},
  };
  for (const Case& row : cases) EXPECT_EQ(CompactJson(row.json), row.want) << row.name;
}

}  // namespace
}  // namespace ks::golang
