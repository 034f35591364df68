// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the readers of claims and of the other kinds of devices share. For the decode_*.cc files
// only.
//
// Upstream: docs/spec/plugins-dra.md sections 2, 3, 5.

#include <vector>

#include "api/decode/decode_object.h"

namespace ks::api {

// Null when null.
bool ReadDeviceNodeSelector(FieldReader auto& reader, auto value, DeviceNodeSelectorPtr& selector);
bool ReadDeviceSelectors(FieldReader auto& reader, auto value,
                         std::vector<DeviceSelector>& selectors);
// `opaque` as written; entries of classes have no `requests`.
bool ReadDeviceConfigs(FieldReader auto& reader, auto value, std::vector<DeviceConfig>& configs);

}  // namespace ks::api
