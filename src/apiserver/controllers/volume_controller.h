// SPDX-License-Identifier: Apache-2.0
#pragma once
// As much of the PV controller as scheduling needs: binds claims to matching volumes, honors
// claimRef that a scheduler set, provisions for a fake CSI driver (after
// volume.kubernetes.io/selected-node for delayed binding), and keeps phases and annotations.
//
// Upstream: docs/spec/plugins-volume.md.

#include <memory>
#include <string>

#include "apiserver/service/service.h"

namespace ks::apiserver {

struct VolumeControllerOptions {
  std::string driver = "fake.csi.kubesched.io";  // its classes are provisioned
  Duration provision_delay = std::chrono::milliseconds(200);
  std::string topology_key = "topology.kubernetes.io/zone";  // of provisioned volumes' nodeAffinity
};

std::unique_ptr<Controller> NewVolumeController(Service& service, VolumeControllerOptions options);

}  // namespace ks::apiserver
