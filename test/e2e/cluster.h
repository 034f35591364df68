// SPDX-License-Identifier: Apache-2.0
#pragma once
// A real control plane with a client and a live view of its pods, for end-to-end tests: create
// objects in order, start a scheduler, wait until the pods look as wanted.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "client/auth/kubeconfig.h"
#include "client/rest/connection.h"
#include "client/rest/rest_client.h"
#include "e2e/pod_view.h"
#include "e2e/refusals.h"
#include "e2e/service_account.h"
#include "testing/control_plane.h"
#include "testing/run_program.h"
#include "testing/temp_dir.h"

namespace ks::e2e {

using nlohmann::json;

// One control plane, an administrator's client, a pod view, and the scheduler under test as a child
// process. The test fails if the API server refuses that scheduler anything that the test does not
// allow. With the environment variable KS_E2E_USER=serviceaccount the scheduler is the
// ServiceAccount of deploy/second-scheduler with the rights that it has there, else
// system:kube-scheduler.
class Cluster {
 public:
  // Whether the API server is of a release before the schedulers' own.
  static bool IsOlder() {
    return !testing::ControlPlane::Available(nullptr,
                                             {37, "DeviceTaintRule in resource.k8s.io/v1"});
  }

  // Null after a failed start (already reported). `audit_rules`: AuditPolicy's.
  static std::unique_ptr<Cluster> Start(testing::ControlPlane::Options options = {},
                                        const std::string& audit_rules = "") {
    client::InitializeClientProcess();
    std::unique_ptr<Cluster> cluster(new Cluster);
    options.apiserver_args.push_back(
        "--audit-policy-file=" + cluster->audit_.Write("policy.yaml", AuditPolicy(audit_rules)));
    options.apiserver_args.push_back("--audit-log-path=" + cluster->AuditLog());
    auto plane = testing::ControlPlane::Start(options);
    if (!plane.ok()) {
      ADD_FAILURE() << plane.error().message;
      return nullptr;
    }
    cluster->plane_ = std::move(*plane);
    if (IsOlder()) {  // the role that the server makes for its scheduler does not name them
      cluster->AllowRefusal({std::string(kSchedulerUser), "list", "devicetaintrules"});
    }
    if (!cluster->ChooseUser()) return nullptr;
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
  ~Cluster() {
    if (plane_ == nullptr) return;
    constexpr size_t kShown = 10;
    const std::vector<std::string> refusals = Refusals();
    for (size_t i = 0; i < refusals.size() && i < kShown; ++i) {
      ADD_FAILURE() << refusals[i] << " (" << i + 1 << " of " << refusals.size() << ")";
    }
  }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // What the API server refused the scheduler so far and the test did not allow.
  std::vector<std::string> Refusals() const {
    return ReadRefusals(AuditLog(), allowed_, startups_);
  }
  // A request of this kind may be refused.
  void AllowRefusal(AllowedRefusal refusal) { allowed_.push_back(std::move(refusal)); }
  // After plane().KillApiServer(): ControlPlane's. The server does not know its roles until it is
  // ready: what it refuses before is forgiven.
  Result<void> StartApiServer() {
    const auto size = [this] {
      return static_cast<std::streamoff>(std::filesystem::file_size(AuditLog()));
    };
    const std::streamoff begin = size();
    Result<void> started = plane_->StartApiServer();
    startups_.push_back({begin, size()});
    return started;
  }
  // Every request that the policy has, one JSON text a line.
  std::string AuditLog() const { return audit_.path() + "/audit.log"; }

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
    return StartScheduler({testing::ControlPlane::BinaryPath("kube-scheduler"), "--secure-port=0",
                           (gates.empty() ? "--feature-gates=" : gates + ",") + ReferenceGates()},
                          "kube-scheduler", configuration);
  }
  // Of the kube-scheduler that a test compares with: it waits for ever for what an older server
  // does not serve.
  static std::string ReferenceGates() {
    return std::string("WatchListClient=false") + (IsOlder() ? ",DRADeviceTaintRules=false" : "");
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
  // What kubectl prints, as the administrator; a failure unless it ends well.
  std::string Kubectl(const std::vector<std::string>& arguments) {
    std::vector<std::string> argv = {testing::ControlPlane::BinaryPath("kubectl"),
                                     "--kubeconfig=" + plane_->AdminKubeconfig(),
                                     "--cache-dir=" + plane_->Dir() + "/kubectl-cache"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const auto ran = testing::RunProgram(argv, plane_->Dir(), "kubectl", std::chrono::seconds(60));
    if (!ran.ok()) {
      ADD_FAILURE() << ran.error().message;
      return {};
    }
    EXPECT_EQ(ran->exit_status, 0) << arguments.front() << ": " << ran->output;
    return ran->output;
  }
  std::string LogPath(const std::string& name) const { return plane_->Dir() + "/" + name + ".log"; }

 private:
  Cluster() = default;

  // Makes SchedulerKubeconfig that of whom KS_E2E_USER names. False after a failure.
  bool ChooseUser() {
    const char* const user = std::getenv("KS_E2E_USER");
    if (user == nullptr || *user == '\0') return true;
    if (std::string_view(user) != "serviceaccount") {
      ADD_FAILURE() << "KS_E2E_USER=" << user << ": known is serviceaccount, or leave it unset";
      return false;
    }
    Kubectl({"apply", "-f", KS_DEPLOY_DIR "/second-scheduler/rbac.yaml"});
    const std::string token = Kubectl({"-n", "kube-system", "create", "token", "kubesched"});
    std::ofstream(plane_->SchedulerKubeconfig()) << TokenKubeconfig(*plane_, token);
    return !::testing::Test::HasFailure();
  }

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

  const testing::TempDir audit_;
  std::vector<AllowedRefusal> allowed_;
  std::vector<LogPart> startups_;
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
