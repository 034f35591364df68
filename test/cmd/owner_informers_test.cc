// SPDX-License-Identifier: Apache-2.0
#include "kubesched/owner_informers.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "client/fake_transport.h"

namespace ks::daemon {
namespace {

using framework::OwnerKind;

std::string EmptyList(const std::string& kind) {
  return R"({"kind":")" + kind + R"(List","metadata":{"resourceVersion":"10"},"items":[]})";
}

class OwnerInformersTest : public ::testing::Test {
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
  std::vector<size_t> delivered_ KS_GUARDED_BY(mutex_);  // kinds as alternatives of OwnerDeltas
  std::unique_ptr<client::RestClient> client_ = net_.Client();
  OwnerInformers informers_{*client_, 1, [this](cache::OwnerDeltas deltas) {
                              MutexLock lock(mutex_);
                              delivered_.push_back(deltas.index());
                            }};
};

TEST_F(OwnerInformersTest, StartsWhatIsNeededOnce) {
  informers_.Ensure({});
  EXPECT_TRUE(Paths().empty());
  informers_.Ensure({OwnerKind::kReplicaSet});
  informers_.Ensure({OwnerKind::kReplicaSet});
  EXPECT_EQ(Paths(), (std::vector<std::string>{"/apis/apps/v1/replicasets"}));
  informers_.Ensure({OwnerKind::kService, OwnerKind::kReplicationController, OwnerKind::kReplicaSet,
                     OwnerKind::kStatefulSet});
  EXPECT_EQ(Paths(), (std::vector<std::string>{"/apis/apps/v1/replicasets", "/api/v1/services",
                                               "/api/v1/replicationcontrollers",
                                               "/apis/apps/v1/statefulsets"}));
  informers_.Stop();
  informers_.Stop();
}

TEST_F(OwnerInformersTest, HandsOverEachKindAsItsOwn) {
  informers_.Ensure({OwnerKind::kService, OwnerKind::kStatefulSet});
  net_.transport.Answer(0, 200, EmptyList("Service"));
  EXPECT_EQ(Delivered(), (std::vector<size_t>{0}));
  net_.transport.Answer(1, 200, EmptyList("StatefulSet"));
  EXPECT_EQ(Delivered(), (std::vector<size_t>{0, 3}));
  informers_.Ensure({OwnerKind::kPodDisruptionBudget});
  EXPECT_EQ(Paths().back(), "/apis/policy/v1/poddisruptionbudgets");
  net_.transport.Answer(net_.transport.size() - 1, 200, EmptyList("PodDisruptionBudget"));
  EXPECT_EQ(Delivered(), (std::vector<size_t>{0, 3, 5}));
}

}  // namespace
}  // namespace ks::daemon
