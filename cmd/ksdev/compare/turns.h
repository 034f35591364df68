// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs of several schedulers by turns. Who comes first changes from run to run: the machine may
// warm up or slow down.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace ks::ctl::dev {

struct Contestant {
  std::string name;
  std::string binary;
  std::vector<std::string> args{};
};

// Ends with the first failure.
inline Result<void> ByTurns(
    const std::vector<Contestant>& contestants, int runs,
    const std::function<Result<void>(int run, const Contestant& contestant)>& measure) {
  for (int run = 1; run <= runs; ++run) {
    for (size_t turn = 0; turn < contestants.size(); ++turn) {
      const size_t next = (static_cast<size_t>(run) + turn) % contestants.size();
      if (Result<void> measured = measure(run, contestants[next]); !measured.ok()) return measured;
    }
  }
  return {};
}

}  // namespace ks::ctl::dev
