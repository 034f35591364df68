// SPDX-License-Identifier: Apache-2.0
#include "sim/workload.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/loaded_plugin.h"
#include "sim/sim_extenders.h"

namespace ks::sim {
namespace {

using apiserver::Json;

constexpr const char* kNamespace = "default";
constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kHost = "kubernetes.io/hostname";
constexpr int kApps = 5;

Json Selector(const std::string& app) { return {{"matchLabels", {{"app", app}}}}; }

Json Service(int app) {
  const std::string name = "a" + std::to_string(app);
  return {{"metadata", {{"name", name}}},
          {"spec", {{"selector", {{"app", name}}}, {"ports", Json::array({{{"port", 80}}})}}}};
}

Json PriorityClass(const char* name, int value, const char* policy) {
  return {{"metadata", {{"name", name}}}, {"value", value}, {"preemptionPolicy", policy}};
}

Json Tolerations() { return Json::array({{{"key", "dedicated"}, {"operator", "Exists"}}}); }

// Admission gives every pod tolerations of other taints.
bool ToleratesTaint(const api::Pod& pod) {
  const auto& tolerations = pod.spec->tolerations;
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [](const api::Toleration& it) { return it.key.view() == "dedicated"; });
}

// Who owns a pod that waits lets it onto tainted nodes.
void TolerateTaint(World& world) {
  for (const auto& [key, stored] : world.api.Objects("pods")) {
    const api::PodPtr pod = Decoded<api::Pod>(*stored);
    if (!pod->node_name.empty() || ToleratesTaint(*pod)) continue;
    world.trace.Line(world.loop.Now(), "users", "let pod {} tolerate the taint", pod->meta.name);
    world.api.Modify("pods", kNamespace, pod->meta.name, [](Json& json) {
      json["spec"]["tolerations"].push_back(Tolerations().front());
    });
    return;
  }
}

// In one seed of five, from a stream of its own, so that the other seeds are what they were.
void StartTolerating(World& world) {
  Random random(world.plan.seed ^ 0x746f6c6572ULL);
  if (random.Unit() >= 0.2) return;
  const auto until = static_cast<uint64_t>(world.plan.faults_end.count());
  for (uint64_t left = 1 + random.Below(8); left > 0; --left) {
    world.loop.After(Duration(static_cast<int64_t>(random.Below(until))),
                     [&world] { TolerateTaint(world); });
  }
}

}  // namespace

Workload::Workload(World& world)
    : world_(world),
      random_(world.plan.seed ^ 0x776f726b6cULL),
      namespaces_random_(world.plan.seed ^ 0x6c6162656cULL),
      devices_random_(world.plan.seed ^ 0x646576776f726bULL),
      groups_random_(world.plan.seed ^ 0x677270776f726bULL) {}

void Workload::TraceAction(const std::string& what) {
  world_.trace.Line(world_.loop.Now(), "users", "{}", what);
}

void Workload::Sometime(Duration until, Action action) {
  const auto most = static_cast<uint64_t>(until.count());
  world_.loop.After(Duration(static_cast<int64_t>(random_.Below(most + 1))), std::move(action));
}

void Workload::Start() {
  const Plan& plan = world_.plan;
  world_.api.Create("priorityclasses", "", PriorityClass("high", 1000, "Never"));
  world_.api.Create("priorityclasses", "", PriorityClass("low", 10, "Never"));
  if (plan.preemption) StartPreemption();
  for (int i = 0; i < 2; ++i) world_.api.Create("services", kNamespace, Service(i));
  for (int i = 0; i < plan.nodes; ++i) AddNode("n" + std::to_string(next_node_++));
  if (plan.volumes) StartVolumes();
  if (plan.devices) StartDevices();
  if (plan.groups != 0) StartGroups();
  for (int i = 0; i < plan.pods; ++i) Sometime(plan.arrivals, [this] { AddPod(); });
  for (int i = 0; i < plan.node_changes; ++i) Sometime(plan.faults_end, [this] { ChangeNode(); });
  for (int i = 0; i < plan.pod_changes; ++i) Sometime(plan.faults_end, [this] { ChangePod(); });
  StartTolerating(world_);
  for (int i = 0; i < plan.resizes; ++i) Sometime(plan.faults_end, [this] { ResizePod(); });
  for (int i = 0; i < plan.namespace_changes; ++i) {
    const auto most = static_cast<uint64_t>(plan.faults_end.count());
    world_.loop.After(Duration(static_cast<int64_t>(namespaces_random_.Below(most + 1))),
                      [this] { RelabelNamespace(); });
  }
  const int foreign = plan.foreign ? Between(3, 20) : 0;
  for (int i = 0; i < foreign; ++i) Sometime(plan.arrivals, [this] { AddForeignPod(); });
}

