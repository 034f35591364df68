// SPDX-License-Identifier: Apache-2.0
#pragma once
// Our allocator behind the protocol of test/controlplane/cmd/draoracle.

#include <string>
#include <string_view>

#include "cel/engine.h"

namespace ks::plugins::dra_compare {

// Threads: one.
class Subject {
 public:
  // The answer to a request, both one line of JSON without its end.
  std::string Answer(std::string_view request);

 private:
  cel::Engine engine_;
};

}  // namespace ks::plugins::dra_compare
