// SPDX-License-Identifier: Apache-2.0
// What groups of pods need: gangs and basic groups with their members, in any order, pairs of gangs
// of which either could take every node, trees of groups; and users who change how many members a
// gang wants, take members and groups away and bring them back.

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "sim/loaded_plugin.h"
#include "sim/sim_extenders.h"
#include "sim/workload.h"

namespace ks::sim {
namespace {

using apiserver::Json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kNamespace = "default";
constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kHost = "kubernetes.io/hostname";

Json Member(int milli_cpu, int mebibytes) {
  const Json requests = {{"cpu", std::to_string(milli_cpu) + "m"},
                         {"memory", std::to_string(mebibytes) + "Mi"}};
  return {{"metadata", {{"labels", {{"app", "gang"}}}}},
          {"spec",
           {{"containers", Json::array({{{"name", "c"},
                                         {"image", "example.com/i:1"},
                                         {"resources", {{"requests", requests}}}}})}}}};
}

Json WorkloadRef() { return {{"workloadName", "w"}, {"templateName", "t"}}; }

}  // namespace

void Workload::GroupSometime(Duration until, Action action) {
  const auto most = static_cast<uint64_t>(until.count());
  world_.loop.After(Duration(static_cast<int64_t>(groups_random_.Below(most + 1))),
                    std::move(action));
}

void Workload::StartGroups() {
  const Plan& plan = world_.plan;
  for (int i = 0; i < plan.groups; ++i) {
    GroupSometime(plan.arrivals, [this] {
      if (GroupChance(world_.plan.group_twins)) return AddTwins();
      if (world_.plan.group_trees && GroupChance(0.4)) return AddTree();
      AddGang("");
    });
  }
  for (int i = 0; i < plan.group_changes; ++i) {
    GroupSometime(plan.faults_end, [this] { ChangeGroups(); });
  }
}

// ---- new ones ----

// `wanted`: 0 makes a basic group.
std::string Workload::NewGang(int members, int wanted, Json pod) {
  const std::string name = "g" + std::to_string(gangs_.size());
  Json group = {{"schedulingPolicy", wanted == 0 ? Json{{"basic", Json::object()}}
                                                 : Json{{"gang", {{"minCount", wanted}}}}}};
  if (GroupChance(0.3)) group["disruptionMode"] = {{"all", Json::object()}};
  if (world_.plan.group_topology && GroupChance(0.4)) {
    group["schedulingConstraints"] = {
        {"topology", Json::array({{{"key", GroupChance(0.7) ? kZone : kHost}}})}};
  }
  PlaceGang(pod, group);
  if (!world_.plan.extenders.empty() && GroupChance(0.5)) {
    for (const char* of : {"requests", "limits"}) {
      pod["spec"]["containers"][0]["resources"][of][kLicense] = "1";
    }
  }
  pod["spec"]["schedulingGroup"] = {{"podGroupName", name}};
  gangs_[name] = {.pod = std::move(pod),
                  .alike = members < 2 || GroupChance(0.75),
                  .next_member = 0,
                  .spec = std::move(group)};
  return name;
}

// What all members have in common, and their group with them.
void Workload::PlaceGang(Json& pod, Json& group) {
  Json& spec = pod["spec"];
  const bool second = world_.plan.two_profiles && GroupChance(0.3);
  spec["schedulerName"] = second ? "second-scheduler" : "default-scheduler";
  if (GroupChance(0.15)) {
    const char* disk = GroupChance(0.5) ? "ssd" : "hdd";
    if (world_.plan.loaded_plugin) {
      pod["metadata"]["labels"][kLoadedLabel] = disk;
    } else {
      spec["nodeSelector"] = {{"disk", disk}};
    }
  }
  if (GroupChance(0.3)) {
    spec["tolerations"] = Json::array({{{"key", "dedicated"}, {"operator", "Exists"}}});
  }
  if (world_.plan.preemption && GroupChance(std::max(0.5, world_.plan.important))) {
    constexpr std::array kClasses = {"critical", "important", "usual", "spare"};
    spec["priorityClassName"] = kClasses[groups_random_.Below(kClasses.size())];
    group["priorityClassName"] = spec["priorityClassName"];
  } else if (!world_.plan.preemption && GroupChance(0.2)) {
    spec["priorityClassName"] = GroupChance(0.5) ? "high" : "low";
    group["priorityClassName"] = spec["priorityClassName"];
    group["preemptionPolicy"] = "Never";
  }
  // Members and group that do not agree are refused, again and again.
  if (GroupChance(0.03)) group.erase("priorityClassName");
}

void Workload::AddGang(const std::string& parent) {
  const int members = GroupBetween(1, parent.empty() ? 6 : 3);
  int wanted = GroupChance(0.5) ? members : GroupBetween(1, members);
  if (GroupChance(0.05)) wanted = members + 1;
  if (GroupChance(0.2)) wanted = 0;
  const bool heavy = GroupChance(0.3);
  const int milli_cpu = heavy ? GroupBetween(8, 30) * 100 : GroupBetween(1, 20) * 100;
  const std::string name = NewGang(members, wanted, Member(milli_cpu, GroupBetween(1, 20) * 100));
  if (!parent.empty()) {
    gangs_[name].spec["parentCompositePodGroupName"] = parent;
    gangs_[name].spec["workloadRef"] = WorkloadRef();
  }
  BringGang(name, members, GroupChance(0.2) ? seconds(30) : seconds(3));
}

// The group and its members, in any order.
void Workload::BringGang(const std::string& name, int members, Duration within) {
  if (GroupChance(world_.plan.group_late)) {
    GroupSometime(within * 2, [this, name] { AddGroup(name); });
  } else {
    AddGroup(name);
  }
  for (int i = 0; i < members; ++i) {
    GroupSometime(within, [this, name] { AddMember(name); });
  }
}

// Each member takes more than half of a node, and each gang wants as many as there are nodes: who
// holds some of the nodes keeps the other one out.
void Workload::AddTwins() {
  int64_t least = INT64_MAX;
  for (const auto& [key, stored] : world_.api.Objects("nodes")) {
    const auto node = Decoded<api::Node>(*stored);
    const framework::NodeInfo info(node);
    least = std::min(least, info.allocatable().milli_cpu);
  }
  const int nodes = static_cast<int>(std::min<size_t>(world_.api.Objects("nodes").size(), 8));
  if (nodes == 0) return;
  const int milli_cpu = static_cast<int>(least) * GroupBetween(51, 70) / 100;
  const int wanted = std::max(1, nodes * GroupBetween(50, 100) / 100);
  for (int i = 0; i < 2; ++i) {
    BringGang(NewGang(wanted, wanted, Member(milli_cpu, 100)), wanted, milliseconds(300));
  }
}

void Workload::AddTree() {
  const std::string root = "c" + std::to_string(trees_.size());
  const int children = GroupBetween(1, 3);
  const int wanted = GroupChance(0.3) ? 0 : GroupBetween(1, children);
  Json spec = {{"schedulingPolicy", wanted == 0 ? Json{{"basic", Json::object()}}
                                                : Json{{"gang", {{"minGroupCount", wanted}}}}},
               {"workloadRef", WorkloadRef()}};
  if (GroupChance(0.3)) {
    spec["schedulingConstraints"] = {{"topology", Json::array({{{"key", kZone}}})}};
  }
  if (!trees_.empty() && GroupChance(0.2)) {
    spec["parentCompositePodGroupName"] = trees_.begin()->first;
  }
  trees_[root] = std::move(spec);
  GroupSometime(seconds(GroupChance(0.7) ? 1 : 10), [this, root] {
    const bool made = world_.api.Create("compositepodgroups", kNamespace,
                                        {{"metadata", {{"name", root}}}, {"spec", trees_[root]}});
    TraceAction((made ? "add tree " : "cannot add tree ") + root);
  });
  for (int i = 0; i < children; ++i) AddGang(root);
}

void Workload::AddGroup(const std::string& name) {
  const bool made = world_.api.Create(
      "podgroups", kNamespace, {{"metadata", {{"name", name}}}, {"spec", gangs_[name].spec}});
  TraceAction((made ? "add group " : "cannot add group ") + name + " " +
              gangs_[name].spec["schedulingPolicy"].dump());
}

void Workload::AddMember(const std::string& name) {
  Gang& gang = gangs_[name];
  Json pod = gang.pod;
  const std::string member = name + "-" + std::to_string(gang.next_member++);
  pod["metadata"]["name"] = member;
  if (!gang.alike) {
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] =
        std::to_string(GroupBetween(1, 20) * 100) + "m";
  }
  if (world_.plan.volumes && GroupChance(0.3)) UseClaims(member, pod["spec"]);
  if (world_.plan.devices && GroupChance(0.3)) UseDevices(member, pod["spec"]);
  const bool gated = GroupChance(0.05);
  if (gated) pod["spec"]["schedulingGates"] = Json::array({{{"name", "example.com/wait"}}});
  const bool made = world_.api.Create("pods", kNamespace, std::move(pod));
  TraceAction((made ? "add member " : "cannot add member ") + member);
  if (gated) GroupSometime(seconds(10), [this, member] { LiftGates(member); });
}

