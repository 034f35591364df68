// SPDX-License-Identifier: Apache-2.0
#pragma once
// A real control plane with a client and a live view of its pods, for end-to-end tests: create
// objects in order, start a scheduler, wait until the pods look as wanted.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/pod.h"
#include "base/mutex.h"
#include "client/auth/kubeconfig.h"
#include "client/rest/connection.h"
#include "client/rest/rest_client.h"
#include "client/watch/reflector.h"
#include "testing/control_plane.h"

namespace ks::e2e {

using nlohmann::json;

// The pods of the cluster as their watch shows them. Threads: any.
class PodView {
 public:
  using Pods = std::map<std::string, api::PodPtr>;  // by namespace/name

  explicit PodView(client::RestClient& client)
      : reflector_(client,
                   {.path = "/api/v1/pods",
                    .field_selector = "",
                    .type_name = "*v1.Pod",
                    .resource = "pods",
                    .seed = 1},
                   [this](std::vector<api::Delta<api::Pod>> deltas) { Apply(std::move(deltas)); }) {
    reflector_.Start();
  }
  ~PodView() { reflector_.Stop(); }

  // Blocks until `ready` holds for the pods or the time is over; returns what it said last.
  bool WaitFor(const std::function<bool(const Pods&)>& ready, std::chrono::seconds limit) {
    const TimePoint deadline = RealClock().Now() + limit;
    MutexLock lock(mutex_);
    while (!ready(pods_)) {
      const Duration left = deadline - RealClock().Now();
      if (left.count() <= 0) return false;
      changed_.WaitFor(mutex_, left);
    }
    return true;
  }

  Pods pods() {
    MutexLock lock(mutex_);
    return pods_;
  }
  // The resourceVersion in which the pod was first seen on a node; empty: not yet.
  std::string BoundAt(const std::string& key) {
    MutexLock lock(mutex_);
    const auto it = bound_at_.find(key);
    return it == bound_at_.end() ? std::string() : it->second;
  }
  // Pods that were seen on two nodes, one after the other: never allowed.
  std::vector<std::string> moved() {
    MutexLock lock(mutex_);
    return moved_;
  }

 private:
  void Apply(std::vector<api::Delta<api::Pod>> deltas) {
    using Type = api::Delta<api::Pod>::Type;
    {
      MutexLock lock(mutex_);
      for (const auto& delta : deltas) {
        if (delta.type == Type::kReplace) {
          pods_.clear();
          for (const api::PodPtr& pod : delta.items) Upsert(pod);
        } else if (delta.type == Type::kUpsert) {
          Upsert(delta.object);
        } else {
          pods_.erase(delta.object->meta.Key());
        }
      }
    }
    changed_.NotifyAll();
  }
  void Upsert(const api::PodPtr& pod) KS_REQUIRES(mutex_) {
    std::string& node = node_by_uid_[pod->meta.uid];
    if (!node.empty() && node != pod->node_name) moved_.push_back(pod->meta.Key());
    if (!pod->node_name.empty()) {
      bound_at_.emplace(pod->meta.Key(), pod->meta.resource_version);
    }
    node = pod->node_name;
    pods_[pod->meta.Key()] = pod;
  }

  Mutex mutex_;
  CondVar changed_;
  Pods pods_ KS_GUARDED_BY(mutex_);
  std::map<std::string, std::string> node_by_uid_ KS_GUARDED_BY(mutex_);
  std::map<std::string, std::string> bound_at_ KS_GUARDED_BY(mutex_);
  std::vector<std::string> moved_ KS_GUARDED_BY(mutex_);
  client::Reflector<api::Pod> reflector_;
};

// One control plane, an administrator's client, a pod view, and the scheduler under test as a child
// process.
class Cluster {
 public:
  // Null after a failed start (already reported).
  static std::unique_ptr<Cluster> Start(const testing::ControlPlane::Options& options = {}) {
    client::InitializeClientProcess();
    auto plane = testing::ControlPlane::Start(options);
    if (!plane.ok()) {
      ADD_FAILURE() << plane.error().message;
      return nullptr;
    }
    std::unique_ptr<Cluster> cluster(new Cluster);
    cluster->plane_ = std::move(*plane);
    auto access = client::LoadKubeconfig(cluster->plane_->AdminKubeconfig());
    if (!access.ok()) {
      ADD_FAILURE() << access.error().message;
      return nullptr;
    }
    auto connection = client::Connection::Make(*access);
    if (!connection.ok()) {
      ADD_FAILURE() << connection.error().message;
      return nullptr;
    }
    cluster->connection_ = std::move(*connection);
    client::RestOptions rest;
    rest.qps = -1;
    rest.user_agent = client::UserAgent("kubesched-e2e", "test");
    cluster->admin_ = cluster->connection_->NewRestClient(rest);
    cluster->view_ = std::make_unique<PodView>(*cluster->admin_);
    return cluster;
  }

  testing::ControlPlane& plane() { return *plane_; }
  PodView& view() { return *view_; }
  client::RestClient& admin() { return *admin_; }

