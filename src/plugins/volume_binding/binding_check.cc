// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/binding_check.h"

#include <utility>

#include "plugins/volume_binding/volume_affinity.h"

namespace ks::plugins {
namespace {

using framework::OptionalKind;

// Whether what was written is not what is known. Versions that cannot be compared say nothing.
bool IsAhead(const api::ObjectMeta& written, const api::ObjectMeta& known) {
  const auto order = api::CompareResourceVersions(written.resource_version, known.resource_version);
  return order.ok() && *order == std::strong_ordering::greater;
}

std::string NotFound(std::string_view plural, const std::string& key) {
  return std::string(plural) + " \"" + key + "\" not found";
}

}  // namespace

BindingCheck::BindingCheck(framework::Handle& handle,
                           std::shared_ptr<const Reservation> reservation, api::PodPtr pod)
    : handle_(handle),
      reservation_(std::move(reservation)),
      pod_(std::move(pod)),
      pod_key_(pod_->meta.Key()) {}

std::optional<std::string> BindingCheck::Ask() {
  awaited_volume_.clear();
  const std::string& node_name = reservation_->node_name();
  const api::NodePtr node = handle_.nodes().FindNode(node_name);
  if (node == nullptr) {
    return "failed to get node \"" + node_name + "\": node \"" + node_name + "\" not found";
  }
  if (handle_.pods().FindPod(pod_key_) == nullptr) {
    return "pod does not exist any more: pod \"" + pod_->meta.name + "\" not found";
  }
  for (const StaticBinding& binding : reservation_->bindings()) {
    std::optional<std::string> verdict = AskBinding(binding, *node);
    if (!verdict || !verdict->empty()) return verdict;
  }
  for (const api::PersistentVolumeClaimPtr& claim : reservation_->provisions()) {
    std::optional<std::string> verdict = AskClaim(*claim, *node);
    if (!verdict || !verdict->empty()) return verdict;
  }
  return "";
}

std::optional<std::string> BindingCheck::AskBinding(const StaticBinding& binding,
                                                    const api::Node& node) const {
  const framework::StorageState& storage = handle_.storage();
  const std::string& name = binding.volume->meta.name;
  const api::PersistentVolumePtr volume = storage.FindVolume(name);
  if (volume == nullptr) {
    return "failed to check binding: " + NotFound("persistentvolumes", name);
  }
  const std::string claim_key = binding.claim->meta.Key();
  const api::PersistentVolumeClaimPtr claim = storage.FindClaim(claim_key);
  if (claim == nullptr) {
    return "failed to check binding: " + NotFound("persistentvolumeclaims", claim_key);
  }
  if (IsAhead(binding.volume->meta, volume->meta)) return std::nullopt;
  std::string misplaced = Misplaced(*volume, node, "failed to translate pv to csi: ");
  if (!misplaced.empty()) return misplaced;
  if (!volume->claim_ref || volume->claim_ref->uid.empty()) {
    return "ClaimRef got reset for pv \"" + name + '"';
  }
  if (!claim->FullyBound()) return std::nullopt;
  return "";
}

std::optional<std::string> BindingCheck::AskClaim(const api::PersistentVolumeClaim& written,
                                                  const api::Node& node) {
  const framework::StorageState& storage = handle_.storage();
  const std::string key = written.meta.Key();
  const api::PersistentVolumeClaimPtr claim = storage.FindClaim(key);
  if (claim == nullptr) {
    return "failed to check provisioning pvc: " + NotFound("persistentvolumeclaims", key);
  }
  if (IsAhead(written.meta, claim->meta)) return std::nullopt;
  if (!claim->has_annotations) {
    return "selectedNode annotation reset for PVC \"" + claim->meta.name + '"';
  }
  if (claim->selected_node != reservation_->node_name()) {
    return "provisioning failed for PVC \"" + claim->meta.name + '"';
  }
  if (!claim->volume_name.empty()) {
    const api::PersistentVolumePtr volume = storage.FindVolume(claim->volume_name);
    if (volume == nullptr) {
      awaited_volume_ = claim->volume_name;
      return std::nullopt;
    }
    std::string misplaced = Misplaced(*volume, node, "");
    if (!misplaced.empty()) return misplaced;
  }
  if (!claim->FullyBound()) return std::nullopt;
  return "";
}

std::string BindingCheck::Misplaced(const api::PersistentVolume& volume, const api::Node& node,
                                    std::string_view translation_prefix) const {
  const std::optional<MigratedAffinity> migrated = MigratedAffinity::Of(volume);
  const Result<const api::NodeSelector*> affinity =
      AffinityOn(volume, migrated, handle_.storage(), node.meta.name);
  if (!affinity.ok()) return std::string(translation_prefix) + affinity.error().message;
  if (*affinity == nullptr || (*affinity)->Matches(node.meta.labels, {})) return {};
  const std::string errors = (*affinity)->ErrorText();
  return "pv \"" + volume.meta.name + "\" node affinity doesn't match node \"" + node.meta.name +
         "\": " + (errors.empty() ? "no matching NodeSelectorTerms" : errors);
}

std::vector<framework::ObjectChange> BindingCheck::Objects() const {
  std::vector<framework::ObjectChange> objects;
  const auto add_claim = [&objects](const api::PersistentVolumeClaim& claim) {
    objects.push_back({OptionalKind::kPersistentVolumeClaim, claim.meta.Key()});
  };
  for (const StaticBinding& binding : reservation_->bindings()) {
    objects.push_back({OptionalKind::kPersistentVolume, binding.volume->meta.name});
    add_claim(*binding.claim);
  }
  for (const auto& claim : reservation_->provisions()) add_claim(*claim);
  if (!awaited_volume_.empty()) {
    objects.push_back({OptionalKind::kPersistentVolume, awaited_volume_});
  }
  objects.push_back({OptionalKind::kCsiNode, reservation_->node_name()});
  return objects;
}

}  // namespace ks::plugins
