// SPDX-License-Identifier: Apache-2.0
#include "sim/gang_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/gang_scheduling/gang_scheduling.h"
#include "sim/process.h"

namespace ks::sim {

using queue::Store;

// ---- what the process was told ----

std::optional<GangSteps::Key> GangSteps::RootOf(const api::Pod& pod) const {
  const std::string group = GroupOf(pod);
  const auto found = process_.groups().find(group);
  if (found == process_.groups().end()) return std::nullopt;
  Key root{.name = group};
  if (!process_.world().plan.group_trees) return root;
  std::string parent = found->second->spec.parent_composite_pod_group_name;
  while (!parent.empty()) {
    root = {.composite = true, .name = pod.meta.ns.str() + "/" + parent};
    const auto above = process_.composites().find(root.name);
    if (above == process_.composites().end()) return std::nullopt;
    parent = above->second->spec.parent_composite_pod_group_name;
  }
  return root;
}

int64_t GangSteps::CountMembers(const std::string& group, bool on_nodes) const {
  const auto& pods = process_.pods();
  return std::count_if(pods.begin(), pods.end(), [&](const auto& known) {
    const api::Pod& pod = *known.second;
    if (GroupOf(pod) != group) return false;
    if (!pod.node_name.empty()) return true;
    // A member that begins to go on its way to a node does not count any more when it comes back.
    if (!on_nodes) return process_.IsOurs(pod) && !pod.meta.deletion_timestamp;
    return process_.recorder().reserved().contains(pod.meta.uid) ||
           process_.recorder().bound().contains(pod.meta.uid);
  });
}

bool GangSteps::IsComplete(const Key& group, bool on_nodes) const {
  if (!group.composite) {
    const auto found = process_.groups().find(group.name);
    return found != process_.groups().end() &&
           CountMembers(group.name, on_nodes) >= found->second->min_count.value_or(1);
  }
  const auto found = process_.composites().find(group.name);
  if (found == process_.composites().end()) return false;
  int64_t complete = 0;
  const auto count = [&](const auto& children, bool composite) {
    for (const auto& [key, child] : children) {
      const std::string& parent = child->spec.parent_composite_pod_group_name;
      if (parent.empty() || child->meta.ns.str() + "/" + parent != group.name) continue;
      if (IsComplete({.composite = composite, .name = key}, on_nodes)) ++complete;
    }
  };
  count(process_.groups(), false);
  count(process_.composites(), true);
  return complete >= found->second->min_group_count.value_or(1);
}

GangWatch::Known GangSteps::KnownOf(const api::Pod& pod) const {
  GangWatch::Known known;
  const std::string group = GroupOf(pod);
  const auto object = process_.groups().find(group);
  if (object != process_.groups().end()) {
    known.uid = object->second->meta.uid;
    known.version = object->second->meta.resource_version;
  }
  for (const auto& [key, member] : process_.pods()) {
    if (GroupOf(*member) == group) known.nodes[member->meta.uid] = member->node_name.str();
  }
  return known;
}

// ---- members that have nodes ----

void GangSteps::Reserved(const api::PodPtr& pod) {
  held_[pod->meta.uid] = {.pod = pod};
  new_.insert(pod->meta.uid);
  NoteWhole();
}

void GangSteps::GivenUp(const api::Pod& pod) {
  held_.erase(pod.meta.uid);
  if (const auto root = RootOf(pod)) given_up_.insert(*root);
}

std::string GangSteps::Binds(const std::string& uid) {
  NoteWhole();
  const auto found = held_.find(uid);
  if (found == held_.end()) return {};
  const Held held = found->second;
  held_.erase(found);
  if (held.whole) return {};
  return "pod " + held.pod->meta.name + " is to be bound, and its gang " + GroupOf(*held.pod) +
         " has too few members on nodes";
}

void GangSteps::NoteWhole() {
  for (auto& [uid, held] : held_) {
    if (held.whole) continue;
    const std::optional<Key> root = RootOf(*held.pod);
    held.whole = !root || IsComplete(*root, true);
  }
}

bool GangSteps::IsHeldByGang(const std::string& uid) const {
  framework::WaitingPod* waiting = process_.scheduler().context().waiting_pods.GetWaitingPod(uid);
  if (waiting == nullptr) return false;
  const std::vector<std::string> plugins = waiting->PendingPlugins();
  return std::find(plugins.begin(), plugins.end(), plugins::kGangSchedulingName) != plugins.end();
}

// An attempt gives nodes to as many members as the gang wants, or to none. What fails after the
// search leaves the others at Permit.
std::string GangSteps::CheckReserved() const {
  for (const std::string& uid : new_) {
    const api::PodPtr pod = process_.recorder().ReservedPod(uid);
    if (pod == nullptr) continue;
    const std::optional<Key> root = RootOf(*pod);
    if (!root || given_up_.contains(*root)) continue;
    const std::string group = GroupOf(*pod);
    if (IsComplete(*root, true) && IsComplete({.composite = false, .name = group}, true)) continue;
    return "pod " + pod->meta.name + " was given a node, and its gang " + group +
           " has too few members on nodes";
  }
  return {};
}

// Whoever makes the gang whole lets the others go.
std::string GangSteps::CheckReleased() const {
  for (const std::string& uid : new_) {
    const api::PodPtr last = process_.recorder().ReservedPod(uid);
    if (last == nullptr || IsHeldByGang(uid)) continue;
    const std::optional<Key> root = RootOf(*last);
    if (!root || !IsComplete(*root, true)) continue;
    for (const auto& [other, held] : held_) {
      if (RootOf(*held.pod) != root || !IsHeldByGang(other)) continue;
      return "pod " + held.pod->meta.name + " is held at Permit although its gang is whole";
    }
  }
  return {};
}

// ---- members in the queue ----

std::string GangSteps::WhyLost(const queue::Record& record, const api::Pod& pod) const {
  const std::optional<Key> root = RootOf(pod);
  if (record.store == Store::kIncomplete) {
    return root ? "is held for its group, which is known" : "";
  }
  if (record.store == Store::kPending) {
    if (!root) return "waits for an attempt of its group, which is not known";
    const size_t slash = root->name.find('/');
    const framework::PodGroupKey key{
        .ns = pod.meta.ns, .name = root->name.substr(slash + 1), .composite = root->composite};
    const bool has_entity = process_.scheduler().context().queue.groups()->Find(key) != nullptr;
    return has_entity ? "" : "waits for an attempt of its group, which is over";
  }
  if (record.store != Store::kUnschedulable) return {};
  if (!record.gated) return "is parked with its group, which nothing wakes";
  // What gated the group may be the answer of a member that has left meanwhile; the others' own
  // reasons count then (docs/spec/queue.md 18.6). Not every member is asked.
  const auto is_gang = [](const Symbol& gate) {
    return gate.view() == plugins::kGangSchedulingName;
  };
  const Symbol own = record.pod->gating_plugin;
  const bool by_gang =
      is_gang(queue::EntityOf(record).entity().gating_plugin) && (own.empty() || is_gang(own));
  if (by_gang && root && IsComplete(*root, false)) return "sleeps on although its gang is complete";
  return {};
}

std::string GangSteps::CheckQueue() const {
  std::string wrong;
  process_.scheduler().context().queue.stores().ForEach([&](const queue::Record& record) {
    if (record.kind != queue::RecordKind::kMember || !wrong.empty()) return;
    const api::Pod& pod = *record.pod->pod();
    const std::string why = WhyLost(record, pod);
    if (!why.empty()) wrong = "pod " + pod.meta.name + " " + why;
  });
  return wrong;
}

std::string GangSteps::AfterStep() {
  NoteWhole();
  std::string wrong = CheckReserved();
  if (wrong.empty()) wrong = CheckReleased();
  if (wrong.empty()) wrong = CheckQueue();
  new_.clear();
  given_up_.clear();
  return wrong;
}

}  // namespace ks::sim