// ---- changes ----

std::string Workload::AnyGang() {
  if (gangs_.empty()) return {};
  return std::next(gangs_.begin(), static_cast<ptrdiff_t>(groups_random_.Below(gangs_.size())))
      ->first;
}

std::vector<std::string> Workload::MembersOf(const std::string& name) {
  std::vector<std::string> members;
  for (const auto& [key, stored] : world_.api.Objects("pods")) {
    if (stored->text.find("\"podGroupName\":\"" + name + "\"") == std::string::npos) continue;
    members.push_back(stored->name);
  }
  return members;
}

void Workload::ChangeGroups() {
  const std::string name = AnyGang();
  if (name.empty()) return;
  const uint64_t what = groups_random_.Below(100);
  if (what < 25) return ChangeMinCount(name);
  if (what < 45) return AddMember(name);
  if (what < 70) return EndMember(name);
  if (what < 80) return DeleteGroup(name);
  if (what < 90) return DeleteGang(name);
  ChangeTree();
}

void Workload::ChangeMinCount(const std::string& name) {
  const int most = static_cast<int>(MembersOf(name).size()) + 1;
  const int wanted = GroupBetween(1, most);
  TraceAction("group " + name + " wants " + std::to_string(wanted));
  world_.api.Modify("podgroups", kNamespace, name, [&](Json& group) {
    Json& policy = group["spec"]["schedulingPolicy"];
    if (policy.contains("gang")) policy["gang"]["minCount"] = wanted;
  });
}

