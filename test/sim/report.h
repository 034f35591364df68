// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is printed of a seed that failed, also when it ended the process.

#include <cstdint>
#include <string>

#include "sim/simulation.h"

namespace ks::sim {

// From now on this seed is at work.
void BeginReport(uint64_t seed, const std::string& canary);

// Seed, version, the last lines of the trace, and how to replay it; to stdout.
void ReportFailure(const Outcome& outcome);

// A failed KS_CHECK, a crash, or a seed that takes minutes ends the process with such a report and
// exit code 1; quiet: without the report.
void InstallCrashReport(bool quiet);

}  // namespace ks::sim
