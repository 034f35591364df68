// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/measured_scheduler.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/file_text.h"
#include "base/text.h"

namespace ks::ctl::dev::perf {
namespace {

using std::chrono::steady_clock;

// A port of loopback that nobody had just now. Somebody may take it before the scheduler does; then
// the scheduler says so and ends, and another one is tried.
Result<int> FreePort() {
  const int handle = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (handle < 0) return Error{"socket: " + SystemErrorText(errno)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound =
      ::bind(handle, generic, length) == 0 && ::getsockname(handle, generic, &length) == 0;
  const int error = errno;
  ::close(handle);
  if (!bound) return Error{"no free port: " + SystemErrorText(error)};
  return ntohs(address.sin_port);
}

// An error with the end of a log.
bool PortWasTaken(const Error& error) {
  return LowerCase(error.message).find("address already in use") != std::string::npos;
}

}  // namespace

Result<std::unique_ptr<MeasuredScheduler>> MeasuredScheduler::Start(const SchedulerCommand& command,
                                                                    std::chrono::seconds timeout) {
  constexpr int kTries = 3;
  for (int left = kTries;; --left) {
    auto started = StartOnce(command, timeout);
    if (started.ok() || left == 1 || !PortWasTaken(started.error())) return started;
  }
}

Result<std::unique_ptr<MeasuredScheduler>> MeasuredScheduler::StartOnce(
    SchedulerCommand command, std::chrono::seconds timeout) {
  constexpr std::chrono::milliseconds kPause{50};
  const Result<int> port = FreePort();
  if (!port.ok()) return port.error();
  command.args.emplace_back("--bind-address=127.0.0.1");
  command.args.emplace_back("--authorization-always-allow-paths=/readyz,/metrics");
  command.args.push_back("--secure-port=" + std::to_string(*port));
  Result<std::unique_ptr<Process>> process = StartScheduler(command);
  if (!process.ok()) return process.error();
  Result<std::unique_ptr<DaemonAccess>> access =
      DaemonAccess::Open({.kubeconfig = command.kubeconfig,
                          .server = "https://127.0.0.1:" + std::to_string(*port),
                          .insecure_skip_tls_verify = true});
  if (!access.ok()) return access.error();
  std::unique_ptr<MeasuredScheduler> started(
      new MeasuredScheduler(std::move(process).value(), std::move(access).value()));
  const auto deadline = steady_clock::now() + timeout;
  while (true) {
    const Result<std::string> ready = started->access_->Get("/readyz");
    if (ready.ok()) return started;
    const bool ended = started->process_->WaitFor(kPause);
    if (ended) return started->WithLog("the scheduler ended: " + started->process_->Wait().how);
    if (steady_clock::now() < deadline) continue;
    return started->WithLog("the scheduler was not ready: " + ready.error().message);
  }
}

Result<std::vector<MetricSample>> MeasuredScheduler::Metrics() {
  const Result<std::string> text = access_->Get("/metrics");
  if (!text.ok()) return text.error();
  return ParseMetrics(*text);
}

Error MeasuredScheduler::WithLog(const std::string& text) const {
  return Error{text + "\nthe end of its log, " + process_->log_path() + ":\n" +
               LastLines(process_->log_path(), 10)};
}

}  // namespace ks::ctl::dev::perf