// ---- nodes ----

void Workload::AddNode(const std::string& name) {
  // A node that comes back is where it was: pods on it never change their domain. Some nodes know
  // of no zone.
  const auto [known, fresh] = zone_of_.try_emplace(name);
  std::string& zone = known->second;
  if (fresh && (world_.plan.zones > 1 || Chance(0.5))) {
    zone = "z" + std::to_string(random_.Below(world_.plan.zones));
  }
  Json labels = {{kHost, name}, {"disk", Chance(0.5) ? "ssd" : "hdd"}};
  if (!zone.empty()) labels[kZone] = zone;
  const Json amounts = {{"cpu", std::to_string(Between(1, 8))},
                        {"memory", std::to_string(Between(2, 16)) + "Gi"},
                        {"pods", std::to_string(Between(4, 20))}};
  Json node = {{"metadata", {{"name", name}, {"labels", labels}}},
               {"spec", Json::object()},
               {"status", {{"capacity", amounts}, {"allocatable", amounts}}}};
  if (Chance(world_.plan.tainted)) {
    node["spec"]["taints"] =
        Json::array({{{"key", "dedicated"}, {"value", "x"}, {"effect", "NoSchedule"}}});
  }
  const bool made = world_.api.Create("nodes", "", std::move(node));
  TraceAction((made ? "add node " : "cannot add node ") + name);
  if (made && world_.plan.volume_limits > 0) AddDriver(name);
}

std::string Workload::AnyNode() {
  const auto& nodes = world_.api.Objects("nodes");
  if (nodes.empty()) return {};
  return std::next(nodes.begin(), static_cast<ptrdiff_t>(random_.Below(nodes.size())))
      ->second->name;
}

void Workload::ReplaceTaints(const std::string& name) {
  const bool on = Chance(0.4);
  const char* effect = Chance(0.8) ? "NoSchedule" : "PreferNoSchedule";
  TraceAction((on ? "taint " : "untaint ") + name);
  world_.api.Modify("nodes", "", name, [&](Json& node) {
    node["spec"]["taints"] =
        on ? Json::array({{{"key", "dedicated"}, {"value", "x"}, {"effect", effect}}})
           : Json::array();
  });
}

void Workload::Resize(const std::string& name) {
  const bool grow = world_.plan.strict_capacity;
  TraceAction("resize " + name);
  const int cpu = grow ? Between(8, 16) : Between(1, 16);
  const int pods = grow ? Between(20, 30) : Between(2, 30);
  world_.api.ModifyStatus("nodes", "", name, [&](Json& node) {
    const auto set = [&](const char* resource, int wanted) {
      Json& value = node["status"]["allocatable"][resource];
      const int present = std::stoi(value.get<std::string>());
      value = std::to_string(grow ? std::max(present, wanted) : wanted);
    };
    set("cpu", cpu);
    set("pods", pods);
  });
}

void Workload::ChangeNode() {
  const std::string name = AnyNode();
  const uint64_t what = random_.Below(100);
  if (name.empty() || what < 15) return AddNode("n" + std::to_string(next_node_++));
  if (what < 35) return ReplaceTaints(name);
  if (what < 55) return Resize(name);
  if (what < 70) {
    const bool cordon = Chance(0.4);
    TraceAction((cordon ? "cordon " : "uncordon ") + name);
    world_.api.Modify("nodes", "", name, [&](Json& node) {
      if (cordon) {
        node["spec"]["unschedulable"] = true;
      } else {
        node["spec"].erase("unschedulable");
      }
    });
    return;
  }
  if (what < 80 || world_.plan.strict_capacity) {
    const std::string disk = Chance(0.5) ? "ssd" : "hdd";
    TraceAction("label " + name + " " + disk);
    world_.api.Modify("nodes", "", name,
                      [&](Json& node) { node["metadata"]["labels"]["disk"] = disk; });
    return;
  }
  TraceAction("remove node " + name);
  world_.api.Delete("nodes", "", name);
  if (world_.plan.volume_limits > 0) world_.api.Delete("csinodes", "", name);
  if (Chance(0.4)) {
    world_.loop.After(std::chrono::milliseconds(Between(1, 5000)), [this, name] { AddNode(name); });
    return;
  }
  world_.loop.After(std::chrono::milliseconds(Between(5000, 60000)),
                    [this, name] { CollectPodsOf(name); });
}

