// SPDX-License-Identifier: Apache-2.0
#include "apiserver/authorizer.h"

namespace ks::apiserver {

namespace {

class AllowAll final : public Authorizer {
 public:
  Decision Authorize(const UserInfo&, const RequestInfo&) const override { return {}; }
};

}  // namespace

std::unique_ptr<Authorizer> NewAllowAll() { return std::make_unique<AllowAll>(); }

Result<std::unique_ptr<Authorizer>> LoadPolicy(const std::string&) {
  return Error{"not there yet"};
}

}  // namespace ks::apiserver
