// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a program to its end and returns what it said.

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace ks::testing {

struct ProgramResult {
  std::optional<int> exit_status;  // empty: a signal ended it, or it was killed after the limit
  std::string printed;             // standard output
  std::string output;              // the same, then standard error
};

// Starts a program whose output goes to the file `log`, that on standard error to `errors` (empty:
// to `log`, too). `argv[0]` is a path; `folder`: its working directory, empty: ours. The caller
// waits for it. Threads: any.
Result<pid_t> StartProgram(std::vector<std::string> argv, const std::string& log,
                           const std::string& folder = "", const std::string& errors = "");

// `argv[0]` is a path; `folder` becomes its working directory and takes the files `<name>.log` and
// `<name>.errors`. Blocks; kills the program when `limit` is over. Threads: any, with different
// names.
Result<ProgramResult> RunProgram(std::vector<std::string> argv, const std::string& folder,
                                 const std::string& name, std::chrono::milliseconds limit);

}  // namespace ks::testing
