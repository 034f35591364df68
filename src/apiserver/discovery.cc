// SPDX-License-Identifier: Apache-2.0
#include "apiserver/discovery.h"

namespace ks::apiserver {

std::optional<ApiResponse> AnswerDiscovery(const ApiRequest&, const RequestInfo&, bool) {
  return {};
}

}  // namespace ks::apiserver
