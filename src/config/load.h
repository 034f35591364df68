// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a KubeSchedulerConfiguration v1 file (YAML or JSON), strictly. This version knows a part of
// the fields; every other field of upstream is refused as not supported yet, so that no setting is
// dropped silently:
//
//   apiVersion, kind, parallelism, percentageOfNodesToScore, podInitialBackoffSeconds,
//   podMaxBackoffSeconds, clientConnection.{kubeconfig,acceptContentTypes,contentType,qps,burst},
//   profiles[].{schedulerName,percentageOfNodesToScore}, leaderElection.leaderElect
//
// leaderElection.leaderElect may only be false. Absent means no leader election here, which differs
// from upstream's default (true).
//
// Other differences from upstream, on purpose: all errors are reported at once, each with its line
// and column, where upstream stops at the first kind of error; YAML merge keys and tags are
// refused.
//
// Upstream: docs/spec/config.md sections 2 and 3.

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/types.h"

namespace ks::config {

struct LoadOptions {
  bool ignore_leader_elect = false;  // --leader-elect=false wins over the file's leaderElect
};

// Error: one line per finding, `file:line:column: path: text`, in the order of the file.
Result<Configuration> LoadConfiguration(const std::string& file, const LoadOptions& options = {});

// The same from memory. `file` is only the name used in errors.
Result<Configuration> ParseConfiguration(std::string_view text, const std::string& file,
                                         const LoadOptions& options = {});

}  // namespace ks::config
