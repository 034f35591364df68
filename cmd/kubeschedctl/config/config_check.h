// SPDX-License-Identifier: Apache-2.0
#pragma once
// kubeschedctl check-config: would a scheduler start with these files, and what is wrong with them.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/gates/feature_gates.h"
#include "config/read/manifest.h"
#include "config/text/findings.h"
#include "daemon/startup.h"

namespace ks::ctl {

struct CheckedFile {
  std::string file;
  std::string error;  // upstream's text; empty: accepted
  std::vector<config::Finding> errors;
  std::vector<config::Finding> warnings;
  // Where the configuration stands in a manifest: "ConfigMap kube-system/scheduler" and
  // "scheduler.yaml".
  std::string object{};
  std::string key{};
  std::string name{};  // what of the file was checked (Embedded::Name); empty: the file
  bool valid() const { return error.empty(); }
};

// What decides besides the file.
struct CheckSettings {
  const config::FeatureGates& gates;
  std::string master{};
  daemon::StartupQuestion::Until until = daemon::StartupQuestion::Until::kRunning;
  bool elsewhere = false;  // the files that the configuration names are on another machine
  std::string key{};       // of a manifest, this one only
};

// By the daemon's own judge (daemon/startup.h). A manifest gives one for each configuration in
// it. Error: it holds none under the key.
Result<std::vector<CheckedFile>> CheckFile(const std::string& file, const CheckSettings& settings);

// "FILE: ok" or "FILE: refused: <upstream's text>", then a line for each finding.
std::string CheckText(const CheckedFile& checked);

// {"files":[{"file","valid","error","findings":[{"severity","path","message","line","column",
// "hint"}]}]}, indented; line, column and hint are left out when unknown; with "object" and "key"
// for what stands in a manifest.
std::string CheckJson(const std::vector<CheckedFile>& files);

}  // namespace ks::ctl
