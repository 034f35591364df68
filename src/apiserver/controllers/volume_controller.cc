// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/volume_controller.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "apiserver/controllers/controller_event.h"
#include "apiserver/controllers/volume_controller_objects.h"
#include "apiserver/store/json_fields.h"
#include "apiserver/store/log_cursor.h"

namespace ks::apiserver {
namespace {

using volumes::Claim;
using volumes::Volume;

// What one Step does at most, so that requests are served in between.
constexpr size_t kWorkPerStep = 32;
constexpr std::string_view kComponent = "persistentvolume-controller";

struct KnownClaim {
  Claim claim;
  std::string said;           // the last event about it: a thing is said once
  bool provisioning = false;  // its time is in provision_due_
};

// Free volumes of a class by size, smallest first.
using FreeVolumes = std::map<std::pair<api::Quantity, std::string>, const Volume*>;

// Sets of names by a name; empty sets are not kept.
using Index = std::map<std::string, std::set<std::string>>;

void Erase(Index& index, const std::string& key, const std::string& name) {
  const auto it = index.find(key);
  if (it == index.end()) return;
  it->second.erase(name);
  if (it->second.empty()) index.erase(it);
}

void MarkDirty(const Index& index, const std::string& key, std::set<std::string>& dirty) {
  const auto it = index.find(key);
  if (it != index.end()) dirty.insert(it->second.begin(), it->second.end());
}

class VolumeController final : public Controller {
 public:
  VolumeController(Service& service, VolumeControllerOptions options)
      : registry_(service.registry()),
        store_(service.store()),
        clock_(service.clock()),
        options_(std::move(options)) {}

  void Step() override;
  std::optional<TimePoint> NextDue() const override;

 private:
  void Read();
  void Rebuild();
  void ReadVolume(const StoredObject& object);
  void ForgetVolume(const std::string& name);
  void ReadClaim(const StoredObject& object);
  void ForgetClaim(const std::string& key);
  void ReadClass(const StoredObject& object);
  void ReadPod(const Change& change);

  bool DoOne();
  void RetryClass(const std::string& storage_class);
  void SyncVolume(const Volume& volume);
  void Reclaim(const Volume& volume);
  void SyncClaim(KnownClaim& known);
  void SyncBoundClaim(KnownClaim& known);
  void SyncClaimOfVolume(KnownClaim& known);
  void SyncFreeClaim(KnownClaim& known);
  void WaitForVolume(KnownClaim& known, const Json& storage_class);
  bool TakeDefaultClass(const Claim& claim);
  const Volume* Match(const Claim& claim, bool delayed) const;
  void Bind(const Volume& volume, KnownClaim& known);
  void Provision(const std::string& key);
  Result<volumes::Topology> TopologyFor(const Claim& claim, const Json& storage_class) const;

  void SetPhase(const Claim& claim, std::string_view phase);
  void SetPhase(const Volume& volume, std::string_view phase);
  void Say(KnownClaim& known, std::string_view type, std::string_view reason,
           const std::string& message);
  Json FindClass(const std::string& name) const {
    const ObjectPtr found = name.empty() ? nullptr : store_.Find(class_kind_, "", name);
    return found == nullptr ? Json() : found->Parse();
  }
  static std::string Key(const Claim& claim) { return claim.ns + "/" + claim.name; }

  const KindInfo& volume_kind_ = *FindResource("", "v1", "persistentvolumes");
  const KindInfo& claim_kind_ = *FindResource("", "v1", "persistentvolumeclaims");
  const KindInfo& class_kind_ = *FindResource("storage.k8s.io", "v1", "storageclasses");
  const KindInfo& node_kind_ = *FindResource("", "v1", "nodes");
  const KindInfo& pod_kind_ = *FindResource("", "v1", "pods");

  Registry& registry_;
  Store& store_;
  const Clock& clock_;
  const VolumeControllerOptions options_;
  LogCursor volume_log_{store_, volume_kind_};
  LogCursor claim_log_{store_, claim_kind_};
  LogCursor class_log_{store_, class_kind_};
  LogCursor pod_log_{store_, pod_kind_};

