// SPDX-License-Identifier: Apache-2.0
#include "cel/context.h"

#include "cel/device.h"

namespace ks::cel {

Value Context::DeviceMap() {
  if (device_map_.is(Kind::kNull) && device_ != nullptr) device_map_ = device_->AsMap(arena_);
  return device_map_;
}

Value Context::Abort(std::string_view message) {
  if (over_limit()) return MakeError(arena_, message);
  if (!aborted_) {
    aborted_ = MakeError(arena_, message);
    cost_at_abort_ = cost_;
  }
  return *aborted_;
}

}  // namespace ks::cel
