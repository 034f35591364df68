// SPDX-License-Identifier: Apache-2.0
#pragma once
// kubeschedctl explain: why each pending pod of a dump goes where it goes, or nowhere.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inspect/cluster_dump.h"

namespace ks::ctl {

struct ExplainQuestion {
  std::vector<std::string> feature_gates;  // values of --feature-gates
  std::string config_file;                 // empty: the defaults
  // [NAMESPACE/]POD, or a group (inspect::ParseGroupName); empty: all pending ones, and the groups
  // that have some.
  std::string pod;
  std::string node;         // empty: all
  bool preemption = false;  // also what PostFilter would do for pods that fit nowhere
  bool suggest = false;     // also what would have to change for these
  bool json = false;
};

// Where the answer goes, in pieces.
struct ExplainSinks {
  std::function<void(std::string_view text)> out;
  std::function<void(const std::string& line)> warn;
};

// Reads the files; "-" is standard input, once. Errors as ClusterDumpReader's.
Result<inspect::ClusterDump> ReadDump(const std::vector<std::string>& files);

// One record a pod or group: a line of JSON, or a piece of table with an empty line between two.
// Errors: the configuration is refused (findings with their places are lines of their own), or pod
// or node are not there. Nothing is put out then.
Result<void> ExplainDump(inspect::ClusterDump dump, const ExplainQuestion& question,
                         const ExplainSinks& sinks);

}  // namespace ks::ctl
