// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/demo_cluster.h"

#include <filesystem>
#include <set>
#include <utility>

namespace ks::ctl {
namespace {

constexpr int kConflict = 409;

}  // namespace

Result<std::unique_ptr<DemoCluster>> DemoCluster::Open(const DemoOptions& options,
                                                       const std::function<bool()>& interrupted) {
  std::unique_ptr<DemoCluster> demo(new DemoCluster(options));
  Result<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::Make();
  if (!folder.ok()) return folder.error();
  demo->folder_ = std::move(folder).value();
  if (options.kubeconfig.empty()) {
    const std::string dir = options.dir.empty() ? demo->folder() + "/server" : options.dir;
    std::error_code error;
    std::filesystem::create_directories(dir, error);
    if (error) return Error{"cannot make the folder " + dir + ": " + error.message()};
    std::vector<std::string> flags = {"--agents", "--claims",
                                      "--seed=" + std::to_string(options.seed)};
    for (const std::string& kinds : options.devices) flags.push_back("--devices=" + kinds);
    Result<std::unique_ptr<EmbeddedServer>> server = EmbeddedServer::Start(
        {.folder = dir, .log = demo->folder() + "/apiserver.log", .flags = std::move(flags)},
        interrupted);
    if (!server.ok()) return server.error();
    demo->server_ = std::move(server).value();
  }
  Result<std::unique_ptr<Cluster>> cluster = Cluster::Open(demo->admin_kubeconfig());
  if (!cluster.ok()) return cluster.error();
  demo->cluster_ = std::move(cluster).value();
  return demo;
}

std::string DemoCluster::admin_kubeconfig() const {
  return server_ ? server_->admin_kubeconfig() : options_.kubeconfig;
}

std::string DemoCluster::scheduler_kubeconfig() const {
  if (!options_.scheduler_kubeconfig.empty()) return options_.scheduler_kubeconfig;
  return server_ ? server_->scheduler_kubeconfig() : options_.kubeconfig;
}

Result<void> DemoCluster::CreatePriorityClasses(const std::string& owner) {
  for (const PriorityClassBody& priority : DemoPriorityClasses(owner)) {
    const client::RestReply reply =
        cluster_->rest().Post(kPriorityClassPath, priority.body, std::chrono::seconds(30));
    if (!reply.ok() && reply.code != kConflict) {
      return Error{"creating priority class " + priority.name + ": " + reply.error->message};
    }
  }
  return {};
}

Result<void> DemoCluster::CreateObjects(const std::vector<PlannedObject>& objects) {
  for (const PlannedObject& object : objects) {
    const client::RestReply reply = cluster_->rest().Post(object.path + "?fieldValidation=Strict",
                                                          object.body, std::chrono::seconds(30));
    if (!reply.ok()) return Error{"creating " + object.name + ": " + reply.error->message};
  }
  return {};
}

Result<void> DemoCluster::Populate(const Workload& workload,
                                   const std::vector<PlannedObject>& objects) {
  if (!server_) {
    if (Result<void> removed = Remove(workload, objects); !removed.ok()) return removed;
  }
  if (Result<void> made = CreatePriorityClasses(workload.label); !made.ok()) return made;
  if (Result<void> made = CreateObjects(objects); !made.ok()) return made;
  return CreateNodes(*cluster_, workload);
}

Result<void> DemoCluster::Remove(const Workload& workload,
                                 const std::vector<PlannedObject>& objects) {
  if (Result<void> removed = RemoveWorkload(*cluster_, workload); !removed.ok()) return removed;
  std::set<std::string> paths;
  for (const PlannedObject& object : objects) paths.insert(object.path);
  for (const std::string& path : paths) {
    if (Result<void> removed = cluster_->DeleteAll(path, Selector(workload)); !removed.ok()) {
      return removed;
    }
  }
  return cluster_->DeleteAll(kPriorityClassPath, Selector(workload));
}

}  // namespace ks::ctl
