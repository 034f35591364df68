// SPDX-License-Identifier: Apache-2.0
#include "testing/control_plane.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/check.h"

// The folder of the supervisor program; set by CMake.
#ifndef KS_CONTROLPLANE_TOOL
#error "KS_CONTROLPLANE_TOOL is not defined"
#endif

namespace ks::testing {
namespace {

// Longer than every wait inside the supervisor: five attempts of 60 s would be a broken machine,
// not a slow one.
constexpr int kReplyTimeoutMs = 150'000;
constexpr int kSupervisorEndTimeoutMs = 15'000;

Error SystemError(std::string_view what) {
  return Error{std::string(what) + ": " + std::strerror(errno)};
}

struct Child {
  pid_t pid = 0;
  int stdin_fd = -1;
  int stdout_fd = -1;
};

// Starts `python3 <tool> words...` with pipes that no other child inherits.
Result<Child> LaunchTool(std::vector<std::string> words) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0) {
    return SystemError("pipe2");
  }
  if (pipe2(out.data(), O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    return SystemError("pipe2");
  }
  words.insert(words.begin(), {"python3", KS_CONTROLPLANE_TOOL});
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, "python3", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  if (failure != 0) {
    close(in[1]);
    close(out[0]);
    errno = failure;
    return SystemError("cannot start python3");
  }
  return Child{.pid = pid, .stdin_fd = in[1], .stdout_fd = out[0]};
}

struct Availability {
  bool available = false;
  std::string text;     // the folder of the binaries, or the reason
  std::string release;  // of kube-apiserver
};

Availability FindBinaries() {
  Result<Child> child = LaunchTool({"servers"});
  if (!child.ok()) {
    return {.text = child.error().message};
  }
  std::string output;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = read(child->stdout_fd, buffer.data(), buffer.size())) > 0) {
    output.append(buffer.data(), static_cast<size_t>(got));
  }
  close(child->stdin_fd);
  close(child->stdout_fd);
  int status = 0;
  waitpid(child->pid, &status, 0);
  std::istringstream lines(output);
  Availability found{.available = WIFEXITED(status) && WEXITSTATUS(status) == 0};
  std::getline(lines, found.text);
  std::getline(lines, found.release);
  if (found.available) {
    std::fprintf(stderr, "The control planes have kube-apiserver %s.\n", found.release.c_str());
  }
  return found;
}

// 36 of "v1.36.3".
int MinorOf(const std::string& release) {
  int minor = 0;
  KS_CHECK(std::sscanf(release.c_str(), "v1.%d.", &minor) == 1, release);
  return minor;
}

const Availability& KnownBinaries() {
  static const Availability found = FindBinaries();
  return found;
}

std::vector<std::string> SplitTabs(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, '\t');) {
    words.push_back(word);
  }
  return words;
}

// Requires: words as the supervisor writes them, {"exited" or "signaled", number, ...}.
ProcessEnd ToProcessEnd(const std::vector<std::string>& words) {
  ProcessEnd end;
  const int number = std::stoi(words.at(1));
  if (words.at(0) == "exited") {
    end.exit_status = number;
  } else {
    end.signal = number;
  }
  end.forced = words.size() > 2 && words[2] == "1";
  return end;
}

// The value of a "Name:  123 kB" line of /proc/<pid>/status, in bytes; 0 if there is none.
int64_t StatusBytes(const std::string& status, std::string_view name) {
  const size_t at = status.find("\n" + std::string(name) + ":");
  return at == std::string::npos ? 0 : std::stoll(status.substr(at + name.size() + 2)) * 1024;
}

std::string ReadProcFile(pid_t pid, std::string_view name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + std::string(name));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The fields of /proc/<pid>/stat from the third (state) on: the second, the program's name, may
// contain anything.
std::vector<std::string> StatFields(pid_t pid) {
  const std::string stat = ReadProcFile(pid, "stat");
  const size_t name_end = stat.rfind(')');
  std::vector<std::string> fields;
  if (name_end == std::string::npos) {
    return fields;
  }
  std::istringstream stream(stat.substr(name_end + 1));
  for (std::string field; stream >> field;) {
    fields.push_back(field);
  }
  return fields;
}

}  // namespace

Result<ProcessUsage> ReadProcessUsage(pid_t pid) {
  const std::vector<std::string> fields = StatFields(pid);
  constexpr size_t kUserTicks = 11;  // field 14 of proc(5), counted from the third
  constexpr size_t kSystemTicks = 12;
  if (fields.size() <= kSystemTicks) {
    return Error{"no process " + std::to_string(pid)};
  }
  const std::string status = ReadProcFile(pid, "status");
  const int64_t ticks = std::stoll(fields[kUserTicks]) + std::stoll(fields[kSystemTicks]);
  return ProcessUsage{.cpu = std::chrono::milliseconds(ticks * 1000 / sysconf(_SC_CLK_TCK)),
                      .rss_bytes = StatusBytes(status, "VmRSS"),
                      .rss_peak_bytes = StatusBytes(status, "VmHWM")};
}

bool ProcessRuns(pid_t pid) {
  const std::vector<std::string> fields = StatFields(pid);
  return !fields.empty() && fields[0] != "Z" && fields[0] != "X";
}

bool ControlPlane::Available(std::string* why, const ServerNeed& need) {
  const Availability& found = KnownBinaries();
  std::string reason;
  if (!found.available) {
    reason = found.text;
  } else if (MinorOf(found.release) < need.minor) {
    reason = "kube-apiserver " + found.release + " lacks what is there from v1." +
             std::to_string(need.minor) + " on: " + need.what;
  }
  if (!reason.empty() && why != nullptr) {
    *why = reason;
  }
  return reason.empty();
}

