// SPDX-License-Identifier: Apache-2.0
#include "sim/volume_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/process.h"

namespace ks::sim {
namespace {

using apiserver::Change;

bool IsForOnePod(const api::PersistentVolumeClaim& claim) {
  return std::any_of(claim.access_modes.begin(), claim.access_modes.end(),
                     [](const Symbol& mode) { return mode.view() == "ReadWriteOncePod"; });
}

// Simulated volumes say with In where they are reached from.
bool IsReachedFrom(const api::PersistentVolume& volume, const api::Node& node) {
  if (!volume.node_affinity_spec.has_value()) return true;
  const auto& terms = volume.node_affinity_spec->terms;
  return std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
    const auto& all = term.match_expressions;
    return std::all_of(all.begin(), all.end(), [&](const api::SelectorRequirement& wanted) {
      const Symbol* value = node.meta.labels.Find(Symbol(wanted.key));
      return value != nullptr && std::find(wanted.values.begin(), wanted.values.end(),
                                           value->view()) != wanted.values.end();
    });
  });
}

std::string UidOf(const api::PersistentVolume& volume) {
  return volume.claim_ref.has_value() ? volume.claim_ref->uid : std::string();
}

}  // namespace

std::string ClaimOf(const api::PersistentVolume& volume) {
  return volume.claim_ref->ns + "/" + volume.claim_ref->name;
}

std::set<std::string> ClaimsOf(const api::Pod& pod) {
  std::set<std::string> claims;
  for (const api::Volume& volume : pod.spec->volumes) {
    if (api::MeansClaim(volume)) claims.insert(api::ClaimKey(pod, volume));
  }
  return claims;
}

// ---- the server ----

VolumeWatch::VolumeWatch(ApiModel& api, apiserver::Store& store, const Plan& plan, Fail fail)
    : api_(api), store_(store), plan_(plan), fail_(std::move(fail)) {
  volumes_read_ = store_.NextSequence(*apiserver::FindResource("", "v1", "persistentvolumes"));
  claims_read_ = store_.NextSequence(*apiserver::FindResource("", "v1", "persistentvolumeclaims"));
}

void VolumeWatch::Look() {
  static const apiserver::KindInfo& volumes =
      *apiserver::FindResource("", "v1", "persistentvolumes");
  static const apiserver::KindInfo& claims =
      *apiserver::FindResource("", "v1", "persistentvolumeclaims");
  bool any = false;
  while (const Change* change = store_.At(volumes, volumes_read_)) {
    ++volumes_read_;
    VolumeChanged(*change);
    any = true;
  }
  while (const Change* change = store_.At(claims, claims_read_)) {
    ++claims_read_;
    ClaimChanged(*change);
    any = true;
  }
  if (any) CheckPairs();
}

// A volume goes from one claim to another only by way of nobody's.
void VolumeWatch::VolumeChanged(const Change& change) {
  const std::string& name = change.object->name;
  if (change.type == Change::Type::kDeleted) {
    volumes_.erase(name);
    return;
  }
  const api::PersistentVolumePtr now = Decoded<api::PersistentVolume>(*change.object);
  api::PersistentVolumePtr& known = volumes_[name];
  const std::string uid = UidOf(*now);
  if (known != nullptr && known->meta.uid == now->meta.uid) {
    const std::string before = UidOf(*known);
    if (!before.empty() && !uid.empty() && before != uid) {
      fail_(fmt::format("volume {} of the claim {} is claimed for {}/{}", name,
                        known->claim_ref->name, now->claim_ref->ns, now->claim_ref->name));
    }
  }
  known = now;
  if (!now->claim_ref.has_value()) return;
  wanted_by_[ClaimOf(*now)].insert(name);
}

void VolumeWatch::ClaimChanged(const Change& change) {
  const std::string key = change.object->ns + "/" + change.object->name;
  if (change.type == Change::Type::kDeleted) {
    claims_.erase(key);
    return;
  }
  const api::PersistentVolumeClaimPtr now = Decoded<api::PersistentVolumeClaim>(*change.object);
  claims_[key] = now;
  if (now->FullyBound()) once_bound_.insert(key);
  if (!now->selected_node.has_value()) return;
  if (!announced_.contains({now->meta.uid, *now->selected_node})) {
    fail_(fmt::format("claim {} is pinned to {}, which no scheduler has chosen", key,
                      *now->selected_node));
  }
}

