// SPDX-License-Identifier: Apache-2.0
#include "sim/group_victim_watch.h"

#include <algorithm>
#include <utility>

#include "framework/pod_requests.h"
#include "sim/gang_fit.h"

namespace ks::sim {
namespace {

using framework::PodGroupKey;
using framework::Resource;

// From the last answer until nothing more can come of a decision.
constexpr Duration kPause = std::chrono::seconds(30);
constexpr std::string_view kForGroup = "higher priority podgroup";
constexpr std::string_view kForTree = "higher priority compositepodgroup";
constexpr int kMostLevels = 4;

// With the pod itself.
Resource RequestOf(const api::Pod& pod) {
  Resource request = framework::AccountPod(pod).requested;
  request.allowed_pod_number = 1;
  return request;
}

void Take(const Resource& part, Resource* from) {
  from->milli_cpu -= part.milli_cpu;
  from->memory -= part.memory;
  from->allowed_pod_number -= part.allowed_pod_number;
}

void Give(const Resource& part, Resource* to) {
  to->milli_cpu += part.milli_cpu;
  to->memory += part.memory;
  to->allowed_pod_number += part.allowed_pod_number;
}

bool IsEnough(const Resource& free) {
  return free.milli_cpu >= 0 && free.memory >= 0 && free.allowed_pod_number >= 0;
}

// The pod's PodGroup and what is known above it, from below.
std::vector<PodGroupKey> GroupsOf(const api::Pod& pod, const framework::Handle& handle) {
  std::vector<PodGroupKey> groups;
  if (!pod.spec->scheduling_group) return groups;
  PodGroupKey group{pod.meta.ns, *pod.spec->scheduling_group, false};
  while (groups.size() < kMostLevels) {
    const api::GroupSpec* spec = SpecOf(handle.pod_groups(), group);
    if (spec == nullptr || std::find(groups.begin(), groups.end(), group) != groups.end()) break;
    groups.push_back(group);
    const bool trees = handle.gates().Enabled(config::Gate::kCompositePodGroup);
    if (!trees || spec->parent_composite_pod_group_name.empty()) break;
    group = {pod.meta.ns, spec->parent_composite_pod_group_name, true};
  }
  return groups;
}

}  // namespace

void GroupVictimWatch::Asked(framework::Handle& handle,
                             const framework::GroupPreemptor& preemptor) {
  Decision decision{.root = preemptor.root.Text(),
                    .priority = handle.pod_groups().PriorityOf(preemptor.root),
                    .time = handle.clock().WallNow(),
                    .room_only = !preemptor.root.composite,
                    .last = host_.now()};
  for (const framework::GroupAssignment& member : preemptor.members) {
    const api::Pod& pod = *member.pod;
    decision.room_only = decision.room_only && AsksForRoomOnly(pod);
    decision.members[pod.meta.uid] = {RequestOf(pod), pod.status.nominated_node_name.str()};
  }
  for (const framework::NodeInfo* info : handle.snapshot().nodes()) {
    Node& node = decision.nodes[info->name()];
    node.free = info->allocatable();
    for (const framework::PodInfoPtr& nominated :
         handle.nominator().NominatedPodsForNode(info->name())) {
      if (decision.members.contains(nominated->pod().meta.uid)) continue;
      Give(RequestOf(nominated->pod()), &node.nominated);
    }
    for (const framework::PodInfoPtr& running : info->pods()) {
      const api::Pod& pod = running->pod();
      Running known{.name = pod.meta.name,
                    .unit = pod.meta.uid,
                    .priority = pod.Priority(),
                    .node = info->name(),
                    .request = RequestOf(pod),
                    .stays = pod.meta.deletion_timestamp || host_.is_held(pod.meta.uid)};
      for (const PodGroupKey& group : GroupsOf(pod, handle)) {
        const api::GroupSpec* spec = SpecOf(handle.pod_groups(), group);
        known.priority = spec->priority.value_or(0);
        if (spec->disruption_mode == api::DisruptionMode::kAll) known.unit = group.Text();
      }
      Take(known.request, &node.free);
      decision.running[pod.meta.uid] = std::move(known);
    }
  }
  for (Decision& other : open_) {
    if (other.time == decision.time) decision.ambiguous = other.ambiguous = true;
  }
  open_.push_back(std::move(decision));
}

void GroupVictimWatch::Nominated(const std::string& uid, const std::string& node) {
  for (Decision& decision : open_) {
    const auto member = decision.members.find(uid);
    if (!decision.over && member != decision.members.end()) member->second.node = node;
  }
}

GroupVictimWatch::Decision* GroupVictimWatch::Find(TimePoint decided) {
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [decided](const Decision& one) { return one.time == decided; });
  return found == open_.end() ? nullptr : &*found;
}

