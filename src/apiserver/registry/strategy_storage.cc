// SPDX-License-Identifier: Apache-2.0
// What objects of the storage kinds must look like.
#include <algorithm>
#include <set>

#include "api/quantity.h"
#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

std::optional<api::Quantity> QuantityOf(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  Result<api::Quantity> parsed = api::Quantity::Parse(value.get_ref<const std::string&>());
  if (!parsed.ok()) return std::nullopt;
  return *parsed;
}

void CheckAccessModes(const Json& spec, std::string_view why_required, Causes& causes) {
  const std::vector<Json>& modes = ElementsOf(At(spec, "accessModes"));
  if (modes.empty()) causes.Required("spec.accessModes", why_required);
  bool once_pod = false;
  for (const Json& mode : modes) {
    if (!mode.is_string()) continue;
    causes.OneOf("spec.accessModes", mode.get<std::string>(),
                 {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"});
    once_pod = once_pod || mode == "ReadWriteOncePod";
  }
  if (once_pod && modes.size() > 1) {
    causes.Forbidden("spec.accessModes", "may not use ReadWriteOncePod with other access modes");
  }
}

void CheckVolumeMode(const Json& spec, Causes& causes) {
  causes.OneOf("spec.volumeMode", TextAt(spec, "volumeMode"), {"Block", "Filesystem"});
}

void CheckClassName(const Json& spec, Causes& causes) {
  const std::string name = TextAt(spec, "storageClassName");
  if (!name.empty()) causes.All("spec.storageClassName", name, SubdomainErrors(name));
}

void CheckVolumeClaim(const Json& object, Causes& causes) {
  const Json& spec = At(object, "spec");
  CheckAccessModes(spec, "at least 1 access mode is required", causes);
  CheckLabelSelector("spec.selector", At(spec, "selector"), causes);
  const Json& storage = At(At(At(spec, "resources"), "requests"), "storage");
  const auto quantity = QuantityOf(storage);
  if (!quantity) {
    causes.Required("spec.resources[storage]");
  } else if (*quantity <= api::Quantity()) {
    causes.Invalid("spec.resources[storage]", storage, "must be greater than zero");
  }
  CheckClassName(spec, causes);
  CheckVolumeMode(spec, causes);
}

// The sources of a volume and their members that must be given.
struct SourceRow {
  std::string_view source;
  std::string_view required[2];
};
constexpr SourceRow kSources[] = {
    {"hostPath", {"path", ""}},
    {"gcePersistentDisk", {"pdName", ""}},
    {"awsElasticBlockStore", {"volumeID", ""}},
    {"glusterfs", {"endpoints", "path"}},
    {"nfs", {"server", "path"}},
    {"rbd", {"image", ""}},
    {"quobyte", {"", ""}},
    {"cephfs", {"", ""}},
    {"iscsi", {"targetPortal", "iqn"}},
    {"cinder", {"volumeID", ""}},
    {"fc", {"", ""}},
    {"flocker", {"", ""}},
    {"azureFile", {"", ""}},
    {"vsphereVolume", {"volumePath", ""}},
    {"photonPersistentDisk", {"", ""}},
    {"azureDisk", {"diskName", "diskURI"}},
    {"portworxVolume", {"volumeID", ""}},
    {"scaleIO", {"", ""}},
    {"local", {"path", ""}},
    {"storageos", {"", ""}},
    {"csi", {"driver", "volumeHandle"}},
    {"flexVolume", {"driver", ""}},
};

void CheckSource(const Json& spec, Causes& causes) {
  int sources = 0;
  for (const SourceRow& row : kSources) {
    const Json& source = At(spec, row.source);
    if (!source.is_object()) continue;
    const std::string field = Path("spec", row.source);
    if (++sources > 1) {
      causes.Forbidden(field, "may not specify more than 1 volume type");
      continue;
    }
    for (const std::string_view key : row.required) {
      if (!key.empty() && TextAt(source, key).empty()) causes.Required(Path(field, key));
    }
  }
  if (sources == 0) causes.Required("spec", "must specify a volume type");
  if (sources == 1 && At(spec, "local").is_object() && !At(spec, "nodeAffinity").is_object()) {
    causes.Required("spec.nodeAffinity", "Local volume requires node affinity");
  }
}

void CheckVolume(const Json& object, Causes& causes) {
  const Json& spec = At(object, "spec");
  CheckAccessModes(spec, "", causes);
  const Json& capacity = At(spec, "capacity");
  if (!capacity.is_object() || capacity.empty()) causes.Required("spec.capacity");
  if (!capacity.is_object() || capacity.size() != 1 || !capacity.contains("storage")) {
    causes.NotSupported("spec.capacity", capacity, {"storage"});
  }
  const Json& storage = At(capacity, "storage");
  const auto quantity = QuantityOf(storage);
  if (quantity && *quantity <= api::Quantity()) {
    causes.Invalid("spec.capacity[storage]", storage, "must be greater than zero");
  }
  causes.OneOf("spec.persistentVolumeReclaimPolicy", TextAt(spec, "persistentVolumeReclaimPolicy"),
               {"Delete", "Recycle", "Retain"});
  CheckNodeSelector("spec.nodeAffinity.required", At(At(spec, "nodeAffinity"), "required"), causes);
  CheckSource(spec, causes);
  CheckClassName(spec, causes);
  CheckVolumeMode(spec, causes);
}

void CheckStorageClass(const Json& object, Causes& causes) {
  const std::string provisioner = TextAt(object, "provisioner");
  if (provisioner.empty()) {
    causes.Required("provisioner");
  } else {
    causes.All("provisioner", provisioner, QualifiedNameErrors(provisioner));
  }
  causes.OneOf("reclaimPolicy", TextAt(object, "reclaimPolicy"), {"Delete", "Retain"});
  causes.OneOf("volumeBindingMode", TextAt(object, "volumeBindingMode"),
               {"Immediate", "WaitForFirstConsumer"});
}

void CheckCsiNode(const Json& object, Causes& causes) {
  std::set<std::string> names;
  const std::vector<Json>& drivers = ElementsOf(At(At(object, "spec"), "drivers"));
  for (size_t i = 0; i < drivers.size(); ++i) {
    const std::string field = Path("spec.drivers", i);
    const std::string name = TextAt(drivers[i], "name");
    if (name.empty()) causes.Required(Path(field, "name"));
    if (TextAt(drivers[i], "nodeID").empty()) causes.Required(Path(field, "nodeID"));
    CheckNotNegative(Path(field, "allocatable"), At(drivers[i], "allocatable"), "count", causes);
    if (!name.empty() && !names.insert(name).second) causes.Duplicate(Path(field, "name"), name);
  }
}

void CheckAttachment(const Json& object, Causes& causes) {
  for (const char* key : {"attacher", "nodeName"}) {
    if (TextAt(At(object, "spec"), key).empty()) causes.Required(Path("spec", key));
  }
}

void CheckCapacity(const Json& object, Causes& causes) {
  const std::string name = TextAt(object, "storageClassName");
  causes.All("storageClassName", name, SubdomainErrors(name));
}

struct Row {
  std::string_view kind;
  void (*check)(const Json& object, Causes& causes);
};
constexpr Row kRows[] = {
    {"CSINode", CheckCsiNode},           {"CSIStorageCapacity", CheckCapacity},
    {"PersistentVolume", CheckVolume},   {"PersistentVolumeClaim", CheckVolumeClaim},
    {"StorageClass", CheckStorageClass}, {"VolumeAttachment", CheckAttachment},
};

}  // namespace

void CheckStorageKind(const KindInfo& kind, const Json& object, Causes& causes) {
  for (const Row& row : kRows) {
    if (row.kind == kind.kind) row.check(object, causes);
  }
}

}  // namespace ks::apiserver
