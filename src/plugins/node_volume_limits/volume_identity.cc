// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_volume_limits/volume_identity.h"

#include <algorithm>
#include <utility>

#include "plugins/kit/volume/claim_volumes.h"
#include "plugins/kit/volume/csi_translation.h"

namespace ks::plugins {
namespace {

using framework::Status;
using framework::StorageState;
using Source = api::Volume::Source;

// Null when the type does not count as migrated.
const InTreePlugin* Migrated(const InTreePlugin* plugin, CsiNodePresence csi_node) {
  const bool migrated =
      plugin != nullptr && plugin->migrated && csi_node == CsiNodePresence::kPresent;
  return migrated ? plugin : nullptr;
}

std::optional<AttachableVolume> IdentifyVolume(const api::PersistentVolume& volume,
                                               CsiNodePresence csi_node) {
  if (volume.source == Source::kCsi) return MakeAttachable(volume.source_id, volume.volume_handle);
  const InTreePlugin* plugin = Migrated(FindInTreePlugin(volume.source), csi_node);
  if (plugin == nullptr) return std::nullopt;
  const Result<std::string> handle = TranslatedHandle(volume);
  return handle.ok() ? MakeAttachable(plugin->driver, handle.value()) : std::nullopt;
}

// A claim that has no volume (yet) counts as a volume of its own, whatever its driver will call it.
// No handle starts like this one; upstream takes random characters.
std::optional<AttachableVolume> IdentifyUnbound(const api::PersistentVolumeClaim& claim,
                                                CsiNodePresence csi_node,
                                                const StorageState& storage) {
  const Symbol class_name = claim.StorageClass();
  if (class_name.empty()) return std::nullopt;
  const api::StorageClassPtr storage_class = storage.FindStorageClass(class_name.view());
  if (storage_class == nullptr) return std::nullopt;
  std::string_view driver = storage_class->provisioner;
  if (const InTreePlugin* in_tree = FindInTreePlugin(driver)) {
    const InTreePlugin* migrated = Migrated(in_tree, csi_node);
    if (migrated == nullptr) return std::nullopt;
    driver = migrated->driver;
  }
  return MakeAttachable(driver, "\x01unbound-" + claim.meta.Key());
}

Status IdentifyInline(const api::Volume& volume, CsiNodePresence csi_node,
                      std::vector<AttachableVolume>* volumes) {
  const InTreePlugin* plugin = Migrated(FindInTreePlugin(volume.source), csi_node);
  if (plugin == nullptr) return {};
  const Result<std::string> handle = TranslatedHandle(volume);
  if (!handle.ok()) return Status::Error(InlineTranslationText(volume, handle.error().message));
  auto identity = MakeAttachable(plugin->driver, handle.value());
  if (identity) volumes->push_back(*std::move(identity));
  return {};
}

Status MissingClaim(const api::Pod& pod, const api::Volume& volume) {
  return {framework::Code::kUnschedulableAndUnresolvable,
          {"looking up PVC " + api::ClaimKey(pod, volume) + ": " +
           ClaimNotFoundText(api::ClaimName(pod, volume))}};
}

// `if_missing(volume)` is the status of a volume whose claim is missing.
template <class IfMissing>
Status Identify(const api::Pod& pod, CsiNodePresence csi_node, const StorageState& storage,
                IfMissing if_missing, std::vector<AttachableVolume>* volumes) {
  for (const api::Volume& volume : pod.spec->volumes) {
    if (!api::MeansClaim(volume)) {
      Status status = IdentifyInline(volume, csi_node, volumes);
      if (!status.ok()) return status;
      continue;
    }
    const bool ephemeral = volume.source == Source::kEphemeral;
    if (!ephemeral && volume.id.empty()) {
      return Status::Error("PersistentVolumeClaim had no name");
    }
    const api::PersistentVolumeClaimPtr claim = storage.FindClaim(api::ClaimKey(pod, volume));
    if (claim == nullptr) {
      Status status = if_missing(volume);
      if (!status.ok()) return status;
      continue;
    }
    if (ephemeral && !api::IsMadeFor(*claim, pod)) {
      return Status::Error(api::NotOwnerText(*claim, pod));
    }
    auto identity = IdentifyClaim(*claim, csi_node, storage);
    if (identity) volumes->push_back(*std::move(identity));
  }
  return {};
}

}  // namespace

std::optional<AttachableVolume> MakeAttachable(std::string_view driver, std::string_view handle) {
  if (driver.empty() || handle.empty()) return std::nullopt;
  return AttachableVolume{Symbol(driver), std::string(driver) + '/' + std::string(handle)};
}

std::optional<AttachableVolume> IdentifyClaim(const api::PersistentVolumeClaim& claim,
                                              CsiNodePresence csi_node,
                                              const StorageState& storage) {
  if (!claim.volume_name.empty()) {
    const api::PersistentVolumePtr volume = storage.FindVolume(claim.volume_name);
    if (volume != nullptr) return IdentifyVolume(*volume, csi_node);
  }
  return IdentifyUnbound(claim, csi_node, storage);
}

bool MayAttach(const api::Pod& pod) {
  return std::any_of(pod.spec->volumes.begin(), pod.spec->volumes.end(),
                     [](const api::Volume& volume) {
                       return api::MeansClaim(volume) || api::IsMigratable(volume.source);
                     });
}

Status IdentifyVolumes(const api::Pod& pod, CsiNodePresence csi_node, const StorageState& storage,
                       std::vector<AttachableVolume>* volumes) {
  return Identify(
      pod, csi_node, storage, [&](const api::Volume& volume) { return MissingClaim(pod, volume); },
      volumes);
}

Status IdentifyAttached(const api::Pod& pod, const StorageState& storage,
                        std::vector<AttachableVolume>* volumes) {
  return Identify(
      pod, CsiNodePresence::kPresent, storage, [](const api::Volume&) { return Status(); },
      volumes);
}

std::string InlineTranslationText(const api::Volume& volume, const std::string& error) {
  return "converting volume(" + volume.name + ") from inline to csi: " + error;
}

}  // namespace ks::plugins
