// SPDX-License-Identifier: Apache-2.0
#pragma once
// Our allocator behind the protocol of test/controlplane/cmd/draoracle.

#include <cstddef>
#include <string>
#include <string_view>

#include "cel/engine.h"
#include "plugins/dynamic_resources/features.h"
#include "plugins/dynamic_resources/search.h"

namespace ks::plugins::dra_compare {

// Threads: one.
class Subject {
 public:
  explicit Subject(AllocatorFeatures features = {}) : features_(features) {}

  // DeviceSearch's.
  void SetPatience(size_t patience) { patience_ = patience; }

  // A search with more steps ends with an error.
  void SetMaxSteps(size_t steps) { max_steps_ = steps; }

  // The answer to a request, both one line of JSON without its end.
  std::string Answer(std::string_view request);

 private:
  const AllocatorFeatures features_;
  size_t patience_ = DeviceSearch::kPatience;
  size_t max_steps_ = SIZE_MAX;
  size_t asked_ = 0;  // requests so far
  cel::Engine engine_;
};

}  // namespace ks::plugins::dra_compare
