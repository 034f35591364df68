// SPDX-License-Identifier: Apache-2.0
#pragma once
// Storage objects as JSON for tests of volumes, end to end.

#include <optional>
#include <string>
#include <vector>

#include "e2e/cluster.h"

namespace ks::e2e {

inline constexpr char kVolumesPath[] = "/api/v1/persistentvolumes";
inline constexpr char kClaimsPath[] = "/api/v1/namespaces/default/persistentvolumeclaims";
inline constexpr char kPodsPath[] = "/api/v1/namespaces/default/pods";
inline constexpr char kStoragePath[] = "/apis/storage.k8s.io/v1/";

inline constexpr char kZoneLabel[] = "topology.kubernetes.io/zone";
inline constexpr char kHostLabel[] = "kubernetes.io/hostname";

inline json ClassManifest(const std::string& name, const std::string& provisioner,
                          const std::string& binding_mode) {
  return {{"apiVersion", "storage.k8s.io/v1"}, {"kind", "StorageClass"},
          {"metadata", {{"name", name}}},      {"provisioner", provisioner},
          {"reclaimPolicy", "Delete"},         {"volumeBindingMode", binding_mode}};
}

inline json ClaimManifest(const std::string& name, const std::string& storage_class,
                          const std::string& size = "1Gi",
                          const std::string& mode = "ReadWriteOnce") {
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolumeClaim"},
          {"metadata", {{"name", name}}},
          {"spec",
           {{"accessModes", json::array({mode})},
            {"storageClassName", storage_class},
            {"resources", {{"requests", {{"storage", size}}}}}}}};
}

// A pod that uses these claims and nearly nothing else.
inline json PodWithClaims(const std::string& name, const std::vector<std::string>& claims) {
  json pod = PodManifest(name, {{"cpu", "10m"}});
  for (const std::string& claim : claims) {
    pod["spec"]["volumes"].push_back(
        {{"name", claim}, {"persistentVolumeClaim", {{"claimName", claim}}}});
  }
  return pod;
}

// For nodes whose label `key` is one of `values`.
inline json VolumeAffinity(const std::string& key, const std::vector<std::string>& values) {
  const json in = {{"key", key}, {"operator", "In"}, {"values", values}};
  return {{"required",
           {{"nodeSelectorTerms", json::array({{{"matchExpressions", json::array({in})}}})}}}};
}

// `source`: {"csi": {…}} and the like.
inline json VolumeManifest(const std::string& name, const std::string& storage_class,
                           const std::string& size, const json& source) {
  json volume = {{"apiVersion", "v1"},
                 {"kind", "PersistentVolume"},
                 {"metadata", {{"name", name}}},
                 {"spec",
                  {{"capacity", {{"storage", size}}},
                   {"accessModes", json::array({"ReadWriteOnce"})},
                   {"persistentVolumeReclaimPolicy", "Retain"},
                   {"storageClassName", storage_class}}}};
  volume["spec"].update(source);
  return volume;
}
inline json LocalVolume(const std::string& name, const std::string& storage_class,
                        const std::string& size, const std::string& node) {
  json volume = VolumeManifest(name, storage_class, size, {{"local", {{"path", "/mnt/" + name}}}});
  volume["spec"]["nodeAffinity"] = VolumeAffinity(kHostLabel, {node});
  return volume;
}
inline json CsiVolume(const std::string& name, const std::string& storage_class,
                      const std::string& size, const std::string& driver) {
  return VolumeManifest(name, storage_class, size,
                        {{"csi", {{"driver", driver}, {"volumeHandle", "h-" + name}}}});
}

inline json CsiNodeManifest(const std::string& node, const std::string& driver,
                            std::optional<int> count = std::nullopt) {
  json entry = {{"name", driver}, {"nodeID", node}, {"topologyKeys", json::array({kZoneLabel})}};
  if (count) entry["allocatable"] = {{"count", *count}};
  return {{"apiVersion", "storage.k8s.io/v1"},
          {"kind", "CSINode"},
          {"metadata", {{"name", node}}},
          {"spec", {{"drivers", json::array({entry})}}}};
}

inline json CsiDriverManifest(const std::string& name, bool storage_capacity = false) {
  return {{"apiVersion", "storage.k8s.io/v1"},
          {"kind", "CSIDriver"},
          {"metadata", {{"name", name}}},
          {"spec", {{"storageCapacity", storage_capacity}}}};
}

// What a driver can still make of a class in a zone; the object is named after the zone.
inline json CapacityManifest(const std::string& storage_class, const std::string& zone,
                             const std::string& capacity) {
  return {{"apiVersion", "storage.k8s.io/v1"},
          {"kind", "CSIStorageCapacity"},
          {"metadata", {{"name", zone}}},
          {"storageClassName", storage_class},
          {"capacity", capacity},
          {"nodeTopology", {{"matchLabels", {{kZoneLabel, zone}}}}}};
}

}  // namespace ks::e2e
