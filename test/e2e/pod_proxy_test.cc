// SPDX-License-Identifier: Apache-2.0
// kubeschedctl asks a running kubesched through the real API server's pod proxy, as it does in a
// cluster: it knows no address, only the lease.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "e2e/cluster_fixture.h"
#include "e2e/own_network.h"

namespace ks::e2e {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kAddress = "192.0.2.10";  // of the pod; the port is the default one
constexpr const char* kPod = "kubesched-0";     // and the host's name in it

class PodProxy : public ClusterFixture {
 protected:
  // The server wants an address of its own to tell others, and there is no route to guess it from.
  PodProxy()
      : ClusterFixture({.apiserver_args = {std::string("--advertise-address=") + kAddress}}) {}

  void SetUp() override {
    std::string why;
    if (!testing::ControlPlane::Available(&why)) GTEST_SKIP() << why;
    in_addr address{};
    ASSERT_EQ(inet_pton(AF_INET, kAddress, &address), 1);
    auto network = OwnNetwork::Enter(address, kPod);
    if (!network.ok()) GTEST_SKIP() << network.error().message;
    network_ = std::move(*network);
    ClusterFixture::SetUp();
    if (cluster_ == nullptr) return;
    cluster_->CreateNode(NodeManifest("node-a", {{"cpu", "4"}, {"pods", "110"}}));
    StartPod();
  }
  void TearDown() override {
    cluster_.reset();
    network_.reset();
  }

  // The process, and what a kubelet would tell of it.
  void StartPod() {
    const std::string kubeconfig = cluster_->plane().SchedulerKubeconfig();
    std::string configuration = SchedulerConfiguration(kubeconfig, 2);
    const std::string off = "leaderElect: false";
    configuration.replace(configuration.find(off), off.size(), "leaderElect: true");
    cluster_->StartReplica(
        {KS_KUBESCHED_PATH, "--authentication-kubeconfig=" + kubeconfig,
         "--authorization-kubeconfig=" + kubeconfig, std::string("--bind-address=") + kAddress},
        "kubesched", configuration);
    json pod = PodManifest(kPod, {{"cpu", "100m"}});
    pod["spec"]["nodeName"] = "node-a";
    const std::string pods = "/api/v1/namespaces/kube-system/pods";
    cluster_->Create(pods, pod);
    cluster_->MergePatch(
        pods + "/" + kPod + "/status",
        {{"status",
          {{"phase", "Running"}, {"podIP", kAddress}, {"podIPs", {{{"ip", kAddress}}}}}}});
  }

  // Those whom the API server's proxy calls in the name of are nobody.
  void AllowAnonymous() {
    const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/";
    cluster_->Create(
        rbac + "clusterroles",
        {{"metadata", {{"name", "kubesched-debug"}}},
         {"rules", {{{"nonResourceURLs", {"/debug/kubesched/*"}}, {"verbs", {"get", "post"}}}}}});
    cluster_->Create(rbac + "clusterrolebindings",
                     {{"metadata", {{"name", "kubesched-debug"}}},
                      {"roleRef",
                       {{"apiGroup", "rbac.authorization.k8s.io"},
                        {"kind", "ClusterRole"},
                        {"name", "kubesched-debug"}}},
                      {"subjects",
                       {{{"kind", "User"},
                         {"name", "system:anonymous"},
                         {"apiGroup", "rbac.authorization.k8s.io"}}}}});
  }

  testing::ProgramResult Ctl(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), KS_KUBESCHEDCTL_PATH);
    arguments.push_back("--kubeconfig=" + cluster_->plane().AdminKubeconfig());
    auto ran = testing::RunProgram(arguments, cluster_->plane().Dir(), "kubeschedctl", seconds(60));
    EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().message);
    return ran.ok() ? *ran : testing::ProgramResult{};
  }
  bool AwaitAnswer(const std::vector<std::string>& arguments, const std::string& part) {
    return cluster_->WaitUntil(
        [&] { return Ctl(arguments).output.find(part) != std::string::npos; }, seconds(60));
  }

  std::unique_ptr<OwnNetwork> network_;
};

TEST_F(PodProxy, EveryVerbOverTheLease) {
  if (cluster_ == nullptr) return;
  ASSERT_TRUE(AwaitAnswer({"queue"}, "system:anonymous"))
      << Ctl({"queue"}).output << "\n"
      << Ctl({"queue", "--scheduler-pod", kPod}).output;
  const testing::ProgramResult refused = Ctl({"queue"});
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_EQ(
      refused.output,
      "kubeschedctl: pod kube-system/kubesched-0: forbidden: User \"system:anonymous\" cannot "
      "get path \"/debug/kubesched/queue\"\n");
  AllowAnonymous();
  cluster_->CreatePod(PodManifest("too-large", {{"cpu", "64"}}));
  cluster_->CreatePod(PodManifest("small", {{"cpu", "1"}}));
  ASSERT_TRUE(AwaitAnswer({"decisions", "default/small"}, "Bound"))
      << Ctl({"decisions", "default/small"}).output;

  ASSERT_TRUE(AwaitAnswer({"queue"}, "NodeResourcesFit")) << Ctl({"queue"}).output;
  EXPECT_THAT(Ctl({"queue"}).output, HasSubstr("too-large"));
  EXPECT_THAT(Ctl({"explain", "default/too-large"}).output,
              AllOf(HasSubstr("node-a"), HasSubstr("Insufficient cpu")));
  EXPECT_TRUE(AwaitAnswer({"cache", "--compare"}, "of the API server: no difference"))
      << Ctl({"cache", "--compare"}).output;
  const std::string manifest = cluster_->plane().Dir() + "/simulated.json";
  std::FILE* file = std::fopen(manifest.c_str(), "w");
  ASSERT_NE(file, nullptr);
  json simulated = PodManifest("simulated", {{"cpu", "2"}});
  std::fputs(simulated.dump().c_str(), file);
  std::fclose(file);
  const testing::ProgramResult went = Ctl({"simulate", "-f", manifest});
  EXPECT_EQ(went.exit_status, 0);
  EXPECT_THAT(went.output, AllOf(HasSubstr("simulated"), HasSubstr("node-a")));
  // The replica by name, as one asks a standby.
  EXPECT_EQ(Ctl({"queue", "--scheduler-pod", kPod}).exit_status, 0);
  const testing::ProgramResult absent = Ctl({"queue", "--scheduler-pod", "kubesched-1"});
  EXPECT_EQ(absent.exit_status, 1);
  EXPECT_THAT(absent.output, HasSubstr("kubesched-1"));
}

}  // namespace
}  // namespace ks::e2e
