// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the four volume plugins read of a pod: they all contribute the same fragment.
//
// Upstream: docs/spec/plugins-volume.md section 1.9.

#include <vector>

#include "framework/plugin.h"

namespace ks::plugins {

// The sources of the pod's volumes but for config maps and secrets: names and order do not matter,
// multiplicity does. Threads: immutable.
class VolumeSignature : public framework::SignPlugin {
 public:
  framework::Status Sign(const api::Pod& pod,
                         std::vector<framework::SignFragment>* fragments) const override;
};

}  // namespace ks::plugins
