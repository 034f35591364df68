// SPDX-License-Identifier: Apache-2.0
#include "ksdev/compare/fresh_server.h"

#include <filesystem>
#include <system_error>

namespace ks::ctl::dev {

Result<void> FreshServer::RunTool(const std::string& verb, const std::vector<std::string>& args) {
  std::vector<std::string> argv = {"/usr/bin/env", "python3", tool_, verb, "--dir", folder_};
  argv.insert(argv.end(), args.begin(), args.end());
  Result<std::unique_ptr<Process>> tool = Process::Start(argv, log_);
  if (!tool.ok()) return tool.error();
  if (const std::string how = (*tool)->Wait().how; how != "exit status 0") {
    return Error{tool_ + " " + verb + ": " + how + "\n" + LastLines(log_, 20)};
  }
  return {};
}

Result<std::unique_ptr<FreshServer>> FreshServer::Up(const FreshServerOptions& options) {
  std::unique_ptr<FreshServer> server(new FreshServer(
      options.embedded ? "" : options.controlplane_tool, options.folder, options.log));
  if (options.embedded) {
    std::error_code error;
    std::filesystem::create_directories(options.folder, error);
    if (error) return Error{"cannot make the folder " + options.folder + ": " + error.message()};
    Result<std::unique_ptr<EmbeddedServer>> embedded =
        EmbeddedServer::Start({.folder = options.folder,
                               .log = options.log,
                               .program = OwnFolder() + "/kubeschedctl",
                               .flags = options.embedded_flags});
    if (!embedded.ok()) return embedded.error();
    server->embedded_ = std::move(embedded).value();
    return server;
  }
  if (Result<void> ended = server->RunTool("down"); !ended.ok()) return ended.error();
  std::vector<std::string> args;
  for (const std::string& flag : options.apiserver_flags) args.push_back("--apiserver-arg=" + flag);
  if (options.controller_manager) args.emplace_back("--with-controller-manager");
  for (const std::string& flag : options.controller_manager_flags) {
    args.push_back("--controller-manager-arg=" + flag);
  }
  if (Result<void> started = server->RunTool("up", args); !started.ok()) return started.error();
  return server;
}

FreshServer::~FreshServer() {
  if (!tool_.empty()) (void)RunTool("down");
}

std::optional<ProcessUsage> FreshServer::Usage() const {
  if (!embedded_) return std::nullopt;
  const Result<ProcessUsage> usage = embedded_->process().Usage();
  return usage.ok() ? std::optional<ProcessUsage>(*usage) : std::nullopt;
}

}  // namespace ks::ctl::dev
