// SPDX-License-Identifier: Apache-2.0
#include "ksdev/compare/scenario_volumes.h"

#include <fmt/format.h>

#include "ksdev/compare/create_all.h"

namespace ks::ctl::dev {
namespace {

using Json = nlohmann::json;

constexpr const char* kDriver = "bench.csi.kubesched.io";

std::string ClaimName(size_t index) { return fmt::format("claim-{:05}", index); }
std::string VolumeName(size_t index) { return fmt::format("volume-{:05}", index); }

Json CsiNode(size_t index) {
  const std::string name = NodeName(index);
  const Json driver = {{"name", kDriver},
                       {"nodeID", name},
                       {"topologyKeys", nullptr},
                       {"allocatable", {{"count", kVolumesPerNode}}}};
  return {{"apiVersion", "storage.k8s.io/v1"},
          {"kind", "CSINode"},
          {"metadata", {{"name", name}}},
          {"spec", {{"drivers", Json::array({driver})}}}};
}

Json Volume(const Workload& workload, size_t index) {
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolume"},
          {"metadata", {{"name", VolumeName(index)}}},
          {"spec",
           {{"capacity", {{"storage", "1Gi"}}},
            {"accessModes", {"ReadWriteOnce"}},
            {"csi", {{"driver", kDriver}, {"volumeHandle", VolumeName(index)}}},
            {"claimRef",
             {{"apiVersion", "v1"},
              {"kind", "PersistentVolumeClaim"},
              {"namespace", workload.ns},
              {"name", ClaimName(index)}}}}}};
}

Json Claim(size_t index) {
  return {
      {"apiVersion", "v1"},
      {"kind", "PersistentVolumeClaim"},
      {"metadata",
       {{"name", ClaimName(index)}, {"annotations", {{"pv.kubernetes.io/bind-completed", "yes"}}}}},
      {"spec",
       {{"accessModes", {"ReadWriteOnce"}},
        {"storageClassName", ""},
        {"volumeName", VolumeName(index)},
        {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}};
}

}  // namespace

Result<void> CreateVolumes(Cluster& cluster, const Workload& workload, size_t count) {
  if (Result<void> made =
          CreateAll(cluster, workload, workload.nodes, "/apis/storage.k8s.io/v1/csinodes", CsiNode);
      !made.ok()) {
    return made;
  }
  if (Result<void> made = CreateAll(cluster, workload, count, "/api/v1/persistentvolumes",
                                    [&](size_t i) { return Volume(workload, i); });
      !made.ok()) {
    return made;
  }
  const std::string claims =
      "/api/v1/namespaces/" + client::EscapeUrl(workload.ns) + "/persistentvolumeclaims";
  return CreateAll(cluster, workload, count, claims, Claim);
}

void UseClaim(Json& pod, size_t index) {
  pod["spec"]["volumes"] = Json::array(
      {{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", ClaimName(index)}}}}});
}

}  // namespace ks::ctl::dev
