// SPDX-License-Identifier: Apache-2.0
#include "ksdev/compare/scenario_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "ksdev/compare/create_all.h"

namespace ks::ctl::dev {
namespace {

using Json = nlohmann::json;

std::string GangName(size_t index) { return fmt::format("gang-{:05}", index); }

Json Gang(size_t index, size_t members) {
  return {{"apiVersion", "scheduling.k8s.io/v1beta1"},
          {"kind", "PodGroup"},
          {"metadata", {{"name", GangName(index)}}},
          {"spec", {{"schedulingPolicy", {{"gang", {{"minCount", members}}}}}}}};
}

}  // namespace

std::vector<std::string> GroupApiServerFlags() {
  return {kGroupGates, "--runtime-config=scheduling.k8s.io/v1beta1=true"};
}

Result<void> CreateGangs(Cluster& cluster, const Workload& workload, size_t size, size_t count) {
  const std::string path =
      fmt::format("/apis/scheduling.k8s.io/v1beta1/namespaces/{}/podgroups", workload.ns);
  return CreateAll(cluster, workload, (count + size - 1) / size, path,
                   [&](size_t i) { return Gang(i, std::min(size, count - i * size)); });
}

void JoinGang(Json& pod, size_t size, size_t index) {
  pod["spec"]["schedulingGroup"] = {{"podGroupName", GangName(index / size)}};
}

}  // namespace ks::ctl::dev
