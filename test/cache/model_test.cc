// SPDX-License-Identifier: Apache-2.0
// A long random run against a model that works as docs/spec/cache.md describes upstream: a second
// set of copied node entries, refreshed and listed by the rules of section 9.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/logging.h"
#include "base/random.h"
#include "cache/cache.h"
#include "testing/builders.h"

namespace ks::cache {
namespace {

using framework::NodeInfo;
using ks::testing::MakeNode;
using ks::testing::MakePod;

constexpr int kSteps = 60'000;
constexpr int kNodeNames = 25;
constexpr int kPodNames = 80;

// The tree by its definition: zones in order of creation, names in order of arrival.
class ModelTree {
 public:
  void Add(const std::string& name, const std::string& zone) {
    auto it =
        std::find_if(zones_.begin(), zones_.end(), [&](const auto& z) { return z.first == zone; });
    if (it == zones_.end()) it = zones_.insert(zones_.end(), {zone, {}});
    it->second.push_back(name);
  }
  void Remove(const std::string& name) {
    for (auto& [zone, names] : zones_) std::erase(names, name);
    std::erase_if(zones_, [](const auto& zone) { return zone.second.empty(); });
  }
  std::vector<std::string> List() const {
    std::vector<std::string> list;
    for (size_t round = 0; round < 100; ++round) {
      for (const auto& [zone, names] : zones_) {
        if (round < names.size()) list.push_back(names[round]);
      }
    }
    return list;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> zones_;
};

struct ModelImage {
  int64_t size = 0;
  std::set<std::string> nodes;
};

struct ModelEntry {
  api::NodePtr node;
  std::vector<api::PodPtr> pods;
  uint64_t generation = 0;
};

// One entry of the copied snapshot.
struct ModelCopy {
  api::NodePtr node;
  std::vector<api::PodPtr> pods;
  std::map<std::string, std::string> images;  // name -> "nodes/size"
};

bool Affine(const api::Pod& pod) {
  return pod.spec->pod_affinity.has_value() || pod.spec->pod_anti_affinity.has_value();
}
bool AntiAffine(const api::Pod& pod) {
  return pod.spec->pod_anti_affinity.has_value() && !pod.spec->pod_anti_affinity->required.empty();
}
bool AnyOf(const std::vector<api::PodPtr>& pods, bool (*test)(const api::Pod&)) {
  return std::any_of(pods.begin(), pods.end(), [test](const api::PodPtr& p) { return test(*p); });
}

class Model {
 public:
  void AddPod(const api::PodPtr& pod) {
    entries_[pod->node_name.str()].pods.push_back(pod);
    Touch(pod->node_name.str());
  }
  void RemovePod(const api::Pod& pod) {
    std::vector<api::PodPtr>& pods = entries_[pod.node_name.str()].pods;
    const auto it = std::find_if(pods.begin(), pods.end(),
                                 [&](const api::PodPtr& p) { return p->meta.uid == pod.meta.uid; });
    *it = pods.back();
    pods.pop_back();
    Touch(pod.node_name.str());
    DropIfEmpty(pod.node_name.str());
  }
  void SetNode(const api::NodePtr& node) {
    const std::string& name = node->meta.name;
    ModelEntry& entry = entries_[name];
    if (entry.node == nullptr) {
      tree.Add(name, ZoneKey(*node));
    } else if (ZoneKey(*entry.node) != ZoneKey(*node)) {
      tree.Remove(name);
      tree.Add(name, ZoneKey(*node));
    }
    Withdraw(name);
    for (const auto& [text, size_bytes] : node->images) {
      const auto [it, inserted] = images_.try_emplace(text.str());
      if (inserted) it->second.size = size_bytes;
      it->second.nodes.insert(name);
    }
    entry.node = node;
    Touch(name);
  }
  void RemoveNode(const std::string& name) {
    entries_[name].node = nullptr;
    Touch(name);
    Withdraw(name);
    tree.Remove(name);
    DropIfEmpty(name);
  }

  void Refresh() {
    bool rebuild = false;
    bool affinity = false;
    for (auto& [name, entry] : entries_) {
      if (entry.node == nullptr || entry.generation <= refreshed_) continue;
      ModelCopy copy{.node = entry.node, .pods = entry.pods, .images = {}};
      for (const auto& [text, image] : images_) {
        if (!image.nodes.contains(name)) continue;
        copy.images[text] = std::to_string(image.nodes.size()) + "/" + std::to_string(image.size);
      }
      const auto known = copies.find(name);
      rebuild |= known == copies.end();
      if (known != copies.end()) {
        for (const auto test : {Affine, AntiAffine}) {
          affinity |= AnyOf(known->second.pods, test) != AnyOf(copy.pods, test);
        }
      }
      copies[name] = std::move(copy);
    }
    refreshed_ = next_generation_;
    if (copies.size() > tree.List().size()) {
      rebuild |= std::erase_if(copies, [this](const auto& copy) {
                   const auto it = entries_.find(copy.first);
                   return it == entries_.end() || it->second.node == nullptr;
                 }) > 0;
    }
    if (rebuild) list = tree.List();
    if (rebuild || affinity) {
      affine = With(Affine);
      anti_affine = With(AntiAffine);
    }
  }

