// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_volume_limits/node_volume_limits.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "plugins/kit/deferred_pods.h"
#include "plugins/kit/hinting.h"
#include "plugins/kit/volume/csi_translation.h"
#include "plugins/kit/volume/volume_signature.h"
#include "plugins/node_volume_limits/attached_volumes.h"

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

Status Rejection(std::string reason) {
  return {Code::kUnschedulable, {std::move(reason)}, std::string(kNodeVolumeLimitsName)};
}

// The pod's distinct volumes of one driver.
struct WantedDriver {
  Symbol driver;
  std::vector<std::string> names;
  Status if_missing;  // the rejection by a node without the driver; success where that is no reason
};

// What the pod wants of a node that has a CSINode, or of one that has none.
struct Wanted {
  Status failure;  // of every such node, where some volume cannot be told
  std::vector<WantedDriver> drivers;
};

struct LimitsState final : framework::StateData {
  Wanted with_csi_node;
  Wanted without_csi_node;
};

const api::CsiNode::Driver* FindDriver(const api::CsiNode* csi_node, const Symbol& name) {
  if (csi_node == nullptr) return nullptr;
  for (const api::CsiNode::Driver& driver : csi_node->drivers) {
    if (driver.name == name.view()) return &driver;
  }
  return nullptr;
}

bool HasLimit(const api::CsiNode* csi_node) {
  return csi_node != nullptr &&
         std::any_of(csi_node->drivers.begin(), csi_node->drivers.end(),
                     [](const auto& driver) { return driver.allocatable_count.has_value(); });
}

