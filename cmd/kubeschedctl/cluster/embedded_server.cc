// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cluster/embedded_server.h"

#include <fmt/format.h>

#include <filesystem>

#include "kubeschedctl/cluster/cluster.h"

namespace ks::ctl {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kStartTimeout{30};
constexpr std::chrono::milliseconds kPause{20};

}  // namespace

// Is it ready?
Result<void> EmbeddedServer::Ask() const {
  if (!std::filesystem::exists(admin_kubeconfig())) {
    return Error{admin_kubeconfig() + " is not there"};
  }
  const auto cluster = Cluster::Open(admin_kubeconfig());
  if (!cluster.ok()) return cluster.error();
  const client::RestReply reply = (*cluster)->rest().Get("/readyz", std::chrono::seconds(5));
  return reply.ok() ? Result<void>() : Result<void>(Error{"GET /readyz: " + reply.error->message});
}

Result<std::unique_ptr<EmbeddedServer>> EmbeddedServer::Start(
    const EmbeddedServerOptions& options, const std::function<bool()>& interrupted) {
  std::vector<std::string> argv = {options.program.empty() ? OwnFile() : options.program,
                                   "apiserver", "--dir=" + options.folder, "--secure-port=0"};
  argv.insert(argv.end(), options.flags.begin(), options.flags.end());
  // Those of an earlier server would be taken for this one's.
  for (const char* name : {"/admin.kubeconfig", "/scheduler.kubeconfig"}) {
    std::error_code ignored;
    std::filesystem::remove(options.folder + name, ignored);
  }
  Result<std::unique_ptr<Process>> process = Process::Start(argv, options.log);
  if (!process.ok()) return process.error();
  std::unique_ptr<EmbeddedServer> server(
      new EmbeddedServer(options.folder, std::move(process).value()));
  const auto deadline = steady_clock::now() + kStartTimeout;
  while (true) {
    const Result<void> ready = server->Ask();
    if (ready.ok()) return server;
    const bool ended = server->process_->WaitFor(kPause);
    if (interrupted && interrupted()) return Error{"interrupted"};
    if (!ended && steady_clock::now() < deadline) continue;
    const std::string why = ended ? "ended: " + server->process_->Wait().how
                                  : fmt::format("was not ready within {} s: {}",
                                                kStartTimeout.count(), ready.error().message);
    return Error{"the API server " + why + "\nthe end of its log, " + options.log + ":\n" +
                 LastLines(options.log, 20)};
  }
}

}  // namespace ks::ctl
