// SPDX-License-Identifier: Apache-2.0
#include "client/write/pod_requests.h"

#include <utility>

namespace ks::client {

RestRequest PodRequest(const api::Pod& pod, const char* subresource) {
  std::string target = "/api/v1/namespaces/";
  target.append(pod.meta.ns.view()).append("/pods/").append(pod.meta.name).append(subresource);
  return {.target = std::move(target), .decoded = true, .resource = "pods", .name = pod.meta.name};
}

RestRequest StatusPatchRequest(const api::Pod& pod, std::string body) {
  RestRequest request = PodRequest(pod, "/status");
  request.method = "PATCH";
  request.body = std::move(body);
  request.content_type = "application/strategic-merge-patch+json";
  return request;
}

}  // namespace ks::client
