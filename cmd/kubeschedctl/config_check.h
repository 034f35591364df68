// SPDX-License-Identifier: Apache-2.0
#pragma once
// kubeschedctl check-config: would a scheduler start with these files, and what is wrong with them.

#include <string>
#include <vector>

#include "config/feature_gates.h"
#include "config/findings.h"

namespace ks::ctl {

struct CheckedFile {
  std::string file;
  std::string error;  // upstream's text; empty: accepted
  std::vector<config::Finding> errors;
  std::vector<config::Finding> warnings;
  bool valid() const { return error.empty(); }
};

CheckedFile CheckFile(const std::string& file, const config::FeatureGates& gates);

// "FILE: ok" or "FILE: refused: <upstream's text>", then a line for each finding.
std::string CheckText(const CheckedFile& checked);

// {"files":[{"file","valid","error","findings":[{"severity","path","message","line","column",
// "hint"}]}]}, indented; line, column and hint are left out when unknown.
std::string CheckJson(const std::vector<CheckedFile>& files);

}  // namespace ks::ctl
