// SPDX-License-Identifier: Apache-2.0
#include "scheduler_run.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace ks::ctl {

Result<std::unique_ptr<TemporaryFolder>> TemporaryFolder::Make() {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "kubeschedctl-XXXXXX").string();
  if (error || ::mkdtemp(path.data()) == nullptr) {
    return Error{"cannot make a temporary folder (" + path +
                 "): " + std::generic_category().message(errno)};
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
                                                const std::string& folder) {
  const std::string name = std::filesystem::path(binary).filename().string();
  const std::string config_path = folder + "/" + name + ".config.json";
  const nlohmann::json config = {
      {"apiVersion", "kubescheduler.config.k8s.io/v1"},
      {"kind", "KubeSchedulerConfiguration"},
      {"clientConnection", {{"kubeconfig", kubeconfig}, {"qps", qps}, {"burst", qps}}},
      {"leaderElection", {{"leaderElect", false}}}};
  std::ofstream file(config_path);
  file << config.dump(2) << "\n";
  file.close();
  if (!file) {
    return Error{"cannot write " + config_path};
  }
  return Process::Start({binary, "--config=" + config_path, "--secure-port=0"},
                        folder + "/" + name + ".log");
}

}  // namespace ks::ctl
