// SPDX-License-Identifier: Apache-2.0
// Static matching against a reference that looks at all volumes for every claim and node, over
// random objects and random changes (docs/spec/plugins-volume.md 2.7.1, its table read from top to
// bottom).
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "plugins/volume_binding/reservation.h"
#include "plugins/volume_binding/static_match.h"
#include "plugins/volume_binding/volume_world.h"

namespace ks::plugins {
namespace {

using Volumes = std::vector<api::PersistentVolumePtr>;

class Reference {
 public:
  Reference(const api::PersistentVolumeClaim& claim, const api::LabelMap& labels)
      : claim_(claim), labels_(labels) {}

  // The name of the volume; empty: none.
  std::string Find(const Volumes& volumes, const std::vector<std::string>& taken) const {
    const api::PersistentVolume* smallest = nullptr;
    for (const api::PersistentVolumePtr& volume : volumes) {
      const api::PersistentVolume& v = *volume;
      if (std::find(taken.begin(), taken.end(), v.meta.name) != taken.end()) continue;
      if (v.claim_ref && (v.claim_ref->name != claim_.meta.name || v.claim_ref->ns != "ns" ||
                          (!v.claim_ref->uid.empty() && v.claim_ref->uid != claim_.meta.uid))) {
        continue;
      }
      if (claim_.requested && v.capacity < *claim_.requested) continue;
      if (Mode(v.volume_mode) != Mode(claim_.volume_mode)) continue;
      if (v.attributes_class != claim_.attributes_class) continue;
      if (v.meta.deletion_timestamp) continue;
      const bool here = !v.node_affinity || v.node_affinity->Matches(labels_, {});
      if (v.claim_ref) return here ? v.meta.name : "";
      if (v.phase != Symbol("Available")) continue;
      if (claim_.selector && !claim_.selector->Matches(v.meta.labels)) continue;
      if (!here) continue;
      if (!std::all_of(claim_.access_modes.begin(), claim_.access_modes.end(),
                       [&](const Symbol& mode) {
                         return std::count(v.access_modes.begin(), v.access_modes.end(), mode) > 0;
                       })) {
        continue;
      }
      if (smallest == nullptr || v.capacity < smallest->capacity) smallest = &v;
    }
    return smallest == nullptr ? "" : smallest->meta.name;
  }

 private:
  static std::string Mode(const Symbol& mode) { return mode.empty() ? "Filesystem" : mode.str(); }

  const api::PersistentVolumeClaim& claim_;
  const api::LabelMap& labels_;
};

class World {
 public:
  explicit World(uint64_t seed) : random_(seed) {}

  bool Chance(uint32_t percent) { return random_.Below(100) < percent; }
  std::string Of(const char* prefix, uint32_t count) {
    return prefix + std::to_string(random_.Below(count));
  }

  api::NodeSelectorSpec Affinity() {
    api::NodeSelectorSpec spec;
    const auto terms = random_.Below(3);
    for (uint32_t i = 0; i < terms + (Chance(70) ? 1 : 0); ++i) {
      api::NodeSelectorTerm term;
      if (Chance(80)) term.match_expressions.push_back({"h", "In", {Of("n", 4)}});
      if (Chance(20)) term.match_expressions.push_back({"z", "In", {Of("z", 2), Of("z", 3)}});
      if (Chance(15)) term.match_expressions.push_back({"h", "NotIn", {Of("n", 4)}});
      if (Chance(10)) term.match_expressions.push_back({"z", "Exists", {}});
      if (Chance(5)) term.match_expressions.push_back({"z", "Foo", {}});
      if (Chance(10)) term.match_fields.push_back({"metadata.name", "In", {Of("n", 4)}});
      spec.terms.push_back(std::move(term));
    }
    return spec;
  }

  api::PersistentVolumePtr MakeVolume(int i) {
    auto volume = Volume("pv" + std::to_string(i / 10) + std::to_string(i % 10),
                         std::to_string(1 + random_.Below(5)) + "Gi");
    if (Chance(70)) {
      volume->node_affinity_spec = Affinity();
      volume->node_affinity = api::NodeSelector::Compile(*volume->node_affinity_spec);
    }
    if (Chance(10)) volume->phase = Symbol("Bound");
    if (Chance(10)) volume->volume_mode = Symbol(Chance(50) ? "Block" : "Filesystem");
    if (Chance(5)) volume->attributes_class = Symbol("gold");
    if (Chance(5)) volume->meta.deletion_timestamp = TimePoint();
    if (Chance(20)) volume->access_modes = {Symbol("ReadWriteMany")};
    if (Chance(10)) volume->access_modes.push_back(Symbol("ReadOnlyMany"));
    if (Chance(50)) volume->meta.labels = testing::MakeLabels({{"tier", Of("t", 2)}});
    if (Chance(15)) {
      volume->claim_ref = api::ClaimReference{.kind = {},
                                              .api_version = {},
                                              .ns = Chance(90) ? "ns" : "other",
                                              .name = Of("c", 3),
                                              .uid = Chance(50) ? "" : "uid-" + Of("c", 3),
                                              .resource_version = {}};
    }
    return volume;
  }

  std::shared_ptr<api::PersistentVolumeClaim> MakeClaim() {
    auto claim = Claim(Of("c", 3), std::to_string(1 + random_.Below(5)) + "Gi");
    if (Chance(10)) claim->volume_mode = Symbol("Block");
    if (Chance(5)) claim->attributes_class = Symbol("gold");
    if (Chance(5)) claim->requested.reset();
    if (Chance(5)) claim->access_modes.push_back(Symbol("ReadOnlyMany"));
    if (Chance(20)) {
      api::LabelSelectorSpec spec;
      spec.match_labels = {{"tier", Of("t", 2)}};
      claim->selector = api::LabelSelector::Compile(spec).value();
    }
    return claim;
  }

