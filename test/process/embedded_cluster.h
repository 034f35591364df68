// SPDX-License-Identifier: Apache-2.0
#pragma once
// The in-memory API server of this process, with nodes, two users for schedulers, fault rules and
// counts of requests.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apiserver/http/api_server.h"
#include "base/check.h"
#include "process/daemon_process.h"
#include "testing/temp_dir.h"

namespace ks::daemon {

using nlohmann::json;

// Who a scheduler is to the server.
inline constexpr char kFirstUser[] = "system:kube-scheduler";
inline constexpr char kSecondUser[] = "kubernetes-admin";

// Least or most allocated, and nothing else.
inline std::string ScoredBy(const std::string& strategy) {
  return "profiles:\n- plugins:\n    score:\n      disabled: [{name: '*'}]\n"
         "      enabled: [{name: NodeResourcesFit, weight: 1}]\n"
         "  pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n"
         "        type: " +
         strategy + "\n        resources: [{name: cpu, weight: 1}]\n";
}

class EmbeddedCluster {
 public:
  // `volumes`: with the PV controller, and nodes with labels for host and zone ("a" and "b" in
  // turn).
  explicit EmbeddedCluster(bool volumes = false) {
    apiserver::ApiServerOptions options;
    options.dir = folder_.path() + "/server";
    options.volumes = volumes;
    auto server = apiserver::ApiServer::Start(options);
    KS_CHECK(server.ok(), server.ok() ? "" : server.error().message);
    server_ = std::move(*server);
    for (int i = 0; i < kNodes; ++i) {
      const std::string name = "node-" + std::to_string(i);
      json labels = json::object();
      if (volumes) {
        labels["kubernetes.io/hostname"] = name;
        labels["topology.kubernetes.io/zone"] = i % 2 == 0 ? "a" : "b";
      }
      CreateNode(name, 16, labels);
    }
  }

  const std::string& folder() const { return folder_.path(); }
  // The host in the server's URL, with port.
  std::string host() const { return server_->url().substr(std::string("https://").size()); }

  // ---- objects ----
  void CreateNode(const std::string& name, int cpu, const json& labels = json::object()) {
    const json room{{"cpu", std::to_string(cpu)}, {"memory", "64Gi"}, {"pods", "110"}};
    json node{{"metadata", {{"name", name}, {"labels", labels}}}};
    node["status"]["allocatable"] = room;
    node["status"]["capacity"] = room;
    Create("", "v1", "nodes", "", std::move(node));
  }
  // `priority_class`: empty for none.
  void CreatePods(const std::string& prefix, int count, const std::string& cpu = "100m",
                  const std::string& priority_class = "") {
    json container{{"name", "c"}, {"image", "i"}};
    container["resources"]["requests"]["cpu"] = cpu;
    for (int i = 0; i < count; ++i) {
      json pod{{"metadata", {{"name", prefix + std::to_string(i)}}}};
      pod["spec"]["containers"] = json::array({container});
      if (!priority_class.empty()) pod["spec"]["priorityClassName"] = priority_class;
      Create("", "v1", "pods", "default", std::move(pod));
    }
  }
  void Create(const std::string& group, const std::string& version, const std::string& plural,
              const std::string& ns, apiserver::Json object) {
    Run([&](apiserver::Service& service) {
      const auto made = service.registry().Create(*apiserver::FindResource(group, version, plural),
                                                  ns, std::move(object));
      KS_CHECK(made.ok(), made.ok() ? "" : made.failure().message);
    });
  }
  // Null: there is none. Of the core group.
  json Get(const std::string& plural, const std::string& ns, const std::string& name) {
    json found;
    Run([&](apiserver::Service& service) {
      const apiserver::ObjectPtr object = service.store().Find(Kind(plural), ns, name);
      if (object != nullptr) found = json::parse(object->text);
    });
    return found;
  }
  // The version of the change after which an object of the core group held this; 0: none.
  uint64_t FirstVersion(const std::string& plural, const std::string& name,
                        const std::function<bool(const apiserver::Json&)>& holds) {
    uint64_t version = 0;
    Run([&](apiserver::Service& service) {
      const apiserver::Store& store = service.store();
      const apiserver::KindInfo& kind = Kind(plural);
      for (uint64_t i = store.FirstSequence(kind); i < store.NextSequence(kind); ++i) {
        const apiserver::Change& change = *store.At(kind, i);
        if (version == 0 && change.object->name == name && holds(change.object->Parse())) {
          version = change.version;
        }
      }
    });
    return version;
  }
  void Delete(const std::string& plural, const std::string& ns, const std::string& name) {
    Run([&](apiserver::Service& service) {
      (void)service.registry().Delete(Kind(plural), ns, name, {.grace_period_seconds = 0});
    });
  }

