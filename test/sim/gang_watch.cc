// SPDX-License-Identifier: Apache-2.0
#include "sim/gang_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/api_model.h"
#include "sim/gang_fit.h"
#include "sim/sim_extenders.h"

namespace ks::sim {
namespace {

using apiserver::Change;

const apiserver::KindInfo& Groups() {
  static const auto& kind = *apiserver::FindResource("scheduling.k8s.io", "v1beta1", "podgroups");
  return kind;
}

const apiserver::KindInfo& Pods() {
  static const auto& kind = *apiserver::FindResource("", "v1", "pods");
  return kind;
}

const api::Condition* ConditionOf(const api::PodGroup& group) {
  const auto found = std::find_if(
      group.conditions.begin(), group.conditions.end(),
      [](const api::Condition& it) { return it.type == api::kPodGroupInitiallyScheduled; });
  return found == group.conditions.end() ? nullptr : &*found;
}

bool IsScheduled(const api::PodGroup& group) {
  const api::Condition* condition = ConditionOf(group);
  return condition != nullptr && condition->status == "True";
}

int64_t WantedBy(const api::PodGroup& group) { return group.min_count.value_or(1); }

}  // namespace

std::string GroupOf(const api::Pod& pod) {
  const auto& group = pod.spec->scheduling_group;
  return group ? pod.meta.ns.str() + "/" + *group : std::string();
}

// ---- the server ----

GangWatch::GangWatch(ApiModel& api, apiserver::Store& store, Fail fail)
    : api_(api), store_(store), fail_(std::move(fail)) {
  groups_read_ = store_.NextSequence(Groups());
  pods_read_ = store_.NextSequence(Pods());
}

void GangWatch::Look() {
  while (const Change* change = store_.At(Groups(), groups_read_)) {
    ++groups_read_;
    GroupChanged(*change);
  }
  while (const Change* change = store_.At(Pods(), pods_read_)) {
    ++pods_read_;
    PodChanged(*change);
  }
}

int64_t GangWatch::OnNodes(const Gang& gang) {
  return std::count_if(gang.members.begin(), gang.members.end(),
                       [](const auto& member) { return !member.second->node_name.empty(); });
}

void GangWatch::GroupChanged(const Change& change) {
  const std::string key = change.object->ns + "/" + change.object->name;
  Gang& gang = gangs_[key];
  const auto now =
      change.type == Change::Type::kDeleted ? nullptr : Decoded<api::PodGroup>(*change.object);
  const api::PodGroupPtr before = std::exchange(gang.object, now);
  const bool same = before != nullptr && now != nullptr && before->meta.uid == now->meta.uid;
  const bool wants_more = !same || WantedBy(*now) > WantedBy(*before);
  if (wants_more && (OnNodes(gang) != 0 || !gang.under_way.empty())) gang.torn = true;
  if (before != nullptr && !same) {
    gang.is_owed_news = sending_.contains(before->meta.uid) || late_.contains(before->meta.uid);
  }
  if (now == nullptr) return;
  // Made again: what comes goes by the name.
  if (!same && std::exchange(gang.is_owed_news, false)) late_.insert(now->meta.uid);
  const auto wanted = static_cast<int32_t>(WantedBy(*now));
  gang.least = std::min(gang.least.value_or(wanted), wanted);
  const bool reverted = same && IsScheduled(*before) && !IsScheduled(*now);
  gang.is_overwritten = reverted;
  if (reverted && late_.erase(now->meta.uid) != 0) {
    in_doubt_.insert(now->meta.uid);
  } else if (reverted) {
    fail_("group " + key + " was scheduled, and its condition says so no more");
  }
  Judge(key, gang);
}

void GangWatch::PodChanged(const Change& change) {
  const auto pod = Decoded<api::Pod>(*change.object);
  const std::string key = GroupOf(*pod);
  if (key.empty()) return;
  Gang& gang = gangs_[key];
  const std::string& uid = pod->meta.uid;
  gang.ever.insert(uid);
  if (change.type == Change::Type::kDeleted || pod->IsTerminal()) {
    const bool counted = gang.members.erase(uid) != 0;
    if (counted && (OnNodes(gang) != 0 || !gang.under_way.empty())) gang.torn = true;
    return;
  }
  const api::PodPtr before = std::exchange(gang.members[uid], pod);
  const bool bound = !pod->node_name.empty() && (before == nullptr || before->node_name.empty());
  if (bound) MemberBound(key, gang, *pod);
  // A request of a scheduler that is gone may arrive when the gang was whole once more, and has
  // lost members or wants more since.
  if (bound && gang.orphans.erase(uid) != 0) gang.torn = true;
  Judge(key, gang);
}

// Whatever a scheduler had seen of it, and in whatever order.
void GangWatch::MemberBound(const std::string& key, const Gang& gang, const api::Pod& pod) {
  if (!gang.least) {
    fail_("pod " + pod.meta.name + " is bound, and its group " + key + " never was there");
  } else if (static_cast<int64_t>(gang.ever.size()) < *gang.least) {
    fail_(fmt::format("pod {} is bound, and its gang {} never had more than {} members of {}",
                      pod.meta.name, key, gang.ever.size(), *gang.least));
  }
}

// Between the bindings of one attempt a gang may have too few members on nodes, and only then.
void GangWatch::Judge(const std::string& key, Gang& gang) {
  if (gang.object == nullptr) return;
  const int64_t bound = OnNodes(gang);
  const int64_t wanted = WantedBy(*gang.object);
  if (bound >= wanted) gang.torn = false;
  if (bound == 0 || bound >= wanted || gang.torn || !gang.under_way.empty()) return;
  fail_(fmt::format("gang {} has {} members of {} on nodes, and nobody is binding the others", key,
                    bound, wanted));
}

void GangWatch::Decided(const std::string& scheduler, const api::Pod& pod, const Known& known) {
  const std::string key = GroupOf(pod);
  Gang& gang = gangs_[key];
  std::map<std::string, std::string> nodes;
  for (const auto& [uid, member] : gang.members) nodes[uid] = member->node_name.str();
  const bool knows_all = gang.object != nullptr &&
                         gang.object->meta.resource_version == known.version &&
                         nodes == known.nodes;
  if (!knows_all) gang.torn = true;
  decided_.insert(known.uid);
  // What is to be said of it waits for its turn, and is not said when the lease is lost meanwhile.
  if (sending_.contains(known.uid)) in_doubt_.insert(known.uid);
  once_decided_.insert(key);
  gang.under_way[pod.meta.uid] = scheduler;
}

void GangWatch::GivenUp(const api::Pod& pod) {
  Gang& gang = gangs_[GroupOf(pod)];
  if (gang.under_way.erase(pod.meta.uid) != 0) gang.torn = true;
}

void GangWatch::Landed(const api::Pod& pod) {
  const std::string key = GroupOf(pod);
  Gang& gang = gangs_[key];
  gang.under_way.erase(pod.meta.uid);
  Judge(key, gang);
}

void GangWatch::Orphaned(const std::string& scheduler) {
  for (auto& [key, gang] : gangs_) {
    const size_t ended =
        std::erase_if(gang.under_way, [&scheduler, &orphans = gang.orphans](const auto& member) {
          if (member.second != scheduler) return false;
          orphans.insert(member.first);
          return true;
        });
    if (ended != 0) gang.torn = true;
  }
  // Another one may have waited for its turn.
  std::erase_if(sending_, [&](const auto& condition) {
    if (condition.second == scheduler) {
      in_doubt_.insert(condition.first);
      late_.insert(condition.first);
    }
    return condition.second == scheduler;
  });
}

void GangWatch::ConditionSent(const std::string& scheduler, const api::PodGroup& group,
                              bool scheduled) {
  NoteMisaddressed(group);
  const std::string& uid = group.meta.uid;
  sending_[uid] = scheduler;
  if (scheduled) {
    told_by_[uid] = scheduler;
    in_doubt_.insert(uid);
    return;
  }
  const auto teller = told_by_.find(uid);
  const bool another = teller != told_by_.end() && teller->second != scheduler;
  if (another && !IsScheduled(group)) late_.insert(uid);
}

void GangWatch::ConditionAnswered(const api::PodGroup& group, bool scheduled, bool done) {
  NoteMisaddressed(group);
  sending_.erase(group.meta.uid);
  if (scheduled && done) in_doubt_.erase(group.meta.uid);
  // Nobody waits for it any more, and it may still be carried out.
  if (!scheduled && !done) late_.insert(group.meta.uid);
}

// A patch goes to whoever has the name: it may say of a group what became of one that was there
// before, as its scheduler does not know yet.
void GangWatch::NoteMisaddressed(const api::PodGroup& group) {
  const auto gang = gangs_.find(group.meta.Key());
  if (gang == gangs_.end() || gang->second.object == nullptr) return;
  const std::string& uid = gang->second.object->meta.uid;
  if (uid != group.meta.uid) late_.insert(uid);
}

std::string GangWatch::AtEnd(const std::map<std::string, api::Condition>& fresh,
                             const std::vector<api::PodPtr>& pods) const {
  for (const auto& [key, gang] : gangs_) {
    if (gang.object == nullptr) continue;
    const auto said = fresh.find(key);
    std::string wrong =
        WhyConditionIsWrong(key, gang, said == fresh.end() ? nullptr : &said->second);
    if (wrong.empty()) wrong = WhyItFits(gang, pods);
    if (!wrong.empty()) return "group " + key + " " + wrong;
  }
  return {};
}

// `fresh`: null where a scheduler without a past does not try the group.
std::string GangWatch::WhyConditionIsWrong(const std::string& key, const Gang& gang,
                                           const api::Condition* fresh) const {
  const std::string& uid = gang.object->meta.uid;
  const api::Condition* condition = ConditionOf(*gang.object);
  if (IsScheduled(*gang.object)) {
    return once_decided_.contains(key) ? "" : "says that it was scheduled, which it never was";
  }
  if (decided_.contains(uid) && !in_doubt_.contains(uid)) {
    return "was scheduled, and its condition does not say so";
  }
  if (gang.is_overwritten) return {};  // its scheduler says it again with its next attempt only
  if (fresh == nullptr || fresh->status == "True") return {};
  if (condition == nullptr) return "cannot be scheduled, and has no condition";
  if (condition->status == fresh->status && condition->reason == fresh->reason) return {};
  return fmt::format("says {}: {}; a fresh scheduler says {}: {}", condition->reason,
                     condition->message, fresh->reason, fresh->message);
}

// Room for as many as are missing, and nobody else waits for it.
std::string GangWatch::WhyItFits(const Gang& gang, const std::vector<api::PodPtr>& pods) const {
  std::vector<api::NodePtr> nodes;
  std::vector<api::PodPtr> members;
  for (const auto& [key, node] : api_.Objects("nodes")) nodes.push_back(Decoded<api::Node>(*node));
  for (const auto& [uid, member] : gang.members) {
    if (HasExtender(api_.plan(), *member)) return {};  // room is not all there is to it
    members.push_back(member);
  }
  const std::optional<int64_t> room = RoomForGang(*gang.object, members, nodes, pods);
  const int64_t missing = std::max<int64_t>(1, WantedBy(*gang.object) - OnNodes(gang));
  if (!room || *room < missing) return {};
  return fmt::format("waits, although {} members find room and {} are enough", *room, missing);
}

}  // namespace ks::sim
