// SPDX-License-Identifier: Apache-2.0
#include "daemon/optional_informers.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "client/fake_transport.h"

namespace ks::daemon {
namespace {

using framework::OptionalKind;

std::string EmptyList(const std::string& kind) {
  return R"({"kind":")" + kind + R"(List","metadata":{"resourceVersion":"10"},"items":[]})";
}

class OptionalInformersTest : public ::testing::Test {
 protected:
  // Paths asked for so far, without queries.
  std::vector<std::string> Paths() {
    std::vector<std::string> paths;
    for (size_t i = 0; i < net_.transport.size(); ++i) {
      const std::string target = net_.transport.request(i).target;
      paths.push_back(target.substr(0, target.find('?')));
    }
    return paths;
  }
  std::vector<size_t> Delivered() {
    MutexLock lock(mutex_);
    return delivered_;
  }

  client::FakeNetwork net_;
  Mutex mutex_;
  // Kinds as alternatives of the two messages.
  std::vector<size_t> delivered_ KS_GUARDED_BY(mutex_);
  std::unique_ptr<client::RestClient> client_ = net_.Client();
  metrics::Registry registry_;
  client::InformerMetrics metrics_{registry_};
  OptionalInformers informers_{
      *client_, metrics_, 1,
      [this](OptionalInformers::Deltas deltas, client::InformerSeries& series) {
        series.Queued(1);
        const size_t kind = std::visit([](const auto& of_kind) { return of_kind.index(); }, deltas);
        MutexLock lock(mutex_);
        delivered_.push_back(kind + 6 * deltas.index());
      }};
};

TEST_F(OptionalInformersTest, StartsWhatIsNeededOnce) {
  informers_.Ensure({});
  EXPECT_TRUE(Paths().empty());
  informers_.Ensure({OptionalKind::kReplicaSet});
  informers_.Ensure({OptionalKind::kReplicaSet});
  EXPECT_EQ(Paths(), (std::vector<std::string>{"/apis/apps/v1/replicasets"}));
  informers_.Ensure({OptionalKind::kService, OptionalKind::kReplicationController,
                     OptionalKind::kReplicaSet, OptionalKind::kStatefulSet});
  EXPECT_EQ(Paths(), (std::vector<std::string>{"/apis/apps/v1/replicasets", "/api/v1/services",
                                               "/api/v1/replicationcontrollers",
                                               "/apis/apps/v1/statefulsets"}));
  informers_.Stop();
  informers_.Stop();
}

TEST_F(OptionalInformersTest, HandsOverEachKindAsItsOwn) {
  informers_.Ensure({OptionalKind::kService, OptionalKind::kStatefulSet});
  net_.transport.Answer(0, 200, EmptyList("Service"));
  EXPECT_EQ(Delivered(), (std::vector<size_t>{0}));
  net_.transport.Answer(1, 200, EmptyList("StatefulSet"));
  EXPECT_EQ(Delivered(), (std::vector<size_t>{0, 3}));
  informers_.Ensure({OptionalKind::kPodDisruptionBudget});
  EXPECT_EQ(Paths().back(), "/apis/policy/v1/poddisruptionbudgets");
  net_.transport.Answer(net_.transport.size() - 1, 200, EmptyList("PodDisruptionBudget"));
  EXPECT_EQ(Delivered(), (std::vector<size_t>{0, 3, 5}));
  const std::string text = registry_.Text();
  const std::string labels =
      R"({group="policy",name="kube-scheduler",resource="poddisruptionbudgets",version="v1"})";
  EXPECT_NE(text.find("informer_store_resource_version" + labels + " 10\n"), std::string::npos);
  EXPECT_NE(text.find("informer_queued_items" + labels + " 1\n"), std::string::npos);
}

TEST_F(OptionalInformersTest, WatchesTheKindsOfVolumes) {
  informers_.Ensure({OptionalKind::kPersistentVolume, OptionalKind::kPersistentVolumeClaim,
                     OptionalKind::kStorageClass, OptionalKind::kCsiNode, OptionalKind::kCsiDriver,
                     OptionalKind::kCsiStorageCapacity, OptionalKind::kVolumeAttachment});
  EXPECT_EQ(Paths(), (std::vector<std::string>{
                         "/api/v1/persistentvolumes", "/api/v1/persistentvolumeclaims",
                         "/apis/storage.k8s.io/v1/storageclasses",
                         "/apis/storage.k8s.io/v1/csinodes", "/apis/storage.k8s.io/v1/csidrivers",
                         "/apis/storage.k8s.io/v1/csistoragecapacities",
                         "/apis/storage.k8s.io/v1/volumeattachments"}));
  const char* const kinds[] = {
      "PersistentVolume", "PersistentVolumeClaim", "StorageClass",    "CSINode",
      "CSIDriver",        "CSIStorageCapacity",    "VolumeAttachment"};
  for (size_t i = 0; i < std::size(kinds); ++i) net_.transport.Answer(i, 200, EmptyList(kinds[i]));
  EXPECT_EQ(Delivered(), (std::vector<size_t>{6, 7, 8, 9, 10, 11, 12}));
}

// The API of groups is off by default: a server without it has no groups, and nobody waits for
// them.
TEST_F(OptionalInformersTest, GroupsThatAreNotServedCountAsNone) {
  informers_.Ensure({OptionalKind::kPodGroup, OptionalKind::kCompositePodGroup});
  EXPECT_EQ(Paths(),
            (std::vector<std::string>{"/apis/scheduling.k8s.io/v1beta1/podgroups",
                                      "/apis/scheduling.k8s.io/v1alpha3/compositepodgroups"}));
  net_.transport.Answer(0, 200, EmptyList("PodGroup"));
  EXPECT_EQ(Delivered(), (std::vector<size_t>{18}));
  net_.transport.Answer(1, 404, "404 page not found\n");
  EXPECT_EQ(Delivered(), (std::vector<size_t>{18, 19}));
}

}  // namespace
}  // namespace ks::daemon
