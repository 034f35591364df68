// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verbs about configuration files. Each prints to standard output, errors to standard error.

#include <string>
#include <vector>

namespace ks::ctl {

struct CheckConfigOptions {
  std::vector<std::string> files;
  std::vector<std::string> feature_gates;  // values of --feature-gates
  std::string master;                      // the scheduler's --master
  std::string key;                         // of a manifest, this configuration only
  bool elsewhere = false;                  // files that are named are on another machine
  bool json = false;
};
// 0: a scheduler would start with every file; 1: it would not; 2: wrong use.
int RunCheckConfig(const CheckConfigOptions& options);

struct DiffConfigOptions {
  std::string before;
  std::string after;
  std::string key;  // of manifests with several configurations, this one
  std::vector<std::string> feature_gates;
  bool json = false;
};
// 0: both files mean the same; 1: they differ; 2: one of them is refused.
int RunDiffConfig(const DiffConfigOptions& options);

struct ConvertConfigOptions {
  std::string in;   // empty or "-": standard input
  std::string out;  // empty or "-": standard output
  std::string key;  // of a manifest with several configurations, this one
  bool keep_legacy = false;
};
int RunConvert(const ConvertConfigOptions& options);

}  // namespace ks::ctl