// A member goes, or another one takes its place or its name.
void Workload::EndMember(const std::string& name) {
  const std::vector<std::string> members = MembersOf(name);
  if (members.empty()) return;
  const std::string& member = members[groups_random_.Below(members.size())];
  const uint64_t what = groups_random_.Below(3);
  if (what == 0) return EndPod(member);
  TraceAction("replace member " + member);
  world_.api.Delete("pods", kNamespace, member);
  if (what == 1) return AddMember(name);
  Json pod = gangs_[name].pod;
  pod["metadata"]["name"] = member;
  world_.api.Create("pods", kNamespace, std::move(pod));
}

// Its finalizer keeps it as long as it has members, unless somebody takes that away.
void Workload::DeleteGroup(const std::string& name) {
  const bool at_once = GroupChance(0.6);
  TraceAction(std::string(at_once ? "take away group " : "delete group ") + name);
  if (at_once) {
    world_.api.Overwrite("podgroups", kNamespace, name,
                         [](Json& group) { group["metadata"].erase("finalizers"); });
  }
  world_.api.Delete("podgroups", kNamespace, name);
  if (!GroupChance(0.7)) return;
  GroupSometime(GroupChance(0.3) ? seconds(0) : seconds(15), [this, name] { AddGroup(name); });
}

void Workload::DeleteGang(const std::string& name) {
  TraceAction("delete gang " + name);
  world_.api.Delete("podgroups", kNamespace, name);
  for (const std::string& member : MembersOf(name)) {
    world_.api.Delete("pods", kNamespace, member);
  }
}

void Workload::ChangeTree() {
  if (trees_.empty()) return;
  const auto any =
      std::next(trees_.begin(), static_cast<ptrdiff_t>(groups_random_.Below(trees_.size())));
  const std::string name = any->first;
  TraceAction("delete tree " + name);
  world_.api.Delete("compositepodgroups", kNamespace, name);
  GroupSometime(seconds(10), [this, name] {
    TraceAction("add tree " + name + " again");
    world_.api.Create("compositepodgroups", kNamespace,
                      {{"metadata", {{"name", name}}}, {"spec", trees_[name]}});
  });
}

}  // namespace ks::sim
