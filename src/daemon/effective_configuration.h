// SPDX-License-Identifier: Apache-2.0
#pragma once
// The configuration that flags and file give together, and how its findings are shown.
//
// Upstream: docs/spec/config.md section 8.3 (step 8 of section 1).

#include <string>
#include <vector>

#include "config/read/load.h"
#include "config/text/findings.h"

namespace ks::daemon {

struct Effective {
  config::Reading reading;  // of the file; without one what the flags give, which is not validated
  // What upstream ignores silently, one line each, with the place in the file. None of a file with
  // faults.
  std::vector<std::string> warnings;
};

// Findings as lines with their places in `file` (empty: there is none): those that say more than
// the error's text does.
std::vector<std::string> FaultLines(const config::Faults& faults, const std::string& file);
std::vector<std::string> WarningLines(const std::vector<config::Finding>& findings,
                                      const std::string& file);

}  // namespace ks::daemon
