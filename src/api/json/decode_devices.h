// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the readers of claims and of the other kinds of devices share. For the decode_*.cc files
// only.
//
// Upstream: docs/spec/plugins-dra.md sections 2, 3, 5.

#include <vector>

#include "api/json/decode_object.h"

namespace ks::api {

// Null when null.
bool ReadDeviceNodeSelector(JsonReader& reader, JsonReader::Value value,
                            DeviceNodeSelectorPtr& selector);
bool ReadDeviceSelectors(JsonReader& reader, JsonReader::Value value,
                         std::vector<DeviceSelector>& selectors);
// `opaque` as written; entries of classes have no `requests`.
bool ReadDeviceConfigs(JsonReader& reader, JsonReader::Value value,
                       std::vector<DeviceConfig>& configs);

}  // namespace ks::api
