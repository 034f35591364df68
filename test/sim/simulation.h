// SPDX-License-Identifier: Apache-2.0
#pragma once
// One seed from beginning to end. See docs/simulation.md.

#include <cstdint>
#include <deque>
#include <string>

#include "sim/plan.h"

namespace ks::sim {

struct Outcome {
  std::string failure{};  // empty: everything held
  uint64_t trace_hash = 0;
  uint64_t trace_lines = 0;
  std::deque<std::string> last_lines{};
  Duration virtual_time{};
  uint64_t events = 0;    // of the event loop
  uint64_t steps = 0;     // of all schedulers
  uint64_t binds = 0;     // at the server
  uint64_t exceeded = 0;  // bindings beyond a node's capacity, where that is possible
};

// `print`: every trace line to stdout. Threads: one at a time (KS_CHECK failures end the process).
Outcome Simulate(const Plan& plan, bool print);

}  // namespace ks::sim