// Volumes and the claims that are bound to them belong together one to one.
void VolumeWatch::CheckPairs() {
  std::map<std::string, std::string> owners;
  for (const auto& [key, claim] : claims_) {
    if (!claim->FullyBound()) continue;
    const auto [other, alone] = owners.emplace(claim->volume_name, key);
    if (!alone) {
      fail_(fmt::format("volume {} is bound to {} and to {}", claim->volume_name, other->second,
                        key));
    }
    const auto volume = volumes_.find(claim->volume_name);
    if (volume == volumes_.end() || UidOf(*volume->second) == claim->meta.uid) continue;
    fail_(fmt::format("claim {} is bound to volume {}, which is claimed for {}", key,
                      claim->volume_name,
                      volume->second->claim_ref ? volume->second->claim_ref->name : "nobody"));
  }
}

void VolumeWatch::DisturbVolume(const std::string& volume) {
  for (const auto& [key, claim] : claims_) {
    if (claim->volume_name == volume) disturbed_.insert(key);
  }
}

void VolumeWatch::PodBound(const api::Pod& pod, const std::string& node) {
  const apiserver::ObjectPtr stored = api_.Find("nodes", "", node);
  const api::NodePtr known = stored == nullptr ? nullptr : Decoded<api::Node>(*stored);
  for (const std::string& key : ClaimsOf(pod)) {
    CheckClaimOf(pod, key, known.get());
    CheckAlone(pod, key);
  }
}

// Two volumes may come to be reserved for one claim: by a scheduler and an administrator, or by one
// scheduler and its successor. Upstream's PreBind sees that the claim is bound, not to which, when
// the other one's release is not seen yet; so the node is not asked about then.
bool VolumeWatch::IsReached(const std::string& key, const api::PersistentVolume& volume,
                            const api::Node* node) const {
  if (node == nullptr || disturbed_.contains(key) || wanted_by_.at(key).size() > 1) return true;
  return IsReachedFrom(volume, *node);
}

// A claim that somebody disturbed may have lost its volume after the scheduler saw it bound.
void VolumeWatch::CheckClaimOf(const api::Pod& pod, const std::string& key, const api::Node* node) {
  const auto claim = claims_.find(key);
  const bool bound = claim != claims_.end() && claim->second->FullyBound();
  if (!bound) {
    if (disturbed_.contains(key) && once_bound_.contains(key)) return;
    fail_(fmt::format("pod {} is on {}, but its claim {} {}", pod.meta.name, pod.node_name.view(),
                      key, claim == claims_.end() ? "does not exist" : "is not bound"));
    return;
  }
  const auto volume = volumes_.find(claim->second->volume_name);
  if (volume == volumes_.end()) {
    if (disturbed_.contains(key)) return;
    fail_(fmt::format("pod {} is on {}, but the volume {} of its claim {} is gone", pod.meta.name,
                      pod.node_name.view(), claim->second->volume_name, key));
  } else if (!IsReached(key, *volume->second, node)) {
    fail_(fmt::format("pod {} is on {}, from where the volume {} of its claim {} is not reached",
                      pod.meta.name, pod.node_name.view(), volume->first, key));
  }
}

// Where the scheduler knows of all its writes (see Plan::strict_capacity), nobody else uses a claim
// of this kind. Elsewhere a binding in doubt may take effect after its room was given to another.
void VolumeWatch::CheckAlone(const api::Pod& pod, const std::string& key) {
  const auto claim = claims_.find(key);
  if (claim == claims_.end() || !IsForOnePod(*claim->second)) return;
  // A pod that ended while its binding was under way is bound still (docs/spec/cache.md 11.4), but
  // uses nothing.
  if (pod.IsTerminal()) return;
  for (const auto& [name, stored] : api_.Objects("pods")) {
    const api::PodPtr other = Decoded<api::Pod>(*stored);
    if (other->meta.uid == pod.meta.uid || other->node_name.empty() || other->IsTerminal())
      continue;
    if (!ClaimsOf(*other).contains(key)) continue;
    ++shared_;
    if (!plan_.strict_capacity || disturbed_.contains(key)) continue;
    fail_(fmt::format("pod {} is on {} with the claim {}, which {} uses alone", pod.meta.name,
                      pod.node_name.view(), key, other->meta.name));
  }
}

void VolumeWatch::Announce(const api::PersistentVolumeClaim& claim) {
  announced_.emplace(claim.meta.uid, claim.selected_node.value_or(""));
}

