// SPDX-License-Identifier: Apache-2.0
// What is kept change by change against what the pods say, on clusters that change at random.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "cache/cache.h"
#include "plugins/node_volume_limits/attached_volumes.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/volume/volume_rig.h"
#include "plugins/volume_restrictions/claim_users.h"

namespace ks::plugins {
namespace {

using testing::MakeNode;

// A few names of each kind, so that changes meet what is in use.
class Churn {
 public:
  explicit Churn(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 4; ++i) ChangeNode();
  }

  void Change() {
    switch (random_.Below(12)) {
      case 0:
        return ChangeNode();
      case 1:
      case 2:
        return ChangeClaim();
      case 3:
        return ChangeVolume();
      case 4:
        if (random_.Below(8) == 0) ChangeClass();
        return;
      default:
        return ChangePod();
    }
  }

  cache::Cache cache;
  cache::StorageStores stores;

 private:
  std::string Any(const std::string& prefix, uint64_t count) {
    return prefix + std::to_string(random_.Below(count));
  }

  void ChangeNode() {
    const std::string name = Any("n", 6);
    const api::NodePtr node = MakeNode().Name(name).Label("x", Any("v", 9)).Obj();
    const auto known = nodes_.find(name);
    if (known == nodes_.end()) {
      cache.AddNode(node);
      nodes_[name] = node;
    } else if (random_.Below(3) == 0) {
      ASSERT_TRUE(cache.RemoveNode(*known->second).ok());
      nodes_.erase(known);
    } else {
      cache.UpdateNode(*known->second, node);
      known->second = node;
    }
  }

  api::Volume AnyVolume(uint64_t number) {
    const std::string name = "v" + std::to_string(number);
    switch (random_.Below(12)) {
      case 0:
        return EphemeralVolume(name);
      case 1:
        return InlineVolume(Source::kGcePersistentDisk, Any("disk", 4));
      case 2:
        return random_.Below(6) == 0 ? InlineVolume(Source::kAwsElasticBlockStore, "aws://z/xx")
                                     : InlineVolume(Source::kAwsElasticBlockStore, Any("vol-", 3));
      case 3:
        return {};
      default:
        return ClaimVolume(Any("c", 12), name);
    }
  }

  api::PodPtr AnyPod(const std::string& name, const std::string& node) {
    std::vector<api::Volume> volumes;
    for (uint64_t i = random_.Below(4); i > 0; --i) volumes.push_back(AnyVolume(i));
    return PodWith(name, std::move(volumes)).Node(node).Obj();
  }

  void ChangePod() {
    const std::string name = Any("p", 30);
    const auto known = pods_.find(name);
    if (known == pods_.end()) {
      pods_[name] = AnyPod(name, Any("n", 6));
      ASSERT_TRUE(cache.AddPod(pods_[name]).ok());
    } else if (random_.Below(3) == 0) {
      const api::PodPtr changed = AnyPod(name, known->second->node_name.str());
      ASSERT_TRUE(cache.UpdatePod(*known->second, changed).ok());
      known->second = changed;
    } else {
      ASSERT_TRUE(cache.RemovePod(*known->second).ok());
      pods_.erase(known);
    }
  }

  void ChangeClaim() {
    if (random_.Below(6) == 0) {
      const std::string pod = Any("p", 30);
      const std::string name = pod + "-v" + std::to_string(1 + random_.Below(3));
      storage_.Put(MakeOwnedClaim(name, random_.Below(4) == 0 ? "other" : pod, Any("pv", 8)));
      return;
    }
    const std::string name = Any("c", 12);
    const bool bound = random_.Below(3) > 0;
    if (random_.Below(5) == 0) {
      storage_.Delete(MakeClaim(name));
    } else {
      storage_.Put(MakeClaim(name, bound ? Any("pv", 8) : "", Any("class", 3)));
    }
  }

  void ChangeVolume() {
    const std::string name = Any("pv", 8);
    switch (random_.Below(4)) {
      case 0:
        return storage_.Delete(MakeVolume(name));
      case 1:
        storage_.Put(MakeInTreeVolume(name, Source::kGcePersistentDisk, Any("disk", 4)));
        return;
      default:
        api::PersistentVolume volume = MakeVolume(name, Any("drv", 2));
        volume.volume_handle = Any("h", 6);
        storage_.Put(volume);
    }
  }

