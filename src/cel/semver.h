// SPDX-License-Identifier: Apache-2.0
#pragma once
// Semantic versions: strict reading, lenient reading, precedence. Values of CEL (kubernetes.Semver)
// and of version attributes.
//
// Upstream: docs/spec/cel.md sections 2 and 6.2.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ks::cel {

// Build metadata is kept but not compared. Threads: like a value.
struct Semver {
  // A part of the prerelease: a number, or letters when `text` is not empty.
  struct Identifier {
    uint64_t number = 0;
    std::string text{};
  };

  uint64_t major = 0;
  uint64_t minor = 0;
  uint64_t patch = 0;
  std::vector<Identifier> prerelease{};
  std::string build{};  // "a.1"; empty: none

  // "1.2.3-rc.1+build". Errors: upstream's texts.
  static Result<Semver> Parse(std::string_view text);
  // Also takes a leading `v`, missing minor and patch, leading zeros.
  static Result<Semver> ParseLenient(std::string_view text);

  // As Parse reads it.
  std::string ToString() const;

  // By precedence.
  friend std::strong_ordering operator<=>(const Semver& a, const Semver& b);
  friend bool operator==(const Semver& a, const Semver& b) { return (a <=> b) == 0; }
};

}  // namespace ks::cel
