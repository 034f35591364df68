// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cluster/process.h"
#include "base/file_text.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <fstream>
#include <sstream>
#include <utility>

namespace ks::ctl {
namespace {

using std::chrono::steady_clock;

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// Between fork and exec: only calls that are safe there. Reports errno through `report_fd`.
[[noreturn]] void RunChild(const std::vector<char*>& argv, int null_fd, int log_fd, int report_fd) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::setpgid(0, 0);  // Ctrl-C is for this program, which ends its children in order
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(null_fd, STDIN_FILENO);
  ::dup2(log_fd, STDOUT_FILENO);
  ::dup2(log_fd, STDERR_FILENO);
  ::execv(argv[0], argv.data());
  const int error = errno;
  (void)!::write(report_fd, &error, sizeof(error));
  ::_exit(127);
}

int64_t KilobytesAfter(const std::string& line) {
  std::istringstream text(line.substr(line.find(':') + 1));
  int64_t kilobytes = 0;
  text >> kilobytes;
  return kilobytes;
}

}  // namespace

Process::Process(pid_t pid, std::string log_path)
    : pid_(pid), log_path_(std::move(log_path)), started_(steady_clock::now()) {}

Process::~Process() { Stop(std::chrono::milliseconds(0)); }

Result<std::unique_ptr<Process>> Process::Start(const std::vector<std::string>& argv,
                                                const std::string& log_path) {
  std::vector<char*> words;
  for (const std::string& word : argv) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  const int log_fd = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (log_fd < 0) {
    return Error{"cannot write " + log_path + ": " + SystemErrorText(errno)};
  }
  const int null_fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) {
    ::close(log_fd);
    ::close(null_fd);
    return Error{std::string("pipe: ") + SystemErrorText(errno)};
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    RunChild(words, null_fd, log_fd, report[1]);
  }
  const int fork_error = errno;
  ::close(log_fd);
  ::close(null_fd);
  ::close(report[1]);
  int exec_error = 0;
  const bool failed =
      pid < 0 || ::read(report[0], &exec_error, sizeof(exec_error)) == sizeof(exec_error);
  ::close(report[0]);
  if (pid < 0) {
    return Error{std::string("fork: ") + SystemErrorText(fork_error)};
  }
  std::unique_ptr<Process> process(new Process(pid, log_path));
  if (failed) {
    return Error{"cannot run " + argv[0] + ": " + SystemErrorText(exec_error)};
  }
  return process;
}

Result<ProcessUsage> UsageOf(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::ifstream stat(folder + "/stat");
  std::string line;
  std::getline(stat, line);
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) {
    return Error{"process " + std::to_string(pid) + " has ended"};
  }
  // Fields 14 and 15 of the line; the name is field 2 and may contain blanks.
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) {
    fields >> skipped;
  }
  int64_t user_ticks = 0;
  int64_t system_ticks = 0;
  fields >> user_ticks >> system_ticks;
  ProcessUsage usage;
  usage.cpu_seconds =
      static_cast<double>(user_ticks + system_ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::ifstream status(folder + "/status");
  while (std::getline(status, line)) {
    if (line.starts_with("VmRSS:")) {
      usage.resident_bytes = KilobytesAfter(line) * 1024;
    } else if (line.starts_with("VmHWM:")) {
      usage.resident_peak_bytes = KilobytesAfter(line) * 1024;
    }
  }
  return usage;
}

Result<ProcessUsage> Process::Usage() const {
  if (end_) return Error{"process " + std::to_string(pid_) + " has ended"};
  return UsageOf(pid_);
}

bool Process::Reap(bool wait) {
  if (end_) {
    return true;
  }
  int status = 0;
  rusage usage{};
  if (::wait4(pid_, &status, wait ? 0 : WNOHANG, &usage) != pid_) {
    return false;
  }
  End end;
  end.cpu_seconds = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  end.resident_peak_bytes = static_cast<int64_t>(usage.ru_maxrss) * 1024;
  end.clean = WIFEXITED(status);
  end.how = end.clean ? "exit status " + std::to_string(WEXITSTATUS(status))
                      : "killed by signal " + std::to_string(WTERMSIG(status));
  end_ = end;
  return true;
}

bool Process::Running() { return !Reap(false); }

Process::End Process::Stop(std::chrono::milliseconds timeout) {
  if (!Reap(false)) {
    ::kill(pid_, SIGTERM);
    WaitFor(timeout);
  }
  if (!end_) {
    ::kill(pid_, SIGKILL);
    Reap(true);
  }
  return *end_;
}

bool Process::WaitFor(std::chrono::milliseconds timeout) {
  if (Reap(false)) {
    return true;
  }
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  pollfd ended{.fd = fd, .events = POLLIN, .revents = 0};
  const auto deadline = steady_clock::now() + timeout;
  auto left = timeout;
  while (::poll(&ended, 1, static_cast<int>(left.count())) < 0 && errno == EINTR) {
    left = std::max(std::chrono::milliseconds(0),
                    std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()));
  }
  ::close(fd);
  return Reap(false);
}

Process::End Process::Wait() {
  Reap(true);
  return *end_;
}

std::string LastLines(const std::string& path, size_t count) {
  std::ifstream file(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (lines.size() > count) {
      lines.pop_front();
    }
  }
  std::string text;
  for (const std::string& line : lines) {
    text += "  " + line + "\n";
  }
  return text;
}

std::string OwnFile() {
  char path[4096];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path));
  return std::string(path, size > 0 ? static_cast<size_t>(size) : 0);
}

std::string OwnFolder() {
  const std::string file = OwnFile();
  return file.substr(0, file.rfind('/'));
}

}  // namespace ks::ctl
