// SPDX-License-Identifier: Apache-2.0
#include "apiserver/body.h"

namespace ks::apiserver {

Outcome<Json> DecodeBody(std::string_view, std::string_view body) {
  if (body.empty()) return Json();
  return Json::parse(body);
}

}  // namespace ks::apiserver