  void ChangeClass() {
    const std::string name = Any("class", 3);
    if (random_.Below(3) == 0) {
      storage_.Delete(MakeClass(name, ""));
    } else {
      storage_.Put(MakeClass(name, random_.Below(2) == 0 ? "drv0" : "kubernetes.io/gce-pd"));
    }
  }

  Random random_;
  StorageChanger storage_{stores};
  std::map<std::string, api::NodePtr> nodes_;
  std::map<std::string, api::PodPtr> pods_;
};

// As the pods of the node say.
void ExpectAttached(const AttachedVolumes& attached, const framework::NodeInfo& node,
                    const Churn& churn) {
  std::vector<AttachableVolume> volumes;
  bool failed = false;
  for (const framework::PodInfoPtr& pod : node.pods()) {
    failed = !IdentifyAttached(pod->pod(), churn.stores, &volumes).ok() || failed;
  }
  const VolumeCounts* counts = attached.Find(node, churn.cache);
  ASSERT_EQ(counts == nullptr, failed) << node.name();
  if (failed) return;
  std::map<std::string, Symbol> distinct;
  for (const AttachableVolume& volume : volumes) distinct[volume.name] = volume.driver;
  std::map<Symbol, int64_t> by_driver;
  for (const auto& [name, driver] : distinct) {
    ASSERT_TRUE(counts->Contains(name)) << node.name() << " " << name;
    ++by_driver[driver];
  }
  ASSERT_EQ(counts->size(), distinct.size()) << node.name();
  for (const char* driver : {"drv0", "drv1", "pd.csi.storage.gke.io", "ebs.csi.aws.com"}) {
    ASSERT_EQ(counts->Count(Symbol(driver)), by_driver[Symbol(driver)]) << driver;
  }
}

void ExpectClaimUsers(const ClaimUsers& users, const framework::Snapshot& snapshot) {
  std::set<std::string> used;
  for (const framework::NodeInfo* node : snapshot.nodes()) {
    for (const framework::PodInfoPtr& pod : node->pods()) {
      for (const api::Volume& volume : pod->pod().spec->volumes) {
        if (volume.source == Source::kPersistentVolumeClaim) used.insert("ns/" + volume.id);
      }
    }
  }
  ASSERT_EQ(users.size(), used.size());
  for (const std::string& key : used) ASSERT_TRUE(users.InUse(key)) << key;
}

TEST(VolumePropertyTest, IncrementalCountsEqualDirectOnes) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Churn churn(seed);
    Random rhythm(seed + 1000);
    AttachedVolumes attached;
    ClaimUsers users;
    size_t compared = 0;
    for (int step = 0; step < 2500; ++step) {
      churn.Change();
      ASSERT_FALSE(::testing::Test::HasFatalFailure());
      if (rhythm.Below(3) > 0) continue;
      ASSERT_TRUE(churn.cache.RefreshSnapshot().ok());
      attached.Refresh(churn.cache, churn.stores);
      users.Refresh(churn.cache);
      ExpectClaimUsers(users, churn.cache);
      for (const framework::NodeInfo* node : churn.cache.nodes()) {
        ExpectAttached(attached, *node, churn);
        ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "step " << step;
        compared += attached.Find(*node, churn.cache) != nullptr ? 1 : 0;
      }
    }
    EXPECT_GT(compared, 500U);
  }
}

