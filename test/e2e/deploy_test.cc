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
#include "testing/run_program.h"

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
    const std::string path = cluster_->plane().Dir() + "/service-account.kubeconfig";
    std::ofstream(path) << TokenKubeconfig(
        cluster_->plane(), Kubectl({"-n", "kube-system", "create", "token", "kubesched"}));
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
  for (const char* const verb : {"get", "watch", "create", "update"}) {
    cluster_->AllowRefusal({std::string(kServiceAccountUser), verb, "leases"});
  }
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

// So that the static pod hears at once of a lease that was given away; the role is the API
// server's.
TEST_F(Deploy, TheSchedulerOfKubeadmMayWatchItsLease) {
  Kubectl({"auth", "can-i", "watch", "leases.coordination.k8s.io/kube-scheduler",
           "--namespace=kube-system", "--as=" + std::string(kSchedulerUser), "--quiet"});
}

// The check that every test of this folder ends with.
TEST_F(Deploy, WhatIsRefusedIsSeen) {
  EXPECT_TRUE(cluster_->Refusals().empty());
  const testing::ControlPlane& plane = cluster_->plane();
  for (const char* const resource : {"secrets", "configmaps"}) {
    const auto ran = testing::RunProgram(
        {testing::ControlPlane::BinaryPath("kubectl"),
         "--kubeconfig=" + plane.SchedulerKubeconfig(),
         "--cache-dir=" + plane.Dir() + "/kubectl-cache", "get", resource, "wanted"},
        plane.Dir(), resource, seconds(60));
    ASSERT_TRUE(ran.ok());
    EXPECT_EQ(ran->exit_status, 1) << ran->output;
  }
  const std::string user(kSchedulerUser);
  cluster_->AllowRefusal({user, "get", "configmaps"});
  const std::vector<std::string> refusals = cluster_->Refusals();
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_EQ(refusals[0].find(user + " was refused (403): verb get, resource secrets, "
                                    "name \"wanted\", "),
            0U)
      << refusals[0];
  cluster_->AllowRefusal({user, "get", "secrets"});
}

}  // namespace
}  // namespace ks::e2e
