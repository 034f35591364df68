// SPDX-License-Identifier: Apache-2.0
#include "kubesched/command.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/logging.h"
#include "testing/temp_dir.h"

namespace ks {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A start up to the step before running: nothing here needs a network.
class Command : public ::testing::Test {
 protected:
  struct Outcome {
    int exit_code = 0;
    std::string out;
    std::string log;
  };

  Outcome Run(std::vector<std::string> arguments) {
    sigset_t none;
    sigemptyset(&none);
    Outcome outcome;
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    outcome.exit_code = RunCommand(arguments, none);
    outcome.log = ::testing::internal::GetCapturedStderr();
    outcome.out = ::testing::internal::GetCapturedStdout();
    log::SetFormat(log::Format::kText);
    log::SetVerbosity(0);
    return outcome;
  }
  // Without a server, to the end of the checks.
  Outcome Check(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--secure-port=0", "--kubeconfig=" + kubeconfig_,
                                       "--write-config-to=" + out_});
    return Run(arguments);
  }
  std::string Written() const {
    std::ostringstream text;
    text << std::ifstream(out_).rdbuf();
    return text.str();
  }

  testing::TempDir folder_;
  const std::string kubeconfig_ = folder_.Write(
      "kubeconfig",
      "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "
      "\"http://kubernetes.invalid\"}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
      "users: [{name: u, user: {}}]\ncurrent-context: x\n");
  const std::string out_ = folder_.path() + "/out.yaml";
};

