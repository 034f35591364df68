// SPDX-License-Identifier: Apache-2.0
#include "apiserver/subresources.h"

namespace ks::apiserver {

std::optional<Outcome<Json>> Review(const RequestInfo&, const UserInfo&, Json, const Authorizer&,
                                    const TokenLookup&) {
  return {};
}

}  // namespace ks::apiserver
