// SPDX-License-Identifier: Apache-2.0
#include "apiserver/subresources.h"

namespace ks::apiserver {

Outcome<Json> EvictPod(Registry&, std::string_view, std::string_view, const Json&) {
  return InternalError("not there yet");
}

void UpdateDisruptionBudgets(Registry&, std::string_view) {}

}  // namespace ks::apiserver