bool GroupVictimWatch::EvictionStarts(const api::Pod& victim, TimePoint decided,
                                      const std::string& reason) {
  if (!reason.ends_with(kForGroup) && !reason.ends_with(kForTree)) return false;
  Decision* const decision = Find(decided);
  if (decision == nullptr) {
    host_.fail("pod " + victim.meta.name + " is evicted for no group that asked");
    return false;
  }
  ++decision->in_flight;
  decision->last = host_.now();
  if (decision->ambiguous) return true;
  const auto known = decision->running.find(victim.meta.uid);
  if (known == decision->running.end()) {
    host_.fail("pod " + victim.meta.name + " is evicted for " + decision->root +
               ", and was on no node");
  } else if (known->second.priority >= decision->priority) {
    host_.fail("pod " + victim.meta.name + " is evicted for " + decision->root +
               ", which is not more important");
  } else if (!decision->evicted.insert(victim.meta.uid).second) {
    host_.fail("pod " + victim.meta.name + " is evicted for " + decision->root + " twice");
  }
  return true;
}

void GroupVictimWatch::EvictionEnds(TimePoint decided, bool failed) {
  Decision* const decision = Find(decided);
  if (decision == nullptr || decision->in_flight == 0) return;
  --decision->in_flight;
  decision->failed |= failed;
  decision->last = host_.now();
}

void GroupVictimWatch::AfterStep() {
  std::erase_if(open_, [this](Decision& decision) {
    decision.over = true;
    if (decision.in_flight != 0 || host_.now() - decision.last < kPause) return false;
    if (decision.evicted.empty() || decision.failed || decision.ambiguous) return true;
    ++judged_;
    Judge(decision);
    return true;
  });
}

void GroupVictimWatch::Judge(const Decision& decision) const {
  std::string wrong = WhyTornApart(decision);
  if (wrong.empty()) wrong = WhyInVain(decision);
  if (!wrong.empty()) host_.fail("for " + decision.root + " " + wrong);
}

std::string GroupVictimWatch::WhyTornApart(const Decision& decision) const {
  std::set<std::string> units;
  for (const std::string& uid : decision.evicted) units.insert(decision.running.at(uid).unit);
  for (const auto& [uid, pod] : decision.running) {
    if (pod.stays || !units.contains(pod.unit) || decision.evicted.contains(uid)) continue;
    return "some of " + pod.unit + " are evicted, which goes as a whole, and " + pod.name +
           " is not";
  }
  return {};
}

// Where all that was evicted together might have stayed beside the members. Who is nominated
// counts, whether a member would have to respect it or not. What goes as a whole with a pod that
// Permit holds is not judged: that pod is rejected, which is no eviction, and its room counted.
std::string GroupVictimWatch::WhyInVain(const Decision& decision) const {
  if (!decision.room_only) return {};
  std::map<std::string, Resource> free;  // with the members there, without the victims
  for (const auto& [name, node] : decision.nodes) {
    free[name] = node.free;
    Take(node.nominated, &free[name]);
  }
  for (const auto& [uid, member] : decision.members) {
    if (!member.node.empty()) Take(member.request, &free[member.node]);
  }
  std::map<std::string, std::vector<const Running*>> units;
  for (const std::string& uid : decision.evicted) {
    const Running& victim = decision.running.at(uid);
    Give(victim.request, &free[victim.node]);
    units[victim.unit].push_back(&victim);
  }
  for (const auto& [uid, pod] : decision.running) {
    if (pod.stays) units.erase(pod.unit);
  }
  for (const auto& [unit, victims] : units) {
    std::map<std::string, Resource> left = free;
    for (const Running* victim : victims) Take(victim->request, &left[victim->node]);
    const bool fits = std::all_of(victims.begin(), victims.end(), [&](const Running* victim) {
      return IsEnough(left[victim->node]);
    });
    if (fits) return victims.front()->name + " is evicted in vain";
  }
  return {};
}

}  // namespace ks::sim
