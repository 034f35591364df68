// SPDX-License-Identifier: Apache-2.0
#include "golang/base64.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ks::golang {
namespace {

TEST(Base64Test, BothWays) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},        {"f", "Zg=="},          {"fo", "Zm8="},
      {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {std::string("\0\xff\xfe", 3), "AP/+"},
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    EXPECT_EQ(DecodeBase64(text).value(), bytes);
  }
  EXPECT_EQ(DecodeBase64("Zm9v\r\nYmFy\n").value(), "foobar");
  EXPECT_EQ(DecodeBase64("Zm9*").error().message, "illegal base64 data at input byte 3");
}

}  // namespace
}  // namespace ks::golang
