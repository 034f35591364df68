// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ks::framework {

// Marks a placeholder whose PostFilter answers as upstream's plugin does for pods that do not need
// it: the runtime asks it, where it leaves other placeholders out (framework::PlaceholderPlugin).
class PostFilterStandIn {
 public:
  virtual ~PostFilterStandIn() = default;
};

}  // namespace ks::framework