class NodeVolumeLimits final : public framework::Plugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::EnqueueExtensions,
                               public framework::OptionalKindReader,
                               public VolumeSignature {
 public:
  explicit NodeVolumeLimits(framework::Handle& handle)
      : handle_(handle),
        slot_(handle.NewStateSlot()),
        deferred_(handle),
        wants_installed_(handle.gates().Enabled(config::Gate::kVolumeLimitScaling)) {}

  std::string_view Name() const override { return kNodeVolumeLimitsName; }

  framework::OptionalKinds NeededKinds() const override {
    framework::OptionalKinds kinds = {
        OptionalKind::kPersistentVolume, OptionalKind::kPersistentVolumeClaim,
        OptionalKind::kStorageClass, OptionalKind::kCsiNode, OptionalKind::kVolumeAttachment};
    if (wants_installed_) kinds.Add(OptionalKind::kCsiDriver);
    return kinds;
  }

  // Upstream leaves no state and looks at the pod's volumes on each node; nothing that they depend
  // on changes in between.
  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const framework::Snapshot& snapshot) override {
    if (deferred_.Exempt(pod) || !MayAttach(pod)) return {skip_, {}};
    attached_.Refresh(snapshot, storage());
    slot_.Write(state, WantedBy(pod));
    return {};
  }

  Status Filter(const CycleState& state, const api::Pod& pod, const NodeInfo& node) const override {
    if (deferred_.Exempt(pod) || pod.spec->volumes.empty()) return {};
    std::shared_ptr<const LimitsState> own;
    const LimitsState* limits = slot_.Read(state);
    if (limits == nullptr) {
      own = WantedBy(pod);
      limits = own.get();
    }
    const api::CsiNodePtr csi_node = storage().FindCsiNode(node.name());
    const Wanted& wanted = csi_node == nullptr ? limits->without_csi_node : limits->with_csi_node;
    if (!wanted.failure.ok()) return wanted.failure;
    for (const WantedDriver& driver : wanted.drivers) {
      const bool missing = FindDriver(csi_node.get(), driver.driver) == nullptr;
      if (missing && !driver.if_missing.ok()) return driver.if_missing;
    }
    if (wanted.drivers.empty() || !HasLimit(csi_node.get())) return {};
    return CheckLimits(wanted, *csi_node, node);
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {{{EventResource::kCsiNode, framework::kActionAdd | framework::kActionUpdate, {}},
             HintOn<api::CsiNode>(AfterCsiNode),
             HintScope::kSpec},
            {{EventResource::kAssignedPod, framework::kActionDelete, {}},
             HintOn<api::Pod>(AfterPodDeleted),
             HintScope::kSpec},
            {{EventResource::kPersistentVolumeClaim, framework::kActionAdd, {}},
             HintOn<api::PersistentVolumeClaim>(AfterClaimAdded),
             HintScope::kClaims},
            {{EventResource::kVolumeAttachment, framework::kActionDelete, {}},
             AfterDetached,
             HintScope::kSpec}};
  }

 private:
  const framework::StorageState& storage() const { return handle_.storage(); }

  std::shared_ptr<LimitsState> WantedBy(const api::Pod& pod) const {
    auto limits = std::make_shared<LimitsState>();
    limits->with_csi_node = WantedBy(pod, CsiNodePresence::kPresent);
    limits->without_csi_node = WantedBy(pod, CsiNodePresence::kAbsent);
    return limits;
  }

  Wanted WantedBy(const api::Pod& pod, CsiNodePresence csi_node) const {
    std::vector<AttachableVolume> volumes;
    Wanted wanted;
    wanted.failure = IdentifyVolumes(pod, csi_node, storage(), &volumes);
    if (!wanted.failure.ok()) return wanted;
    absl::flat_hash_set<std::string_view> names(volumes.size());
    for (const AttachableVolume& volume : volumes) {
      if (names.insert(volume.name).second) Add(volume, &wanted.drivers);
    }
    return wanted;
  }

  void Add(const AttachableVolume& volume, std::vector<WantedDriver>* drivers) const {
    auto found = std::find_if(drivers->begin(), drivers->end(), [&](const WantedDriver& driver) {
      return driver.driver == volume.driver;
    });
    if (found == drivers->end()) {
      drivers->push_back({volume.driver, {}, IfMissing(volume.driver)});
      found = drivers->end() - 1;
    }
    found->names.push_back(volume.name);
  }

  // Upstream names any of several missing drivers; here it is that of the first volume.
  Status IfMissing(const Symbol& driver) const {
    if (!wants_installed_) return {};
    const api::CsiDriverPtr object = storage().FindCsiDriver(driver.view());
    const bool prevents =
        object != nullptr && object->prevent_pod_scheduling_if_missing.value_or(false);
    if (!prevents) return {};
    return Rejection(driver.str() + " CSI driver is not installed on the node");
  }

  Status CheckLimits(const Wanted& wanted, const api::CsiNode& csi_node,
                     const NodeInfo& node) const {
    VolumeCounts counted;
    const VolumeCounts* attached = attached_.Find(node, handle_.snapshot());
    if (attached == nullptr) {
      Status status = CountAttached(node.pods(), storage(), &counted);
      if (!status.ok()) return status;
      attached = &counted;
    }
    for (const WantedDriver& driver : wanted.drivers) {
      const api::CsiNode::Driver* limit = FindDriver(&csi_node, driver.driver);
      if (limit == nullptr || !limit->allocatable_count) continue;
      const auto is_new = [&](const std::string& name) { return !attached->Contains(name); };
      const auto added = std::count_if(driver.names.begin(), driver.names.end(), is_new);
      if (added == 0) continue;
      const int64_t room = *limit->allocatable_count - attached->Count(driver.driver) - added;
      if (room < 0 || !HasRoomForUnused(room, driver.driver, node, *attached)) return exceeded_;
    }
    return {};
  }

  // Whether at most `room` volumes of the driver are attached to the node that no pod of it uses.
  // Each counts, and the pod that wants to use it counts once more (trap 15). The lookups are left
  // out where there are not that many attachments at all.
  bool HasRoomForUnused(int64_t room, const Symbol& driver, const NodeInfo& node,
                        const VolumeCounts& attached) const {
    const auto attachments = storage().AttachmentsOf(node.name());
    if (static_cast<int64_t>(attachments.size()) <= room) return true;
    std::set<std::string> unused;
    for (const api::VolumeAttachmentPtr& attachment : attachments) {
      if (attachment->attacher != driver.view() || !attachment->persistent_volume_name) continue;
      const auto volume = storage().FindVolume(*attachment->persistent_volume_name);
      if (volume == nullptr || volume->source != api::Volume::Source::kCsi) continue;
      const auto identity = MakeAttachable(attachment->attacher, volume->volume_handle);
      if (identity && !attached.Contains(identity->name)) unused.insert(identity->name);
    }
    return static_cast<int64_t>(unused.size()) <= room;
  }

  // An absent count is 0: neither a driver that comes without a limit nor a limit that goes wakes a
  // pod (trap 18).
  static QueueingHint AfterCsiNode(const api::Pod&, const api::CsiNode* before,
                                   const api::CsiNode* after) {
    if (before == nullptr || after == nullptr) return QueueingHint::kQueue;
    const auto count = [](const api::CsiNode::Driver& driver) {
      return driver.allocatable_count.value_or(0);
    };
    for (const api::CsiNode::Driver& driver : after->drivers) {
      const api::CsiNode::Driver* old = FindDriver(before, Symbol(driver.name));
      if (count(driver) > (old == nullptr ? 0 : count(*old))) return QueueingHint::kQueue;
    }
    return QueueingHint::kSkip;
  }

  static QueueingHint AfterPodDeleted(const api::Pod&, const api::Pod* deleted, const api::Pod*) {
    if (deleted == nullptr) return QueueingHint::kQueue;
    return QueueIf(IsPlaced(*deleted) && MayAttach(*deleted));
  }

  static QueueingHint AfterClaimAdded(const api::Pod& pod, const api::PersistentVolumeClaim*,
                                      const api::PersistentVolumeClaim* added) {
    if (added == nullptr) return QueueingHint::kQueue;
    if (added->meta.ns != pod.meta.ns) return QueueingHint::kSkip;
    return QueueIf(std::any_of(
        pod.spec->volumes.begin(), pod.spec->volumes.end(), [&](const api::Volume& volume) {
          return api::MeansClaim(volume) && api::ClaimName(pod, volume) == added->meta.name;
        }));
  }

  // Claims of generic ephemeral volumes are not looked at (trap 18).
  static Result<QueueingHint> AfterDetached(const api::Pod& pod,
                                            const framework::EventObject& old_object,
                                            const framework::EventObject&) {
    const auto* attachment = ObjectOf<api::VolumeAttachment>(old_object);
    if (attachment == nullptr) return QueueingHint::kQueue;
    for (const api::Volume& volume : pod.spec->volumes) {
      if (volume.source == api::Volume::Source::kPersistentVolumeClaim) return QueueingHint::kQueue;
      const InTreePlugin* plugin = FindInTreePlugin(volume.source);
      if (plugin == nullptr) continue;
      const Result<std::string> handle = TranslatedHandle(volume);
      if (!handle.ok()) return Error{InlineTranslationText(volume, handle.error().message)};
      if (plugin->driver == attachment->attacher) return QueueingHint::kQueue;
    }
    return QueueingHint::kSkip;
  }

  framework::Handle& handle_;
  const framework::StateSlot<LimitsState> slot_;
  const DeferredPods deferred_;
  const bool wants_installed_;  // gate VolumeLimitScaling
  AttachedVolumes attached_;    // changed by PreFilter alone

  const Status skip_{Code::kSkip, {}, std::string(kNodeVolumeLimitsName)};
  const Status exceeded_ = Rejection("node(s) exceed max volume count");
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewNodeVolumeLimits(const config::PluginArgs&,
                                                               framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<NodeVolumeLimits>(handle));
}

}  // namespace ks::plugins
