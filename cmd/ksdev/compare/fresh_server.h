// SPDX-License-Identifier: Apache-2.0
#pragma once
// An empty API server for one measurement: a real control plane, brought up by tools/controlplane,
// or the in-memory one.

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ksdev/compare/programs.h"
#include "kubeschedctl/cluster/embedded_server.h"
#include "kubeschedctl/cluster/process.h"

namespace ks::ctl::dev {

struct FreshServerOptions {
  bool embedded = false;
  std::string folder;  // for kubeconfigs and logs; what runs there is taken down first
  std::string log;     // file
  std::vector<std::string> embedded_flags{};  // of kubeschedctl apiserver
  // Not for the embedded one.
  std::string controlplane_tool{};
  std::vector<std::string> apiserver_flags{};
  bool controller_manager = false;  // start kube-controller-manager too
  std::vector<std::string> controller_manager_flags{};
};

// What an API server took between two looks at it. Error: it was not there any more.
Result<double> CpuSecondsBetween(const Result<ProcessUsage>& before,
                                 const Result<ProcessUsage>& after);

// Is up for this object's lifetime. Threads: one at a time.
class FreshServer {
 public:
  static Result<std::unique_ptr<FreshServer>> Up(const FreshServerOptions& options);
  // The one for a comparison. `folder`: for what `programs` name no folder for.
  static Result<std::unique_ptr<FreshServer>> UpFor(
      const Programs& programs, const std::string& folder,
      const std::vector<std::string>& apiserver_flags = {});
  ~FreshServer();
  FreshServer(const FreshServer&) = delete;
  FreshServer& operator=(const FreshServer&) = delete;

  std::string admin_kubeconfig() const { return folder_ + "/admin.kubeconfig"; }
  std::string scheduler_kubeconfig() const { return folder_ + "/scheduler.kubeconfig"; }
  // Of the API server: kube-apiserver without etcd, or the in-memory one.
  Result<ProcessUsage> Usage() const;

 private:
  FreshServer(std::string tool, std::string folder, std::string log)
      : tool_(std::move(tool)), folder_(std::move(folder)), log_(std::move(log)) {}

  Result<void> RunTool(const std::string& verb, const std::vector<std::string>& args = {});

  const std::string tool_;
  const std::string folder_;
  const std::string log_;
  std::unique_ptr<EmbeddedServer> embedded_;
  pid_t api_server_ = 0;  // of a real control plane
};

}  // namespace ks::ctl::dev
