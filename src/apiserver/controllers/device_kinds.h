// SPDX-License-Identifier: Apache-2.0
#pragma once
// What simulated drivers offer: the mini language of `--devices`, and the objects that are made of
// it. Pure functions.
//
//   8xgpu            eight devices gpu-0 … gpu-7 on each node, of driver gpu.example.com
//   8xgpu:binding    they need the driver's word (binding conditions) before a pod may be bound
//   2xnic:shared     they are shared by their capacity `memory`
//   8xgpu:tainted    the last one of each node is not to be used: a NoSchedule taint
//   8xgpu,2xnic      several kinds
//
// Upstream: docs/spec/plugins-dra.md sections 3.2, 4.8 and 6.6.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store/object.h"
#include "base/result.h"

namespace ks::apiserver {

struct DeviceKind {
  int count = 1;  // on each node
  std::string name{};
  bool binding = false;
  bool shared = false;
  bool tainted = false;

  std::string driver() const { return name + ".example.com"; }
};

// Appends the kinds that `text` names. Errors say which part is wrong and what would be right; a
// kind that is in `kinds` already is one.
Result<void> ParseDeviceKinds(std::string_view text, std::vector<DeviceKind>& kinds);

Json DeviceClassOf(const DeviceKind& kind);
// The slice with the devices of one node, whose name is the pool's.
std::string DeviceSliceName(const DeviceKind& kind, const std::string& node);
Json DeviceSliceOf(const DeviceKind& kind, const StoredObject& node);

// Whether a claim's allocation has a device of `kind` whose conditions its driver has yet to set.
bool LacksConditions(const DeviceKind& kind, const Json& claim);
// Sets them: every binding condition is True.
void SetConditions(const DeviceKind& kind, const std::string& now, Json& claim);

}  // namespace ks::apiserver