std::string ControlPlane::BinaryPath(std::string_view name) {
  const Availability& found = KnownBinaries();
  KS_CHECK(found.available, found.text);
  return found.text + "/" + std::string(name);
}

Result<std::unique_ptr<ControlPlane>> ControlPlane::Start(const Options& options) {
  std::string why;
  if (!Available(&why)) {
    return Error{why};
  }
  std::unique_ptr<ControlPlane> made(new ControlPlane());
  if (Result<void> launched = made->LaunchSupervisor(options); !launched.ok()) {
    return launched.error();
  }
  return made;
}

Result<void> ControlPlane::LaunchSupervisor(const Options& options) {
  Words words = {"serve"};
  for (const std::string& arg : options.apiserver_args) {
    words.push_back("--apiserver-arg=" + arg);
  }
  if (options.with_controller_manager) {
    words.push_back("--with-controller-manager");
  }
  Result<Child> child = LaunchTool(std::move(words));
  if (!child.ok()) {
    return child.error();
  }
  supervisor_pid_ = child->pid;
  requests_fd_ = child->stdin_fd;
  replies_fd_ = child->stdout_fd;
  Result<Words> started = ReadReply();
  if (!started.ok()) {
    return started.error();
  }
  dir_ = started->at(0);
  server_url_ = started->at(1);
  etcd_pid_ = std::stoi(started->at(2));
  api_server_pid_ = std::stoi(started->at(3));
  return {};
}

ControlPlane::~ControlPlane() {
  if (supervisor_pid_ == 0) {
    return;
  }
  close(requests_fd_);  // the supervisor cleans up at the end of its input, then closes its output
  pollfd done = {.fd = replies_fd_, .events = POLLIN, .revents = 0};
  if (poll(&done, 1, kSupervisorEndTimeoutMs) == 0) {
    kill(supervisor_pid_, SIGKILL);  // takes its children with it
  }
  close(replies_fd_);
  waitpid(supervisor_pid_, nullptr, 0);
}

std::string ControlPlane::ClientCertPath(std::string_view client) const {
  return dir_ + "/pki/" + std::string(client) + ".crt";
}

std::string ControlPlane::ClientKeyPath(std::string_view client) const {
  return dir_ + "/pki/" + std::string(client) + ".key";
}

Result<void> ControlPlane::KillApiServer() {
  Result<Words> reply = Ask({"kill-apiserver"});
  if (!reply.ok()) {
    return reply.error();
  }
  api_server_pid_ = 0;
  return {};
}

Result<void> ControlPlane::StartApiServer() {
  Result<Words> reply = Ask({"start-apiserver"});
  if (!reply.ok()) {
    return reply.error();
  }
  api_server_pid_ = std::stoi(reply->at(0));
  return {};
}

Result<pid_t> ControlPlane::AddProcess(const std::vector<std::string>& argv,
                                       const std::string& log_path) {
  Words request = {"spawn", log_path};
  request.insert(request.end(), argv.begin(), argv.end());
  Result<Words> reply = Ask(request);
  if (!reply.ok()) {
    return reply.error();
  }
  return static_cast<pid_t>(std::stoi(reply->at(0)));
}

Result<ProcessEnd> ControlPlane::StopProcess(pid_t pid, int signal,
                                             std::chrono::milliseconds timeout) {
  Result<Words> reply =
      Ask({"stop", std::to_string(pid), std::to_string(signal), std::to_string(timeout.count())});
  if (!reply.ok()) {
    return reply.error();
  }
  return ToProcessEnd(*reply);
}

Result<std::optional<ProcessEnd>> ControlPlane::PollProcess(pid_t pid) {
  Result<Words> reply = Ask({"poll", std::to_string(pid)});
  if (!reply.ok()) {
    return reply.error();
  }
  if (reply->at(0) == "running") {
    return std::optional<ProcessEnd>();
  }
  return std::optional<ProcessEnd>(ToProcessEnd(*reply));
}

Result<ControlPlane::Words> ControlPlane::Ask(const Words& request) {
  std::string line;
  for (const std::string& word : request) {
    if (word.find_first_of("\t\n") != std::string::npos) {
      return Error{"a word of the request contains a tab or a line end: " + word};
    }
    line += (line.empty() ? "" : "\t") + word;
  }
  line += '\n';
  // A supervisor that died must give an error here, not SIGPIPE: it is seen by the poll for
  // hang-up.
  pollfd writable = {.fd = requests_fd_, .events = POLLOUT, .revents = 0};
  if (poll(&writable, 1, kReplyTimeoutMs) != 1 || (writable.revents & POLLERR) != 0) {
    return Error{"the control plane's supervisor is gone"};
  }
  if (write(requests_fd_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return SystemError("writing to the control plane's supervisor");
  }
  return ReadReply();
}

Result<ControlPlane::Words> ControlPlane::ReadReply() {
  size_t end = 0;
  while ((end = unread_.find('\n')) == std::string::npos) {
    pollfd readable = {.fd = replies_fd_, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, kReplyTimeoutMs) != 1) {
      return Error{"no answer from the control plane's supervisor"};
    }
    std::array<char, 4096> buffer{};
    const ssize_t got = read(replies_fd_, buffer.data(), buffer.size());
    if (got <= 0) {
      return Error{"the control plane's supervisor ended; its message, if any, is on stderr"};
    }
    unread_.append(buffer.data(), static_cast<size_t>(got));
  }
  Words words = SplitTabs(unread_.substr(0, end));
  unread_.erase(0, end + 1);
  if (words.empty() || words[0] != "ok") {
    return Error{words.size() > 1 ? words[1] : "unreadable answer of the supervisor"};
  }
  words.erase(words.begin());
  return words;
}

}  // namespace ks::testing
