// SPDX-License-Identifier: Apache-2.0
#pragma once
// The documents of discovery, made from the kinds table: groups, resource lists, the aggregated
// form.
//
// Upstream: what kube-apiserver v1.37.1 answers below /api and /apis.

#include <optional>
#include <string_view>
#include <vector>

#include "apiserver/store/object.h"

namespace ks::apiserver {

// API groups besides core in the order in which the server names them, each with its versions,
// preferred one first.
struct ApiGroup {
  std::string_view name;
  std::vector<std::string_view> versions;
};
const std::vector<ApiGroup>& ApiGroups();

// Resources that are only posted: bindings and reviews.
struct PostedResource {
  std::string_view group;
  std::string_view version;
  std::string_view name;
  std::string_view singular;
  std::string_view kind;
  bool namespaced;
};
const std::vector<PostedResource>& PostedResources();

Json ApiVersionsDocument();                    // /api
Json ApiGroupListDocument();                   // /apis
Json ApiGroupDocument(const ApiGroup& group);  // /apis/<group>
// /api/v1, /apis/<group>/<version>. Absent: no such group and version.
std::optional<Json> ApiResourceListDocument(std::string_view group, std::string_view version);
// apidiscovery.k8s.io/v2 APIGroupDiscoveryList of /api (core) or /apis (the others).
Json AggregatedDocument(bool core);

}  // namespace ks::apiserver
