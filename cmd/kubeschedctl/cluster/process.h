// SPDX-License-Identifier: Apache-2.0
#pragma once
// A child process: a scheduler under demonstration or measurement. It ends with this object and
// with this program.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace ks::ctl {

struct ProcessUsage {
  double cpu_seconds = 0;  // user and system; resolution 10 ms
  int64_t resident_bytes = 0;
  int64_t resident_peak_bytes = 0;
};

// Of any process that this program may look at. Error: there is none with that id.
Result<ProcessUsage> UsageOf(pid_t pid);

// Threads: one at a time.
class Process {
 public:
  // `argv[0]` is a path. Both output streams go to `log_path`, which is overwritten; there is no
  // input. A process group of its own: a terminal's Ctrl-C does not reach it. Error: the
  // program cannot be executed.
  static Result<std::unique_ptr<Process>> Start(const std::vector<std::string>& argv,
                                                const std::string& log_path);
  ~Process();  // kills
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Error: it has ended.
  Result<ProcessUsage> Usage() const;
  bool Running();

  // SIGTERM, then SIGKILL after `timeout`. Returns user and system CPU seconds of its whole life
  // and how it ended ("exit status 0").
  struct End {
    double cpu_seconds = 0;
    int64_t resident_peak_bytes = 0;
    std::string how;
    bool clean = false;  // it left by itself after SIGTERM or before, not by a signal
  };
  End Stop(std::chrono::milliseconds timeout);
  // Waits until it ends by itself, for at most `timeout`. Returns whether it has ended.
  bool WaitFor(std::chrono::milliseconds timeout);
  // The same without a limit.
  End Wait();

  const std::string& log_path() const { return log_path_; }
  std::chrono::steady_clock::time_point started() const { return started_; }

 private:
  Process(pid_t pid, std::string log_path);
  bool Reap(bool wait);

  pid_t pid_;
  std::string log_path_;
  std::chrono::steady_clock::time_point started_;
  std::optional<End> end_;
};

// The last lines of a text file, for error messages.
std::string LastLines(const std::string& path, size_t count);

// This program's file, and its folder.
std::string OwnFile();
std::string OwnFolder();

}  // namespace ks::ctl
