// SPDX-License-Identifier: Apache-2.0
#include "server/auth/path_authorization.h"

#include <algorithm>
#include <utility>

namespace ks::server {
namespace {

std::string_view WithoutSlash(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

}  // namespace

Result<PathAuthorization> PathAuthorization::Make(const std::vector<std::string>& always_allow) {
  PathAuthorization made;
  for (const std::string& given : always_allow) {
    std::string path(WithoutSlash(given));
    const size_t star = path.find('*');
    if (path.empty()) {
      continue;
    }
    if (star == std::string::npos) {
      made.exact_.push_back(std::move(path));
    } else if (star + 1 == path.size()) {
      path.pop_back();
      made.prefixes_.push_back(std::move(path));
    } else {
      return Error{"only trailing * allowed in \"" + path + "\""};
    }
  }
  return made;
}

bool PathAuthorization::Allowed(std::string_view path) const {
  path = WithoutSlash(path);
  return std::find(exact_.begin(), exact_.end(), path) != exact_.end() ||
         std::any_of(prefixes_.begin(), prefixes_.end(),
                     [path](const std::string& prefix) { return path.starts_with(prefix); });
}

}  // namespace ks::server
