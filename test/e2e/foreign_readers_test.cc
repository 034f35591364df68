// SPDX-License-Identifier: Apache-2.0
// What kubesched writes is read by others: Kubernetes' own client libraries show its Lease, Events
// and conditions through kubectl, and the real kube-controller-manager works beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "e2e/cluster_fixture.h"

namespace ks::e2e {
namespace {

using std::chrono::seconds;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class ForeignReaders : public ClusterFixture {
 protected:
  ForeignReaders() : ClusterFixture({.with_controller_manager = true}) {}

  // Until the server has the event; requests to the server fill the time.
  bool WaitEvent(const std::string& ns, const std::string& reason) {
    const TimePoint deadline = RealClock().Now() + seconds(60);
    const std::string path =
        "/api/v1/namespaces/" + ns + "/events?fieldSelector=reason%3D" + reason;
    while (cluster_->Get(path)["items"].empty()) {
      if (RealClock().Now() > deadline) return false;
    }
    return true;
  }
};

TEST_F(ForeignReaders, LeaseEventsConditionsAndTheControllerManager) {
  cluster_->CreateNode(NodeManifest("n1", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}}));
  const pid_t pid = cluster_->StartKubesched(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "clientConnection:\n  kubeconfig: " +
      cluster_->plane().SchedulerKubeconfig() + "\n");
  // The controllers make the pods, kubesched places them.
  Kubectl({"create", "deployment", "web", "--image=registry.example/app:1", "--replicas=5"});
  ASSERT_TRUE(cluster_->view().WaitFor(
      [](const PodView::Pods& pods) { return CountBound(pods) == 5; }, seconds(60)));
  cluster_->CreatePod(PodManifest("huge", {{"cpu", "1000"}}));
  ASSERT_TRUE(WaitEvent("default", "FailedScheduling"));
  ASSERT_TRUE(WaitEvent("kube-system", "LeaderElection"));

  const std::string huge = Kubectl({"describe", "pod", "huge"});
  EXPECT_THAT(huge, ContainsRegex("PodScheduled +False"));
  EXPECT_THAT(huge, ContainsRegex("Warning +FailedScheduling +[^ ]+ +default-scheduler +0/1 nodes "
                                  "are available: 1 Insufficient cpu\\."));
  std::string placed;
  for (const auto& [key, pod] : cluster_->view().pods()) {
    if (pod->meta.name.starts_with("web-")) placed = pod->meta.name;
  }
  const std::string web = Kubectl({"describe", "pod", placed});
  EXPECT_THAT(web, ContainsRegex("PodScheduled +True"));
  EXPECT_THAT(web, ContainsRegex("Normal +Scheduled +[^ ]+ +default-scheduler +Successfully "
                                 "assigned default/web-[^ ]+ to n1"));
  EXPECT_THAT(Kubectl({"get", "events", "--field-selector", "reason=FailedScheduling"}),
              HasSubstr("pod/huge"));
  EXPECT_THAT(Kubectl({"-n", "kube-system", "get", "events"}),
              ContainsRegex("LeaderElection +lease/kube-scheduler +[^ ]+ became leader"));
  EXPECT_THAT(Kubectl({"-n", "kube-system", "describe", "lease", "kube-scheduler"}),
              ContainsRegex("Holder Identity: +[^ ]+_[-0-9a-f]+\n"));
  const std::string leases = Kubectl({"-n", "kube-system", "get", "leases"});
  EXPECT_THAT(leases, ContainsRegex("kube-scheduler +[^ ]+_[-0-9a-f]+ +[0-9]+s"));

  EXPECT_EQ(cluster_->StopScheduler(pid).exit_status, 0);
}

}  // namespace
}  // namespace ks::e2e
