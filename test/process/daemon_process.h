// SPDX-License-Identifier: Apache-2.0
#pragma once
// The real kubesched as a child process.

#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "testing/run_program.h"

namespace ks::daemon {

// Asks until it holds or the time is over.
inline bool Eventually(const std::function<bool()>& holds,
                       Duration limit = std::chrono::seconds(60)) {
  const TimePoint deadline = RealClock().Now() + limit;
  Mutex mutex;
  CondVar nobody;
  while (!holds()) {
    if (RealClock().Now() >= deadline) return false;
    MutexLock lock(mutex);
    (void)nobody.WaitFor(mutex, std::chrono::milliseconds(20));
  }
  return true;
}

// Killed by the destructor at the latest. Threads: one at a time.
class DaemonProcess {
 public:
  // Both output streams go to `log`.
  DaemonProcess(std::vector<std::string> argv, std::string log) : log_(std::move(log)) {
    const Result<pid_t> started = testing::StartProgram(std::move(argv), log_);
    pid_ = started.ok() ? *started : 0;
  }
  ~DaemonProcess() {
    if (pid_ == 0 || Ended()) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int number) const {
    if (pid_ != 0) kill(pid_, number);
  }
  bool Ended() {
    if (!ended_ && pid_ != 0) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return ended_;
  }
  // Waits for the end. Absent: it goes on, or a signal ended it.
  std::optional<int> ExitStatus() {
    if (!Eventually([this] { return Ended(); }) || !WIFEXITED(status_)) return std::nullopt;
    return WEXITSTATUS(status_);
  }
  std::optional<int> Stop() {
    Signal(SIGTERM);
    return ExitStatus();
  }

  std::string Log() const {
    std::ifstream stream(log_);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  bool Says(const std::string& text) const { return Log().find(text) != std::string::npos; }
  // How often.
  size_t Count(const std::string& text) const {
    const std::string log = Log();
    size_t count = 0;
    for (size_t at = 0; (at = log.find(text, at)) != std::string::npos; ++at) ++count;
    return count;
  }

 private:
  const std::string log_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace ks::daemon
