// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verbs explain and replay. Each prints to standard output, errors to standard error.

#include <string>
#include <vector>

#include "kubeschedctl/explain/replay.h"

namespace ks::ctl {

struct ExplainOptions {
  std::vector<std::string> files;  // "-": standard input
  std::string config_file;         // empty: the defaults
  std::vector<std::string> feature_gates;
  std::string pod;   // [NAMESPACE/]POD; empty: all
  std::string node;  // empty: all
  bool preemption = false;
  bool suggest = false;
  bool json = false;
};
int RunExplain(const ExplainOptions& options);

// 0: no decision differs; 1: one does; 2: wrong use, or an input that cannot be judged.
int RunReplay(const ReplayOptions& options);

}  // namespace ks::ctl
