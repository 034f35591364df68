// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a demo takes place: an API server of its own or an existing cluster, with made-up nodes and
// the planned pods' priority classes.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/cluster/embedded_server.h"
#include "kubeschedctl/cluster/scheduler_run.h"
#include "kubeschedctl/cluster/workload.h"
#include "kubeschedctl/demo/demo.h"
#include "kubeschedctl/demo/demo_workload.h"

namespace ks::ctl {

// Threads: one at a time.
class DemoCluster {
 public:
  // Starts the server unless the options name a kubeconfig. `interrupted` ends the waiting.
  static Result<std::unique_ptr<DemoCluster>> Open(const DemoOptions& options,
                                                   const std::function<bool()>& interrupted);

  // Removes what an earlier demo left and creates nodes, priority classes and `objects`, which are
  // what the pods refer to.
  Result<void> Populate(const Workload& workload, const std::vector<PlannedObject>& objects);
  // Removes nodes, pods, priority classes and objects of those kinds.
  Result<void> Remove(const Workload& workload, const std::vector<PlannedObject>& objects);

  Cluster& api() { return *cluster_; }
  // Null: somebody else's.
  EmbeddedServer* server() { return server_.get(); }
  std::string admin_kubeconfig() const;
  std::string scheduler_kubeconfig() const;
  // For logs and other files; removed at the end unless Keep was called.
  const std::string& folder() const { return folder_->path(); }
  void Keep() { folder_->Keep(); }

 private:
  explicit DemoCluster(const DemoOptions& options) : options_(options) {}

  Result<void> CreatePriorityClasses(const std::string& owner);
  Result<void> CreateObjects(const std::vector<PlannedObject>& objects);

  const DemoOptions& options_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::unique_ptr<EmbeddedServer> server_;
  std::unique_ptr<Cluster> cluster_;
};

}  // namespace ks::ctl
