// SPDX-License-Identifier: Apache-2.0
// kubeschedctl explain: from options to output and exit status.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/file_text.h"
#include "base/logging.h"
#include "kubeschedctl/explain/explain.h"
#include "kubeschedctl/explain/explain_verbs.h"
#include "kubeschedctl/text/status.h"

namespace ks::ctl {

int RunExplain(const ExplainOptions& options) {
  log::SetVerbosity(-1);  // what a daemon logs is no news here
  Result<inspect::ClusterDump> dump = ReadDump(options.files);
  if (!dump.ok()) return Fail(dump.error().message);
  const ExplainSinks sinks{
      .out = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); },
      .warn = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }};
  const Result<void> explained = ExplainDump(std::move(dump).value(),
                                             {.feature_gates = options.feature_gates,
                                              .config_file = options.config_file,
                                              .pod = options.pod,
                                              .node = options.node,
                                              .preemption = options.preemption,
                                              .suggest = options.suggest,
                                              .json = options.json},
                                             sinks);
  if (!explained.ok()) return Fail(explained.error().message);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return Fail(std::string("standard output: ") + SystemErrorText(errno));
  }
  return 0;
}

}  // namespace ks::ctl
