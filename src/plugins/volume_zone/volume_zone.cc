// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_zone/volume_zone.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "golang/quote.h"
#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/hinting.h"
#include "plugins/kit/volume/claim_volumes.h"
#include "plugins/kit/volume/volume_signature.h"
#include "plugins/kit/volume/zone_label.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::EventResource;
using framework::HintScope;
using framework::NodeInfo;
using framework::OptionalKind;
using framework::QueueingHint;
using framework::Status;

// A label that a volume may have, and the one that does for a node in its place.
struct TopologyLabel {
  Symbol key;
  Symbol instead;
};

// In the order in which a volume's are read.
const std::array<TopologyLabel, 4>& TopologyLabels() {
  static const Symbol zone(kZoneLabel);
  static const Symbol region(kRegionLabel);
  static const std::array<TopologyLabel, 4> labels = {{{Symbol(kBetaZoneLabel), zone},
                                                       {Symbol(kBetaRegionLabel), region},
                                                       {zone, zone},
                                                       {region, region}}};
  return labels;
}

// What a volume asks of a node's label.
struct Place {
  TopologyLabel label;
  std::vector<Symbol> values;  // ascending, unique

  friend bool operator==(const Place& a, const Place& b) {
    return a.label.key == b.label.key && a.values == b.values;
  }
};
using Places = std::vector<Place>;

