// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/resource_score/scored_resources.h"

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
    } else {
      const Kind kind = framework::IsScalarResource(name) ? Kind::kScalar : Kind::kOther;
      resources.push_back({name, kind, spec.weight});
    }
  }
  return resources;
}

PodAmounts::PodAmounts(std::span<const ScoredResource> resources,
                       const api::ResourceList& request) {
  amounts.reserve(resources.size());
  for (const ScoredResource& resource : resources) {
    const api::Quantity* asked = request.Find(resource.name);
    if (asked == nullptr) {
      amounts.push_back(0);
    } else if (resource.kind == ScoredResource::Kind::kMilliCpu) {
      amounts.push_back(asked->MilliValue());
    } else {
      amounts.push_back(asked->Value());
    }
    if (amounts.back() != 0) all_zero = false;
  }
}

}  // namespace ks::plugins
