// SPDX-License-Identifier: Apache-2.0
#pragma once
// Many objects of one kind, for the scenarios of ksdev compare.

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "client/rest/rest_client.h"
#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/cluster/workload.h"

namespace ks::ctl::dev {

// Posts make(0) … make(count - 1) to `path`. Blocking.
inline Result<void> CreateAll(Cluster& cluster, const Workload& workload, size_t count,
                              const std::string& path,
                              const std::function<nlohmann::json(size_t)>& make) {
  return cluster.SendAll(count, workload.in_flight, [&](size_t i) {
    return client::RestRequest{
        .method = "POST", .target = path, .body = make(i).dump(), .resource = path, .name = path};
  });
}

}  // namespace ks::ctl::dev
