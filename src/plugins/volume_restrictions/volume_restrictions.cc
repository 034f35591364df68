// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_restrictions/volume_restrictions.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/hinting.h"
#include "plugins/kit/volume/claim_volumes.h"
#include "plugins/kit/volume/volume_signature.h"
#include "plugins/volume_restrictions/claim_users.h"
#include "plugins/volume_restrictions/disks.h"

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
using Source = api::Volume::Source;

bool HasClaimOrDisk(const api::Pod& pod) {
  return HasDisk(pod) || AnyClaimVolume(pod, [](const api::Volume&) { return true; });
}

bool ShareClaimName(const api::Pod& a, const api::Pod& b) {
  if (HaveManyPairs(a, b)) {
    absl::flat_hash_set<std::string_view> names;
    AnyClaimVolume(b, [&names](const api::Volume& volume) {
      names.insert(volume.id);
      return false;
    });
    return AnyClaimVolume(
        a, [&names](const api::Volume& volume) { return names.contains(volume.id); });
  }
  return AnyClaimVolume(a, [&](const api::Volume& volume) { return NamesClaim(b, volume.id); });
}

using ClaimNames = std::set<std::string, std::less<>>;

struct RestrictionState final : framework::StateData {
  std::shared_ptr<StateData> Clone(const std::shared_ptr<StateData>&) const override {
    return std::make_shared<RestrictionState>(*this);
  }

  // The pod's claims with ReadWriteOncePod.
  std::shared_ptr<const ClaimNames> exclusive_claims;
  // Starts as the number of them in use, and then moves by volumes; below 0 is no conflict, too.
  int64_t conflicts = 0;
  std::shared_ptr<const Disks> disks;  // of the pod; null: it has few
};

