// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/registry_meta.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "api/selector.h"
#include "apiserver/store/json_fields.h"
#include "golang/quote.h"

namespace ks::apiserver {

void CopyMember(const Json& from, const char* key, Json* to) {
  const auto it = from.find(key);
  if (it == from.end()) {
    to->erase(key);
  } else {
    (*to)[key] = *it;
  }
}

bool HasFinalizers(const Json& metadata) {
  const auto it = metadata.find("finalizers");
  return it != metadata.end() && it->is_array() && !it->empty();
}

namespace {

std::optional<Failure> CheckKind(const KindInfo& kind, const Json& object) {
  const std::string own_kind = Text(object, "kind");
  const std::string own_version = Text(object, "apiVersion");
  const bool right_kind = own_kind.empty() || own_kind == kind.kind;
  const bool right_version = own_version.empty() || own_version == kind.api_version();
  if (right_kind && right_version) return {};
  const std::string sent_kind = own_kind.empty() ? kind.kind : own_kind;
  const std::string sent_version = own_version.empty() ? kind.api_version() : own_version;
  const std::string short_version = sent_version.substr(sent_version.rfind('/') + 1);
  std::string message = sent_kind + " in version \"" + short_version +
                        "\" cannot be handled as a " + kind.kind + ": ";
  const KindInfo* known = FindKind(sent_version, sent_kind);
  if (known == nullptr) {
    message += "no kind \"" + sent_kind + "\" is registered for version \"" + sent_version +
               "\" in scheme \"pkg/runtime/scheme.go:111\"";
  } else {
    const auto internal = [](const KindInfo& info) {
      return info.group.empty() ? std::string("core") : info.group.substr(0, info.group.find('.'));
    };
    message += "converting (" + known->version + '.' + known->kind + ") to (" + internal(kind) +
               '.' + kind.kind + "): unknown conversion";
  }
  return BadRequest(std::move(message));
}

// A list of the finalizers of `metadata` that are not in `before`, as Go prints a []string.
std::string NewFinalizers(const Json& before, const Json& metadata) {
  std::string added;
  const auto it = metadata.find("finalizers");
  if (it == metadata.end() || !it->is_array()) return added;
  const auto old = before.find("finalizers");
  for (const Json& finalizer : *it) {
    const bool known = old != before.end() && old->is_array() &&
                       std::find(old->begin(), old->end(), finalizer) != old->end();
    if (known || !finalizer.is_string()) continue;
    added += (added.empty() ? "" : ", ") + golang::Quote(finalizer.get_ref<const std::string&>());
  }
  return added;
}

}  // namespace

std::optional<Failure> CheckForm(const KindInfo& kind, std::string_view ns, Json& object) {
  if (!object.is_object()) {
    return BadRequest("the object provided is unrecognized (must be of type " + kind.kind +
                      "): couldn't get version/kind; it is not a JSON object");
  }
  if (auto failure = CheckKind(kind, object)) return failure;
  Json& metadata = object["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (!metadata.is_object()) {
    return BadRequest(kind.kind + " in version \"" + kind.version + "\" cannot be handled as a " +
                      kind.kind + ": json: cannot unmarshal metadata into Go struct field " +
                      kind.kind + ".metadata of type v1.ObjectMeta");
  }
  const std::string own = Text(metadata, "namespace");
  if (!kind.namespaced) {
    metadata.erase("namespace");
  } else if (own.empty()) {
    metadata["namespace"] = ns;
  } else if (own != ns) {
    return BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  return {};
}

void DropClientMetadata(Json& metadata) {
  for (const char* key : {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
                          "generation", "managedFields", "resourceVersion", "selfLink"}) {
    metadata.erase(key);
  }
}

void KeepSystemMetadata(const Json& before, Json* metadata) {
  for (const char* key : {"uid", "creationTimestamp", "generation", "deletionTimestamp",
                          "deletionGracePeriodSeconds"}) {
    CopyMember(before, key, metadata);
  }
  metadata->erase("managedFields");
  metadata->erase("selfLink");
}

void KeepAllButStatus(const KindInfo& kind, const Json& before, Json* object) {
  Json kept = before;
  CopyMember(*object, "status", &kept);
  const Json& sent = (*object)["metadata"];
  Json& metadata = kept["metadata"];
  // Newer kinds keep all metadata; pods their owners (old kubelets lost them).
  const bool newer = kind.group == "resource.k8s.io" || kind.group == "scheduling.k8s.io" ||
                     kind.kind == "VolumeAttachment";
  for (const char* key : {"labels", "annotations", "finalizers"}) {
    if (!newer) CopyMember(sent, key, &metadata);
  }
  if (!newer && kind.kind != "Pod") CopyMember(sent, "ownerReferences", &metadata);
  // Asked for all the same, and looked at by the caller.
  for (const char* key : {"uid", "deletionTimestamp"}) {
    if (!Text(sent, key).empty()) metadata[key] = Text(sent, key);
  }
  *object = std::move(kept);
}

bool CreatesOnUpdate(const KindInfo& kind) {
  return kind.kind == "Event" || kind.kind == "Lease" || kind.kind == "Service";
}

std::optional<Failure> CheckName(std::string_view name, const Json& metadata) {
  const std::string own = Text(metadata, "name");
  if (own.empty()) {
    return BadRequest("the name of the object (" + std::string(name) +
                      " based on URL) was undeterminable: name must be provided");
  }
  if (own == name) return {};
  return BadRequest("the name of the object (" + own + ") does not match the name on the URL (" +
                    std::string(name) + ")");
}

std::optional<Failure> CheckUid(const KindInfo& kind, const StoredObject& current,
                                const Json& metadata) {
  const std::string uid = Text(metadata, "uid");
  if (uid.empty() || uid == current.uid) return {};
  std::string key = "/registry/" + kind.plural + '/';
  if (kind.namespaced) key += current.ns + '/';
  return Conflict(kind.qualified_plural(), current.name,
                  "StorageError: invalid object, Code: 4, Key: " + key + current.name +
                      ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                      "precondition: " +
                      uid + ", UID in object meta: " + current.uid);
}

namespace {

// Kinds whose updates must say which version they are made from.
bool NeedsVersion(const KindInfo& kind) {
  static constexpr std::array<std::string_view, 6> kKinds{
      "PodDisruptionBudget", "Lease",           "CSINode", "CSIDriver",
      "CSIStorageCapacity",  "VolumeAttachment"};
  return std::find(kKinds.begin(), kKinds.end(), kind.kind) != kKinds.end();
}

Failure VersionMissing(const KindInfo& kind, std::string_view name) {
  KindInfo by_resource;  // this one message names the resource instead of the kind
  by_resource.group = kind.group;
  by_resource.kind = kind.plural;
  return Invalid(by_resource, name,
                 {{"FieldValueInvalid", "Invalid value: 0: must be specified for an update",
                   "metadata.resourceVersion"}});
}

}  // namespace

std::optional<Failure> CheckVersion(const KindInfo& kind, const StoredObject& current,
                                    const Json& metadata) {
  const std::string version = Text(metadata, "resourceVersion");
  if (version.empty() || version == "0") {
    if (NeedsVersion(kind)) return VersionMissing(kind, current.name);
    return {};
  }
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc() || end != version.data() + version.size()) {
    return PlainError("strconv.ParseUint: parsing " + golang::Quote(version) + ": invalid syntax");
  }
  if (number == current.resource_version) return {};
  return Conflict(kind.qualified_plural(), current.name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

std::vector<Cause> CheckMetadataUpdate(const Json& before, const Json& metadata) {
  std::vector<Cause> causes;
  for (const char* key : {"uid", "deletionTimestamp"}) {
    const std::string sent = Text(metadata, key);
    if (sent.empty() || sent == Text(before, key)) continue;
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: " + golang::Quote(sent) + ": field is immutable",
                      std::string("metadata.") + key});
  }
  if (before.contains("deletionTimestamp")) {
    const std::string added = NewFinalizers(before, metadata);
    if (!added.empty()) {
      causes.push_back({"FieldValueForbidden",
                        "Forbidden: no new finalizers can be added if the object is being deleted, "
                        "found new finalizers []string{" +
                            added + "}",
                        "metadata.finalizers"});
    }
  }
  return causes;
}

}  // namespace ks::apiserver
