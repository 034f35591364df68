// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program from its arguments to its exit code: the steps of start-up in upstream's order, and
// how a failure of each is printed.
//
// Upstream: docs/spec/config.md section 1.

#include <csignal>
#include <string>
#include <vector>

namespace ks {

// `arguments` without the program's name. Returns the exit code.
int RunCommand(const std::vector<std::string>& arguments, const sigset_t& signals);

}  // namespace ks