  // Pod name -> node, of those that have one.
  std::map<std::string, std::string> Bound() {
    std::map<std::string, std::string> bound;
    Run([&](apiserver::Service& service) {
      for (const auto& [key, pod] : service.store().objects(Kind("pods"))) {
        const std::string node = pod->Parse()["spec"].value("nodeName", "");
        if (!node.empty()) bound[key.second] = node;
      }
    });
    return bound;
  }
  bool AllBound(size_t count) {
    return Eventually([&] { return Bound().size() >= count; });
  }
  // How often each pod was bound, by the log of changes.
  std::map<std::string, int> Bindings() {
    std::map<std::string, int> bindings;
    Run([&](apiserver::Service& service) {
      const apiserver::Store& store = service.store();
      const auto node_of = [](const apiserver::ObjectPtr& pod) {
        return pod == nullptr ? "" : pod->Parse()["spec"].value("nodeName", "");
      };
      const apiserver::KindInfo& pods = Kind("pods");
      for (uint64_t i = store.FirstSequence(pods); i < store.NextSequence(pods); ++i) {
        const apiserver::Change& change = *store.At(pods, i);
        const std::string after = node_of(change.object);
        if (!after.empty() && node_of(change.before) != after) ++bindings[change.object->name];
      }
    });
    return bindings;
  }
  void ExpectEachBoundOnce(size_t pods) {
    const auto bindings = Bindings();
    EXPECT_EQ(bindings.size(), pods);
    for (const auto& [pod, times] : bindings) EXPECT_EQ(times, 1) << pod;
  }
  // Nodes that pods of this prefix are on.
  size_t NodesOf(const std::string& prefix) {
    std::map<std::string, int> nodes;
    for (const auto& [pod, node] : Bound()) {
      if (pod.starts_with(prefix)) ++nodes[node];
    }
    return nodes.size();
  }

  // ---- the lease ----
  std::string Holder() {
    std::string holder;
    Run([&](apiserver::Service& service) { holder = HolderIn(service); });
    return holder;
  }
  // Calls `changed` on the server's thread, with nothing in between, when somebody else holds the
  // lease. The handle ends it.
  std::shared_ptr<void> OnNextHolder(std::function<void()> changed) {
    std::shared_ptr<void> handle;
    Run([&](apiserver::Service& service) {
      const auto former = std::make_shared<std::string>(HolderIn(service));
      handle = service.store().Subscribe(Lease(), [this, former, changed = std::move(changed)] {
        const std::string holder = HolderIn(server_->service());
        if (former->empty() || holder.empty() || holder == *former) return;
        former->clear();
        changed();
      });
    });
    return handle;
  }
  void Drop(std::shared_ptr<void>& handle) {
    Run([&](apiserver::Service&) { handle.reset(); });
  }

  // ---- faults, and what was asked ----
  // Replaces all rules; a rule that counts only begins to fire after more requests than there are.
  void Rules(const json& rules) {
    Run([&](apiserver::Service&) { RulesHere(rules); });
  }
  void RulesHere(const json& rules) {  // on the server's thread
    const Result<void> loaded = server_->front().faults().Load(json{{"rules", rules}}.dump());
    KS_CHECK(loaded.ok(), loaded.ok() ? "" : loaded.error().message);
  }
  static json Counter(json match) {
    return {{"match", std::move(match)}, {"after", 1'000'000'000}, {"fault", {{"status", 500}}}};
  }
  static json LeaseWrites(const char* user, json fault) {
    return {{"match", {{"verb", "update"}, {"resource", "leases"}, {"user", user}}},
            {"fault", std::move(fault)}};
  }
  // How many requests matched each rule.
  std::vector<int> Matched() {
    std::string text;
    Run([&](apiserver::Service&) { text = server_->front().faults().Describe(); });
    std::vector<int> matched;
    const json described = json::parse(text);
    for (const json& rule : described["rules"]) matched.push_back(rule.value("matched", -1));
    return matched;
  }

  // ---- schedulers ----
  // The path of a configuration with leader election.
  std::string Configure(const std::string& name, const char* user, const std::string& more) {
    return folder_.Write(
        name + ".yaml",
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "clientConnection: {kubeconfig: '" +
            (std::string(user) == kFirstUser ? server_->scheduler_kubeconfig()
                                             : server_->admin_kubeconfig()) +
            "', qps: 5000, burst: 5000}\n"
            "leaderElection: {leaderElect: true, leaseDuration: 3s, renewDeadline: 2s, "
            "retryPeriod: 500ms}\n" +
            more);
  }
  std::unique_ptr<DaemonProcess> Start(const std::string& name, const std::string& configuration,
                                       const std::vector<std::string>& flags = {}) {
    std::vector<std::string> argv = {KS_KUBESCHED_PATH, "--secure-port=0", "-v=1",
                                     "--config=" + configuration};
    argv.insert(argv.end(), flags.begin(), flags.end());
    return std::make_unique<DaemonProcess>(argv, folder_.path() + "/" + name + ".log");
  }

 private:
  static constexpr int kNodes = 4;

  template <class F>
  void Run(F task) {
    server_->front().Run([&] { task(server_->service()); });
  }
  static const apiserver::KindInfo& Kind(const std::string& plural) {
    return *apiserver::FindResource("", "v1", plural);
  }
  static const apiserver::KindInfo& Lease() {
    return *apiserver::FindResource("coordination.k8s.io", "v1", "leases");
  }
  static std::string HolderIn(apiserver::Service& service) {
    const auto lease = service.store().Find(Lease(), "kube-system", "kube-scheduler");
    return lease == nullptr ? "" : lease->Parse()["spec"].value("holderIdentity", "");
  }

  testing::TempDir folder_;
  std::unique_ptr<apiserver::ApiServer> server_;
};

}  // namespace ks::daemon
