// SPDX-License-Identifier: Apache-2.0
#pragma once
// The paths that are open to everybody.
//
// Upstream: docs/spec/operations.md section 5.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ks::server {

// Threads: any once made.
class PathAuthorization {
 public:
  // `always_allow`: exact paths, or prefixes with a trailing `*`; a leading slash may be missing.
  // Error: `only trailing * allowed in "a*b"`.
  static Result<PathAuthorization> Make(const std::vector<std::string>& always_allow);

  bool Allowed(std::string_view path) const;

 private:
  std::vector<std::string> exact_;     // without the leading slash
  std::vector<std::string> prefixes_;  // the same
};

}  // namespace ks::server
