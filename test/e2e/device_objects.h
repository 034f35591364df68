// SPDX-License-Identifier: Apache-2.0
#pragma once
// Manifests of devices, classes and claims of them, for end-to-end tests.

#include <string>
#include <utility>
#include <vector>

#include "e2e/cluster.h"

namespace ks::e2e {

inline constexpr char kDevicesPath[] = "/apis/resource.k8s.io/v1/";
inline constexpr char kDeviceClaimsPath[] =
    "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";

inline json DeviceObject(const std::string& kind, const std::string& name, json spec) {
  return {{"apiVersion", "resource.k8s.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}}},
          {"spec", std::move(spec)}};
}

// A slice of the pool named after the node, which has `slices` of them.
inline json SliceManifest(const std::string& driver, const std::string& node, int slices = 1) {
  return DeviceObject(
      "ResourceSlice", driver + "-" + node,
      {{"driver", driver},
       {"nodeName", node},
       {"pool", {{"name", node}, {"generation", 1}, {"resourceSliceCount", slices}}}});
}

// The class of all devices of a driver. `extended`: the extended resource that it stands for.
inline json DriverClassManifest(const std::string& name, const std::string& driver,
                                const std::string& extended = "") {
  json spec = {{"selectors",
                json::array({{{"cel", {{"expression", "device.driver == \"" + driver + "\""}}}}})}};
  if (!extended.empty()) spec["extendedResourceName"] = extended;
  return DeviceObject("DeviceClass", name, spec);
}

inline json DeviceClaimManifest(const std::string& name, const std::vector<json>& requests) {
  json spec = {{"devices", {{"requests", requests}}}};
  return DeviceObject("ResourceClaim", name, spec);
}

// A request of `count` devices of a class.
inline json DeviceRequest(const std::string& name, const std::string& device_class, int count) {
  return {{"name", name}, {"exactly", {{"deviceClassName", device_class}, {"count", count}}}};
}

// Names the claims in the pod.
inline void AddDeviceClaims(json& pod, const std::vector<std::string>& claims) {
  for (const std::string& claim : claims) {
    pod["spec"]["resourceClaims"].push_back({{"name", claim}, {"resourceClaimName", claim}});
  }
}

}  // namespace ks::e2e
