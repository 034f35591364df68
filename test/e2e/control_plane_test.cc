// SPDX-License-Identifier: Apache-2.0
#include "testing/control_plane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace ks::testing {
namespace {

using std::chrono::seconds;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Runs kubectl to its end. Returns its output; the test fails if it does not exit with 0.
std::string Kubectl(ControlPlane& cluster, const std::string& kubeconfig,
                    std::vector<std::string> args) {
  static int calls = 0;
  const std::string log = cluster.Dir() + "/kubectl-" + std::to_string(++calls) + ".log";
  args.insert(args.begin(), {ControlPlane::BinaryPath("kubectl"), "--kubeconfig=" + kubeconfig});
  Result<pid_t> pid = cluster.AddProcess(args, log);
  EXPECT_TRUE(pid.ok()) << pid.error().message;
  Result<ProcessEnd> end = cluster.StopProcess(*pid, /*signal=*/0, seconds(30));
  EXPECT_TRUE(end.ok() && end->exit_status == 0) << ReadFile(log);
  return ReadFile(log);
}

// Waits until none of them runs. Returns those still running after 20 s.
std::vector<pid_t> Survivors(const std::vector<pid_t>& pids) {
  const auto deadline = std::chrono::steady_clock::now() + seconds(20);
  std::vector<pid_t> survivors;
  for (pid_t pid : pids) {
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (fd < 0) {
      continue;  // gone already
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd ended = {.fd = fd, .events = POLLIN, .revents = 0};
    if (poll(&ended, 1, static_cast<int>(std::max<int64_t>(left.count(), 0))) != 1) {
      survivors.push_back(pid);
    }
    close(fd);
  }
  return survivors;
}

class ControlPlaneTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!ControlPlane::Available(&why)) {
      GTEST_SKIP() << why;
    }
  }
};

TEST_F(ControlPlaneTest, ServesAndSurvivesACrashOfTheServer) {
  auto started = ControlPlane::Start({});
  ASSERT_TRUE(started.ok()) << started.error().message;
  ControlPlane& cluster = **started;
  EXPECT_EQ(Kubectl(cluster, cluster.AdminKubeconfig(), {"get", "--raw", "/readyz"}), "ok");
  Kubectl(cluster, cluster.AdminKubeconfig(), {"create", "namespace", "kept"});

  const pid_t first = cluster.ApiServerPid();
  ASSERT_TRUE(cluster.KillApiServer().ok());
  EXPECT_FALSE(ProcessRuns(first));
  EXPECT_FALSE(cluster.KillApiServer().ok());
  Result<void> restarted = cluster.StartApiServer();
  ASSERT_TRUE(restarted.ok()) << restarted.error().message;
  EXPECT_NE(cluster.ApiServerPid(), first);
  EXPECT_FALSE(cluster.StartApiServer().ok());
  EXPECT_EQ(Kubectl(cluster, cluster.AdminKubeconfig(), {"get", "namespace", "kept", "-o", "name"}),
            "namespace/kept\n");
}

TEST_F(ControlPlaneTest, TheSchedulersUserHasTheSchedulersRights) {
  auto started = ControlPlane::Start({});
  ASSERT_TRUE(started.ok()) << started.error().message;
  ControlPlane& cluster = **started;
  EXPECT_THAT(Kubectl(cluster, cluster.SchedulerKubeconfig(), {"auth", "whoami", "-o", "name"}),
              ::testing::HasSubstr("selfsubjectreview"));
  EXPECT_EQ(Kubectl(cluster, cluster.SchedulerKubeconfig(),
                    {"auth", "can-i", "create", "pods", "--subresource=binding"}),
            "yes\n");
}

