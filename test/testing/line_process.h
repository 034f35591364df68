// SPDX-License-Identifier: Apache-2.0
#pragma once
// A child process that answers lines with lines: the oracles of test/controlplane/cmd.

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::testing {

// Threads: one. Lifetime: ends the process that it started.
class LineProcess {
 public:
  // A pipe holds 64 KiB: so much may be written before an answer is read without both sides
  // waiting for each other. One longer line is no harm, if nothing is unanswered.
  static constexpr size_t kMaxUnanswered = size_t{32} << 10;

  static Result<std::unique_ptr<LineProcess>> Start(const std::string& program);
  ~LineProcess();
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  // Both block. They fail if the process ended.
  Result<void> Write(std::string_view lines);
  // Without its end.
  Result<std::string> ReadLine();

 private:
  LineProcess() = default;

  pid_t pid_ = 0;
  int requests_ = -1;
  int answers_ = -1;
  std::string unread_;
};

}  // namespace ks::testing
