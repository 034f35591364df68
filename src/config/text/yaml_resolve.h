// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a YAML scalar means: YAML 1.1 as upstream's reader resolves it, tags included.
//
// Upstream: docs/spec/config.md section 2.3.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::config {

struct YamlScalar {
  enum class Kind : uint8_t { kNull, kBool, kInteger, kFloat, kString };
  Kind kind = Kind::kString;
  bool boolean = false;
  double number = 0;  // kFloat; may be infinite or not a number
  std::string text;   // kString: the string, kInteger: in decimal, up to 64 bits
};

// A scalar with an explicit tag ("tag:yaml.org,2002:int", "!local"), or a plain one, whose tag is
// empty. Errors: the tag does not fit the text.
Result<YamlScalar> ResolveScalar(std::string_view tag, std::string_view text);

// The name of a member whose key is this scalar. Requires: not null.
std::string KeyText(const YamlScalar& scalar);

// As Go prints a value for debugging (%#v), for messages about keys.
std::string GoSyntax(const YamlScalar& scalar);

}  // namespace ks::config