class VolumeRestrictions final : public framework::Plugin,
                                 public framework::PreFilterPlugin,
                                 public framework::PreFilterExtensions,
                                 public framework::FilterPlugin,
                                 public framework::EnqueueExtensions,
                                 public framework::OptionalKindReader,
                                 public VolumeSignature {
 public:
  explicit VolumeRestrictions(framework::Handle& handle)
      : handle_(handle), slot_(handle.NewStateSlot()), deferred_(handle) {}

  std::string_view Name() const override { return kVolumeRestrictionsName; }

  framework::OptionalKinds NeededKinds() const override {
    return {OptionalKind::kPersistentVolumeClaim};
  }

  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot& snapshot) override {
    if (deferred_.Exempt(pod) || !HasClaimOrDisk(pod)) return {skip_, {}};
    auto restrictions = std::make_shared<RestrictionState>();
    Status status = FindExclusiveClaims(pod, snapshot, restrictions.get());
    if (!status.ok()) return {std::move(status), {}};
    const bool has_disk = HasDisk(pod);
    if (restrictions->conflicts == 0 && !has_disk) return {skip_, {}};
    if (has_disk && pod.spec->volumes.size() > kFewVolumes) {
      restrictions->disks = std::make_shared<const Disks>(pod);
    }
    slot_.Write(state, std::move(restrictions));
    return {};
  }

  Status AddPod(CycleState& state, const api::Pod&, const framework::PodInfo& pod_to_add,
                const NodeInfo&) const override {
    return Change(state, pod_to_add.pod(), 1);
  }
  Status RemovePod(CycleState& state, const api::Pod&, const framework::PodInfo& pod_to_remove,
                   const NodeInfo&) const override {
    return Change(state, pod_to_remove.pod(), -1);
  }

  Status Filter(const CycleState& state, const api::Pod& pod, const NodeInfo& node) const override {
    if (deferred_.Exempt(pod)) return {};
    const RestrictionState* restrictions = slot_.Read(state);
    const Disks* disks = restrictions == nullptr ? nullptr : restrictions->disks.get();
    if (disks != nullptr || HasDisk(pod)) {
      for (const framework::PodInfoPtr& other : node.pods()) {
        const bool conflict =
            disks != nullptr ? disks->ConflictWith(other->pod()) : DisksConflict(pod, other->pod());
        if (conflict) return disk_conflict_;
      }
    }
    if (restrictions == nullptr) return no_state_;
    return restrictions->conflicts > 0 ? claim_conflict_ : Status();
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {{{EventResource::kAssignedPod, framework::kActionDelete, {}},
             HintOn<api::Pod>(AfterPodDeleted),
             HintScope::kLabels},
            {{EventResource::kNode, framework::kActionAdd, {}}, {}},
            {{EventResource::kPersistentVolumeClaim, framework::kActionAdd, {}},
             HintOn<api::PersistentVolumeClaim>(AfterNamedClaim),
             HintScope::kClaims}};
  }

 private:
  // The pod's claims with ReadWriteOncePod, and how many of them are in use. Rejects a pod of which
  // some claim is missing.
  Status FindExclusiveClaims(const api::Pod& pod, const framework::Snapshot& snapshot,
                             RestrictionState* restrictions) {
    auto names = std::make_shared<ClaimNames>();
    for (const api::Volume& volume : pod.spec->volumes) {
      if (volume.source != Source::kPersistentVolumeClaim) continue;
      const api::PersistentVolumeClaimPtr claim =
          handle_.storage().FindClaim(api::ClaimKey(pod, volume));
      if (claim == nullptr) return Status(kUnresolvable, {ClaimNotFoundText(volume.id)});
      if (IsExclusive(*claim)) names->insert(volume.id);
    }
    if (!names->empty()) users_.Refresh(snapshot);
    for (const std::string& name : *names) {
      if (users_.InUse(pod.meta.ns.str() + '/' + name)) ++restrictions->conflicts;
    }
    restrictions->exclusive_claims = std::move(names);
    return {};
  }

  static bool IsExclusive(const api::PersistentVolumeClaim& claim) {
    static const Symbol read_write_once_pod("ReadWriteOncePod");
    return std::find(claim.access_modes.begin(), claim.access_modes.end(), read_write_once_pod) !=
           claim.access_modes.end();
  }

  // Counts volumes, not claims, and looks at names alone: traps 19 and 20.
  Status Change(CycleState& state, const api::Pod& other, int64_t sign) const {
    RestrictionState* restrictions = slot_.Mutable(state);
    if (restrictions == nullptr) return no_state_;
    for (const api::Volume& volume : other.spec->volumes) {
      if (volume.source == Source::kPersistentVolumeClaim &&
          restrictions->exclusive_claims->contains(volume.id)) {
        restrictions->conflicts += sign;
      }
    }
    return {};
  }

  static QueueingHint AfterPodDeleted(const api::Pod& pod, const api::Pod* deleted,
                                      const api::Pod*) {
    if (deleted == nullptr) return QueueingHint::kQueue;
    if (deleted->meta.ns != pod.meta.ns) return QueueingHint::kSkip;
    return QueueIf(DisksConflict(pod, *deleted) || ShareClaimName(*deleted, pod));
  }

  static constexpr size_t kFewVolumes = 8;
  static constexpr Code kUnresolvable = Code::kUnschedulableAndUnresolvable;

  static Status Rejection(std::string reason) {
    return {Code::kUnschedulable, {std::move(reason)}, std::string(kVolumeRestrictionsName)};
  }

  framework::Handle& handle_;
  const framework::StateSlot<RestrictionState> slot_;
  const DeferredPods deferred_;
  ClaimUsers users_;

  const Status skip_{Code::kSkip, {}, std::string(kVolumeRestrictionsName)};
  const Status disk_conflict_ = Rejection("node(s) had no available disk");
  const Status claim_conflict_ = Rejection(
      "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
      "in-use by another pod");
  const Status no_state_ =
      Status::Error("cannot read \"PreFilterVolumeRestrictions\" from cycleState");
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewVolumeRestrictions(const config::PluginArgs&,
                                                                 framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<VolumeRestrictions>(handle));
}

}  // namespace ks::plugins
