// SPDX-License-Identifier: Apache-2.0
// What claims need: classes, volumes that somebody made, claims that pods name, and users who take
// them away at the wrong time. The controller is volume_model.h.

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "sim/volume_model.h"
#include "sim/workload.h"

namespace ks::sim {
namespace {

using apiserver::Json;

constexpr const char* kNamespace = "default";
constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kHost = "kubernetes.io/hostname";
constexpr const char* kSelectedNode = "volume.kubernetes.io/selected-node";

struct Class {
  const char* name;
  bool made;     // else volumes are there or not
  bool delayed;  // waits for a pod
  bool zoned;    // made in two zones only
};
constexpr size_t kExistingClasses = 2;  // the first ones: nothing is made
constexpr std::array<Class, 5> kClasses = {{{"local", false, true, false},
                                            {"local-now", false, false, false},
                                            {"made", true, true, false},
                                            {"made-now", true, false, false},
                                            {"made-in-zones", true, true, true}}};

Json NodeAffinity(const char* key, const std::string& value) {
  const Json expression = {{"key", key}, {"operator", "In"}, {"values", Json::array({value})}};
  return {
      {"required",
       {{"nodeSelectorTerms", Json::array({{{"matchExpressions", Json::array({expression})}}})}}}};
}

Json Capacity(const std::string& of_class, const std::string& zone, int gibibytes) {
  return {{"metadata", {{"name", of_class + "-" + zone}}},
          {"storageClassName", of_class},
          {"nodeTopology", {{"matchLabels", {{kZone, zone}}}}},
          {"capacity", std::to_string(gibibytes) + "Gi"}};
}

// A driver learns to attach more to some node.
void RaiseVolumeLimit(World& world, Random& random) {
  for (const auto& [key, stored] : world.api.Objects("csinodes")) {
    if (random.Below(3) == 0) continue;
    world.trace.Line(world.loop.Now(), "users", "more volumes on {}", stored->name);
    world.api.Modify("csinodes", "", stored->name, [](Json& json) {
      Json& driver = json["spec"]["drivers"][0];
      if (!driver.contains("allocatable")) return;
      driver["allocatable"]["count"] = driver["allocatable"]["count"].get<int>() + 2;
    });
    return;
  }
}

}  // namespace

// In two seeds of five that have such things, from a stream of its own, so that the other seeds are
// what they were: limits rise, and what is known of a zone's capacity goes and comes back.
void Workload::StartStorageNews() {
  auto random = std::make_shared<Random>(world_.plan.seed ^ 0x73746f72ULL);
  if (random->Unit() >= 0.4) return;
  const auto until = static_cast<uint64_t>(world_.plan.faults_end.count());
  const auto sometime = [&] { return Duration(static_cast<int64_t>(random->Below(until))); };
  if (world_.plan.volume_limits > 0) {
    for (uint64_t left = 1 + random->Below(8); left > 0; --left) {
      world_.loop.After(sometime(), [this, random] { RaiseVolumeLimit(world_, *random); });
    }
  }
  if (!world_.plan.reports_capacity) return;
  for (uint64_t left = 1 + random->Below(4); left > 0; --left) {
    const std::string zone = "z" + std::to_string(random->Below(world_.plan.zones));
    const std::string name = "made-" + zone;
    world_.loop.After(sometime(), [this, name] {
      TraceAction("no capacity " + name);
      world_.api.Delete("csistoragecapacities", kNamespace, name);
    });
    const int capacity = 10 + static_cast<int>(random->Below(20));
    world_.loop.After(sometime(), [this, name, zone, capacity] {
      if (world_.api.Find("csistoragecapacities", kNamespace, name) != nullptr) return;
      TraceAction("capacity " + name + " again");
      world_.api.Create("csistoragecapacities", kNamespace, Capacity("made", zone, capacity));
    });
  }
}

void Workload::StartVolumes() {
  const Plan& plan = world_.plan;
  for (size_t i = 0; i < kClasses.size(); ++i) {
    if (Chance(0.8)) {
      AddClass(i);
    } else {
      Sometime(plan.faults_end, [this, i] { AddClass(i); });
    }
  }
  if (plan.reports_capacity || plan.volume_limits > 0) {
    world_.api.Create(
        "csidrivers", "",
        {{"metadata", {{"name", kDriver}}},
         {"spec", {{"attachRequired", false}, {"storageCapacity", plan.reports_capacity}}}});
  }
  if (plan.reports_capacity) {
    for (int i = 0; i < plan.zones; ++i) SetCapacity("z" + std::to_string(i));
  }
  for (int i = 0; i < plan.local_volumes; ++i) AddVolume();
  for (int i = 0; i < plan.shared_claims; ++i) {
    Sometime(plan.arrivals, [this, i] { AddClaim("c" + std::to_string(i)); });
  }
  for (int i = 0; i < plan.volume_changes; ++i) {
    Sometime(plan.faults_end, [this] { ChangeVolumes(); });
  }
  StartStorageNews();
}

void Workload::AddClass(size_t number) {
  const Class& of = kClasses[number];
  Json json = {{"metadata", {{"name", of.name}}},
               {"provisioner", of.made ? kDriver : kNoProvisioner},
               {"reclaimPolicy", Chance(0.7) ? "Delete" : "Retain"},
               {"volumeBindingMode", of.delayed ? "WaitForFirstConsumer" : "Immediate"}};
  if (of.zoned) {
    const Json label = {{"key", kZone}, {"values", Json::array({"z0", "z2"})}};
    json["allowedTopologies"] = Json::array({{{"matchLabelExpressions", Json::array({label})}}});
  }
  world_.api.Create("storageclasses", "", std::move(json));
  TraceAction(std::string("add class ") + of.name);
}

void Workload::SetCapacity(const std::string& zone) {
  const int gibibytes = Between(1, 30);
  for (const Class& of : kClasses) {
    if (!of.made || !of.delayed) continue;
    const std::string name = std::string(of.name) + "-" + zone;
    Json object = Capacity(of.name, zone, gibibytes);
    TraceAction("capacity " + name + " " + object["capacity"].get<std::string>());
    if (world_.api.Find("csistoragecapacities", kNamespace, name) != nullptr) {
      world_.api.Modify("csistoragecapacities", kNamespace, name,
                        [&](Json& json) { json["capacity"] = object["capacity"]; });
      continue;
    }
    world_.api.Create("csistoragecapacities", kNamespace, std::move(object));
  }
}

void Workload::AddVolume() {
  const std::string name = "v" + std::to_string(next_volume_++);
  Json spec = {{"capacity", {{"storage", std::to_string(Between(1, 20)) + "Gi"}}},
               {"persistentVolumeReclaimPolicy", "Retain"},
               {"storageClassName", Chance(0.7) ? "local" : "local-now"},
               {"hostPath", {{"path", "/mnt/" + name}}}};
  const uint64_t modes = random_.Below(5);
  spec["accessModes"] = modes == 0   ? Json::array({"ReadWriteOncePod"})
                        : modes == 1 ? Json::array({"ReadWriteMany", "ReadWriteOnce"})
                                     : Json::array({"ReadWriteOnce"});
  const std::string node = AnyNode();
  if (Chance(0.7) && !node.empty()) {
    spec["nodeAffinity"] = NodeAffinity(kHost, node);
  } else if (Chance(0.5)) {
    spec["nodeAffinity"] =
        NodeAffinity(kZone, "z" + std::to_string(random_.Below(world_.plan.zones)));
  }
  // Kept for a claim that need not exist.
  if (Chance(0.15)) {
    spec["claimRef"] = {{"namespace", kNamespace}, {"name", Chance(0.5) ? "c0" : "c3"}};
    spec["accessModes"] = Json::array({"ReadWriteMany", "ReadWriteOnce"});
  }
  Json metadata = {{"name", name}};
  if (Chance(0.7)) metadata["finalizers"] = Json::array({"kubernetes.io/pv-protection"});
  const bool made = world_.api.Create("persistentvolumes", "",
                                      {{"metadata", metadata}, {"spec", std::move(spec)}});
  TraceAction((made ? "add volume " : "cannot add volume ") + name);
}

Json Workload::ClaimSpec(bool for_one_pod) {
  const char* mode = Chance(0.1) ? "ReadWriteMany" : "ReadWriteOnce";
  if (for_one_pod) mode = "ReadWriteOncePod";
  const size_t made = kClasses.size() - kExistingClasses;
  const size_t of =
      Chance(world_.plan.existing) ? (Chance(0.8) ? 0 : 1) : kExistingClasses + random_.Below(made);
  return {{"accessModes", Json::array({mode})},
          {"storageClassName", kClasses[of].name},
          {"resources", {{"requests", {{"storage", std::to_string(Between(1, 12)) + "Gi"}}}}}};
}

void Workload::AddClaim(const std::string& name) {
  // A volume that is kept for a claim must have its mode: the scheduler does not ask, the
  // controller does, and neither gives up.
  Json spec = ClaimSpec(Chance(0.25) && name != "c0" && name != "c3");
  Json metadata = {{"name", name}};
  if (Chance(0.7)) metadata["finalizers"] = Json::array({"kubernetes.io/pvc-protection"});
  // It may ask for a volume by name, which others may get before it.
  const std::string volume = Chance(0.1) ? AnyOf("persistentvolumes") : std::string();
  if (!volume.empty()) spec["volumeName"] = volume;
  const auto of = spec["storageClassName"].get<std::string>();
  const bool made = world_.api.Create("persistentvolumeclaims", kNamespace,
                                      {{"metadata", metadata}, {"spec", std::move(spec)}});
  TraceAction((made ? "add claim " : "cannot add claim ") + name + " of class " + of +
              (volume.empty() ? "" : " for volume " + volume));
}

// Somebody keeps a free volume for a claim that a scheduler may be giving another one, and takes it
// away from a claim that it may be giving this one.
void Workload::KeepVolume() {
  for (const auto& [key, stored] : world_.api.Objects("persistentvolumeclaims")) {
    const auto claim = Decoded<api::PersistentVolumeClaim>(*stored);
    if (!claim->volume_name.empty() || claim->meta.deletion_timestamp || Chance(0.3)) continue;
    const std::string volume = FreeVolumeFor(*claim);
    if (volume.empty()) continue;
    TraceAction("keep volume " + volume + " for claim " + claim->meta.name);
    world_.api.Modify("persistentvolumes", "", volume, [&](Json& json) {
      json["spec"]["claimRef"] = {{"kind", "PersistentVolumeClaim"},
                                  {"apiVersion", "v1"},
                                  {"namespace", kNamespace},
                                  {"name", claim->meta.name},
                                  {"uid", claim->meta.uid}};
    });
    return;
  }
}

// One that the controller would bind to it.
std::string Workload::FreeVolumeFor(const api::PersistentVolumeClaim& claim) {
  for (const auto& [key, stored] : world_.api.Objects("persistentvolumes")) {
    const auto volume = Decoded<api::PersistentVolume>(*stored);
    const bool has_mode = std::count(volume->access_modes.begin(), volume->access_modes.end(),
                                     claim.access_modes.front()) > 0;
    if (volume->claim_ref || volume->phase.view() != "Available" ||
        volume->meta.deletion_timestamp || !has_mode ||
        volume->StorageClass() != claim.StorageClass() || volume->capacity < *claim.requested) {
      continue;
    }
    if (!Chance(0.3)) return volume->meta.name;
  }
  return {};
}

// Shared claims, and one of its own, which may come before the pod or after it.
void Workload::UseClaims(const std::string& pod, Json& spec) {
  if (!Chance(world_.plan.claiming)) return;
  const auto use = [&](const std::string& claim) {
    const std::string name = "v" + std::to_string(spec["volumes"].size());
    spec["volumes"].push_back({{"name", name}, {"persistentVolumeClaim", {{"claimName", claim}}}});
  };
  spec["volumes"] = Json::array();
  const int own = Chance(0.7) ? Between(1, 2) : 0;
  for (int i = 0; i < own; ++i) {
    if (Chance(world_.plan.ephemeral)) {
      BringClaim(pod, spec);
      continue;
    }
    const std::string claim = pod + "-" + std::to_string(i);
    use(claim);
    if (Chance(0.7)) {
      AddClaim(claim);
    } else {
      Sometime(std::chrono::seconds(10), [this, claim] { AddClaim(claim); });
    }
  }
  if (world_.plan.shared_claims > 0 && (own == 0 || Chance(0.2))) {
    use("c" + std::to_string(random_.Below(world_.plan.shared_claims)));
  }
}

// A generic ephemeral volume. Its claim's name may be taken.
void Workload::BringClaim(const std::string& pod, Json& spec) {
  const std::string name = "v" + std::to_string(spec["volumes"].size());
  spec["volumes"].push_back(
      {{"name", name},
       {"ephemeral", {{"volumeClaimTemplate", {{"spec", ClaimSpec(Chance(0.25))}}}}}});
  if (Chance(0.05)) AddClaim(pod + "-" + name);
}

// The node's agent says what the driver can do there, a little later.
void Workload::AddDriver(const std::string& node) {
  const bool limited = Chance(world_.plan.volume_limits);
  const int limit = Between(1, 5);
  Sometime(std::chrono::seconds(2), [this, node, limited, limit] {
    if (world_.api.Find("nodes", "", node) == nullptr) return;
    Json driver = {{"name", kDriver}, {"nodeID", node}, {"topologyKeys", Json::array({kZone})}};
    if (limited) driver["allocatable"] = {{"count", limit}};
    TraceAction("driver on " + node +
                (limited ? " for " + std::to_string(limit) + " volumes" : ""));
    world_.api.Create(
        "csinodes", "",
        {{"metadata", {{"name", node}}}, {"spec", {{"drivers", Json::array({driver})}}}});
  });
}

std::string Workload::AnyOf(const char* plural) {
  const auto& objects = world_.api.Objects(plural);
  if (objects.empty()) return {};
  return std::next(objects.begin(), static_cast<ptrdiff_t>(random_.Below(objects.size())))
      ->second->name;
}

void Workload::ChangeVolumes() {
  const uint64_t what = random_.Below(100);
  if (what < 15) return AddVolume();
  if (what < 22) return KeepVolume();
  if (what < 30) return DeleteClaim(AnyOf("persistentvolumeclaims"));
  if (what < 40) return DeleteVolume(AnyOf("persistentvolumes"));
  if (what < 55) return Recycle();
  if (what < 70) return FailProvisioning();
  if (what < 80 && world_.plan.reports_capacity) {
    return SetCapacity("z" + std::to_string(random_.Below(world_.plan.zones)));
  }
  EndWaitingPod();
}

// And, half of the time, makes another one of its name.
void Workload::DeleteClaim(const std::string& name) {
  if (name.empty()) return;
  TraceAction("delete claim " + name);
  world_.api.volume_watch()->Disturb(std::string(kNamespace) + "/" + name);
  world_.api.Delete("persistentvolumeclaims", kNamespace, name);
  if (Chance(0.5)) Sometime(std::chrono::seconds(5), [this, name] { AddClaim(name); });
}

void Workload::DeleteVolume(const std::string& name) {
  if (name.empty()) return;
  TraceAction("delete volume " + name);
  world_.api.volume_watch()->DisturbVolume(name);
  world_.api.Delete("persistentvolumes", "", name);
}

// A volume whose claim is gone may have another one.
void Workload::Recycle() {
  for (const auto& [key, stored] : world_.api.Objects("persistentvolumes")) {
    const std::string name = stored->name;
    if (Decoded<api::PersistentVolume>(*stored)->phase.view() != "Released") continue;
    TraceAction("recycle volume " + name);
    world_.api.Modify("persistentvolumes", "", name,
                      [](Json& volume) { volume["spec"].erase("claimRef"); });
    return;
  }
}

// As a provisioner that cannot make a volume for the node.
void Workload::FailProvisioning() {
  for (const auto& [key, stored] : world_.api.Objects("persistentvolumeclaims")) {
    const auto claim = Decoded<api::PersistentVolumeClaim>(*stored);
    if (claim->FullyBound() || !claim->selected_node.has_value() || Chance(0.3)) continue;
    const std::string name = claim->meta.name;
    TraceAction("provisioning fails for claim " + name);
    world_.api.Modify("persistentvolumeclaims", kNamespace, name,
                      [](Json& json) { json["metadata"]["annotations"].erase(kSelectedNode); });
    return;
  }
}

// Most likely in the middle of PreBind.
void Workload::EndWaitingPod() {
  for (const auto& [key, stored] : world_.api.Objects("pods")) {
    const api::PodPtr pod = Decoded<api::Pod>(*stored);
    if (!pod->node_name.empty() || ClaimsOf(*pod).empty() || Chance(0.5)) continue;
    return EndPod(pod->meta.name);
  }
}

}  // namespace ks::sim