// What is older than the cluster is not used, nor what is of another version of a node.
TEST(VolumePropertyTest, OldCountsAreNotUsed) {
  cache::Cache cache;
  cache::StorageStores stores;
  StorageChanger storage(stores);
  AttachedVolumes attached;
  cache.AddNode(MakeNode().Name("n1").Obj());
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  EXPECT_EQ(attached.Find(*cache.nodes()[0], cache), nullptr);
  attached.Refresh(cache, stores);
  EXPECT_NE(attached.Find(*cache.nodes()[0], cache), nullptr);
  framework::NodeInfo copy = *cache.nodes()[0];
  EXPECT_NE(attached.Find(copy, cache), nullptr);
  copy.AddPod(std::make_shared<framework::PodInfo>(PodWith("p", {}).Obj()));
  EXPECT_EQ(attached.Find(copy, cache), nullptr);
  storage.Put(MakeClaim("x"));
  EXPECT_EQ(attached.Find(*cache.nodes()[0], cache), nullptr);
  attached.Refresh(cache, stores);
  EXPECT_NE(attached.Find(*cache.nodes()[0], cache), nullptr);
  ASSERT_TRUE(cache.AddPod(PodWith("q", {ClaimVolume("x")}).Node("n1").Obj()).ok());
  ASSERT_TRUE(cache.RefreshSnapshot().ok());
  EXPECT_EQ(attached.Find(*cache.nodes()[0], cache), nullptr);
}

TEST(VolumePropertyTest, NothingIsKeptOfPodsThatLeft) {
  cache::Cache cache;
  cache::StorageStores stores;
  StorageChanger storage(stores);
  AttachedVolumes attached;
  storage.Put(MakeClaim("x", "pv"));
  cache.AddNode(MakeNode().Name("n1").Obj());
  const api::PodPtr pod =
      PodWith("p", {ClaimVolume("x", "a"), ClaimVolume("x", "b")}).Node("n1").Obj();
  const api::PodPtr second = PodWith("q", {ClaimVolume("x")}).Node("n1").Obj();
  const auto refresh = [&] {
    ASSERT_TRUE(cache.RefreshSnapshot().ok());
    attached.Refresh(cache, stores);
  };
  ASSERT_TRUE(cache.AddPod(pod).ok());
  ASSERT_TRUE(cache.AddPod(second).ok());
  refresh();
  EXPECT_EQ(attached.claims(), 1U);
  EXPECT_EQ(attached.volumes(), 1U);
  ASSERT_TRUE(cache.RemovePod(*pod).ok());
  refresh();
  EXPECT_EQ(attached.claims(), 1U);
  ASSERT_TRUE(cache.RemovePod(*second).ok());
  refresh();
  EXPECT_EQ(attached.claims(), 0U);
  EXPECT_EQ(attached.volumes(), 0U);
}

// Workers filter different nodes at the same time, and say what one alone says.
TEST(VolumePropertyTest, WorkersAgree) {
  VolumeRig rig(NewNodeVolumeLimits);
  constexpr size_t kNodes = 64;
  for (size_t i = 0; i < kNodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    rig.storage.Put(MakeClaim("c" + std::to_string(i), "pv" + std::to_string(i)));
    rig.storage.Put(MakeVolume("pv" + std::to_string(i)));
    rig.storage.Put(MakeCsiNode(name, {{"drv", static_cast<int32_t>(i % 6)}}));
    rig.storage.Put(MakeAttachment(name, "drv", "pv" + std::to_string((i + 1) % kNodes)));
    rig.AddNode(MakeNode().Name(name),
                {PodWith("p" + std::to_string(i), {ClaimVolume("c" + std::to_string(i))}).Obj()});
  }
  const api::PodPtr pod = PodWith("p", {ClaimVolume("c0"), EphemeralVolume("none")}).Obj();
  rig.storage.Put(MakeOwnedClaim("p-none", "p", "pv1"));
  const std::vector<std::string> alone = rig.FilterAll(*pod);
  EXPECT_GT(std::count(alone.begin(), alone.end(), "Success"), 0);
  EXPECT_LT(std::count(alone.begin(), alone.end(), "Success"), static_cast<int64_t>(kNodes));
  const auto* filter = rig.As<framework::FilterPlugin>();
  std::vector<std::string> together(kNodes);
  std::vector<std::thread> workers;
  for (size_t worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&, worker] {
      for (size_t i = worker; i < kNodes; i += 4) {
        together[i] = Describe(filter->Filter(rig.state, *pod, *rig.nodes()[i]));
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(together, alone);
}

}  // namespace
}  // namespace ks::plugins
