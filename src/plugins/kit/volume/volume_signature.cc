// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/volume/volume_signature.h"

#include <algorithm>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "plugins/kit/signature.h"

namespace ks::plugins {

framework::Status VolumeSignature::Sign(const api::Pod& pod,
                                        std::vector<framework::SignFragment>* fragments) const {
  std::vector<uint64_t> sources;
  for (const api::Volume& volume : pod.spec->volumes) {
    if (volume.source != api::Volume::Source::kConfigMapOrSecret) {
      sources.push_back(volume.fingerprint);
    }
  }
  std::sort(sources.begin(), sources.end());
  fragments->push_back({"v1.Pod.Spec.Volumes.NonSyntheticSources()", SignatureText(sources)});
  return {};
}

}  // namespace ks::plugins
