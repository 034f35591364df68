// SPDX-License-Identifier: Apache-2.0
// kubeschedctl replay: from options to output and exit status.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/file_text.h"
#include "base/logging.h"
#include "kubeschedctl/explain/explain_verbs.h"
#include "kubeschedctl/text/status.h"

namespace ks::ctl {

int RunReplay(const ReplayOptions& options) {
  log::SetVerbosity(-1);  // what a daemon logs is no news here
  const Result<ReplayAnswer> answer = ReplayRecording(options);
  if (!answer.ok()) {
    Fail(answer.error().message);
    return kUsageStatus;
  }
  std::fputs(answer->text.c_str(), stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    Fail(std::string("standard output: ") + SystemErrorText(errno));
    return kUsageStatus;
  }
  return answer->same ? 0 : 1;
}

}  // namespace ks::ctl