TEST_F(ControlPlaneTest, StopsAndMeasuresItsChildren) {
  auto started = ControlPlane::Start({});
  ASSERT_TRUE(started.ok()) << started.error().message;
  ControlPlane& cluster = **started;
  const std::string log = cluster.Dir() + "/child.log";

  Result<pid_t> polite = cluster.AddProcess({"sleep", "1000"}, log);
  ASSERT_TRUE(polite.ok()) << polite.error().message;
  EXPECT_FALSE(cluster.PollProcess(*polite)->has_value());
  Result<ProcessEnd> end = cluster.StopProcess(*polite);
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->signal, SIGTERM);
  EXPECT_FALSE(end->forced);

  Result<pid_t> deaf =
      cluster.AddProcess({"sh", "-c", "trap '' TERM; while :; do sleep 1000; done"}, log);
  ASSERT_TRUE(deaf.ok()) << deaf.error().message;
  end = cluster.StopProcess(*deaf, SIGSTOP, std::chrono::milliseconds(50));
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->signal, SIGKILL);
  EXPECT_TRUE(end->forced);

  Result<pid_t> failing = cluster.AddProcess({"sh", "-c", "exit 3"}, log);
  ASSERT_TRUE(failing.ok()) << failing.error().message;
  EXPECT_EQ(cluster.StopProcess(*failing, /*signal=*/0)->exit_status, 3);

  EXPECT_FALSE(cluster.AddProcess({"/nonexistent/program"}, log).ok());
  EXPECT_FALSE(cluster.StopProcess(getpid()).ok()) << "not a child of the supervisor";

  Result<ProcessUsage> usage = ReadProcessUsage(cluster.ApiServerPid());
  ASSERT_TRUE(usage.ok()) << usage.error().message;
  EXPECT_GT(usage->cpu.count(), 0);
  EXPECT_GT(usage->rss_bytes, 10 << 20);
  EXPECT_GE(usage->rss_peak_bytes, usage->rss_bytes);
}

TEST_F(ControlPlaneTest, LeavesNothingBehind) {
  std::vector<pid_t> pids;
  std::string dir;
  {
    auto started = ControlPlane::Start({.with_controller_manager = true});
    ASSERT_TRUE(started.ok()) << started.error().message;
    ControlPlane& cluster = **started;
    dir = cluster.Dir();
    Result<pid_t> child = cluster.AddProcess({"sleep", "1000"}, dir + "/child.log");
    ASSERT_TRUE(child.ok()) << child.error().message;
    pids = {cluster.EtcdPid(), cluster.ApiServerPid(), cluster.SupervisorPid(), *child};
    for (pid_t pid : pids) {
      EXPECT_TRUE(ProcessRuns(pid));
    }
  }
  EXPECT_THAT(Survivors(pids), ::testing::IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(dir));
}

// Starts a control plane in a forked process and kills that, on wish after its supervisor.
std::vector<pid_t> PidsOfKilledTest(bool kill_supervisor) {
  std::array<int, 2> report{};
  EXPECT_EQ(pipe(report.data()), 0);
  const pid_t tester = fork();
  if (tester == 0) {
    std::array<pid_t, 4> pids{};
    auto started = ControlPlane::Start({});
    if (started.ok()) {
      ControlPlane& cluster = **started;
      Result<pid_t> child = cluster.AddProcess({"sleep", "1000"}, cluster.Dir() + "/child.log");
      pids = {cluster.SupervisorPid(), cluster.EtcdPid(), cluster.ApiServerPid(),
              child.ok() ? *child : 0};
    }
    const bool sent = write(report[1], pids.data(), sizeof(pids)) == sizeof(pids);
    pause();
    _exit(sent ? 0 : 1);
  }
  close(report[1]);
  std::vector<pid_t> pids(4);
  EXPECT_EQ(read(report[0], pids.data(), pids.size() * sizeof(pid_t)),
            static_cast<ssize_t>(pids.size() * sizeof(pid_t)));
  close(report[0]);
  for (pid_t pid : pids) {
    EXPECT_TRUE(pid != 0 && ProcessRuns(pid));
  }
  if (kill_supervisor && pids[0] != 0) {
    kill(pids[0], SIGKILL);
  }
  kill(tester, SIGKILL);
  waitpid(tester, nullptr, 0);
  return pids;
}

TEST_F(ControlPlaneTest, LeavesNothingBehindWhenTheTestIsKilled) {
  EXPECT_THAT(Survivors(PidsOfKilledTest(/*kill_supervisor=*/false)), ::testing::IsEmpty());
}

TEST_F(ControlPlaneTest, LeavesNoProcessBehindWhenTheSupervisorIsKilledToo) {
  EXPECT_THAT(Survivors(PidsOfKilledTest(/*kill_supervisor=*/true)), ::testing::IsEmpty());
}

}  // namespace
}  // namespace ks::testing