  size_t size() const { return entries_.size(); }
  const std::map<std::string, ModelEntry>& entries() const { return entries_; }

  ModelTree tree;
  std::map<std::string, ModelCopy> copies;
  std::vector<std::string> list;
  std::vector<std::string> affine;
  std::vector<std::string> anti_affine;

 private:
  void Touch(const std::string& name) { entries_[name].generation = ++next_generation_; }
  void DropIfEmpty(const std::string& name) {
    if (entries_[name].node == nullptr && entries_[name].pods.empty()) entries_.erase(name);
  }
  void Withdraw(const std::string& name) {
    for (auto& [text, image] : images_) image.nodes.erase(name);
    std::erase_if(images_, [](const auto& image) { return image.second.nodes.empty(); });
  }
  std::vector<std::string> With(bool (*test)(const api::Pod&)) const {
    std::vector<std::string> names;
    for (const std::string& name : list) {
      if (AnyOf(copies.at(name).pods, test)) names.push_back(name);
    }
    return names;
  }

  std::map<std::string, ModelEntry> entries_;
  std::map<std::string, ModelImage> images_;
  uint64_t next_generation_ = 0;
  uint64_t refreshed_ = 0;
};

class CacheModelTest : public ::testing::Test {
 protected:
  // Confirmations on another node are logged at level 0, and there are thousands here.
  CacheModelTest() { log::SetVerbosity(-1); }
  ~CacheModelTest() override { log::SetVerbosity(0); }

  void Run(uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    for (int step = 0; step < kSteps && !HasFatalFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      Step(random);
      if (random.Below(8) == 0) {
        const Result<void> refreshed = cache_.RefreshSnapshot();
        ASSERT_TRUE(refreshed.ok()) << refreshed.error().message;
        model_.Refresh();
        CompareView();
        if (step % 50 == 0) CompareSums();
      } else {
        ReadView();
      }
    }
  }

 private:
  struct KnownPod {
    api::PodPtr pod;
    bool assumed = false;
  };

  static api::NodePtr RandomNode(Random& random, const std::string& name) {
    ks::testing::NodeBuilder node = MakeNode().Name(name);
    const uint64_t zone = random.Below(4);
    if (zone > 0) node.Zone("z" + std::to_string(zone));
    for (uint64_t i = random.Below(4); i > 0; --i) {
      node.Image({"image" + std::to_string(random.Below(6))},
                 static_cast<int64_t>(random.Below(1000)));
    }
    return node.Allocatable({{"cpu", "4"}}).Obj();
  }
  api::PodPtr RandomPod(Random& random, const std::string& name, const std::string& node) {
    ks::testing::PodBuilder pod = MakePod().Name(name).Node(node);
    pod.Req({{"cpu", std::to_string(random.Below(900)) + "m"}});
    const uint64_t kind = random.Below(6);
    if (kind == 0) pod.spec().pod_affinity.emplace();
    if (kind == 1) pod.spec().pod_anti_affinity.emplace().required.emplace_back();
    return pod.Obj();
  }

  void Step(Random& random) {
    const std::string node = "n" + std::to_string(random.Below(kNodeNames));
    const std::string pod = "p" + std::to_string(random.Below(kPodNames));
    const uint64_t action = random.Below(10);
    if (action < 2) {
      PutNode(RandomNode(random, node));
    } else if (action == 2) {
      DropNode(node, random.Below(2) == 0 ? RandomNode(random, node) : nullptr);
    } else if (action < 8) {
      ChangePod(random, pod, node);
    } else {
      DropPod(pod);
    }
  }

  void PutNode(const api::NodePtr& node) {
    const auto known = nodes_.find(node->meta.name);
    if (known == nodes_.end()) {
      cache_.AddNode(node);
    } else {
      cache_.UpdateNode(*known->second, node);
    }
    model_.SetNode(node);
    nodes_[node->meta.name] = node;
  }

  // Often the node comes back at once, which the view must not notice.
  void DropNode(const std::string& name, const api::NodePtr& again) {
    const auto known = nodes_.find(name);
    if (known == nodes_.end()) return;
    ASSERT_TRUE(cache_.RemoveNode(*known->second).ok());
    model_.RemoveNode(name);
    nodes_.erase(known);
    if (again != nullptr) PutNode(again);
  }

