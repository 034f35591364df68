// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scheduler as a child process of a test.

#include <sys/wait.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "testing/run_program.h"

namespace ks::e2e {

// A child process with its output in a file; ended by the destructor at the latest.
class Child {
 public:
  Child(std::vector<std::string> argv, const std::string& log) {
    const Result<pid_t> started = testing::StartProgram(std::move(argv), log);
    pid_ = started.ok() ? *started : 0;
  }
  ~Child() { Stop(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void Stop() {
    if (pid_ == 0) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  bool Runs() const { return pid_ != 0 && waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  pid_t pid_ = 0;
};

}  // namespace ks::e2e
