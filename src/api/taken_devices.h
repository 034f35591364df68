// SPDX-License-Identifier: Apache-2.0
#pragma once
// What allocations take.

#include <algorithm>

#include "api/devices.h"

namespace ks::api {

// Whether the same devices are in use with either of them, by the same shares.
inline bool TakeSameDevices(const ClaimAllocation& a, const ClaimAllocation& b) {
  return std::equal(a.results.begin(), a.results.end(), b.results.begin(), b.results.end(),
                    [](const DeviceResult& x, const DeviceResult& y) {
                      return x.driver == y.driver && x.pool == y.pool && x.device == y.device &&
                             x.share_id == y.share_id && x.admin_access == y.admin_access;
                    });
}

}  // namespace ks::api
