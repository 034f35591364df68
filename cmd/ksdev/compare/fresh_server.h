// SPDX-License-Identifier: Apache-2.0
#pragma once
// An empty API server for one measurement: a real control plane, brought up by tools/controlplane,
// or the in-memory one.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
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

// Is up for this object's lifetime. Threads: one at a time.
class FreshServer {
 public:
  static Result<std::unique_ptr<FreshServer>> Up(const FreshServerOptions& options);
  ~FreshServer();
  FreshServer(const FreshServer&) = delete;
  FreshServer& operator=(const FreshServer&) = delete;

  std::string admin_kubeconfig() const { return folder_ + "/admin.kubeconfig"; }
  std::string scheduler_kubeconfig() const { return folder_ + "/scheduler.kubeconfig"; }
  // The server's usage; nothing for a real control plane, which is several processes.
  std::optional<ProcessUsage> Usage() const;

 private:
  FreshServer(std::string tool, std::string folder, std::string log)
      : tool_(std::move(tool)), folder_(std::move(folder)), log_(std::move(log)) {}

  Result<void> RunTool(const std::string& verb, const std::vector<std::string>& args = {});

  const std::string tool_;
  const std::string folder_;
  const std::string log_;
  std::unique_ptr<EmbeddedServer> embedded_;
};

}  // namespace ks::ctl::dev
