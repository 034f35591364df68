// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one extender's filter answer came to, in numbers, for operators: an extender may drop nodes
// without saying why, and the pod's event then names nobody.
//
// Upstream: docs/spec/cycle.md section 10.2; upstream keeps no such numbers.

#include <cstddef>
#include <string>

namespace ks::scheduler {

struct ExtenderFiltering {
  std::string extender;    // its URL, without credentials
  size_t asked = 0;        // nodes that it was asked about
  size_t kept = 0;         // nodes that it left
  size_t unexplained = 0;  // nodes that it dropped without a reason
};

}  // namespace ks::scheduler
