// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scheduler under demonstration or measurement: its configuration file, its process and its log,
// in a folder of their own. kubesched and kube-scheduler are started alike, with the same file.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubeschedctl/cluster/process.h"

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
// second, and no leader election; without HTTPS server, with `flags` after its own. The log is
// <folder>/<name>.log.
Result<std::unique_ptr<Process>> StartScheduler(const std::string& binary,
                                                const std::string& kubeconfig, int qps,
                                                const std::string& folder,
                                                const std::vector<std::string>& flags = {});

// A scheduler that is called with flags alone, as anybody would call it:
//   binary --kubeconfig=F --leader-elect=false --secure-port=0 --kube-api-qps=N --kube-api-burst=N
// With a configuration file of the user's, a copy of it that names the kubeconfig, has no leader
// election, and the limit of requests unless it has one itself:
//   binary --config=COPY --secure-port=0
struct SchedulerCommand {
  std::string binary;
  std::string kubeconfig;
  std::string config{};             // a KubeSchedulerConfiguration; empty: none
  std::vector<std::string> args{};  // more flags
  int qps = 0;                      // 0: the flags are left out
  std::string folder;               // for the copy and the log
};
Result<std::unique_ptr<Process>> StartScheduler(const SchedulerCommand& command);

}  // namespace ks::ctl
