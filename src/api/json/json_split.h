// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the parts of a JSON text without decoding them: which values stand one behind the other,
// the elements of an array, the members of an object. For dumps of mixed kinds, whose objects must
// be told apart before a Decoder can read them. Checks brackets, commas and colons of what it
// walks through, and nothing inside of the values: the Decoder does that.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ks::api {

struct JsonMember {
  std::string_view key;  // as written, without the quotes
  std::string_view value;
};

// Views are parts of `text`, which outlives them. Errors name line and column in it:
// `line 3, column 7: invalid JSON: <cause>`. Threads: like a value.
class JsonSplitter {
 public:
  explicit JsonSplitter(std::string_view text) : text_(text) {}

  // The values that stand one behind the other, as in JSON Lines; brackets are balanced in each.
  Result<std::vector<std::string_view>> Values() const;
  // Requires: `array` is a part of the text that starts with '['.
  Result<std::vector<std::string_view>> Elements(std::string_view array) const;
  // Requires: `object` is a part of the text that starts with '{'.
  Result<std::vector<JsonMember>> Members(std::string_view object) const;

 private:
  std::string_view text_;
};

// The content of a JSON string without escapes; empty for anything else.
std::string_view PlainJsonText(std::string_view value);

}  // namespace ks::api
