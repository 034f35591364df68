// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources/scored_resources.h"

namespace ks::plugins {

std::vector<ScoredResource> ScoredResources(const std::vector<config::ResourceSpec>& specs) {
  using Kind = ScoredResource::Kind;
  const framework::ResourceNames& names = framework::ResourceNames::Get();
  std::vector<ScoredResource> resources;
  for (const config::ResourceSpec& spec : specs) {
    const Symbol name(spec.name);
    if (name == names.cpu) {
      resources.push_back({name, Kind::kMilliCpu, spec.weight});
    } else if (name == names.memory) {
      resources.push_back({name, Kind::kMemory, spec.weight});
    } else if (name == names.ephemeral_storage) {
      resources.push_back({name, Kind::kEphemeralStorage, spec.weight});
    } else if (framework::IsScalarResource(name)) {
      resources.push_back({name, Kind::kScalar, spec.weight});
    }
  }
  return resources;
}

PodAmounts::PodAmounts(std::span<const ScoredResource> resources,
                       const framework::Resource& request) {
  amounts.reserve(resources.size());
  for (const ScoredResource& resource : resources) {
    amounts.push_back(request.Amount(resource.name));
    if (amounts.back() != 0) all_zero = false;
  }
}

}  // namespace ks::plugins