  api::LabelMap NodeLabels() {
    testing::Texts labels;
    if (Chance(90)) labels.emplace_back("h", Of("n", 4));
    if (Chance(60)) labels.emplace_back("z", Of("z", 3));
    return testing::MakeLabels(labels);
  }

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_.Below(n)); }

 private:
  Random random_;
};

TEST(StaticMatchProperty, FindsWhatTheReferenceFinds) {
  size_t found = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    Volumes volumes;
    const uint32_t count = world.Below(30);
    for (uint32_t i = 0; i < count; ++i) volumes.push_back(world.MakeVolume(static_cast<int>(i)));
    const api::LabelMap labels = world.NodeLabels();
    const auto arranged = std::make_shared<const ClassVolumes>(volumes);
    std::vector<const api::PersistentVolume*> taken;
    std::vector<std::string> taken_names;
    for (int i = 0; i < 4; ++i) {
      const auto claim = world.MakeClaim();
      const StaticMatch match(claim, arranged);
      const api::PersistentVolumePtr* volume = match.On(labels, taken);
      const std::string name = volume == nullptr ? "" : (*volume)->meta.name;
      ASSERT_EQ(name, Reference(*claim, labels).Find(volumes, taken_names));
      if (volume == nullptr) continue;
      ++found;
      taken.push_back(volume->get());
      taken_names.push_back(name);
    }
  }
  EXPECT_GT(found, 3000u) << "the objects are too far apart to say anything";
}

// Volumes of two classes that come, change, go, and are assumed for claims and given back.
class ChangingVolumes {
 public:
  explicit ChangingVolumes(World& world) : world_(world) {}

  void Change() {
    if (world_.Chance(40)) {
      Upsert();
    } else if (world_.Chance(20)) {
      Delete();
    } else if (world_.Chance(70)) {
      Assume();
    } else if (!assumed_.empty()) {
      stores.Restore(*assumed_[world_.Below(static_cast<uint32_t>(assumed_.size()))]);
    }
  }

  // More changes of another volume than the log holds.
  void Flood() {
    const auto volume = Volume("pv99", "1Gi");
    volume->storage_class_name = Symbol("unused");
    for (int i = 0; i < 5000; ++i) put_(volume);
  }

  Symbol SomeClass() { return Symbol(world_.Chance(70) ? "wait" : "other"); }

  cache::StorageStores stores;

 private:
  api::PersistentVolumePtr Some() {
    return stores.FindVolume("pv0" + std::to_string(world_.Below(10)));
  }
  void Upsert() {
    auto volume = std::make_shared<api::PersistentVolume>(
        *world_.MakeVolume(static_cast<int>(world_.Below(10))));
    volume->storage_class_name = SomeClass();
    // Mostly another version; the same one leaves assumed versions in place.
    if (world_.Chance(80)) volume->meta.resource_version = std::to_string(++version_);
    put_(volume);
  }
  void Delete() {
    if (const auto volume = Some()) put_.Delete(std::make_shared<api::PersistentVolume>(*volume));
  }
  void Assume() {
    const api::PersistentVolumePtr volume = Some();
    if (volume == nullptr) return;
    const api::PersistentVolumePtr bound = BoundTo(volume, *world_.MakeClaim());
    if (stores.Assume(bound).ok()) assumed_.push_back(bound);
  }

  World& world_;
  StoragePutter put_{stores};
  int version_ = 100;
  std::vector<api::PersistentVolumePtr> assumed_;
};

TEST(VolumeIndexProperty, FindsWhatTheReferenceFindsAfterAnyChanges) {
  size_t found = 0;
  size_t reserved = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    ChangingVolumes volumes(world);
    VolumeIndex index;
    // What an attempt took from the index at some time, and the volumes of then.
    std::shared_ptr<const ClassVolumes> held;
    Volumes held_volumes;
    for (int step = 0; step < 100; ++step) {
      for (uint32_t i = world.Below(5); i > 0; --i) volumes.Change();
      if (world.Below(1000) == 0) volumes.Flood();
      const Symbol storage_class = volumes.SomeClass();
      const auto now = index.Of(storage_class, volumes.stores);
      const Volumes now_volumes = volumes.stores.CurrentVolumesOf(storage_class);
      const auto claim = world.MakeClaim();
      const api::LabelMap labels = world.NodeLabels();
      const auto find = [&](const std::shared_ptr<const ClassVolumes>& in) {
        const StaticMatch match(claim, in);
        const api::PersistentVolumePtr* volume = match.On(labels, {});
        return volume == nullptr ? api::PersistentVolumePtr() : *volume;
      };
      const api::PersistentVolumePtr volume = find(now);
      ASSERT_EQ(volume == nullptr ? "" : volume->meta.name,
                Reference(*claim, labels).Find(now_volumes, {}));
      if (volume != nullptr) {
        ASSERT_EQ(volume, volumes.stores.CurrentVolume(volume->meta.name)) << "an old version";
        ++(volume->claim_ref ? reserved : found);
      }
      if (held != nullptr) {
        const api::PersistentVolumePtr then = find(held);
        ASSERT_EQ(then == nullptr ? "" : then->meta.name,
                  Reference(*claim, labels).Find(held_volumes, {}));
      }
      if (!world.Chance(20)) continue;
      held = now;
      held_volumes = now_volumes;
    }
  }
  EXPECT_GT(found, 1000u) << "the objects are too far apart to say anything";
  EXPECT_GT(reserved, 1000u) << "the claims are too far apart to say anything";
}

}  // namespace
}  // namespace ks::plugins
