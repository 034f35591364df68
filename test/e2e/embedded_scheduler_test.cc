// SPDX-License-Identifier: Apache-2.0
// Foreign and own schedulers against the embedded API server, as they come: leader election,
// protobuf bodies and streaming lists included.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "e2e/child.h"
#include "e2e/cluster.h"
#include "e2e/embedded_server.h"
#include "testing/control_plane.h"
#include "testing/temp_dir.h"

namespace ks::e2e {
namespace {

constexpr int kNodeCount = 200;
constexpr size_t kPodCount = 2000;
constexpr size_t kEventsKept = 1000;  // by either scheduler, until they are written

struct SchedulerCase {
  const char* name;
  bool real;
  std::vector<std::string> flags;
};

class EmbeddedScheduler : public ::testing::TestWithParam<SchedulerCase> {
 protected:
  void SetUp() override {
    std::string why;
    if (GetParam().real && !testing::ControlPlane::Available(&why)) GTEST_SKIP() << why;
    embedded_ = std::make_unique<EmbeddedServer>(dir_.path());
  }
  void TearDown() override {
    if (HasFailure()) std::cerr << "the scheduler's log ends:\n" << LogEnd() << "\n";
  }

  apiserver::ApiServer& server() { return embedded_->server(); }
  void StartScheduler() {
    const std::string path = GetParam().real ? testing::ControlPlane::BinaryPath("kube-scheduler")
                                             : std::string(KS_KUBESCHED_PATH);
    std::vector<std::string> argv = {path, "--secure-port=0",
                                     "--kubeconfig=" + server().scheduler_kubeconfig()};
    argv.insert(argv.end(), GetParam().flags.begin(), GetParam().flags.end());
    child_ = std::make_unique<Child>(argv, Log());
  }

  using Objects = apiserver::Store::Objects;
  static const apiserver::KindInfo& Kind(const char* api_version, const char* kind) {
    return *apiserver::FindKind(api_version, kind);
  }
  // Calls `ready` with the objects of a kind, on the server's thread, after each change until it
  // holds or the time is over.
  bool WaitFor(const apiserver::KindInfo& kind, const std::function<bool(const Objects&)>& ready,
               std::chrono::seconds limit) {
    Mutex mutex;
    CondVar changed;
    uint64_t changes = 0;
    std::shared_ptr<void> subscription;
    server().front().Run([&] {
      subscription = server().service().store().Subscribe(kind, [&] {
        MutexLock lock(mutex);
        ++changes;
        changed.NotifyAll();
      });
    });
    const TimePoint deadline = RealClock().Now() + limit;
    bool holds = false;
    for (;;) {
      mutex.Lock();
      const uint64_t seen = changes;
      mutex.Unlock();
      server().front().Run([&] { holds = ready(server().service().store().objects(kind)); });
      if (holds) break;
      MutexLock lock(mutex);
      while (changes == seen && RealClock().Now() < deadline) {
        changed.WaitFor(mutex, deadline - RealClock().Now());
      }
      if (changes == seen) break;
    }
    server().front().Run([&] { subscription.reset(); });
    return holds;
  }

  std::string Log() const { return dir_.path() + "/scheduler.log"; }
  std::string LogEnd() const {
    std::ifstream in(Log());
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    return text.substr(text.size() > 3000 ? text.size() - 3000 : 0);
  }
  // Lines of severity error that are not known to be harmless.
  std::vector<std::string> Errors() const {
    // kube-scheduler writes this one at every start without a manifest folder, whatever the server.
    constexpr std::string_view kHarmless = "The manifest file is empty, ignoring.";
    std::vector<std::string> errors;
    std::ifstream in(Log());
    for (std::string line; std::getline(in, line);) {
      const bool error = line.size() > 1 && (line[0] == 'E' || line[0] == 'F') &&
                         std::isdigit(static_cast<unsigned char>(line[1])) != 0;
      if (error && line.find(kHarmless) == std::string::npos) errors.push_back(line);
    }
    return errors;
  }

  testing::TempDir dir_;
  std::unique_ptr<EmbeddedServer> embedded_;
  std::unique_ptr<Child> child_;
};

TEST_P(EmbeddedScheduler, SchedulesTwoThousandPodsOnTwoHundredNodes) {
  for (int i = 0; i < kNodeCount; ++i) {
    embedded_->Create(
        "/api/v1/nodes",
        NodeManifest("node-" + std::to_string(i),
                     {{"cpu", "8"}, {"memory", "32Gi"}, {"pods", "20"}},
                     {{"topology.kubernetes.io/zone", "zone-" + std::to_string(i % 3)}}));
  }
  StartScheduler();
  for (size_t i = 0; i < kPodCount; ++i) {
    embedded_->Create(
        "/api/v1/namespaces/default/pods",
        PodManifest("pod-" + std::to_string(i), {{"cpu", "100m"}, {"memory", "64Mi"}}));
  }
  const auto& pods = Kind("v1", "Pod");
  const auto all_bound = [](const Objects& objects) {
    size_t bound = 0;
    for (const auto& [key, pod] : objects) bound += pod->fields[0].empty() ? 0 : 1;
    return bound == kPodCount;
  };
  ASSERT_EQ(pods.selectable_fields[0], "spec.nodeName");
  ASSERT_TRUE(WaitFor(pods, all_bound, std::chrono::seconds(90)));
  // One event each, written beside the bindings; on a machine that is short of time more of them
  // wait than are kept, and the oldest go.
  const auto all_told = [](const Objects& objects) {
    size_t scheduled = 0;
    for (const auto& [key, event] : objects) {
      scheduled += event->text.find("\"Successfully assigned default/pod-") != std::string::npos;
    }
    return scheduled >= kEventsKept;
  };
  ASSERT_TRUE(WaitFor(Kind("v1", "Event"), all_told, std::chrono::seconds(90)));

  std::map<std::string, int> per_node;
  json lease;
  server().front().Run([&] {
    for (const auto& [key, pod] : server().service().store().objects(pods)) {
      ++per_node[pod->fields[0]];
      const json status = pod->Parse()["status"];
      ASSERT_EQ(status["conditions"][0]["type"], "PodScheduled") << pod->text;
      ASSERT_EQ(status["conditions"][0]["status"], "True") << pod->text;
    }
    const auto& leases = Kind("coordination.k8s.io/v1", "Lease");
    const auto found = server().service().store().Find(leases, "kube-system", "kube-scheduler");
    if (found != nullptr) lease = found->Parse();
  });
  EXPECT_EQ(per_node.size(), static_cast<size_t>(kNodeCount));
  for (const auto& [node, count] : per_node) EXPECT_LE(count, 20) << node;
  ASSERT_TRUE(lease.is_object()) << "no leader election took place";
  EXPECT_NE(lease["spec"]["holderIdentity"], "");
  EXPECT_TRUE(child_->Runs());
  EXPECT_EQ(Errors(), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(
    Both, EmbeddedScheduler,
    ::testing::Values(
        // The default configuration, but for the limit of 50 requests per second.
        SchedulerCase{"KubeScheduler", true, {"--kube-api-qps=5000", "--kube-api-burst=5000"}},
        SchedulerCase{"Kubesched", false, {"--kube-api-qps=5000", "--kube-api-burst=5000"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ks::e2e
