// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scheduler under demonstration or measurement: its configuration file, its process and its log,
// in a folder of their own. kubesched and kube-scheduler are started alike, with the same file.

#include <memory>
#include <string>

#include "base/result.h"
#include "process.h"

namespace ks::ctl {

// A new folder below the system's temporary folder, removed with this object unless kept.
class TemporaryFolder {
 public:
  static Result<std::unique_ptr<TemporaryFolder>> Make();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  void Keep() { keep_ = true; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
  bool keep_ = false;
};

// Starts `binary` with a configuration file that has the kubeconfig, requests limited to `qps` a
// second, and no leader election; without HTTPS server. The log is <folder>/<name>.log.
Result<std::unique_ptr<Process>> StartScheduler(const std::string& binary,
                                                const std::string& kubeconfig, int qps,
                                                const std::string& folder);

}  // namespace ks::ctl
