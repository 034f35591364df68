// SPDX-License-Identifier: Apache-2.0
// The manifests of deploy/ on the real kube-apiserver: it takes them, and what they grant is what
// kubesched needs, no less.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "e2e/cluster_fixture.h"
#include "e2e/free_port.h"

namespace ks::e2e {
namespace {

using std::chrono::seconds;

std::string ReadFile(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Deploy : public ClusterFixture {
 protected:
  // A kubeconfig with a token of the service account that the manifests make.
  std::string ServiceAccountKubeconfig() {
    std::string token = Kubectl({"-n", "kube-system", "create", "token", "kubesched"});
    while (!token.empty() && token.back() == '\n') token.pop_back();
    const std::string path = cluster_->plane().Dir() + "/service-account.kubeconfig";
    std::ofstream(path) << "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                        << "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                        << "clusters: [{name: k, cluster: {server: '"
                        << cluster_->plane().ServerUrl() << "', certificate-authority: '"
                        << cluster_->plane().CaPath() << "'}}]\n"
                        << "users: [{name: u, user: {token: '" << token << "'}}]\n";
    return path;
  }

  // The daemon as the Deployment runs it, but for where it finds the cluster.
  pid_t Start(const std::string& name, const std::string& configuration) {
    const std::string kubeconfig = ServiceAccountKubeconfig();
    const std::string file = cluster_->plane().Dir() + "/" + name + ".yaml";
    std::ofstream(file) << configuration << "clientConnection:\n  kubeconfig: " << kubeconfig
                        << "\n";
    const auto pid = cluster_->plane().AddProcess(
        {KS_KUBESCHED_PATH, "--config=" + file, "--v=2", "--bind-address=127.0.0.1",
         "--secure-port=" + std::to_string(FreePort()), "--authentication-kubeconfig=" + kubeconfig,
         "--authorization-kubeconfig=" + kubeconfig},
        cluster_->LogPath(name));
    EXPECT_TRUE(pid.ok());
    return pid.ok() ? *pid : 0;
  }

  // Whether the line comes; requests to the server fill the time.
  bool WaitForLine(const std::string& name, std::string_view needle) {
    const TimePoint deadline = RealClock().Now() + seconds(60);
    while (ReadFile(cluster_->LogPath(name)).find(needle) == std::string::npos) {
      if (RealClock().Now() > deadline) return false;
      (void)cluster_->admin().Get("/readyz");
    }
    return true;
  }

  const std::string folder_ = KS_DEPLOY_DIR;
};

TEST_F(Deploy, SecondSchedulerHasWhatItNeedsAndNoMore) {
  Kubectl({"apply", "-k", folder_ + "/second-scheduler"});
  const std::string configuration = Kubectl({"-n", "kube-system", "get", "configmap", "kubesched",
                                             "-o", "jsonpath={.data.config\\.yaml}"});
  ASSERT_NE(configuration.find("schedulerName: kubesched"), std::string::npos) << configuration;

  cluster_->CreateNode(NodeManifest("n1", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}}));
  const pid_t pid = Start("first", configuration);
  json pod = PodManifest("ours", {{"cpu", "10m"}});
  pod["spec"]["schedulerName"] = "kubesched";
  cluster_->CreatePod(pod);
  cluster_->CreatePod(PodManifest("theirs", {{"cpu", "10m"}}));
  EXPECT_TRUE(cluster_->view().WaitFor(
      [](const PodView::Pods& pods) {
        const auto it = pods.find("default/ours");
        return it != pods.end() && it->second->node_name == "n1";
      },
      seconds(60)));
  EXPECT_EQ(cluster_->view().pods().at("default/theirs")->node_name, "") << "not its scheduler";
  EXPECT_TRUE(WaitForLine("first", "All permissions that are needed are there"))
      << ReadFile(cluster_->LogPath("first"));
  const json lease =
      cluster_->Get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kubesched");
  EXPECT_NE(lease["spec"].value("holderIdentity", ""), "");
  const testing::ProcessEnd end = cluster_->StopScheduler(pid);
  EXPECT_EQ(end.exit_status, 0);

  // Without the one right that is not in a built-in role it does not lead, and says why.
  Kubectl({"-n", "kube-system", "delete", "rolebinding", "kubesched-leader-election"});
  const pid_t second = Start("second", configuration);
  EXPECT_TRUE(WaitForLine("second",
                          R"("A permission is missing" err="forbidden" verb="update" )"
                          R"(resource="leases.coordination.k8s.io" namespace="kube-system" )"
                          R"(name="kubesched" neededFor="leader election")"))
      << ReadFile(cluster_->LogPath("second"));
  EXPECT_EQ(cluster_->StopScheduler(second).exit_status, 0);
}

TEST_F(Deploy, TheStaticPodIsTaken) {
  Kubectl({"apply", "--dry-run=server", "-f", folder_ + "/kubeadm/kube-scheduler.yaml"});
}

}  // namespace
}  // namespace ks::e2e
