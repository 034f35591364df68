// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/volume_controller_objects.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "apiserver/store/json_fields.h"

namespace ks::apiserver::volumes {
namespace {

constexpr std::string_view kBetaClass = "volume.beta.kubernetes.io/storage-class";
constexpr std::string_view kProvisioner = "volume.kubernetes.io/storage-provisioner";

const Json& Part(const Json& object, std::string_view key) {
  static const Json empty = Json::object();
  const Json* found = Find(object, key);
  return found != nullptr && found->is_object() ? *found : empty;
}

std::vector<std::string> Texts(const Json& object, std::string_view key) {
  std::vector<std::string> texts;
  const Json* found = Find(object, key);
  if (found == nullptr || !found->is_array()) return texts;
  for (const Json& each : *found) {
    if (each.is_string()) texts.push_back(each.get<std::string>());
  }
  return texts;
}

bool Contains(const std::vector<std::string>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// A JSON string or number, as quantities are written.
api::Quantity QuantityOf(const Json& object, std::string_view key) {
  const Json* found = Find(object, key);
  if (found == nullptr) return {};
  const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
  const Result<api::Quantity> parsed = api::Quantity::Parse(text);
  return parsed.ok() ? *parsed : api::Quantity();
}

std::string ModeOf(const Json& spec) {
  const std::string mode = Text(spec, "volumeMode");
  return mode.empty() ? "Filesystem" : mode;
}

bool HasFinalizer(const Json& metadata, std::string_view finalizer) {
  return Contains(Texts(metadata, "finalizers"), finalizer);
}

Result<api::LabelSelector> SelectorOf(const Json& spec) {
  const Json* selector = Find(spec, "selector");
  if (selector == nullptr) return api::LabelSelector::Everything();  // a claim without: any volume
  api::LabelSelectorSpec wanted;
  for (const auto& [key, value] : Part(*selector, "matchLabels").items()) {
    wanted.match_labels.emplace_back(key, value.is_string() ? value.get<std::string>() : "");
  }
  const Json* expressions = Find(*selector, "matchExpressions");
  if (expressions != nullptr && expressions->is_array()) {
    for (const Json& each : *expressions) {
      wanted.match_expressions.push_back({.key = Text(each, "key"),
                                          .op = Text(each, "operator"),
                                          .values = Texts(each, "values")});
    }
  }
  return api::LabelSelector::Compile(wanted);
}

bool HasModes(const Volume& volume, const Claim& claim) {
  return std::all_of(claim.access_modes.begin(), claim.access_modes.end(),
                     [&](const auto& mode) { return Contains(volume.access_modes, mode); });
}

// One of matchLabelExpressions of a class' allowed topology.
struct AllowedLabel {
  std::string key;
  std::vector<std::string> values;
};

std::vector<AllowedLabel> AllowedLabels(const Json& term) {
  std::vector<AllowedLabel> labels;
  const Json* expressions = Find(term, "matchLabelExpressions");
  if (expressions == nullptr || !expressions->is_array()) return labels;
  for (const Json& each : *expressions) {
    labels.push_back({.key = Text(each, "key"), .values = Texts(each, "values")});
  }
  return labels;
}

Json ClaimReference(const Json& claim) {
  const Json& metadata = Part(claim, "metadata");
  return Json{{"kind", "PersistentVolumeClaim"},
              {"apiVersion", "v1"},
              {"namespace", Text(metadata, "namespace")},
              {"name", Text(metadata, "name")},
              {"uid", Text(metadata, "uid")},
              {"resourceVersion", Text(metadata, "resourceVersion")}};
}

// True: it was not there before.
bool Annotate(Json& object, std::string_view key, std::string_view value) {
  Json& annotations = object["metadata"]["annotations"];
  if (!annotations.is_object()) annotations = Json::object();
  return annotations.emplace(key, value).second;
}

}  // namespace

Volume ReadVolume(const Json& json) {
  const Json& metadata = Part(json, "metadata");
  const Json& spec = Part(json, "spec");
  const Json& annotations = Part(metadata, "annotations");
  Volume volume;
  volume.name = Text(metadata, "name");
  volume.uid = Text(metadata, "uid");
  volume.storage_class =
      Text(annotations.contains(kBetaClass) ? annotations : spec,
           annotations.contains(kBetaClass) ? kBetaClass : std::string_view("storageClassName"));
  volume.mode = ModeOf(spec);
  volume.attributes_class = Text(spec, "volumeAttributesClassName");
  volume.phase = Text(Part(json, "status"), "phase");
  volume.reclaim_policy = Text(spec, "persistentVolumeReclaimPolicy");
  volume.provisioned_by = Text(annotations, kProvisionedBy);
  volume.csi_driver = Text(Part(spec, "csi"), "driver");
  volume.capacity = QuantityOf(Part(spec, "capacity"), "storage");
  volume.access_modes = Texts(spec, "accessModes");
  for (const auto& [key, value] : Part(metadata, "labels").items()) {
    if (value.is_string()) volume.labels.Set(Symbol(key), Symbol(value.get<std::string>()));
  }
  if (const Json* claim = Find(spec, "claimRef")) {
    volume.claimed = true;
    volume.claim_ns = Text(*claim, "namespace");
    volume.claim_name = Text(*claim, "name");
    volume.claim_uid = Text(*claim, "uid");
  }
  volume.bound_by_controller = annotations.contains(kBoundByController);
  volume.terminating = Find(metadata, "deletionTimestamp") != nullptr;
  volume.is_protected = HasFinalizer(metadata, kVolumeProtection);
  return volume;
}

Claim ReadClaim(const Json& json) {
  const Json& metadata = Part(json, "metadata");
  const Json& spec = Part(json, "spec");
  const Json& annotations = Part(metadata, "annotations");
  Claim claim;
  claim.ns = Text(metadata, "namespace");
  claim.name = Text(metadata, "name");
  claim.uid = Text(metadata, "uid");
  const bool beta = annotations.contains(kBetaClass);
  claim.says_class = beta || Find(spec, "storageClassName") != nullptr;
  claim.storage_class = beta ? Text(annotations, kBetaClass) : Text(spec, "storageClassName");
  claim.mode = ModeOf(spec);
  claim.attributes_class = Text(spec, "volumeAttributesClassName");
  claim.phase = Text(Part(json, "status"), "phase");
  claim.volume = Text(spec, "volumeName");
  claim.selected_node = Text(annotations, kSelectedNode);
  claim.request = QuantityOf(Part(Part(spec, "resources"), "requests"), "storage");
  claim.access_modes = Texts(spec, "accessModes");
  claim.selector = SelectorOf(spec);
  claim.bind_completed = annotations.contains(kBindCompleted);
  claim.bound_by_controller = annotations.contains(kBoundByController);
  claim.provisioner_noted = annotations.contains(kProvisioner);
  claim.terminating = Find(metadata, "deletionTimestamp") != nullptr;
  claim.is_protected = HasFinalizer(metadata, kClaimProtection);
  return claim;
}

std::vector<std::string> ClaimsOfPod(const Json& pod) {
  std::vector<std::string> claims;
  const Json& metadata = Part(pod, "metadata");
  const std::string prefix = Text(metadata, "namespace") + "/";
  const Json* volumes = Find(pod, "spec", "volumes");
  if (volumes == nullptr || !volumes->is_array()) return claims;
  for (const Json& volume : *volumes) {
    if (const Json* source = Find(volume, "persistentVolumeClaim")) {
      claims.push_back(prefix + Text(*source, "claimName"));
    } else if (Find(volume, "ephemeral") != nullptr) {
      claims.push_back(prefix + Text(metadata, "name") + "-" + Text(volume, "name"));
    }
  }
  return claims;
}

bool ReservedFor(const Volume& volume, const Claim& claim) {
  return volume.claimed && volume.claim_name == claim.name && volume.claim_ns == claim.ns &&
         (volume.claim_uid.empty() || volume.claim_uid == claim.uid);
}

bool FitsReserved(const Volume& volume, const Claim& claim) {
  return volume.capacity >= claim.request && volume.mode == claim.mode &&
         volume.attributes_class == claim.attributes_class && !volume.terminating &&
         HasModes(volume, claim);
}

bool FitsFreely(const Volume& volume, const Claim& claim) {
  return FitsReserved(volume, claim) && !volume.claimed && volume.phase == "Available" &&
         claim.selector.ok() && claim.selector->Matches(volume.labels) &&
         volume.storage_class == claim.storage_class;
}

std::string Mismatch(const Volume& volume, const Claim& claim) {
  if (volume.capacity < claim.request) return "requested PV is too small";
  if (volume.storage_class != claim.storage_class) return "storageClassName does not match";
  if (volume.attributes_class != claim.attributes_class) {
    return "volumeAttributesClassName does not match";
  }
  if (volume.mode != claim.mode) return "incompatible volumeMode";
  if (!HasModes(volume, claim)) return "incompatible accessMode";
  return "";
}

void SetVolumePhase(Json& volume, std::string_view phase, const std::string& now) {
  Json& status = volume["status"];
  if (Text(status, "phase") == phase) return;
  status["phase"] = phase;
  status["lastPhaseTransitionTime"] = now;
}

bool BindVolume(Json& volume, const Json& claim, const std::string& now) {
  const Volume before = ReadVolume(volume);
  const std::string uid = Text(Part(claim, "metadata"), "uid");
  const bool referred = before.claimed && before.claim_uid == uid;
  if (referred && before.phase == "Bound") return false;
  if (!referred) volume["spec"]["claimRef"] = ClaimReference(claim);
  if (!before.claimed) Annotate(volume, kBoundByController, "yes");
  SetVolumePhase(volume, "Bound", now);
  return true;
}

bool BindClaim(Json& claim, const Json& volume) {
  const Claim before = ReadClaim(claim);
  const std::string name = Text(Part(volume, "metadata"), "name");
  const Json& spec = Part(volume, "spec");
  Json status{{"phase", "Bound"},
              {"accessModes", spec.value("accessModes", Json::array())},
              {"capacity", spec.value("capacity", Json::object())}};
  if (!before.attributes_class.empty()) {
    status["currentVolumeAttributesClassName"] = before.attributes_class;
  }
  const bool same_status =
      std::all_of(status.items().begin(), status.items().end(), [&](const auto& item) {
        const Json* old = Find(claim, "status", item.key());
        return old != nullptr && *old == item.value();
      });
  if (before.bind_completed && before.volume == name && same_status) return false;
  if (before.volume != name) {
    claim["spec"]["volumeName"] = name;
    Annotate(claim, kBoundByController, "yes");
  }
  Annotate(claim, kBindCompleted, "yes");
  claim["status"].update(status);
  return true;
}

void UnbindVolume(Json& volume) {
  Json& spec = volume["spec"];
  if (!ReadVolume(volume).bound_by_controller) {
    spec["claimRef"].erase("uid");
    return;
  }
  spec.erase("claimRef");
  Json& annotations = volume["metadata"]["annotations"];
  annotations.erase(std::string(kBoundByController));
  if (annotations.empty()) volume["metadata"].erase("annotations");
}

void RemoveFinalizer(Json& object, std::string_view finalizer) {
  const auto it = object["metadata"].find("finalizers");
  if (it == object["metadata"].end() || !it->is_array()) return;
  Json kept = Json::array();
  for (const Json& each : *it) {
    if (each != finalizer) kept.push_back(each);
  }
  if (kept.empty()) {
    object["metadata"].erase("finalizers");
  } else {
    *it = std::move(kept);
  }
}

Result<Topology> TopologyOfNode(const StoredObject& node, const Json& storage_class,
                                const std::string& key) {
  const std::map<std::string, std::string> labels(node.labels.begin(), node.labels.end());
  std::set<std::string> keys{key};
  bool allowed = true;
  if (const Json* terms = Find(storage_class, "allowedTopologies"); terms != nullptr) {
    allowed = terms->empty();
    for (const Json& term : *terms) {
      bool matches = false;
      for (const AllowedLabel& label : AllowedLabels(term)) {
        keys.insert(label.key);
        const auto it = labels.find(label.key);
        matches = it != labels.end() && Contains(label.values, it->second);
        if (!matches) break;
      }
      allowed = allowed || matches;
    }
  }
  if (!allowed) return Error{"node \"" + node.name + "\" is not in allowed topologies"};
  Topology topology;
  for (const std::string& each : keys) {
    if (const auto it = labels.find(each); it != labels.end()) topology.emplace_back(*it);
  }
  return topology;
}

Topology AnyTopology(const Claim& claim, const Json& storage_class, const std::string& key,
                     const std::set<std::string>& values) {
  uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : claim.uid) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  const Json* terms = Find(storage_class, "allowedTopologies");
  if (terms != nullptr && terms->is_array() && !terms->empty()) {
    Topology topology;
    for (const AllowedLabel& label : AllowedLabels((*terms)[hash % terms->size()])) {
      if (label.values.empty()) continue;
      topology.emplace_back(label.key, label.values[hash / terms->size() % label.values.size()]);
    }
    std::sort(topology.begin(), topology.end());
    return topology;
  }
  if (values.empty()) return {};
  const auto chosen = std::next(values.begin(), static_cast<ptrdiff_t>(hash % values.size()));
  return {{key, *chosen}};
}

void NoteProvisioner(Json& claim, const std::string& provisioner) {
  Annotate(claim, kProvisioner, provisioner);
  Annotate(claim, "volume.beta.kubernetes.io/storage-provisioner", provisioner);
}

Json ProvisionedVolume(const Json& claim, const Json& storage_class, const std::string& driver,
                       const Topology& topology) {
  const Json& claim_spec = Part(claim, "spec");
  const std::string name = "pvc-" + Text(Part(claim, "metadata"), "uid");
  const std::string policy = Text(storage_class, "reclaimPolicy");
  Json spec{{"accessModes", claim_spec.value("accessModes", Json::array())},
            {"capacity", Part(Part(claim_spec, "resources"), "requests")},
            {"claimRef", ClaimReference(claim)},
            {"csi",
             {{"driver", driver},
              {"volumeHandle", name},
              {"volumeAttributes", {{"storage.kubernetes.io/csiProvisionerIdentity", driver}}}}},
            {"persistentVolumeReclaimPolicy", policy.empty() ? "Delete" : policy},
            {"storageClassName", Text(Part(storage_class, "metadata"), "name")},
            {"volumeMode", ModeOf(claim_spec)}};
  if (const Json* attributes = Find(claim_spec, "volumeAttributesClassName")) {
    spec["volumeAttributesClassName"] = *attributes;
  }
  if (const Json* options = Find(storage_class, "mountOptions")) spec["mountOptions"] = *options;
  if (!topology.empty()) {
    Json expressions = Json::array();
    for (const auto& [key, value] : topology) {
      expressions.push_back({{"key", key}, {"operator", "In"}, {"values", Json::array({value})}});
    }
    spec["nodeAffinity"]["required"]["nodeSelectorTerms"] =
        Json::array({{{"matchExpressions", std::move(expressions)}}});
  }
  return Json{
      {"apiVersion", "v1"},
      {"kind", "PersistentVolume"},
      {"metadata", {{"name", name}, {"annotations", {{std::string(kProvisionedBy), driver}}}}},
      {"spec", std::move(spec)}};
}

}  // namespace ks::apiserver::volumes