  void ChangePod(Random& random, const std::string& name, const std::string& node) {
    const auto known = pods_.find(name);
    if (known == pods_.end()) {
      const api::PodPtr pod = RandomPod(random, name, node);
      const bool assume = random.Below(2) == 0;
      ASSERT_TRUE((assume ? cache_.AssumePod(pod) : cache_.AddPod(pod)).ok());
      model_.AddPod(pod);
      pods_[name] = {.pod = pod, .assumed = assume};
      return;
    }
    const api::PodPtr old_pod = known->second.pod;
    // An assumed pod is confirmed, sometimes elsewhere; an added one is updated in place.
    const bool assumed = known->second.assumed;
    const bool elsewhere = assumed && random.Below(4) == 0;
    const api::PodPtr pod = RandomPod(random, name, elsewhere ? node : old_pod->node_name.str());
    ASSERT_TRUE((assumed ? cache_.AddPod(pod) : cache_.UpdatePod(*old_pod, pod)).ok());
    model_.RemovePod(*old_pod);
    model_.AddPod(pod);
    known->second = {.pod = pod, .assumed = false};
  }

  void DropPod(const std::string& name) {
    const auto known = pods_.find(name);
    if (known == pods_.end()) return;
    const api::Pod& pod = *known->second.pod;
    ASSERT_TRUE((known->second.assumed ? cache_.ForgetPod(pod) : cache_.RemovePod(pod)).ok());
    model_.RemovePod(pod);
    pods_.erase(known);
  }

  static std::vector<std::string> Names(std::span<const NodeInfo* const> nodes) {
    std::vector<std::string> names;
    for (const NodeInfo* node : nodes) names.push_back(node->name());
    return names;
  }

  // Everything listed must be readable at any time.
  void ReadView() {
    for (uint32_t i = 0; i < cache_.nodes().size(); ++i) {
      ASSERT_EQ(cache_.nodes()[i]->index(), i);
      ASSERT_EQ(cache_.Find(cache_.nodes()[i]->name()), cache_.nodes()[i]);
    }
    ASSERT_EQ(Names(cache_.nodes()), model_.list);
    ASSERT_EQ(Names(cache_.nodes_with_affinity()), model_.affine);
    ASSERT_EQ(Names(cache_.nodes_with_required_anti_affinity()), model_.anti_affine);
  }

  void CompareView() {
    ReadView();
    ASSERT_EQ(cache_.nodes().size(), nodes_.size());
    ASSERT_EQ(cache_.counts().nodes, model_.size());
    ASSERT_EQ(cache_.counts().pods, pods_.size());
    ASSERT_EQ(cache_.counts().assumed_pods,
              static_cast<size_t>(std::count_if(pods_.begin(), pods_.end(),
                                                [](const auto& p) { return p.second.assumed; })));
    for (const NodeInfo* node : cache_.nodes()) {
      SCOPED_TRACE(node->name());
      const ModelCopy& copy = model_.copies.at(node->name());
      ASSERT_EQ(node->node_ptr(), copy.node);
      std::map<std::string, std::string> images;
      for (const framework::ImageState& image : node->images()) {
        images[image.name.str()] =
            std::to_string(image.num_nodes) + "/" + std::to_string(image.size_bytes);
      }
      ASSERT_EQ(images, copy.images);
    }
  }

  // Every entry: its pods in order, and sums recomputed from nothing.
  void CompareSums() {
    cache_.ForEachEntry([this](const std::string& name, const NodeInfo& info) {
      SCOPED_TRACE(name);
      const auto it = model_.entries().find(name);
      ASSERT_NE(it, model_.entries().end());
      NodeInfo naive;
      std::vector<api::PodPtr> pods;
      for (const framework::PodInfoPtr& pod : info.pods()) {
        pods.push_back(pod->ptr());
        naive.AddPod(std::make_shared<framework::PodInfo>(pod->ptr()));
      }
      EXPECT_EQ(pods, it->second.pods);
      EXPECT_EQ(info.node_ptr(), it->second.node);
      EXPECT_EQ(info.requested(), naive.requested());
      EXPECT_EQ(info.non_zero_milli_cpu(), naive.non_zero_milli_cpu());
      EXPECT_EQ(info.non_zero_memory(), naive.non_zero_memory());
      EXPECT_EQ(info.pods_with_affinity().size(), naive.pods_with_affinity().size());
      EXPECT_EQ(info.pods_with_required_anti_affinity().size(),
                naive.pods_with_required_anti_affinity().size());
    });
  }

  Cache cache_;
  Model model_;
  std::map<std::string, api::NodePtr> nodes_;
  std::map<std::string, KnownPod> pods_;
};

TEST_F(CacheModelTest, AgreesWithTheModel) { Run(20261121); }

}  // namespace
}  // namespace ks::cache
