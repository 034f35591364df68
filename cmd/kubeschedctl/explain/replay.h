// SPDX-License-Identifier: Apache-2.0
#pragma once
// kubeschedctl replay: a recording of kubesched --record once more, and the first decision that is
// another one.

#include <string>

#include "base/result.h"

namespace ks::ctl {

struct ReplayOptions {
  std::string recording;     // "-": standard input
  std::string config_file;   // empty: the recorded one
  std::string against_file;  // empty: compared with the recording
  bool partial = false;      // a recording that does not end, too
  bool json = false;
};

struct ReplayAnswer {
  std::string text;  // with line feeds
  bool same = false;
};

// Errors: the file, or a configuration, cannot be read or is refused; lines with place and cure.
Result<ReplayAnswer> ReplayRecording(const ReplayOptions& options);

}  // namespace ks::ctl
