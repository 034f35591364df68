// SPDX-License-Identifier: Apache-2.0
#include "apiserver/volume_controller.h"

namespace ks::apiserver {
namespace {

class VolumeController final : public Controller {
 public:
  void Step() override {}
  std::optional<TimePoint> NextDue() const override { return std::nullopt; }
};

}  // namespace

std::unique_ptr<Controller> NewVolumeController(Service&, VolumeControllerOptions) {
  return std::make_unique<VolumeController>();
}

}  // namespace ks::apiserver
