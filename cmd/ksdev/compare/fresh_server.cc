// SPDX-License-Identifier: Apache-2.0
#include "ksdev/compare/fresh_server.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file_text.h"

namespace ks::ctl::dev {
namespace {

// What the tool notes of its processes.
Result<pid_t> ApiServerOf(const std::string& folder) {
  const std::string path = folder + "/state.json";
  const Result<std::string> text = ReadFile(path);
  if (!text.ok()) return text.error();
  const auto state = nlohmann::json::parse(*text, nullptr, false);
  const nlohmann::json::json_pointer process("/processes/kube-apiserver/pid");
  if (state.is_discarded() || !state.contains(process)) {
    return Error{path + ": names no kube-apiserver"};
  }
  return state[process].get<pid_t>();
}

}  // namespace

Result<double> CpuSecondsBetween(const Result<ProcessUsage>& before,
                                 const Result<ProcessUsage>& after) {
  if (!before.ok()) return Error{"the API server: " + before.error().message};
  if (!after.ok()) return Error{"the API server: " + after.error().message};
  return after->cpu_seconds - before->cpu_seconds;
}

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
  const Result<pid_t> process = ApiServerOf(options.folder);
  if (!process.ok()) return process.error();
  server->api_server_ = *process;
  return server;
}

Result<std::unique_ptr<FreshServer>> FreshServer::UpFor(
    const Programs& programs, const std::string& folder,
    const std::vector<std::string>& apiserver_flags) {
  return Up({.embedded = programs.embedded_server,
             .folder = programs.folder.empty() ? folder + "/server" : programs.folder,
             .log = folder + "/server.log",
             .controlplane_tool = programs.controlplane_tool,
             .apiserver_flags = apiserver_flags});
}

FreshServer::~FreshServer() {
  if (!tool_.empty()) (void)RunTool("down");
}

Result<ProcessUsage> FreshServer::Usage() const {
  return embedded_ ? embedded_->process().Usage() : UsageOf(api_server_);
}

}  // namespace ks::ctl::dev
