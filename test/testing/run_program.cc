// SPDX-License-Identifier: Apache-2.0
#include "testing/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>

namespace ks::testing {
namespace {

Error SystemError(const std::string& what) { return Error{what + ": " + std::strerror(errno)}; }

// Waits for the end of a child; kills it when the limit is over.
std::optional<int> Await(pid_t pid, std::chrono::milliseconds limit) {
  const int end = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  pollfd ended{.fd = end, .events = POLLIN, .revents = 0};
  if (end < 0 || poll(&ended, 1, static_cast<int>(limit.count())) != 1) kill(pid, SIGKILL);
  if (end >= 0) close(end);
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return std::nullopt;
  return WEXITSTATUS(status);
}

std::string Contents(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace

Result<pid_t> StartProgram(std::vector<std::string> argv, const std::string& log,
                           const std::string& folder, const std::string& errors) {
  std::vector<char*> words;
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  constexpr int kAnew = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), kAnew, 0644);
  if (errors.empty()) {
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), kAnew, 0644);
  }
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t pid = 0;
  errno = posix_spawn(&pid, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (errno != 0) return SystemError(argv[0]);
  return pid;
}

Result<ProgramResult> RunProgram(std::vector<std::string> argv, const std::string& folder,
                                 const std::string& name, std::chrono::milliseconds limit) {
  const std::string log = folder + "/" + name + ".log";
  const std::string errors = folder + "/" + name + ".errors";
  const Result<pid_t> pid = StartProgram(std::move(argv), log, folder, errors);
  if (!pid.ok()) return pid.error();
  ProgramResult result;
  result.exit_status = Await(*pid, limit);
  result.printed = Contents(log);
  result.output = result.printed + Contents(errors);
  return result;
}

}  // namespace ks::testing