// Empty when some part is: such a label does not count.
std::vector<Symbol> ValuesOf(std::string_view label) {
  std::vector<Symbol> values;
  for (const std::string_view part : SplitZones(label)) {
    const std::string_view value = Trimmed(part, kSpace);
    if (value.empty()) return {};
    values.emplace_back(value);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void AddPlaces(const api::PersistentVolume& volume, Places* places) {
  for (const TopologyLabel& label : TopologyLabels()) {
    const Symbol* value = volume.meta.labels.Find(label.key);
    if (value == nullptr) continue;
    std::vector<Symbol> values = ValuesOf(value->view());
    if (!values.empty()) places->push_back({label, std::move(values)});
  }
}

Places PlacesOf(const api::PersistentVolume& volume) {
  Places places;
  AddPlaces(volume, &places);
  return places;
}

bool HasTopology(const api::LabelMap& labels) {
  return std::any_of(TopologyLabels().begin(), TopologyLabels().end(),
                     [&](const TopologyLabel& label) { return labels.Contains(label.key); });
}

bool Holds(const Place& place, const api::LabelMap& labels) {
  const Symbol* value = labels.Find(place.label.key);
  if (value == nullptr) value = labels.Find(place.label.instead);
  return value != nullptr && std::binary_search(place.values.begin(), place.values.end(), *value);
}

struct ZoneState final : framework::StateData {
  Places places;
};

class VolumeZone final : public framework::Plugin,
                         public framework::PreFilterPlugin,
                         public framework::FilterPlugin,
                         public framework::EnqueueExtensions,
                         public framework::OptionalKindReader,
                         public VolumeSignature {
 public:
  explicit VolumeZone(framework::Handle& handle)
      : handle_(handle), slot_(handle.NewStateSlot()), deferred_(handle) {}

  std::string_view Name() const override { return kVolumeZoneName; }

  framework::OptionalKinds NeededKinds() const override {
    return {OptionalKind::kPersistentVolume, OptionalKind::kPersistentVolumeClaim,
            OptionalKind::kStorageClass};
  }

  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot&) override {
    const auto any = [](const api::Volume&) { return true; };
    if (deferred_.Exempt(pod) || !AnyClaimVolume(pod, any)) return {skip_, {}};
    auto zones = std::make_shared<ZoneState>();
    Status status = FindPlaces(pod, &zones->places);
    if (!status.ok()) return {std::move(status), {}};
    if (zones->places.empty()) return {skip_, {}};
    slot_.Write(state, std::move(zones));
    return {};
  }

  Status Filter(const CycleState& state, const api::Pod& pod, const NodeInfo& node) const override {
    if (deferred_.Exempt(pod) || pod.spec->volumes.empty()) return {};
    if (const ZoneState* zones = slot_.Read(state)) return Fits(zones->places, node);
    Places places;
    Status status = FindPlaces(pod, &places);
    return status.ok() ? Fits(places, node) : status;
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {
        {{EventResource::kStorageClass, framework::kActionAdd, {}},
         HintOn<api::StorageClass>(AfterStorageClass),
         HintScope::kSpec},
        {{EventResource::kNode, framework::kActionAdd | framework::kActionUpdateNodeLabel, {}}, {}},
        {{EventResource::kPersistentVolumeClaim,
          framework::kActionAdd | framework::kActionUpdate,
          {}},
         HintOn<api::PersistentVolumeClaim>(AfterNamedClaim),
         HintScope::kClaims},
        {{EventResource::kPersistentVolume, framework::kActionAdd | framework::kActionUpdate, {}},
         HintOn<api::PersistentVolume>(AfterVolume),
         HintScope::kSpec}};
  }

 private:
  Status FindPlaces(const api::Pod& pod, Places* places) const {
    for (const api::Volume& volume : pod.spec->volumes) {
      if (volume.source != api::Volume::Source::kPersistentVolumeClaim) continue;
      if (volume.id.empty()) return Rejection("PersistentVolumeClaim had no name");
      const api::PersistentVolumeClaimPtr claim =
          handle_.storage().FindClaim(api::ClaimKey(pod, volume));
      if (claim == nullptr) return Rejection(ClaimNotFoundText(volume.id));
      if (claim->volume_name.empty()) {
        Status status = CheckUnbound(*claim);
        if (!status.ok()) return status;
        continue;
      }
      const api::PersistentVolumePtr bound = handle_.storage().FindVolume(claim->volume_name);
      if (bound == nullptr) return Rejection(VolumeNotFoundText(claim->volume_name));
      AddPlaces(*bound, places);
    }
    return {};
  }

  // Success when the claim will be bound where the pod goes.
  Status CheckUnbound(const api::PersistentVolumeClaim& claim) const {
    const std::string_view name = claim.StorageClass().view();
    if (name.empty()) {
      return Rejection("PersistentVolumeClaim had no pv name and storageClass name");
    }
    const api::StorageClassPtr storage_class = handle_.storage().FindStorageClass(name);
    if (storage_class == nullptr) return Rejection(StorageClassNotFoundText(name));
    if (!storage_class->volume_binding_mode) {
      return Rejection("VolumeBindingMode not set for StorageClass " + golang::Quote(name));
    }
    if (WaitsForFirstConsumer(*storage_class)) return {};
    return Rejection("PersistentVolume had no name");
  }

  static bool WaitsForFirstConsumer(const api::StorageClass& storage_class) {
    return storage_class.volume_binding_mode &&
           storage_class.volume_binding_mode->view() == "WaitForFirstConsumer";
  }

  Status Fits(const Places& places, const NodeInfo& node) const {
    const api::LabelMap& labels = node.node()->meta.labels;
    if (!HasTopology(labels)) return {};
    for (const Place& place : places) {
      if (!Holds(place, labels)) return conflict_;
    }
    return {};
  }

  static QueueingHint AfterStorageClass(const api::Pod&, const api::StorageClass*,
                                        const api::StorageClass* added) {
    return QueueIf(added == nullptr || WaitsForFirstConsumer(*added));
  }

  static QueueingHint AfterVolume(const api::Pod&, const api::PersistentVolume* before,
                                  const api::PersistentVolume* after) {
    return QueueIf(before == nullptr || after == nullptr || PlacesOf(*before) != PlacesOf(*after));
  }

  static Status Rejection(std::string reason) {
    return {Code::kUnschedulableAndUnresolvable, {std::move(reason)}, std::string(kVolumeZoneName)};
  }

  framework::Handle& handle_;
  const framework::StateSlot<ZoneState> slot_;
  const DeferredPods deferred_;

  const Status skip_{Code::kSkip, {}, std::string(kVolumeZoneName)};
  const Status conflict_ = Rejection("node(s) had no available volume zone");
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewVolumeZone(const config::PluginArgs&,
                                                         framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<VolumeZone>(handle));
}

}  // namespace ks::plugins
