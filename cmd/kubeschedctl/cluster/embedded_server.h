// SPDX-License-Identifier: Apache-2.0
#pragma once
// The in-memory API server as a process of its own: kubeschedctl's verb apiserver. A process, so
// that its CPU and memory are measured apart from everything else.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kubeschedctl/cluster/process.h"

namespace ks::ctl {

struct EmbeddedServerOptions {
  std::string folder;                // gets the kubeconfigs; must exist
  std::string log;                   // file
  std::string program{};             // kubeschedctl; empty: this program
  std::vector<std::string> flags{};  // more flags of the verb
};

// Threads: one at a time.
class EmbeddedServer {
 public:
  // Waits until it is ready. `interrupted` (may be empty) ends the waiting. Errors have the end of
  // the server's log.
  static Result<std::unique_ptr<EmbeddedServer>> Start(
      const EmbeddedServerOptions& options, const std::function<bool()>& interrupted = {});

  std::string admin_kubeconfig() const { return folder_ + "/admin.kubeconfig"; }
  std::string scheduler_kubeconfig() const { return folder_ + "/scheduler.kubeconfig"; }
  Process& process() { return *process_; }

 private:
  EmbeddedServer(std::string folder, std::unique_ptr<Process> process)
      : folder_(std::move(folder)), process_(std::move(process)) {}

  Result<void> Ask() const;

  const std::string folder_;
  const std::unique_ptr<Process> process_;
};

}  // namespace ks::ctl
