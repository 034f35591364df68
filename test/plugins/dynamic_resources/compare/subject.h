// SPDX-License-Identifier: Apache-2.0
#pragma once
// Our allocator behind the protocol of test/controlplane/cmd/draoracle.

#include <string>
#include <string_view>

#include "cel/engine.h"
#include "plugins/dynamic_resources/features.h"

namespace ks::plugins::dra_compare {

// Threads: one.
class Subject {
 public:
  explicit Subject(AllocatorFeatures features = {}) : features_(features) {}

  // The answer to a request, both one line of JSON without its end.
  std::string Answer(std::string_view request);

 private:
  const AllocatorFeatures features_;
  cel::Engine engine_;
};

}  // namespace ks::plugins::dra_compare
