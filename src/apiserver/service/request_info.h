// SPDX-License-Identifier: Apache-2.0
#pragma once
// A request's target taken apart, as authorization and dispatch see it.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/store/failure.h"
#include "apiserver/store/kinds.h"
#include "apiserver/store/types.h"

namespace ks::apiserver {

struct RequestInfo {
  std::string path{};             // unescaped, without the query
  bool resource_request = false;  // below /api/<version> or /apis/<group>/<version>
  std::string verb{};             // "get", "list", "watch", "create", "update", "patch", "delete",
                                  // "deletecollection"; other paths: the method in lower case
  std::string group{};
  std::string version{};
  std::string resource{};
  std::string subresource{};
  std::string ns{};
  std::string name{};
  std::vector<std::pair<std::string, std::string>> query{};  // unescaped, in order

  // The first value of a query key; empty when absent.
  std::string_view Query(std::string_view key) const;
  bool HasQuery(std::string_view key) const;
};

// Never fails: what is not a resource path is a path. Error: bad escapes (400).
Outcome<RequestInfo> ParseRequest(const ApiRequest& request);

}  // namespace ks::apiserver
