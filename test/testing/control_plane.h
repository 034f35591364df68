// SPDX-License-Identifier: Apache-2.0
#pragma once
// A real control plane (etcd and kube-apiserver) for one test, and child processes beside it. For
// e2e tests and measurements; unit tests use fakes. The work is done by `python3 tools/controlplane
// serve`, the same program as behind ./dev controlplane.
//
//   std::string why;
//   if (!ControlPlane::Available(&why)) GTEST_SKIP() << why;
//   auto started = ControlPlane::Start({});
//   ASSERT_TRUE(started.ok()) << started.error().message;
//   ControlPlane& cluster = **started;

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ks::testing {

// How a child process ended.
struct ProcessEnd {
  std::optional<int> exit_status;  // empty if a signal ended it
  int signal = 0;                  // the signal, if one ended it
  bool forced = false;             // it outlived the timeout and was killed
};

// What a running process has used so far.
struct ProcessUsage {
  std::chrono::milliseconds cpu{0};  // user and system; resolution 10 ms
  int64_t rss_bytes = 0;
  int64_t rss_peak_bytes = 0;
};

// Reads /proc. Any process of this user.
Result<ProcessUsage> ReadProcessUsage(pid_t pid);
// True while the process exists and is no zombie.
bool ProcessRuns(pid_t pid);

// What a test asks of kube-apiserver, in words, and that it is there from v1.<minor> on.
struct ServerNeed {
  int minor = 0;
  std::string what;
};

// One control plane on free loopback ports in a temporary folder, with today's kube-apiserver or,
// with the environment variable KS_KUBERNETES_VERSION, such as v1.36, one of that version. RBAC is
// on; the ServiceAccount and TaintNodesByCondition admission plugins are off, so pods need no
// service account and nodes are schedulable as created.
//
// Every process started here is a child of one supervisor process, which ends them and removes the
// folder when this object or the whole test process ends, however it ends (its standard input
// reaches its end).
//
// Threads: one at a time. Lifetime: independent of everything else; several may live at once.
class ControlPlane {
 public:
  struct Options {
    std::vector<std::string> apiserver_args;  // further flags, such as "--feature-gates=X=true"
    bool with_controller_manager = false;
  };

  // Whether the binaries are there, and kube-apiserver is new enough; if not, `why` (may be null)
  // gets a sentence with the cure. Blocks for about 0.1 s at the first call, the answer is
  // remembered.
  static bool Available(std::string* why, const ServerNeed& need = {});
  // The path of a program that is of the same release whatever KS_KUBERNETES_VERSION says: etcd,
  // kubectl, kube-scheduler; today's kube-apiserver and kube-controller-manager, too. Requires:
  // Available().
  static std::string BinaryPath(std::string_view name);

  // Blocks until the server is ready, about 4 s.
  static Result<std::unique_ptr<ControlPlane>> Start(const Options& options);
  // Kills everything started here and removes the folder.
  ~ControlPlane();
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  // The temporary folder; logs/ below it has the servers' logs. A test may write its own files
  // there.
  const std::string& Dir() const { return dir_; }
  const std::string& ServerUrl() const { return server_url_; }  // https://127.0.0.1:<port>
  std::string AdminKubeconfig() const { return dir_ + "/admin.kubeconfig"; }
  std::string SchedulerKubeconfig() const {
    return dir_ + "/scheduler.kubeconfig";
  }  // user system:kube-scheduler
  std::string CaPath() const { return dir_ + "/pki/ca.crt"; }
  // Client certificate and key of "admin" or "scheduler".
  std::string ClientCertPath(std::string_view client) const;
  std::string ClientKeyPath(std::string_view client) const;
  pid_t EtcdPid() const { return etcd_pid_; }
  pid_t ApiServerPid() const { return api_server_pid_; }  // 0 while it is down
  pid_t SupervisorPid() const { return supervisor_pid_; }

  // SIGKILL, as a crash would. Fails if it is down already.
  Result<void> KillApiServer();
  // Starts it again with the same port and data, and blocks until it is ready. Fails if it runs
  // already.
  Result<void> StartApiServer();

  // Starts a program; its output goes to `log_path` (appended). The words must not contain tabs or
  // line ends.
  Result<pid_t> AddProcess(const std::vector<std::string>& argv, const std::string& log_path);
  // Sends `signal`, waits up to `timeout`, then kills. Also for a process that has ended by itself.
  // Fails for processes not from AddProcess.
  Result<ProcessEnd> StopProcess(pid_t pid, int signal = SIGTERM,
                                 std::chrono::milliseconds timeout = std::chrono::seconds(10));
  // How the process ended, or an empty value while it runs.
  Result<std::optional<ProcessEnd>> PollProcess(pid_t pid);

 private:
  using Words = std::vector<std::string>;

  ControlPlane() = default;
  Result<void> LaunchSupervisor(const Options& options);
  Result<Words> Ask(const Words& request);
  Result<Words> ReadReply();

  // Constant after Start.
  pid_t supervisor_pid_ = 0;
  int requests_fd_ = -1;
  int replies_fd_ = -1;
  std::string dir_;
  std::string server_url_;
  pid_t etcd_pid_ = 0;

  pid_t api_server_pid_ = 0;
  std::string unread_;  // read from replies_fd_ beyond the last reply
};

}  // namespace ks::testing
