// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who may do what, from a policy file. Without a file everybody who is authenticated may do
// everything.

#include <memory>
#include <string>

#include "apiserver/service/request_info.h"
#include "apiserver/store/types.h"
#include "base/result.h"

namespace ks::apiserver {

struct Decision {
  bool allowed = true;
  std::string reason{};  // may be empty
};

// Threads: any. Immutable after construction.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  virtual Decision Authorize(const UserInfo& user, const RequestInfo& request) const = 0;
};

// All authenticated users (group system:authenticated) may do everything; anonymous ones may read
// /healthz, /livez, /readyz and /version.
std::unique_ptr<Authorizer> NewAllowAll();

// Upstream's ABAC policy format: one JSON object per line, kind Policy,
// abac.authorization.kubernetes.io/v1beta1, with user, group, readonly, apiGroup, namespace,
// resource, nonResourcePath. Group system:masters may do everything. Errors name file and line.
Result<std::unique_ptr<Authorizer>> LoadPolicy(const std::string& file);

}  // namespace ks::apiserver
