// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"

namespace ks::api {

namespace {

bool IsWellFormed(std::string_view version) {
  return !version.empty() && version.front() != '0' &&
         std::all_of(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<std::strong_ordering> CompareResourceVersions(std::string_view a, std::string_view b) {
  for (const std::string_view version : {a, b}) {
    if (!IsWellFormed(version)) {
      return Error{fmt::format("resource version is not well formed: {}", version)};
    }
  }
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

}  // namespace ks::api
