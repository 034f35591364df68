// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a plain (unquoted) scalar means: YAML 1.1 as upstream's reader resolves it, or JSON.
//
// Upstream: docs/spec/config.md section 2.3.

#include <cstdint>
#include <string_view>

namespace ks::config {

enum class Syntax : uint8_t { kYaml, kJson };

struct Scalar {
  enum class Kind : uint8_t { kNull, kBool, kInteger, kFloat, kString };
  Kind kind = Kind::kString;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;  // of integers, too
};

// An integral float counts as integer in YAML (5.0, 1e1) and as float in JSON; integers beyond 64
// bits are floats. Infinities and NaN are floats, too.
Scalar ResolvePlainScalar(std::string_view text, Syntax syntax);

}  // namespace ks::config
