// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples where this process spends its CPU time: 100 stacks per second of CPU time, taken by
// SIGPROF on the thread that runs. Costs nothing while no profile is taken.
// docs/decisions/0034-own-cpu-profiler.md.
//
// Upstream: docs/spec/operations.md section 2.6.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace ks::daemon {

constexpr int kProfileHertz = 100;

// A stack, innermost first: addresses of instructions, those of callers one byte before the return.
struct StackSample {
  std::vector<uintptr_t> addresses;
  int64_t count = 0;
};

struct CpuProfile {
  std::vector<StackSample> samples;  // each stack once
  int64_t dropped = 0;               // samples beyond the buffer of 16,384
  TimePoint begin;
  Duration length{};
};

// Threads: Start and Finish any, one profile at a time in the process.
// Error: one is being taken.
Result<void> StartCpuProfile(TimePoint now);
// Requires: StartCpuProfile succeeded.
CpuProfile FinishCpuProfile(TimePoint now);

}  // namespace ks::daemon
