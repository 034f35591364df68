// SPDX-License-Identifier: Apache-2.0
#pragma once
// VolumeBinding on a fake handle that knows storage objects.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/storage_stores.h"
#include "plugins/plugin_rig.h"
#include "plugins/volume_binding/volume_binding.h"
#include "testing/deltas.h"
#include "testing/storage_builders.h"

namespace ks::plugins {

using testing::BoundClaim;
using testing::Capacity;
using testing::Claim;
using testing::Class;
using testing::Driver;
using testing::In;
using testing::MigratedNode;
using testing::Pinned;
using testing::PodWith;
using testing::Size;
using testing::Volume;
using testing::VolumeIn;
using testing::VolumeOn;

inline testing::NodeBuilder NodeNamed(const std::string& name) {
  return testing::MakeNode().Name(name).Label("h", name);
}

// Puts objects into a store as the API server would.
class StoragePutter {
 public:
  explicit StoragePutter(cache::StorageStores& stores) : stores_(stores) {}

  template <class T>
  StoragePutter& operator()(const std::shared_ptr<T>& object) {
    Apply(testing::Upsert<T>(object));
    return *this;
  }
  template <class T>
  void Delete(const std::shared_ptr<T>& object) {
    Apply(testing::Delete<T>(object));
  }

 private:
  template <class T>
  void Apply(api::Delta<T> delta) {
    stores_.Apply(std::vector<api::Delta<T>>{std::move(delta)},
                  [](framework::EventResource, uint32_t, const framework::EventObject&,
                     const framework::EventObject&) {});
  }

  cache::StorageStores& stores_;
};

// Nodes n1 and n2 and the class "wait".
struct VolumeWorld {
  explicit VolumeWorld(const std::string& args = "null") : rig(NewVolumeBinding, args) {
    put(Class());
    rig.AddNode(NodeNamed("n1"));
    rig.AddNode(NodeNamed("n2"));
  }

  std::string PreFilter(const api::Pod& pod) {
    rig.state.Reset();
    return Describe(rig.PreFilter(pod).status);
  }
  // "n1: <status or score>; n2: ...", after PreFilter.
  std::string Judge(const api::Pod& pod) {
    rig.state.Reset();
    const framework::PreFilterResult before = rig.PreFilter(pod);
    if (!before.status.ok()) return Describe(before.status);
    std::string text;
    for (const framework::NodeInfo* node : rig.nodes()) {
      if (!text.empty()) text += "; ";
      text += node->name() + ": " + JudgeNode(pod, *node);
    }
    return text;
  }
  std::string JudgeNode(const api::Pod& pod, const framework::NodeInfo& node) {
    const framework::Status status =
        rig.As<framework::FilterPlugin>()->Filter(rig.state, pod, node);
    if (!status.ok()) return Describe(status);
    int64_t score = -1;
    EXPECT_TRUE(rig.As<framework::ScorePlugin>()->Score(rig.state, pod, node, &score).ok());
    return std::to_string(score);
  }
  framework::Status Reserve(const api::PodPtr& pod, const std::string& node) {
    return rig.As<framework::ReservePlugin>()->Reserve(rig.state, pod, node);
  }
  void Unreserve(const api::PodPtr& pod, const std::string& node) {
    rig.As<framework::ReservePlugin>()->Unreserve(rig.state, pod, node);
  }

  PluginRig rig;
  cache::StorageStores& storage = rig.handle.fake_storage();
  StoragePutter put{storage};
};

}  // namespace ks::plugins