// Upstream takes back nothing that is written: when PreBind fails after it wrote the annotation, it
// stays (docs/spec/plugins-volume.md 2.11, trap 26), whether or not the pod lives on. What ends it
// is the provisioner, which makes the volume or takes the annotation away. Ours has had its time by
// now, and a claim that nobody provisions was never to be pinned.
std::string VolumeWatch::AtEnd() const {
  for (const auto& [key, claim] : claims_) {
    if (claim->FullyBound() || claim->meta.deletion_timestamp) continue;
    if (!claim->selected_node.has_value()) continue;
    return fmt::format("claim {} stays pinned to {} and unbound", key, *claim->selected_node);
  }
  return {};
}

// ---- a scheduler ----

namespace {

std::string WhyClaimOutOfReach(const std::string& key, const api::Node& node,
                               const framework::StorageState& storage) {
  const api::PersistentVolumeClaimPtr claim = storage.FindClaim(key);
  if (claim == nullptr) return "knows nothing of the claim " + key;
  if (claim->FullyBound()) {
    const api::PersistentVolumePtr volume = storage.FindVolume(claim->volume_name);
    if (volume == nullptr) return "has no volume " + claim->volume_name;
    if (!IsReachedFrom(*volume, node)) return "does not reach the volume " + claim->volume_name;
  }
  return {};
}

// The claim is there.
std::string WhyNotAlone(const api::Pod& pod, const std::string& key,
                        const framework::Snapshot& snapshot,
                        const framework::StorageState& storage) {
  if (!IsForOnePod(*storage.FindClaim(key))) return {};
  for (const framework::NodeInfo* other : snapshot.nodes()) {
    for (const auto& info : other->pods()) {
      if (info->pod().meta.uid == pod.meta.uid || !ClaimsOf(info->pod()).contains(key)) continue;
      return "needs the claim " + key + ", which " + info->pod().meta.name + " uses alone";
    }
  }
  return {};
}

// Why this version of an object of `claim` should not be assumed. `at_server`: the object, null
// when it is gone.
std::string WhyNotAssumed(SchedulerProcess& process, const api::ObjectMeta& version,
                          const std::string& claim, const apiserver::ObjectPtr& at_server) {
  // It was written, and the event that ends the assumption is on its way.
  if (at_server == nullptr ||
      std::to_string(at_server->resource_version) != version.resource_version) {
    return {};
  }
  if (process.recorder().IsClaimReserved(claim)) return {};
  return version.Key() + " is assumed for " + claim + ", and nobody is binding it";
}

}  // namespace

std::string WhyOutOfReach(const api::Pod& pod, const std::string& node,
                          const framework::Snapshot& snapshot,
                          const framework::StorageState& storage, bool is_trial) {
  const framework::NodeInfo* info = snapshot.Find(node);
  if (info == nullptr || info->node() == nullptr) return {};
  for (const std::string& key : ClaimsOf(pod)) {
    std::string why = WhyClaimOutOfReach(key, *info->node(), storage);
    if (why.empty() && !is_trial) why = WhyNotAlone(pod, key, snapshot, storage);
    if (!why.empty()) return why;
  }
  return {};
}

std::string CheckAssumedVolumes(SchedulerProcess& process) {
  const cache::StorageStores& storage = process.scheduler().context().cluster.storage;
  ApiModel& api = process.world().api;
  for (const auto& [name, known] : process.volumes()) {
    const api::PersistentVolumePtr version = storage.CurrentVolume(name);
    if (version == storage.FindVolume(name)) continue;
    const std::string why = WhyNotAssumed(process, version->meta, ClaimOf(*version),
                                          api.Find("persistentvolumes", "", name));
    if (!why.empty()) return "volume " + why;
  }
  for (const auto& [key, known] : process.claims()) {
    const api::PersistentVolumeClaimPtr version = storage.CurrentClaim(key);
    if (version == storage.FindClaim(key)) continue;
    const std::string why = WhyNotAssumed(
        process, version->meta, key,
        api.Find("persistentvolumeclaims", version->meta.ns.str(), version->meta.name));
    if (!why.empty()) return "claim " + why;
  }
  return {};
}

std::string CheckNoVolumeAssumed(SchedulerProcess& process) {
  const cache::StorageStores& storage = process.scheduler().context().cluster.storage;
  for (const auto& [name, volume] : process.volumes()) {
    if (storage.CurrentVolume(name) == storage.FindVolume(name)) continue;
    return "volume " + name + " stays assumed";
  }
  for (const auto& [key, claim] : process.claims()) {
    if (storage.CurrentClaim(key) == storage.FindClaim(key)) continue;
    return "claim " + key + " stays assumed";
  }
  return {};
}

}  // namespace ks::sim