// As kube-controller-manager does. Upstream's hints count on it: no plugin about other pods has a
// hint for a removed node, so that a pod which its pods repelled is woken by their deletion only.
void Workload::CollectPodsOf(const std::string& node) {
  std::vector<std::string> orphans;
  for (const auto& [key, stored] : world_.api.Objects("pods")) {
    const api::PodPtr pod = Decoded<api::Pod>(*stored);
    if (pod->node_name == node) orphans.push_back(pod->meta.name);
  }
  for (const std::string& name : orphans) {
    TraceAction("collect pod " + name);
    world_.api.Delete("pods", kNamespace, name);
  }
}

// ---- pods ----

void Workload::Repel(Json& spec, const std::string& app) {
  const char* key = Chance(0.6) ? kHost : kZone;
  Json term = {{"labelSelector", Selector(app)}, {"topologyKey", key}};
  if (world_.plan.namespace_changes != 0) SelectNamespaces(term);
  const uint64_t what = random_.Below(3);
  if (what == 0) {
    spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
        Json::array({term});
  } else if (what == 1) {
    spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
        Json::array({term});
  } else {
    spec["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] =
        Json::array({{{"weight", 10}, {"podAffinityTerm", term}}});
  }
}

void Workload::Place(Json& spec) {
  if (Chance(0.2)) spec["nodeSelector"] = {{"disk", Chance(0.5) ? "ssd" : "hdd"}};
  if (Chance(0.3)) spec["tolerations"] = Tolerations();
  if (Chance(0.1)) {
    spec["priorityClassName"] = Chance(0.5) ? "high" : "low";
  } else if (world_.plan.preemption) {
    MakeImportant(spec);
  }
  if (Chance(world_.plan.gated)) {
    spec["schedulingGates"] = Json::array({{{"name", "example.com/wait"}}});
  }
  if (Chance(world_.plan.impossible)) {
    if (Chance(0.5)) {
      spec["nodeSelector"] = {{"disk", "tape"}};
    } else {
      spec["containers"][0]["resources"]["requests"]["cpu"] = "64";
    }
  }
  const bool second = world_.plan.two_profiles && Chance(0.4);
  spec["schedulerName"] = second ? "second-scheduler" : "default-scheduler";
}

Json Workload::NewPod(const std::string& name) {
  const std::string app = "a" + std::to_string(random_.Below(kApps));
  Json requests = {{"cpu", std::to_string(Between(1, 20) * 100) + "m"},
                   {"memory", std::to_string(Between(1, 20) * 100) + "Mi"}};
  const bool managed = !world_.plan.extenders.empty() && Chance(0.5);
  if (managed) requests[kLicense] = "1";
  Json pod = {{"metadata", {{"name", name}, {"labels", {{"app", app}}}}},
              {"spec",
               {{"containers", Json::array({{{"name", "c"},
                                             {"image", "example.com/i:1"},
                                             {"resources", {{"requests", requests}}}}})}}}};
  Json& spec = pod["spec"];
  if (managed) spec["containers"][0]["resources"]["limits"][kLicense] = "1";
  Place(spec);
  if (world_.plan.loaded_plugin && spec.contains("nodeSelector")) {
    pod["metadata"]["labels"][kLoadedLabel] = spec["nodeSelector"]["disk"];
    spec.erase("nodeSelector");
  }
  if (Chance(0.25)) Repel(spec, app);
  if (Chance(0.2)) {
    spec["topologySpreadConstraints"] =
        Json::array({{{"maxSkew", Between(1, 2)},
                      {"topologyKey", Chance(0.5) ? kZone : kHost},
                      {"whenUnsatisfiable", Chance(0.6) ? "DoNotSchedule" : "ScheduleAnyway"},
                      {"labelSelector", Selector(app)}}});
  }
  return pod;
}

void Workload::SelectNamespaces(Json& term) {
  if (namespaces_random_.Unit() < 0.3) return;
  term["namespaceSelector"] = {
      {"matchLabels", {{"team", namespaces_random_.Unit() < 0.5 ? "red" : "blue"}}}};
}

void Workload::RelabelNamespace() {
  const std::string team = namespaces_random_.Unit() < 0.5 ? "red" : "blue";
  TraceAction("label the namespace " + team);
  world_.api.Modify("namespaces", "", kNamespace,
                    [&](Json& object) { object["metadata"]["labels"]["team"] = team; });
}

void Workload::AddPod() {
  const std::string name = "p" + std::to_string(next_pod_++);
  Json pod = NewPod(name);
  if (world_.plan.volumes) UseClaims(name, pod["spec"]);
  if (world_.plan.devices) UseDevices(name, pod["spec"]);
  const bool gated = pod["spec"].contains("schedulingGates");
  const bool made = world_.api.Create("pods", kNamespace, std::move(pod));
  TraceAction((made ? "add pod " : "cannot add pod ") + name + (gated ? ", gated" : ""));
  if (gated && Chance(0.7)) {
    Sometime(world_.plan.faults_end / 4, [this, name] { LiftGates(name); });
  }
}

std::string Workload::AnyPod() {
  const auto& pods = world_.api.Objects("pods");
  if (pods.empty()) return {};
  return std::next(pods.begin(), static_cast<ptrdiff_t>(random_.Below(pods.size())))->second->name;
}

void Workload::LiftGates(const std::string& name) {
  TraceAction("lift gates of " + name);
  world_.api.Modify("pods", kNamespace, name,
                    [](Json& pod) { pod["spec"].erase("schedulingGates"); });
}

void Workload::EditPod(const std::string& name) {
  const std::string app = "a" + std::to_string(random_.Below(kApps));
  const uint64_t what = random_.Below(3);
  TraceAction("edit pod " + name);
  if (what == 0) {
    world_.api.Modify("pods", kNamespace, name,
                      [&](Json& pod) { pod["metadata"]["labels"]["app"] = app; });
  } else if (what == 1) {
    world_.api.Modify("pods", kNamespace, name, [&](Json& pod) {
      pod["metadata"]["annotations"]["example.com/touched"] = app;
    });
  } else {
    world_.api.ModifyStatus("pods", kNamespace, name,
                            [&](Json& pod) { pod["status"]["message"] = app; });
  }
}

// Gone at once, gone after its grace period, finished, or made anew under its name.
void Workload::EndPod(const std::string& name) {
  const uint64_t what = random_.Below(4);
  const auto away = [this, name] { world_.api.Delete("pods", kNamespace, name); };
  if (what == 0) {
    TraceAction("delete pod " + name);
    away();
  } else if (what == 1) {
    TraceAction("terminate pod " + name);
    world_.api.Terminate(kNamespace, name);
    world_.loop.After(std::chrono::milliseconds(Between(1, 20000)), away);
  } else if (what == 2) {
    TraceAction("finish pod " + name);
    world_.api.ModifyStatus("pods", kNamespace, name,
                            [](Json& pod) { pod["status"]["phase"] = "Succeeded"; });
  } else {
    TraceAction("replace pod " + name);
    away();
    world_.api.Create("pods", kNamespace, NewPod(name));
  }
}

void Workload::ChangePod() {
  const std::string name = AnyPod();
  if (name.empty()) return;
  if (Chance(0.5)) {
    EditPod(name);
  } else {
    EndPod(name);
  }
}

// Made and bound by somebody else, who may know little of the node.
void Workload::AddForeignPod() {
  const std::string name = "f" + std::to_string(next_foreign_++);
  Json pod = NewPod(name);
  pod["spec"]["schedulerName"] = "somebody-else";
  pod["spec"].erase("schedulingGates");
  if (!world_.api.Create("pods", kNamespace, std::move(pod))) return;
  TraceAction("add foreign pod " + name);
  world_.loop.After(std::chrono::milliseconds(Between(1, 3000)), [this, name] {
    const std::string node = AnyNode();
    if (node.empty()) return;
    const Json binding = {{"apiVersion", "v1"},
                          {"kind", "Binding"},
                          {"metadata", {{"name", name}}},
                          {"target", {{"kind", "Node"}, {"name", node}}}};
    const auto answer = world_.api.Handle(
        {.method = "POST",
         .target = std::string("/api/v1/namespaces/") + kNamespace + "/pods/" + name + "/binding",
         .accept = "application/json",
         .content_type = "application/json",
         .body = binding.dump(),
         .user = {.name = "somebody-else", .groups = {"system:authenticated"}}});
    TraceAction("bind foreign pod " + name + " to " + node + ": " + std::to_string(answer.status));
  });
}

}  // namespace ks::sim
