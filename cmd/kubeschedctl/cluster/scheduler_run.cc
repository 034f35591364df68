// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cluster/scheduler_run.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <variant>

#include "base/file_text.h"
#include "config/text/document.h"

namespace ks::ctl {
namespace {

using Json = nlohmann::json;

std::string NameOf(const std::string& binary) {
  return std::filesystem::path(binary).filename().string();
}

Result<void> WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  return file ? Result<void>() : Result<void>(Error{"cannot write " + path});
}

// The member as an object, made if it is missing. Null: it is something else.
Json* ObjectMember(Json& parent, const char* key) {
  Json& member = parent[key];
  if (member.is_null()) member = Json::object();
  return member.is_object() ? &member : nullptr;
}

// The user's file with what the demo must decide. Faults in the rest are the scheduler's to tell.
Result<std::string> AdaptedConfig(const SchedulerCommand& command) {
  const Result<std::string> text = ReadFile(command.config);
  if (!text.ok()) return text.error();
  const auto parsed = config::ParseDocument(*text);
  if (const auto* fault = std::get_if<config::Finding>(&parsed)) {
    return Error{config::Render(*fault, command.config)};
  }
  const auto& document = std::get<config::Document>(parsed);
  Json root = Json::parse(config::CompactJson(document.root, document.syntax), nullptr, false);
  if (!root.is_object()) return Error{command.config + ": is no KubeSchedulerConfiguration"};
  Json* connection = ObjectMember(root, "clientConnection");
  Json* election = ObjectMember(root, "leaderElection");
  if (connection == nullptr || election == nullptr) {
    return Error{command.config + ": " +
                 (connection == nullptr ? "clientConnection" : "leaderElection") +
                 ": is not an object"};
  }
  (*connection)["kubeconfig"] = command.kubeconfig;
  for (const char* limit : {"qps", "burst"}) {
    if (command.qps > 0 && !connection->contains(limit)) (*connection)[limit] = command.qps;
  }
  (*election)["leaderElect"] = false;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::Make() {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "kubeschedctl-XXXXXX").string();
  if (error || ::mkdtemp(path.data()) == nullptr) {
    return Error{"cannot make a temporary folder (" + path + "): " + SystemErrorText(errno)};
  }
  return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(std::move(path)));
}

TemporaryFolder::~TemporaryFolder() {
  if (!keep_) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
}

Result<std::unique_ptr<Process>> StartScheduler(const std::string& binary,
                                                const std::string& kubeconfig, int qps,
                                                const std::string& folder,
                                                const std::vector<std::string>& flags) {
  const std::string name = NameOf(binary);
  const std::string config_path = folder + "/" + name + ".config.json";
  const Json config = {
      {"apiVersion", "kubescheduler.config.k8s.io/v1"},
      {"kind", "KubeSchedulerConfiguration"},
      {"clientConnection", {{"kubeconfig", kubeconfig}, {"qps", qps}, {"burst", qps}}},
      {"leaderElection", {{"leaderElect", false}}}};
  if (Result<void> written = WriteFile(config_path, config.dump(2) + "\n"); !written.ok()) {
    return written.error();
  }
  std::vector<std::string> argv = {binary, "--config=" + config_path, "--secure-port=0"};
  argv.insert(argv.end(), flags.begin(), flags.end());
  return Process::Start(argv, folder + "/" + name + ".log");
}

Result<std::unique_ptr<Process>> StartScheduler(const SchedulerCommand& command) {
  const std::string name = NameOf(command.binary);
  std::vector<std::string> argv = {command.binary};
  if (!command.config.empty()) {
    const Result<std::string> config = AdaptedConfig(command);
    if (!config.ok()) return config.error();
    const std::string path = command.folder + "/" + name + ".config.json";
    if (Result<void> written = WriteFile(path, *config); !written.ok()) return written.error();
    argv.push_back("--config=" + path);
  } else {
    argv.push_back("--kubeconfig=" + command.kubeconfig);
    argv.emplace_back("--leader-elect=false");
  }
  argv.emplace_back("--secure-port=0");
  if (command.config.empty() && command.qps > 0) {
    argv.push_back("--kube-api-qps=" + std::to_string(command.qps));
    argv.push_back("--kube-api-burst=" + std::to_string(command.qps));
  }
  argv.insert(argv.end(), command.args.begin(), command.args.end());
  return Process::Start(argv, command.folder + "/" + name + ".log");
}

}  // namespace ks::ctl