TEST_F(Command, WritesTheEffectiveConfiguration) {
  const Outcome outcome =
      Check({"--leader-elect=true", "--kube-api-qps=12.5", "--profiling=false"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.log;
  EXPECT_THAT(outcome.log, HasSubstr("] \"Wrote configuration\" file=\"" + out_ + "\"\n"));
  EXPECT_THAT(Written(), AllOf(StartsWith("apiVersion: kubescheduler.config.k8s.io/v1\n"),
                               HasSubstr("\n  qps: 12.5\n"), HasSubstr("enableProfiling: false\n"),
                               HasSubstr("\n  leaderElect: true\n")));
}

TEST_F(Command, VerbosityShowsFlagsAndConfiguration) {
  const Outcome outcome = Check({"-v=2"});
  EXPECT_THAT(
      outcome.log,
      AllOf(HasSubstr("] FLAG: --allow-metric-labels=\"[]\"\n"), HasSubstr("] FLAG: --v=\"2\"\n"),
            HasSubstr("] \"Using component config\" config=<\n\tapiVersion: ")));
  EXPECT_THAT(Check({}).log, Not(HasSubstr("FLAG")));
}

TEST_F(Command, FailuresAreUpstreamsLastLine) {
  struct Case {
    std::vector<std::string> arguments;
    std::string want;
  };
  const Case cases[] = {
      {{"--feature-gates=Foo=true"}, "err=\"unrecognized feature gate: Foo\"\n"},
      {{"--secure-port=0", "--requestheader-allowed-names=,"},
       "err=\"empty value in \\\"requestheader-allowed-names\\\"\"\n"},
      {{"--secure-port=0", "--kubeconfig=/nope"},
       "err=\"stat /nope: no such file or directory\"\n"},
      {{"--secure-port=0", "--kubeconfig=" + kubeconfig_, "--write-config-to=/no/dir/x"},
       "err=\"open /no/dir/x: no such file or directory\"\n"},
      {{"--secure-port=0", "--kubeconfig=" + kubeconfig_, "--kube-api-burst=0"},
       "err=\"burst is required to be greater than 0 when RateLimiter is not set and QPS is set "
       "to greater than 0\"\n"},
      {{"--secure-port=0", "--kubeconfig=" + kubeconfig_, "--kube-api-qps=-inf"},
       "err=\"json: unsupported value: -Inf\"\n"},
      {{"--secure-port=0", "--kubeconfig=" + kubeconfig_, "--leader-elect-resource-lock=foo"},
       "err=\"couldn't create resource lock: Invalid lock-type foo\"\n"},
      {{"--secure-port=0", "--kubeconfig=" + kubeconfig_, "--leader-elect-retry-period=9s"},
       "err=\"couldn't create leader elector: renewDeadline must be greater than "
       "retryPeriod*JitterFactor\"\n"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = Run(c.arguments);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.log, EndsWith(" run.go:72] \"command failed\" " + c.want));
  }
}

TEST_F(Command, FaultsOfAFileAreListedBelow) {
  const std::string file =
      folder_.Write("c.yaml",
                    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                    "parallelism: 5\nparallelism: 6\n");
  const Outcome text = Check({"--config=" + file});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.log, HasSubstr("run.go:72] \"command failed\" err=<\n\tstrict decoding error: "
                                  "yaml: unmarshal errors:\n\t  line 4: key \"parallelism\" "
                                  "already set in map\n >\n" +
                                  file + ":4:1: "));
  const Outcome json = Check({"--config=" + file, "--logging-format=json"});
  EXPECT_THAT(json.log, HasSubstr("\"caller\":\"cli/run.go:72\",\"msg\":\"command failed\",\"err\":"
                                  "\"strict decoding error: yaml: unmarshal errors:\\n  line 4:"));
}

TEST_F(Command, BadLoggingFlagsArePrintedBare) {
  const Outcome outcome = Check({"--logging-format=foo", "--emulated-version=1.38"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.log, "format: Invalid value: \"foo\": Unsupported log format\n");
}

TEST_F(Command, GatesAreCheckedBeforeTheVersionIsPrinted) {
  EXPECT_EQ(Run({"--version", "--feature-gates=Foo=true"}).exit_code, 1);
  const Outcome outcome =
      Run({"--version", "--emulated-version=1.38", "--logging-format=foo", "--secure-port=-1"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, StartsWith("kubesched v"));
}

TEST_F(Command, WhatIsUnsupportedIsRefusedBeforeRunning) {
  const std::string odd =
      "--feature-gates=SchedulerPreQueueingHints=true,DRANodeAllocatableResources=true";
  EXPECT_EQ(Check({odd}).exit_code, 0);
  const Outcome outcome =
      Run({odd, "--secure-port=0", "--leader-elect=false", "--kubeconfig=" + kubeconfig_});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.log,
              AllOf(HasSubstr("feature gate SchedulerPreQueueingHints=true is not supported"),
                    HasSubstr("feature gate DRANodeAllocatableResources=true is not supported")));
}

TEST_F(Command, OlderVersionsCanBeEmulatedForAConfiguration) {
  for (const char* version : {"1.34", "1.35", "1.36"}) {
    EXPECT_EQ(Check({std::string("--emulated-version=") + version}).exit_code, 0) << version;
  }
}

// A port of 127.0.0.1 that only a process with SO_REUSEPORT can bind, too.
class HeldPort {
 public:
  HeldPort() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    KS_CHECK(setsockopt(fd_, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) == 0 &&
                 bind(fd_, any, size) == 0 && getsockname(fd_, any, &size) == 0,
             "no port");
    number_ = std::to_string(ntohs(address.sin_port));
  }
  ~HeldPort() { close(fd_); }
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;

  const std::string& number() const { return number_; }

 private:
  int fd_;
  std::string number_;
};

TEST_F(Command, TheServersSettingsAreCheckedWhenItServes) {
  const HeldPort port;
  const auto start = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(),
                     {"--kubeconfig=" + kubeconfig_, "--secure-port=" + port.number(),
                      "--bind-address=127.0.0.1", "--cert-dir=" + folder_.path()});
    return Run(arguments);
  };
  const std::string address = "127.0.0.1:" + port.number();
  const Outcome taken = start({"--tls-min-version=foo"});
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_THAT(
      taken.log,
      AllOf(HasSubstr("] Generated self-signed cert (" + folder_.path() + "/kube-scheduler.crt, "),
            HasSubstr("err=\"failed to create listener: failed to listen on " + address +
                      ": listen tcp " + address + ": bind: address already in use\"\n")));
  const std::pair<const char*, const char*> rows[] = {
      {"--tls-min-version=foo", "err=\"unknown tls version \\\"foo\\\"\"\n"},
      {"--tls-cipher-suites=foo", "err=\"Cipher suite foo not supported or doesn't exist\"\n"},
      {"--tls-cert-file=/nope", "err=\"missing filename for serving cert\"\n"},
      {"--authentication-kubeconfig=/nope",
       "err=\"failed to get delegated authentication kubeconfig: failed to get delegated "
       "authentication kubeconfig: stat /nope: no such file or directory\"\n"},
      {"--client-ca-file=/nope",
       "err=\"unable to load client CA provider: open /nope: no such file or directory\"\n"},
      {"--requestheader-client-ca-file=/nope",
       "err=\"unable to create request header authentication config: open /nope: no such file or "
       "directory\"\n"},
      {"--authorization-kubeconfig=/nope",
       "err=\"failed to get delegated authorization kubeconfig: stat /nope: no such file or "
       "directory\"\n"},
      {"--authorization-always-allow-paths=/a*b",
       "err=\"only trailing * allowed in \\\"a*b\\\"\"\n"},
  };
  for (const auto& [flag, want] : rows) {
    const Outcome outcome = start({flag, "--permit-port-sharing"});
    EXPECT_EQ(outcome.exit_code, 1) << flag;
    EXPECT_THAT(outcome.log, AllOf(EndsWith(want), Not(HasSubstr("Generated"))));
    EXPECT_EQ(Check({flag}).exit_code, 0) << flag << " without a server";
  }
}

}  // namespace
}  // namespace ks
