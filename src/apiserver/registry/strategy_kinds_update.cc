// SPDX-License-Identifier: Apache-2.0
// What may not change.
#include <algorithm>

#include "apiserver/registry/strategy_parts.h"

namespace ks::apiserver {
namespace {

struct FixedRow {
  std::string_view kind;
  std::string_view outer;  // the member that holds the field; empty: the object itself
  std::string_view field;
  bool shown = true;  // upstream names the new value, else null
};
constexpr FixedRow kFixed[] = {
    {"PriorityClass", "", "preemptionPolicy"},
    {"ReplicaSet", "spec", "selector"},
    {"Secret", "", "type"},
    {"StatefulSet", "spec", "serviceName"},
    {"StatefulSet", "spec", "selector"},
    {"StatefulSet", "spec", "podManagementPolicy"},
    {"StorageClass", "", "parameters", false},
    {"StorageClass", "", "provisioner", false},
    {"StorageClass", "", "reclaimPolicy", false},
    {"StorageClass", "", "volumeBindingMode", false},
    {"ResourceClaim", "", "spec", false},
    {"ResourceClaimTemplate", "", "spec", false},
    {"VolumeAttachment", "", "spec", false},
    {"CSIStorageCapacity", "", "storageClassName"},
    {"CSIStorageCapacity", "", "nodeTopology"},
    {"Event", "", "involvedObject"},
    {"Event", "", "reason"},
    {"Event", "", "action"},
    {"Event", "", "type"},
    {"Event", "", "message"},
    {"Event", "", "reportingComponent"},
    {"Event", "", "reportingInstance"},
};

void CheckFixed(const KindInfo& kind, const Json& before, const Json& object, Causes& causes) {
  for (const FixedRow& row : kFixed) {
    if (row.kind != kind.kind) continue;
    const Json& old_outer = row.outer.empty() ? before : At(before, row.outer);
    const Json& outer = row.outer.empty() ? object : At(object, row.outer);
    const Json& value = At(outer, row.field);
    if (At(old_outer, row.field) == value) continue;
    const std::string field =
        row.outer.empty() ? std::string(row.field) : Path(row.outer, row.field);
    causes.Invalid(field, row.shown ? value : Json(), "field is immutable");
  }
}

// A claim's spec is fixed but for what is requested, and the volume's name as long as there is
// none.
void CheckClaimKept(const Json& before, const Json& object, Causes& causes) {
  const Json& old_spec = At(before, "spec");
  const Json& spec = At(object, "spec");
  if (!old_spec.is_object() || !spec.is_object()) return;
  Json allowed = old_spec;
  const bool bound = TextAt(At(object, "status"), "phase") == "Bound";
  for (const char* key : {"resources", "volumeAttributesClassName"}) {
    if (bound && spec.contains(key)) allowed[key] = spec[key];
  }
  const bool unnamed = TextAt(old_spec, "volumeName").empty();
  if (unnamed && spec.contains("volumeName")) allowed["volumeName"] = spec["volumeName"];
  if (At(old_spec, "storageClassName").is_null() && spec.contains("storageClassName")) {
    allowed["storageClassName"] = spec["storageClassName"];
  }
  if (allowed == spec) return;
  causes.Forbidden("spec",
                   "spec is immutable after creation except resources.requests and "
                   "volumeAttributesClassName for bound claims\n");
}

// Everything of a volume's spec that is no source of it.
constexpr std::string_view kVolumeFields[] = {"accessModes",      "capacity",
                                              "claimRef",         "mountOptions",
                                              "nodeAffinity",     "persistentVolumeReclaimPolicy",
                                              "storageClassName", "volumeAttributesClassName",
                                              "volumeMode"};

void CheckVolumeKept(const Json& before, const Json& object, Causes& causes) {
  Json old_source = At(before, "spec");
  Json source = At(object, "spec");
  if (!old_source.is_object() || !source.is_object()) return;
  const bool modes_differ = At(old_source, "volumeMode") != At(source, "volumeMode");
  for (const std::string_view field : kVolumeFields) {
    old_source.erase(std::string(field));
    source.erase(std::string(field));
  }
  if (old_source != source) {
    causes.Forbidden("spec.persistentvolumesource",
                     "spec.persistentvolumesource is immutable after creation\n");
  }
  if (modes_differ) {
    causes.Invalid("spec.volumeMode", At(At(object, "spec"), "volumeMode"), "field is immutable");
  }
}

void CheckNodeKept(const Json& before, const Json& object, Causes& causes) {
  const std::string old_cidr = TextAt(At(before, "spec"), "podCIDR");
  if (!old_cidr.empty() && old_cidr != TextAt(At(object, "spec"), "podCIDR")) {
    causes.Forbidden("spec.podCIDRs",
                     "node updates may not change podCIDR except from \"\" to valid");
  }
  const std::string old_provider = TextAt(At(before, "spec"), "providerID");
  if (!old_provider.empty() && old_provider != TextAt(At(object, "spec"), "providerID")) {
    causes.Forbidden("spec.providerID",
                     "node updates may not change providerID except from \"\" to valid");
  }
}

}  // namespace

void CheckKindUpdate(const KindInfo& kind, const Json& before, const Json& object, Part part,
                     Causes& causes) {
  if (kind.kind == "Pod") CheckPodUpdate(before, object, part, causes);
  if (kind.group == "resource.k8s.io") CheckDeviceKindUpdate(kind, before, object, part, causes);
  if (part == Part::kStatus) return;
  if (kind.kind == "PriorityClass" && At(before, "value") != At(object, "value")) {
    causes.Forbidden("value", "may not be changed in an update.");
  }
  // Events of the old form may change in everything.
  if (kind.kind != "Event" || !TextAt(before, "eventTime").empty()) {
    CheckFixed(kind, before, object, causes);
  }
  if (kind.kind == "Job") CheckJobUpdate(before, object, causes);
  if (kind.kind == "PersistentVolumeClaim") CheckClaimKept(before, object, causes);
  if (kind.kind == "PersistentVolume") CheckVolumeKept(before, object, causes);
  if (kind.kind == "Node") CheckNodeKept(before, object, causes);
}

}  // namespace ks::apiserver