  std::map<std::string, Volume> volumes_;
  std::map<std::string, KnownClaim> claims_;              // by "ns/name"
  std::map<std::string, FreeVolumes> free_;               // by class
  Index reserved_;                                        // claim -> volumes with its claimRef
  Index asking_;                                          // volume -> claims that name it
  Index waiting_;                                         // class -> claims without a volume
  std::map<std::string, std::vector<std::string>> pods_;  // pod that runs -> its claims
  Index users_;                                           // claim -> such pods
  // What is to be looked at. A class: its waiting claims may find a volume now.
  std::set<std::string> dirty_volumes_;
  std::set<std::string> dirty_claims_;
  std::set<std::string> dirty_classes_;
  std::set<std::pair<TimePoint, std::string>> provision_due_;
};

void VolumeController::Step() {
  Read();
  for (size_t done = 0; done < kWorkPerStep && DoOne(); ++done) Read();
}

std::optional<TimePoint> VolumeController::NextDue() const {
  const bool unread =
      volume_log_.Unread() || claim_log_.Unread() || class_log_.Unread() || pod_log_.Unread();
  if (unread || !dirty_volumes_.empty() || !dirty_claims_.empty() || !dirty_classes_.empty()) {
    return clock_.Now();
  }
  if (provision_due_.empty()) return std::nullopt;
  return provision_due_.begin()->first;
}

void VolumeController::Read() {
  if (volume_log_.Lost() || claim_log_.Lost() || class_log_.Lost() || pod_log_.Lost()) {
    return Rebuild();
  }
  while (const Change* change = class_log_.Next()) ReadClass(*change->object);
  while (const Change* change = volume_log_.Next()) {
    if (change->type == Change::Type::kDeleted) {
      ForgetVolume(change->object->name);
    } else {
      ReadVolume(*change->object);
    }
  }
  while (const Change* change = claim_log_.Next()) {
    if (change->type == Change::Type::kDeleted) {
      ForgetClaim(change->object->ns + "/" + change->object->name);
    } else {
      ReadClaim(*change->object);
    }
  }
  while (const Change* change = pod_log_.Next()) ReadPod(*change);
}

void VolumeController::Rebuild() {
  for (LogCursor* log : {&volume_log_, &claim_log_, &class_log_, &pod_log_}) log->Restart();
  volumes_.clear();
  free_.clear();
  reserved_.clear();
  asking_.clear();
  waiting_.clear();
  pods_.clear();
  users_.clear();
  provision_due_.clear();
  const std::map<std::string, KnownClaim> before = std::exchange(claims_, {});
  for (const auto& [key, object] : store_.objects(volume_kind_)) ReadVolume(*object);
  for (const auto& [key, object] : store_.objects(claim_kind_)) {
    ReadClaim(*object);
    const std::string name = object->ns + "/" + object->name;
    if (const auto it = before.find(name); it != before.end()) claims_[name].said = it->second.said;
  }
  for (const auto& [key, object] : store_.objects(pod_kind_)) {
    ReadPod({.type = Change::Type::kAdded, .version = 0, .object = object, .before = nullptr});
  }
}

void VolumeController::ReadVolume(const StoredObject& object) {
  ForgetVolume(object.name);
  const Volume& volume = volumes_[object.name] = volumes::ReadVolume(object.Parse());
  dirty_volumes_.insert(volume.name);
  MarkDirty(asking_, volume.name, dirty_claims_);
  if (volume.claimed) {
    const std::string claim = volume.claim_ns + "/" + volume.claim_name;
    reserved_[claim].insert(volume.name);
    dirty_claims_.insert(claim);
  } else if (volume.phase == "Available") {
    free_[volume.storage_class][{volume.capacity, volume.name}] = &volume;
    dirty_classes_.insert(volume.storage_class);
  }
}

void VolumeController::ForgetVolume(const std::string& name) {
  const auto it = volumes_.find(name);
  if (it == volumes_.end()) return;
  const Volume& volume = it->second;
  MarkDirty(asking_, name, dirty_claims_);
  if (volume.claimed) {
    const std::string claim = volume.claim_ns + "/" + volume.claim_name;
    Erase(reserved_, claim, name);
    dirty_claims_.insert(claim);
  } else {
    free_[volume.storage_class].erase({volume.capacity, name});
  }
  volumes_.erase(it);
}

void VolumeController::ReadClaim(const StoredObject& object) {
  const std::string key = object.ns + "/" + object.name;
  const auto before = claims_.find(key);
  if (before != claims_.end() && before->second.claim.uid != object.uid) ForgetClaim(key);
  KnownClaim& known = claims_[key];
  Erase(waiting_, known.claim.storage_class, key);
  Erase(asking_, known.claim.volume, key);
  known.claim = volumes::ReadClaim(object.Parse());
  if (!known.claim.volume.empty()) {
    asking_[known.claim.volume].insert(key);
  } else if (!known.claim.bind_completed) {
    waiting_[known.claim.storage_class].insert(key);
  }
  dirty_claims_.insert(key);
  MarkDirty(reserved_, key, dirty_volumes_);
}

void VolumeController::ForgetClaim(const std::string& key) {
  const auto it = claims_.find(key);
  if (it == claims_.end()) return;
  Erase(waiting_, it->second.claim.storage_class, key);
  Erase(asking_, it->second.claim.volume, key);
  claims_.erase(it);
  std::erase_if(provision_due_, [&](const auto& due) { return due.second == key; });
  MarkDirty(reserved_, key, dirty_volumes_);
}

// A class that changed may serve claims of its own and, as the default, those without a class.
void VolumeController::ReadClass(const StoredObject& object) {
  MarkDirty(waiting_, object.name, dirty_claims_);
  MarkDirty(waiting_, "", dirty_claims_);
}

// Pods that a node has got and that have not ended use their claims.
void VolumeController::ReadPod(const Change& change) {
  const StoredObject& pod = *change.object;
  const std::string key = pod.ns + "/" + pod.name;
  const bool has_claims = pod.text.find(R"("persistentVolumeClaim":{)") != std::string::npos ||
                          pod.text.find(R"("ephemeral":{)") != std::string::npos;
  const auto before = pods_.find(key);
  if (!has_claims && before == pods_.end()) return;
  if (before != pods_.end()) {
    for (const std::string& claim : before->second) {
      Erase(users_, claim, key);
      dirty_claims_.insert(claim);
    }
    pods_.erase(before);
  }
  if (change.type == Change::Type::kDeleted || !has_claims) return;
  const Json json = pod.Parse();
  const Json* node = Find(json, "spec", "nodeName");
  const Json* phase = Find(json, "status", "phase");
  const bool ended = phase != nullptr && (*phase == "Succeeded" || *phase == "Failed");
  if (node == nullptr || *node == "" || ended) return;
  pods_[key] = volumes::ClaimsOfPod(json);
  for (const std::string& claim : pods_[key]) users_[claim].insert(key);
}

// Volumes first: what is free decides about claims.
bool VolumeController::DoOne() {
  if (!dirty_volumes_.empty()) {
    const auto it = volumes_.find(dirty_volumes_.extract(dirty_volumes_.begin()).value());
    if (it != volumes_.end()) SyncVolume(it->second);
    return true;
  }
  if (!dirty_claims_.empty()) {
    const auto it = claims_.find(dirty_claims_.extract(dirty_claims_.begin()).value());
    if (it != claims_.end()) SyncClaim(it->second);
    return true;
  }
  if (!dirty_classes_.empty()) {
    RetryClass(dirty_classes_.extract(dirty_classes_.begin()).value());
    return true;
  }
  if (provision_due_.empty() || provision_due_.begin()->first > clock_.Now()) return false;
  Provision(provision_due_.extract(provision_due_.begin()).value().second);
  return true;
}

// A new free volume serves the first waiting claim that it fits; binding it frees no other, so one
// claim per volume is looked at again.
void VolumeController::RetryClass(const std::string& storage_class) {
  const auto waiting = waiting_.find(storage_class);
  const auto free = free_.find(storage_class);
  if (waiting == waiting_.end() || free == free_.end() || free->second.empty()) return;
  const api::Quantity& largest = free->second.rbegin()->first.first;
  size_t found = 0;
  for (const std::string& key : waiting->second) {
    if (found == free->second.size()) return;
    const Claim& claim = claims_.at(key).claim;
    if (claim.request > largest || Match(claim, false) == nullptr) continue;
    dirty_claims_.insert(key);
    ++found;
  }
}

void VolumeController::SyncVolume(const Volume& volume) {
  if (volume.terminating && volume.is_protected && volume.phase != "Bound") {
    return registry_.OverwriteIfThere(volume_kind_, "", volume.name, [](Json& json) {
      volumes::RemoveFinalizer(json, volumes::kVolumeProtection);
    });
  }
  if (!volume.claimed || volume.claim_uid.empty()) return SetPhase(volume, "Available");
  const auto it = claims_.find(volume.claim_ns + "/" + volume.claim_name);
  if (it == claims_.end() || it->second.claim.uid != volume.claim_uid) {
    if (volume.phase != "Released" && volume.phase != "Failed") {
      return SetPhase(volume, "Released");
    }
    return Reclaim(volume);
  }
  const Claim& claim = it->second.claim;
  if (claim.volume.empty()) return;  // its claim binds it
  if (claim.volume == volume.name) return SetPhase(volume, "Bound");
  // The claim has got another volume.
  if (!volume.provisioned_by.empty() && volume.reclaim_policy == "Delete") {
    if (volume.phase != "Released" && volume.phase != "Failed") {
      return SetPhase(volume, "Released");
    }
    return Reclaim(volume);
  }
  registry_.OverwriteIfThere(volume_kind_, "", volume.name, volumes::UnbindVolume);
}

// Only what this driver made or serves can be deleted; the rest waits for its own driver.
void VolumeController::Reclaim(const Volume& volume) {
  const bool ours = volume.csi_driver == options_.driver;
  if (!ours || volume.reclaim_policy != "Delete" || volume.terminating) return;
  [[maybe_unused]] const auto deleted =
      registry_.Delete(volume_kind_, "", volume.name, {.uid = volume.uid});
}

void VolumeController::SyncClaim(KnownClaim& known) {
  const Claim& claim = known.claim;
  if (claim.terminating) {
    if (!claim.is_protected || users_.contains(Key(claim))) return;
    return registry_.OverwriteIfThere(claim_kind_, claim.ns, claim.name, [](Json& json) {
      volumes::RemoveFinalizer(json, volumes::kClaimProtection);
    });
  }
  if (claim.bind_completed) return SyncBoundClaim(known);
  if (!claim.volume.empty()) return SyncClaimOfVolume(known);
  SyncFreeClaim(known);
}

void VolumeController::SyncBoundClaim(KnownClaim& known) {
  const Claim& claim = known.claim;
  const auto it = volumes_.find(claim.volume);
  std::string lost;
  std::string_view reason = "ClaimLost";
  if (claim.volume.empty()) {
    lost = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!";
  } else if (it == volumes_.end()) {
    lost = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
  } else if (it->second.claimed && it->second.claim_uid != claim.uid) {
    reason = "ClaimMisbound";
    lost = "Two claims are bound to the same volume, this one is bound incorrectly";
  }
  if (lost.empty()) return Bind(it->second, known);
  if (claim.phase == "Lost") return;
  Say(known, "Warning", reason, lost);
  SetPhase(claim, "Lost");
}

// The claim asks for a volume by name.
void VolumeController::SyncClaimOfVolume(KnownClaim& known) {
  const Claim& claim = known.claim;
  const auto it = volumes_.find(claim.volume);
  if (it == volumes_.end()) return SetPhase(claim, "Pending");
  const Volume& volume = it->second;
  if (volumes::ReservedFor(volume, claim)) return Bind(volume, known);
  if (volume.claimed) {
    Say(known, "Warning", "FailedBinding",
        "volume \"" + volume.name + "\" already bound to a different claim.");
    return SetPhase(claim, "Pending");
  }
  const std::string mismatch = volumes::Mismatch(volume, claim);
  if (mismatch.empty()) return Bind(volume, known);
  Say(known, "Warning", "VolumeMismatch",
      "Cannot bind to requested volume \"" + volume.name + "\": " + mismatch);
  SetPhase(claim, "Pending");
}

void VolumeController::SyncFreeClaim(KnownClaim& known) {
  const Claim& claim = known.claim;
  const Json storage_class = FindClass(claim.storage_class);
  const bool delayed = Text(storage_class, "volumeBindingMode") == "WaitForFirstConsumer";
  if (const Volume* volume = Match(claim, delayed)) return Bind(*volume, known);
  if (!claim.says_class && TakeDefaultClass(claim)) return;
  WaitForVolume(known, storage_class);
  SetPhase(claim, "Pending");
}

// No volume fits: provisions one, or says why none comes.
void VolumeController::WaitForVolume(KnownClaim& known, const Json& storage_class) {
  const Claim& claim = known.claim;
  if (claim.storage_class.empty()) {
    return Say(known, "Normal", "FailedBinding",
               "no persistent volumes available for this claim and no storage class is set");
  }
  if (storage_class.is_null()) {
    return Say(known, "Warning", "ProvisioningFailed",
               "storageclass.storage.k8s.io \"" + claim.storage_class + "\" not found");
  }
  const bool delayed = Text(storage_class, "volumeBindingMode") == "WaitForFirstConsumer";
  if (delayed && claim.selected_node.empty()) {
    return Say(known, "Normal", "WaitForFirstConsumer",
               "waiting for first consumer to be created before binding");
  }
  const std::string provisioner = Text(storage_class, "provisioner");
  if (provisioner.starts_with("kubernetes.io/")) {
    return Say(known, "Warning", "ProvisioningFailed",
               "no volume plugin matched name: " + provisioner);
  }
  const std::string key = Key(claim);
  if (provisioner == options_.driver && !known.provisioning) {
    known.provisioning = true;
    provision_due_.emplace(clock_.Now() + options_.provision_delay, key);
  }
  Say(known, "Normal", "ExternalProvisioning",
      "Waiting for a volume to be created either by the external provisioner '" + provisioner +
          "' or manually by the system administrator. If volume creation is delayed, please "
          "verify that the provisioner is running and correctly registered.");
  if (claim.provisioner_noted) return;
  registry_.OverwriteIfThere(claim_kind_, claim.ns, claim.name,
                             [&](Json& json) { volumes::NoteProvisioner(json, provisioner); });
}

// The newest default class is taken, and the first by name of equally old ones.
bool VolumeController::TakeDefaultClass(const Claim& claim) {
  std::string best;
  std::string best_time;
  for (const auto& [key, object] : store_.objects(class_kind_)) {
    if (object->text.find("is-default-class") == std::string::npos) continue;
    const Json json = object->Parse();
    const Json* annotations = Find(json, "metadata", "annotations");
    if (annotations == nullptr ||
        Text(*annotations, "storageclass.kubernetes.io/is-default-class") != "true") {
      continue;
    }
    const std::string time = Text(json["metadata"], "creationTimestamp");
    if (!best.empty() && time <= best_time) continue;
    best = object->name;
    best_time = time;
  }
  if (best.empty()) return false;
  registry_.OverwriteIfThere(claim_kind_, claim.ns, claim.name,
                             [&](Json& json) { json["spec"]["storageClassName"] = best; });
  return true;
}

// A volume reserved for the claim decides, as in the scheduler. Else the smallest free one, of
// those with the fewest access modes (kube-controller-manager prefers them to smaller ones).
const Volume* VolumeController::Match(const Claim& claim, bool delayed) const {
  const Volume* best = nullptr;
  if (const auto it = reserved_.find(Key(claim)); it != reserved_.end()) {
    for (const std::string& name : it->second) {
      const Volume& volume = volumes_.at(name);
      if (!volumes::ReservedFor(volume, claim) || !volumes::FitsReserved(volume, claim)) continue;
      if (best == nullptr || volume.capacity < best->capacity) best = &volume;
    }
  }
  if (best != nullptr || delayed) return best;
  const auto free = free_.find(claim.storage_class);
  if (free == free_.end()) return nullptr;
  for (auto it = free->second.lower_bound({claim.request, ""}); it != free->second.end(); ++it) {
    const Volume& volume = *it->second;
    if (!volumes::FitsFreely(volume, claim)) continue;
    if (best == nullptr || volume.access_modes.size() < best->access_modes.size()) best = &volume;
    if (best->access_modes.size() <= claim.access_modes.size()) break;
  }
  return best;
}

void VolumeController::Bind(const Volume& volume, KnownClaim& known) {
  // The records change when the log is read, which Writes do not do.
  const Claim& claim = known.claim;
  const ObjectPtr claim_object = store_.Find(claim_kind_, claim.ns, claim.name);
  const ObjectPtr volume_object = store_.Find(volume_kind_, "", volume.name);
  if (claim_object == nullptr || volume_object == nullptr) return;
  Json claim_json = claim_object->Parse();
  Json volume_json = volume_object->Parse();
  if (volumes::BindVolume(volume_json, claim_json, registry_.Now())) {
    registry_.OverwriteIfThere(volume_kind_, "", volume.name,
                               [&](Json& json) { json = volume_json; });
  }
  if (volumes::BindClaim(claim_json, volume_json)) {
    registry_.OverwriteIfThere(claim_kind_, claim.ns, claim.name,
                               [&](Json& json) { json = std::move(claim_json); });
  }
}

void VolumeController::Provision(const std::string& key) {
  const auto it = claims_.find(key);
  if (it == claims_.end()) return;
  KnownClaim& known = it->second;
  known.provisioning = false;
  const Claim& claim = known.claim;
  if (claim.terminating || claim.bind_completed || !claim.volume.empty()) return;
  const Json storage_class = FindClass(claim.storage_class);
  const bool delayed = Text(storage_class, "volumeBindingMode") == "WaitForFirstConsumer";
  if (Text(storage_class, "provisioner") != options_.driver) return;
  if (Match(claim, delayed) != nullptr || (delayed && claim.selected_node.empty())) return;
  const ObjectPtr object = store_.Find(claim_kind_, claim.ns, claim.name);
  const Result<volumes::Topology> topology = TopologyFor(claim, storage_class);
  if (!topology.ok()) {
    known.said.clear();
    Say(known, "Warning", "ProvisioningFailed",
        "failed to provision volume with StorageClass \"" + claim.storage_class +
            "\": " + topology.error().message);
    // As external-provisioner: the scheduler may choose another node.
    return registry_.OverwriteIfThere(claim_kind_, claim.ns, claim.name, [](Json& json) {
      json["metadata"]["annotations"].erase(std::string(volumes::kSelectedNode));
    });
  }
  Json volume =
      volumes::ProvisionedVolume(object->Parse(), storage_class, options_.driver, *topology);
  const std::string name = Text(volume["metadata"], "name");
  const auto created = registry_.Create(volume_kind_, "", std::move(volume));
  if (created.ok()) {
    return Say(known, "Normal", "ProvisioningSucceeded", "Successfully provisioned volume " + name);
  }
  if (created.failure().reason == "AlreadyExists") return;
  Say(known, "Warning", "ProvisioningFailed",
      "failed to provision volume with StorageClass \"" + claim.storage_class +
          "\": " + created.failure().message);
}

Result<volumes::Topology> VolumeController::TopologyFor(const Claim& claim,
                                                        const Json& storage_class) const {
  if (!claim.selected_node.empty()) {
    const ObjectPtr node = store_.Find(node_kind_, "", claim.selected_node);
    if (node == nullptr) {
      return Error{"error getting target node: node \"" + claim.selected_node + "\" not found"};
    }
    return volumes::TopologyOfNode(*node, storage_class, options_.topology_key);
  }
  std::set<std::string> values;
  for (const auto& [key, node] : store_.objects(node_kind_)) {
    for (const auto& [label, value] : node->labels) {
      if (label == options_.topology_key) values.insert(value);
    }
  }
  return volumes::AnyTopology(claim, storage_class, options_.topology_key, values);
}

void VolumeController::SetPhase(const Claim& claim, std::string_view phase) {
  if (claim.phase == phase) return;
  registry_.OverwriteIfThere(claim_kind_, claim.ns, claim.name, [&](Json& json) {
    json["status"]["phase"] = phase;
    if (phase == "Bound") return;
    json["status"].erase("capacity");
    json["status"].erase("accessModes");
  });
}

void VolumeController::SetPhase(const Volume& volume, std::string_view phase) {
  if (volume.phase == phase) return;
  registry_.OverwriteIfThere(volume_kind_, "", volume.name, [&](Json& json) {
    volumes::SetVolumePhase(json, phase, registry_.Now());
  });
}

void VolumeController::Say(KnownClaim& known, std::string_view type, std::string_view reason,
                           const std::string& message) {
  const std::string said = std::string(reason) + ": " + message;
  if (known.said == said) return;
  known.said = said;
  const ObjectPtr object = store_.Find(claim_kind_, known.claim.ns, known.claim.name);
  if (object == nullptr) return;
  const bool driver = reason == "ProvisioningSucceeded";
  RecordEvent(registry_, *object,
              {.component = driver ? options_.driver : std::string(kComponent),
               .type = std::string(type),
               .reason = std::string(reason),
               .message = message});
}

}  // namespace

std::unique_ptr<Controller> NewVolumeController(Service& service, VolumeControllerOptions options) {
  return std::make_unique<VolumeController>(service, std::move(options));
}

}  // namespace ks::apiserver
