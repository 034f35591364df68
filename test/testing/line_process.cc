// SPDX-License-Identifier: Apache-2.0
#include "testing/line_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace ks::testing {
namespace {

Error SystemError(std::string_view what) {
  return Error{std::string(what) + ": " + std::strerror(errno)};
}

}  // namespace

Result<std::unique_ptr<LineProcess>> LineProcess::Start(const std::string& program) {
  std::unique_ptr<LineProcess> started(new LineProcess);
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0) return SystemError("pipe2");
  started->requests_ = in[1];
  if (pipe2(out.data(), O_CLOEXEC) != 0) {
    close(in[0]);
    return SystemError("pipe2");
  }
  started->answers_ = out[0];
  std::string path = program;
  std::array<char*, 2> argv = {path.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  const int failure =
      posix_spawn(&started->pid_, path.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  if (failure != 0) {
    started->pid_ = 0;
    errno = failure;
    return SystemError("cannot start " + program);
  }
  return started;
}

LineProcess::~LineProcess() {
  if (requests_ >= 0) close(requests_);
  if (answers_ >= 0) close(answers_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

Result<void> LineProcess::Write(std::string_view lines) {
  while (!lines.empty()) {
    const ssize_t wrote = write(requests_, lines.data(), lines.size());
    if (wrote < 0 && errno != EINTR) return SystemError("write to the reference");
    if (wrote > 0) lines.remove_prefix(static_cast<size_t>(wrote));
  }
  return {};
}

Result<std::string> LineProcess::ReadLine() {
  while (true) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    std::array<char, 65536> buffer{};
    const ssize_t got = read(answers_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{"the reference ended"};
    unread_.append(buffer.data(), static_cast<size_t>(got));
  }
}

}  // namespace ks::testing
