// SPDX-License-Identifier: Apache-2.0
#include "apiserver/subresources.h"

namespace ks::apiserver {

Outcome<Json> BindPod(Registry&, std::string_view, std::string_view, const Json&, bool) {
  return InternalError("not there yet");
}

Outcome<Json> EvictPod(Registry&, std::string_view, std::string_view, const Json&) {
  return InternalError("not there yet");
}

void UpdateDisruptionBudgets(Registry&, std::string_view) {}

std::optional<Outcome<Json>> Review(const RequestInfo&, const UserInfo&, Json, const Authorizer&,
                                    const TokenLookup&) {
  return {};
}

}  // namespace ks::apiserver
