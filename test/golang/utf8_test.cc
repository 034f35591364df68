// SPDX-License-Identifier: Apache-2.0
#include "golang/utf8.h"

#include <gtest/gtest.h>

namespace ks::golang {
namespace {

TEST(Utf8Test, DamagedBytesAreReplacedOneByOne) {
  struct Case {
    std::string_view text;
    std::string_view mended;
  };
  for (const Case& test : {
           Case{"", ""}, Case{"plain", "plain"},
           Case{"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
           Case{"a\xFF", "a\xEF\xBF\xBD"}, Case{"\xE2\x82", "\xEF\xBF\xBD\xEF\xBF\xBD"},  // cut
           Case{"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},                  // overlong
           Case{"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},  // surrogate
           Case{"\xF4\x90\x80\x80x",
                "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx"},  // too large
       }) {
    SCOPED_TRACE(test.text);
    EXPECT_EQ(IsUtf8(test.text), test.text == test.mended);
    EXPECT_EQ(ToUtf8(test.text), test.mended);
    EXPECT_TRUE(IsUtf8(test.mended));
  }
}

}  // namespace
}  // namespace ks::golang
