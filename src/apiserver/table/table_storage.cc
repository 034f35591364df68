// SPDX-License-Identifier: Apache-2.0
// Rows of volumes, claims, classes and drivers.
#include <algorithm>
#include <array>

#include "apiserver/table/table_cells.h"
#include "base/join.h"

namespace ks::apiserver {
namespace {

std::string Name(const Json& object) { return TextAt(object, {"metadata", "name"}); }
std::string Age(const Json& object, TimePoint now) {
  return Since(At(object, {"metadata", "creationTimestamp"}), now);
}

std::string AccessModes(const Json& modes) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kShort = {
      {{"ReadWriteOnce", "RWO"},
       {"ReadOnlyMany", "ROX"},
       {"ReadWriteMany", "RWX"},
       {"ReadWriteOncePod", "RWOP"}}};
  std::vector<std::string> words;
  for (const auto& [mode, text] : kShort) {
    if (modes.is_array() && std::find(modes.begin(), modes.end(), mode) != modes.end()) {
      words.emplace_back(text);
    }
  }
  return Join(words, ",");
}

std::string Phase(const Json& object) {
  if (At(object, {"metadata", "deletionTimestamp"}).is_string()) return "Terminating";
  return TextAt(object, {"status", "phase"});
}

std::string ClassOf(const Json& object) {
  const Json& annotation =
      At(object, {"metadata", "annotations", "volume.beta.kubernetes.io/storage-class"});
  if (annotation.is_string()) return annotation.get<std::string>();
  return TextAt(object, {"spec", "storageClassName"});
}

Json VolumeCells(const Json& object, TimePoint now) {
  const Json& claim = At(object, {"spec", "claimRef"});
  std::string claim_text;
  if (claim.is_object()) claim_text = TextAt(claim, {"namespace"}) + "/" + TextAt(claim, {"name"});
  return Json::array({Name(object), TextAt(object, {"spec", "capacity", "storage"}),
                      AccessModes(At(object, {"spec", "accessModes"})),
                      TextAt(object, {"spec", "persistentVolumeReclaimPolicy"}), Phase(object),
                      claim_text, ClassOf(object),
                      TextAt(object, {"spec", "volumeAttributesClassName"}, "<unset>"),
                      TextAt(object, {"status", "reason"}), Age(object, now),
                      TextAt(object, {"spec", "volumeMode"}, "<unset>")});
}

Json ClaimCells(const Json& object, TimePoint now) {
  const std::string volume = TextAt(object, {"spec", "volumeName"});
  std::string capacity;
  std::string modes;
  if (!volume.empty()) {
    capacity = TextAt(object, {"status", "capacity", "storage"}, "0");
    modes = AccessModes(At(object, {"status", "accessModes"}));
  }
  return Json::array({Name(object), Phase(object), volume, capacity, modes, ClassOf(object),
                      TextAt(object, {"spec", "volumeAttributesClassName"}, "<unset>"),
                      Age(object, now), TextAt(object, {"spec", "volumeMode"}, "<unset>")});
}

bool IsDefaultClass(const Json& object) {
  for (const char* key : {"storageclass.kubernetes.io/is-default-class",
                          "storageclass.beta.kubernetes.io/is-default-class"}) {
    if (TextAt(object, {"metadata", "annotations", key}) == "true") return true;
  }
  return false;
}

Json StorageClassCells(const Json& object, TimePoint now) {
  return Json::array({Name(object) + (IsDefaultClass(object) ? " (default)" : ""),
                      TextAt(object, {"provisioner"}), TextAt(object, {"reclaimPolicy"}, "Delete"),
                      TextAt(object, {"volumeBindingMode"}, "Immediate"),
                      At(object, {"allowVolumeExpansion"}) == true, Age(object, now)});
}

Json CsiNodeCells(const Json& object, TimePoint now) {
  const Json& drivers = At(object, {"spec", "drivers"});
  return Json::array({Name(object), drivers.is_array() ? drivers.size() : 0, Age(object, now)});
}

Json CsiDriverCells(const Json& object, TimePoint now) {
  const auto flag = [&object](const char* key, bool fallback) {
    const Json& found = At(object, {"spec", key});
    return found.is_boolean() ? found.get<bool>() : fallback;
  };
  std::vector<std::string> audiences;
  const Json& requests = At(object, {"spec", "tokenRequests"});
  if (requests.is_array()) {
    for (const Json& request : requests) audiences.push_back(TextAt(request, {"audience"}));
  }
  std::vector<std::string> modes;
  const Json& list = At(object, {"spec", "volumeLifecycleModes"});
  if (list.is_array()) {
    for (const Json& mode : list) modes.push_back(mode.is_string() ? mode : "");
  }
  return Json::array({Name(object), flag("attachRequired", true), flag("podInfoOnMount", false),
                      flag("storageCapacity", false),
                      audiences.empty() ? "<unset>" : Join(audiences, ","),
                      flag("requiresRepublish", false), modes.empty() ? "<none>" : Join(modes, ","),
                      Age(object, now)});
}

Json AttachmentCells(const Json& object, TimePoint now) {
  return Json::array({Name(object), TextAt(object, {"spec", "attacher"}),
                      TextAt(object, {"spec", "source", "persistentVolumeName"}),
                      TextAt(object, {"spec", "nodeName"}),
                      At(object, {"status", "attached"}) == true, Age(object, now)});
}

const Column kName{.name = "Name", .format = "name"};

}  // namespace

const std::vector<Printer>& StoragePrinters() {
  static const auto* printers = new std::vector<Printer>{
      {"",
       "PersistentVolume",
       {kName,
        {"Capacity"},
        {"Access Modes"},
        {"Reclaim Policy"},
        {"Status"},
        {"Claim"},
        {"StorageClass"},
        {"VolumeAttributesClass"},
        {"Reason"},
        {"Age"},
        {"VolumeMode", "string", 1}},
       VolumeCells},
      {"",
       "PersistentVolumeClaim",
       {kName,
        {"Status"},
        {"Volume"},
        {"Capacity"},
        {"Access Modes"},
        {"StorageClass"},
        {"VolumeAttributesClass"},
        {"Age"},
        {"VolumeMode", "string", 1}},
       ClaimCells},
      {"storage.k8s.io",
       "StorageClass",
       {kName,
        {"Provisioner"},
        {"ReclaimPolicy"},
        {"VolumeBindingMode"},
        {"AllowVolumeExpansion"},
        {"Age"}},
       StorageClassCells},
      {"storage.k8s.io", "CSINode", {kName, {"Drivers", "integer"}, {"Age"}}, CsiNodeCells},
      {"storage.k8s.io",
       "CSIDriver",
       {kName,
        {"AttachRequired", "boolean"},
        {"PodInfoOnMount", "boolean"},
        {"StorageCapacity", "boolean"},
        {"TokenRequests"},
        {"RequiresRepublish", "boolean"},
        {"Modes"},
        {"Age"}},
       CsiDriverCells},
      {"storage.k8s.io",
       "VolumeAttachment",
       {kName,
        {"Attacher", "string", 0, "name"},
        {"PV"},
        {"Node"},
        {"Attached", "boolean"},
        {"Age"}},
       AttachmentCells},
  };
  return *printers;
}

}  // namespace ks::apiserver
