// SPDX-License-Identifier: Apache-2.0
#include "plugins/inter_pod_affinity/incoming_sums.h"

namespace ks::plugins {

IncomingSums::IncomingSums(const api::Pod& pod, const api::LabelMap& namespace_labels)
    : namespace_labels_(namespace_labels) {
  pod_.meta.ns = pod.meta.ns;
  pod_.meta.labels = pod.meta.labels;
}

TermSums& IncomingSums::Of(const TopologyPtr& topology) {
  const auto [place, inserted] = places_.try_emplace(topology.get());
  if (inserted) place->second = &by_key_.emplace_back(TermSums{.topology = topology});
  return *place->second;
}

}  // namespace ks::plugins
