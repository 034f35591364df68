// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/fits_empty.h"

#include "plugins/kit/device_resources.h"

namespace ks::plugins {

using framework::Resource;

bool FitsEmpty(const framework::Handle& handle, const Resource& request, const Resource& all) {
  if (all.allowed_pod_number < 1) return false;
  for (const auto resource :
       {&Resource::milli_cpu, &Resource::memory, &Resource::ephemeral_storage}) {
    if (request.*resource > 0 && request.*resource > all.*resource) return false;
  }
  for (const auto& [name, amount] : request.scalars) {
    const int64_t offered = all.Amount(name);
    if (amount <= 0 || amount <= offered) continue;
    if (offered > 0 || !ServedByDevices(handle, name)) return false;
  }
  return true;
}

}  // namespace ks::plugins
