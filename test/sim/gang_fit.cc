// SPDX-License-Identifier: Apache-2.0
#include "sim/gang_fit.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "framework/pod_requests.h"
#include "sim/api_model.h"
#include "sim/oracle.h"

namespace ks::sim {
namespace {

// Nobody's terms select pods of this app.
bool IsUnknownToOthers(const api::Pod& pod) {
  return std::any_of(pod.meta.labels.begin(), pod.meta.labels.end(), [](const auto& label) {
    return label.first.view() == "app" && label.second.view() == "gang";
  });
}

}  // namespace

bool AsksForRoomOnly(const api::Pod& pod) {
  const api::PodSpec& spec = *pod.spec;
  return !spec.pod_affinity && !spec.pod_anti_affinity &&
         spec.topology_spread_constraints.empty() && spec.resource_claims.empty() &&
         spec.volumes.empty() && spec.scheduling_gates.empty() &&
         framework::AccountPod(pod).requested.scalars.empty() && !pod.meta.deletion_timestamp &&
         pod.spec->scheduler_name.view() != "somebody-else" && IsUnknownToOthers(pod);
}

namespace {

bool AreAlike(const api::Pod& a, const api::Pod& b) {
  const auto tolerations = [](const api::Pod& pod) { return pod.spec->tolerations.size(); };
  const framework::Resource asked_a = framework::AccountPod(a).requested;
  const framework::Resource asked_b = framework::AccountPod(b).requested;
  return asked_a.milli_cpu == asked_b.milli_cpu && asked_a.memory == asked_b.memory &&
         a.spec->node_selector == b.spec->node_selector && tolerations(a) == tolerations(b) &&
         a.spec->scheduler_name == b.spec->scheduler_name;
}

// What is left of a node, in members of this kind.
int64_t RoomOn(const api::Node& node, const api::Pod& member,
               const std::vector<api::PodPtr>& pods) {
  framework::Resource used;
  int64_t number = 0;
  for (const api::PodPtr& pod : pods) {
    if (pod->node_name.empty() && pod->status.nominated_node_name == node.meta.name) return 0;
    if (pod->node_name != node.meta.name || pod->IsTerminal()) continue;
    used.Add(framework::AccountPod(*pod).requested);
    ++number;
  }
  const framework::NodeInfo info(std::make_shared<const api::Node>(node));
  const framework::Resource& has = info.allocatable();
  const framework::Resource asked = framework::AccountPod(member).requested;
  int64_t room = has.allowed_pod_number - number;
  if (asked.milli_cpu > 0)
    room = std::min(room, (has.milli_cpu - used.milli_cpu) / asked.milli_cpu);
  if (asked.memory > 0) room = std::min(room, (has.memory - used.memory) / asked.memory);
  return std::max<int64_t>(room, 0);
}

std::string DomainOf(const api::Node& node, const api::PodGroup& group) {
  if (group.spec.topology_keys.empty()) return "all";
  const Symbol* value = node.meta.labels.Find(group.spec.topology_keys.front());
  return value == nullptr ? std::string() : value->str();
}

}  // namespace

std::optional<int64_t> RoomForGang(const api::PodGroup& group,
                                   const std::vector<api::PodPtr>& members,
                                   const std::vector<api::NodePtr>& nodes,
                                   const std::vector<api::PodPtr>& pods) {
  if (!group.spec.parent_composite_pod_group_name.empty()) return std::nullopt;
  std::vector<api::PodPtr> waiting;
  for (const api::PodPtr& member : members) {
    const bool valid = AsksForRoomOnly(*member) && AreAlike(*member, *members.front()) &&
                       member->Priority() == group.spec.priority.value_or(0) &&
                       member->spec->preemption_policy == members.front()->spec->preemption_policy;
    if (!valid) return std::nullopt;
    if (member->node_name.empty()) waiting.push_back(member);
  }
  if (waiting.empty()) return std::nullopt;
  std::map<std::string, int64_t> room;  // by domain
  std::map<std::string, int64_t> has;   // members on nodes, by domain
  for (const api::NodePtr& node : nodes) {
    const std::string domain = DomainOf(*node, group);
    has[domain] += std::count_if(members.begin(), members.end(), [&](const api::PodPtr& member) {
      return member->node_name == node->meta.name;
    });
    if (domain.empty() || !WhyRefused(*waiting.front(), *node).empty()) continue;
    room[domain] += RoomOn(*node, *waiting.front(), pods);
  }
  const auto on_nodes = static_cast<int64_t>(members.size() - waiting.size());
  int64_t most = 0;
  for (const auto& [domain, number] : room) {
    // Members that are on nodes already decide where the others go.
    const bool theirs = has[domain] == on_nodes;
    if (theirs) most = std::max(most, number);
  }
  return std::min(most, static_cast<int64_t>(waiting.size()));
}

}  // namespace ks::sim
