// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who may ask for what: the paths that are open to everybody, and the answer to all others. There
// is no authentication in this version, so every caller is anonymous and everything that is not
// open is forbidden.
//
// Upstream: docs/spec/operations.md sections 2.1 and 5.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/https_server.h"

namespace ks::server {

// Threads: any once made.
class PathAuthorization {
 public:
  // `always_allow`: exact paths, or prefixes with a trailing `*`; a leading slash may be missing.
  // Error: `only trailing * allowed in "a*b"`.
  static Result<PathAuthorization> Make(const std::vector<std::string>& always_allow);

  bool Allowed(std::string_view path) const;

  // The guard for HttpsOptions: absent for open paths, else 403.
  Guard MakeGuard() const;

 private:
  std::vector<std::string> exact_;     // without the leading slash
  std::vector<std::string> prefixes_;  // the same
};

// 403 as upstream's API machinery writes it, for `user`.
Response Forbidden(const Request& request, std::string_view user);

}  // namespace ks::server