  // One request after the other, so that resourceVersions and lists keep the order of creation.
  // Repeats while the server is away, and while it has not heard yet of a PriorityClass that it
  // has stored.
  void Create(const std::string& path, const json& object) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    client::RestReply reply = admin_->Post(path, object.dump());
    while (!reply.ok() && std::chrono::steady_clock::now() < end &&
           reply.error->message.find("no PriorityClass with name") != std::string::npos) {
      reply = admin_->Post(path, object.dump());
    }
    ASSERT_TRUE(reply.ok()) << path << ": " << reply.error->message << "\n" << object.dump();
  }
  void CreateNode(const json& node) { Create("/api/v1/nodes", node); }
  void CreatePod(const json& pod) { Create("/api/v1/namespaces/default/pods", pod); }
  void Delete(const std::string& path) {
    const client::RestReply reply = admin_->Delete(path);
    ASSERT_TRUE(reply.ok()) << path << ": " << reply.error->message;
  }
  void MergePatch(const std::string& path, const json& patch) {
    const client::RestReply reply =
        admin_->Patch(path, patch.dump(), "application/merge-patch+json");
    ASSERT_TRUE(reply.ok()) << path << ": " << reply.error->message;
  }
  json Get(const std::string& path) {
    const client::RestReply reply = admin_->Get(path);
    EXPECT_TRUE(reply.ok()) << path << ": " << (reply.ok() ? "" : reply.error->message);
    return reply.ok() ? json::parse(reply.body) : json();
  }

  // `configuration`: text of a KubeSchedulerConfiguration.
  // Asks every 50 ms until `ready` or the time is over.
  bool WaitUntil(const std::function<bool()>& ready, std::chrono::seconds limit) {
    const TimePoint deadline = RealClock().Now() + limit;
    Mutex mutex;
    CondVar never;
    MutexLock lock(mutex);
    while (!ready()) {
      if (RealClock().Now() >= deadline) return false;
      never.WaitFor(mutex, std::chrono::milliseconds(50));
    }
    return true;
  }
  // `gates`: a flag --feature-gates=…, or empty.
  pid_t StartKubesched(const std::string& configuration, const std::string& gates = "") {
    std::vector<std::string> argv = {KS_KUBESCHED_PATH, "--secure-port=0", "-v=2"};
    if (!gates.empty()) argv.push_back(gates);
    return StartScheduler(std::move(argv), "kubesched", configuration);
  }
  pid_t StartKubeScheduler(const std::string& configuration, const std::string& gates = "") {
    return StartScheduler(
        {testing::ControlPlane::BinaryPath("kube-scheduler"), "--secure-port=0",
         (gates.empty() ? "--feature-gates=" : gates + ",") + "WatchListClient=false"},
        "kube-scheduler", configuration);
  }
  // One of several: `program` with these flags, configuration and log of its own.
  pid_t StartReplica(std::vector<std::string> argv, const std::string& name,
                     const std::string& configuration) {
    return StartScheduler(std::move(argv), name, configuration);
  }
  testing::ProcessEnd StopScheduler(pid_t pid) {
    auto end = plane_->StopProcess(pid, SIGTERM, std::chrono::seconds(30));
    EXPECT_TRUE(end.ok()) << (end.ok() ? "" : end.error().message);
    return end.ok() ? *end : testing::ProcessEnd{};
  }
  std::string LogPath(const std::string& name) const { return plane_->Dir() + "/" + name + ".log"; }

 private:
  Cluster() = default;

  pid_t StartScheduler(std::vector<std::string> argv, const std::string& name,
                       const std::string& configuration) {
    const std::string file = plane_->Dir() + "/" + name + ".yaml";
    std::FILE* out = std::fopen(file.c_str(), "w");
    EXPECT_NE(out, nullptr);
    std::fputs(configuration.c_str(), out);
    std::fclose(out);
    argv.push_back("--config=" + file);
    auto pid = plane_->AddProcess(argv, LogPath(name));
    EXPECT_TRUE(pid.ok()) << (pid.ok() ? "" : pid.error().message);
    return pid.ok() ? *pid : 0;
  }

  // Destroyed in reverse order: the view before its client, the client before its connection.
  std::unique_ptr<testing::ControlPlane> plane_;
  std::unique_ptr<client::Connection> connection_;
  std::unique_ptr<client::RestClient> admin_;
  std::unique_ptr<PodView> view_;
};

// A configuration both schedulers read.
inline std::string SchedulerConfiguration(const std::string& kubeconfig, int parallelism) {
  return "apiVersion: kubescheduler.config.k8s.io/v1\n"
         "kind: KubeSchedulerConfiguration\n"
         "leaderElection:\n"
         "  leaderElect: false\n"
         "clientConnection:\n"
         "  kubeconfig: " +
         kubeconfig +
         "\n"
         "  qps: 5000\n"
         "  burst: 5000\n"
         "parallelism: " +
         std::to_string(parallelism) + "\n";
}

inline size_t CountBound(const PodView::Pods& pods) {
  size_t bound = 0;
  for (const auto& [key, pod] : pods) bound += pod->node_name.empty() ? 0 : 1;
  return bound;
}

// Manifests.
inline json NodeManifest(const std::string& name, const json& allocatable,
                         const json& labels = json::object()) {
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", name}, {"labels", labels}}},
          {"status", {{"allocatable", allocatable}, {"capacity", allocatable}}}};
}
inline json PodManifest(const std::string& name, const json& requests) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}}},
          {"spec",
           {{"containers", json::array({{{"name", "main"},
                                         {"image", "registry.example/app:1"},
                                         {"resources", {{"requests", requests}}}}})}}}};
}

}  // namespace ks::e2e
