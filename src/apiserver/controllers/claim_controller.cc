// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/claim_controller.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "apiserver/controllers/claim_objects.h"
#include "apiserver/controllers/controller_event.h"
#include "apiserver/store/log_cursor.h"

namespace ks::apiserver {
namespace {

using claims::Claim;
using claims::Consumer;
using claims::EntryClaim;
using claims::Group;
using claims::Pod;
using claims::User;
using claims::UserKind;

// What one Step does at most, so that requests are served in between.
constexpr size_t kWorkPerStep = 32;
constexpr std::string_view kComponent = "resource_claim";

// Sets of names by a name; empty sets are not kept.
using Index = std::map<std::string, std::set<std::string>>;

std::string Key(std::string_view ns, std::string_view name) {
  return std::string(ns) + "/" + std::string(name);
}

class ClaimController final : public Controller {
 public:
  explicit ClaimController(Service& service)
      : registry_(service.registry()), store_(service.store()), clock_(service.clock()) {}

  void Step() override {
    Read();
    for (size_t done = 0; done < kWorkPerStep && DoOne(); ++done) Read();
  }
  std::optional<TimePoint> NextDue() const override {
    const bool unread =
        std::any_of(logs_.begin(), logs_.end(), [](const LogCursor* log) { return log->Unread(); });
    if (unread || !dirty_groups_.empty() || !dirty_pods_.empty() || !dirty_claims_.empty()) {
      return clock_.Now();
    }
    return std::nullopt;
  }

 private:
  void Read();
  void Rebuild();
  void ReadPod(const Change& change);
  void ReadGroup(const Change& change);
  void ReadClaim(const Change& change);
  void ForgetClaim(const std::string& key);
  void DirtyClaimsOf(UserKind kind, const std::string& key);

  bool DoOne();
  void SyncGroup(const std::string& key);
  void SyncPod(const std::string& key);
  // The name of the group's claim that an entry stands for; absent: it is the pod's own. Empty:
  // nobody knows yet.
  std::optional<std::string> ClaimOfGroup(const Pod& pod, const EntryClaim& entry) const;
  // The name of the claim of an entry that has none yet; empty: it cannot be made now.
  std::string MakeClaim(const User& user, const EntryClaim& entry);
  std::string FindMade(const User& user, const EntryClaim& entry) const;
  void ReserveForBound(const Pod& pod);
  void SyncClaim(const std::string& key);
  enum class Usage : uint8_t { kUses, kDone, kGone };
  Usage UsageBy(const User& user) const;
  void SayFailed(const User& user, const std::string& message);

  const KindInfo& KindOf(UserKind kind) const {
    return kind == UserKind::kPod ? pod_kind_ : group_kind_;
  }
  static std::string UserKey(UserKind kind, std::string_view key) {
    return (kind == UserKind::kPod ? "pod/" : "group/") + std::string(key);
  }
  static std::string UserKey(const User& user) {
    return UserKey(user.kind, Key(user.ns, user.name));
  }

  ObjectPtr FindKey(const KindInfo& kind, const std::string& key) const {
    const size_t slash = key.find('/');
    return store_.Find(kind, std::string_view(key).substr(0, slash),
                       std::string_view(key).substr(slash + 1));
  }
  std::optional<Group> FindGroup(const Pod& pod) const {
    if (pod.group.empty()) return std::nullopt;
    const ObjectPtr found = store_.Find(group_kind_, pod.self.ns, pod.group);
    if (found == nullptr) return std::nullopt;
    return claims::ReadGroup(found->Parse());
  }

  const KindInfo& pod_kind_ = *FindResource("", "v1", "pods");
  const KindInfo& group_kind_ = *FindResource("scheduling.k8s.io", "v1beta1", "podgroups");
  const KindInfo& claim_kind_ = *FindResource("resource.k8s.io", "v1", "resourceclaims");
  const KindInfo& template_kind_ = *FindResource("resource.k8s.io", "v1", "resourceclaimtemplates");

  Registry& registry_;
  Store& store_;
  const Clock& clock_;
  LogCursor pod_log_{store_, pod_kind_};
  LogCursor group_log_{store_, group_kind_};
  LogCursor claim_log_{store_, claim_kind_};
  LogCursor template_log_{store_, template_kind_};
  const std::array<LogCursor*, 4> logs_ = {&claim_log_, &group_log_, &pod_log_, &template_log_};

  // Keys are "ns/name", those of users begin with "pod/" or "group/".
  Index users_;                              // user -> claims that it owns or has reserved
  Index used_by_;                            // the other way round
  Index waiting_;                            // template -> users that wait for it
  Index members_;                            // group -> its pods with claims
  std::map<std::string, std::string> said_;  // user -> the last event about it
  // What is to be looked at.
  std::set<std::string> dirty_groups_;
  std::set<std::string> dirty_pods_;
  std::set<std::string> dirty_claims_;
};

void ClaimController::Read() {
  if (std::any_of(logs_.begin(), logs_.end(), [](const LogCursor* log) { return log->Lost(); })) {
    return Rebuild();
  }
  while (const Change* change = claim_log_.Next()) ReadClaim(*change);
  while (const Change* change = group_log_.Next()) ReadGroup(*change);
  while (const Change* change = pod_log_.Next()) ReadPod(*change);
  while (const Change* change = template_log_.Next()) {
    const auto it = waiting_.find(Key(change->object->ns, change->object->name));
    if (it == waiting_.end()) continue;
    for (const std::string& user : it->second) {
      const size_t slash = user.find('/');
      (user.starts_with("pod/") ? dirty_pods_ : dirty_groups_).insert(user.substr(slash + 1));
    }
    waiting_.erase(it);
  }
}

void ClaimController::Rebuild() {
  for (LogCursor* log : logs_) log->Restart();
  for (Index* index : {&users_, &used_by_, &waiting_, &members_}) index->clear();
  const auto added = [](const ObjectPtr& object) {
    return Change{.type = Change::Type::kAdded, .version = 0, .object = object, .before = nullptr};
  };
  for (const auto& [key, object] : store_.objects(claim_kind_)) ReadClaim(added(object));
  for (const auto& [key, object] : store_.objects(group_kind_)) ReadGroup(added(object));
  for (const auto& [key, object] : store_.objects(pod_kind_)) ReadPod(added(object));
}

void ClaimController::DirtyClaimsOf(UserKind kind, const std::string& key) {
  const auto it = users_.find(UserKey(kind, key));
  if (it != users_.end()) dirty_claims_.insert(it->second.begin(), it->second.end());
}

void ClaimController::ReadPod(const Change& change) {
  const std::string& text = change.object->text;
  const std::string key = Key(change.object->ns, change.object->name);
  DirtyClaimsOf(UserKind::kPod, key);
  const bool gone = change.type == Change::Type::kDeleted;
  if (gone) said_.erase(UserKey(UserKind::kPod, key));
  if (text.find(R"("resourceClaims":[)") == std::string::npos) return;
  if (!gone) dirty_pods_.insert(key);
  if (text.find(R"("schedulingGroup":{)") == std::string::npos) return;
  const std::string group = Key(change.object->ns, claims::ReadPod(change.object->Parse()).group);
  std::set<std::string>& members = members_[group];
  gone ? void(members.erase(key)) : void(members.insert(key));
  if (members.empty()) members_.erase(group);
}

void ClaimController::ReadGroup(const Change& change) {
  const std::string key = Key(change.object->ns, change.object->name);
  DirtyClaimsOf(UserKind::kGroup, key);
  if (change.type == Change::Type::kDeleted) {
    said_.erase(UserKey(UserKind::kGroup, key));
    return;
  }
  dirty_groups_.insert(key);
  if (const auto it = members_.find(key); it != members_.end()) {
    dirty_pods_.insert(it->second.begin(), it->second.end());
  }
}

void ClaimController::ReadClaim(const Change& change) {
  const StoredObject& object = *change.object;
  const std::string key = Key(object.ns, object.name);
  ForgetClaim(key);
  const Claim claim = claims::ReadClaim(object.Parse());
  if (change.type == Change::Type::kDeleted) {
    // That of a group is made again.
    if (claim.owner && claim.owner->kind == UserKind::kGroup) {
      dirty_groups_.insert(Key(object.ns, claim.owner->name));
    }
    return;
  }
  std::set<std::string>& users = used_by_[key];
  if (claim.owner) users.insert(UserKey(*claim.owner));
  for (const Consumer& consumer : claim.consumers) {
    if (consumer.kind) users.insert(UserKey(*consumer.kind, Key(object.ns, consumer.name)));
  }
  for (const std::string& user : users) users_[user].insert(key);
  dirty_claims_.insert(key);
}

void ClaimController::ForgetClaim(const std::string& key) {
  const auto known = used_by_.find(key);
  if (known == used_by_.end()) return;
  for (const std::string& user : known->second) {
    const auto it = users_.find(user);
    it->second.erase(key);
    if (it->second.empty()) users_.erase(it);
  }
  used_by_.erase(known);
}

bool ClaimController::DoOne() {
  if (!dirty_claims_.empty()) {
    SyncClaim(dirty_claims_.extract(dirty_claims_.begin()).value());
  } else if (!dirty_groups_.empty()) {
    SyncGroup(dirty_groups_.extract(dirty_groups_.begin()).value());
  } else if (!dirty_pods_.empty()) {
    SyncPod(dirty_pods_.extract(dirty_pods_.begin()).value());
  } else {
    return false;
  }
  return true;
}

// A claim that is gone is made again, whatever the status says.
void ClaimController::SyncGroup(const std::string& key) {
  const ObjectPtr found = FindKey(group_kind_, key);
  if (found == nullptr) return;
  Group group = claims::ReadGroup(found->Parse());
  if (group.terminating) return;
  bool made = false;
  for (EntryClaim& entry : group.claims) {
    if (entry.template_name.empty()) continue;
    entry.noted &=
        entry.claim.empty() || store_.Find(claim_kind_, group.self.ns, entry.claim) != nullptr;
    if (entry.noted) continue;
    entry.claim = MakeClaim(group.self, entry);
    if (entry.claim.empty()) return;
    made = true;
  }
  if (!made) return;
  registry_.OverwriteIfThere(group_kind_, group.self.ns, group.self.name,
                             [&group](Json& json) { claims::NoteClaims(group.claims, json); });
}

// The status says of all claims or of none.
void ClaimController::SyncPod(const std::string& key) {
  const ObjectPtr found = FindKey(pod_kind_, key);
  if (found == nullptr) return;
  Pod pod = claims::ReadPod(found->Parse());
  if (pod.done || pod.terminating) return;
  bool made = false;
  for (EntryClaim& entry : pod.claims) {
    if (entry.template_name.empty() || entry.noted) continue;
    const std::optional<std::string> shared = ClaimOfGroup(pod, entry);
    entry.claim = shared ? *shared : MakeClaim(pod.self, entry);
    if (entry.claim.empty()) return;
    made = true;
  }
  if (made) {
    registry_.OverwriteIfThere(pod_kind_, pod.self.ns, pod.self.name,
                               [&pod](Json& json) { claims::NoteClaims(pod.claims, json); });
  }
  if (!pod.node.empty()) ReserveForBound(pod);
}

std::optional<std::string> ClaimController::ClaimOfGroup(const Pod& pod,
                                                         const EntryClaim& entry) const {
  if (pod.group.empty()) return std::nullopt;
  const std::optional<Group> group = FindGroup(pod);
  if (!group) return "";
  for (const EntryClaim& shared : group->claims) {
    if (shared.SameEntry(entry)) return shared.noted ? shared.claim : "";
  }
  return std::nullopt;
}

std::string ClaimController::MakeClaim(const User& user, const EntryClaim& entry) {
  if (std::string made = FindMade(user, entry); !made.empty()) return made;
  const std::string what =
      (user.kind == UserKind::kPod ? "PodResourceClaim " : "PodGroupResourceClaim ") + entry.entry;
  const ObjectPtr found = store_.Find(template_kind_, user.ns, entry.template_name);
  if (found == nullptr) {
    waiting_[Key(user.ns, entry.template_name)].insert(UserKey(user));
    SayFailed(user, what + ": resource claim template \"" + entry.template_name +
                        "\": resourceclaimtemplate.resource.k8s.io \"" + entry.template_name +
                        "\" not found");
    return "";
  }
  const auto created = registry_.Create(claim_kind_, user.ns,
                                        claims::GeneratedClaim(user, entry.entry, found->Parse()));
  if (created.ok()) return (*created)->name;
  SayFailed(user, what + ": create ResourceClaim: " + created.failure().message);
  return "";
}

// A claim that was made before the status could say so.
std::string ClaimController::FindMade(const User& user, const EntryClaim& entry) const {
  const auto it = users_.find(UserKey(user));
  if (it == users_.end()) return "";
  for (const std::string& key : it->second) {
    const ObjectPtr found = FindKey(claim_kind_, key);
    if (found == nullptr) continue;
    const Claim claim = claims::ReadClaim(found->Parse());
    const bool owned = claim.owner && claim.owner->uid == user.uid;
    if (owned && claim.entry == entry.entry) return found->name;
  }
  return "";
}

// Whoever gave the pod its node without a scheduler did not reserve its claims.
void ClaimController::ReserveForBound(const Pod& pod) {
  const std::optional<Group> group = FindGroup(pod);
  for (const EntryClaim& entry : pod.claims) {
    const ObjectPtr found =
        entry.claim.empty() ? nullptr : store_.Find(claim_kind_, pod.self.ns, entry.claim);
    if (found == nullptr) continue;
    const bool shared = group && std::any_of(group->claims.begin(), group->claims.end(),
                                             [&entry](const EntryClaim& of_group) {
                                               return of_group.SameEntry(entry);
                                             });
    const User& user = shared ? group->self : pod.self;
    const Claim claim = claims::ReadClaim(found->Parse());
    const bool reserved =
        std::any_of(claim.consumers.begin(), claim.consumers.end(),
                    [&user](const Consumer& consumer) { return consumer.uid == user.uid; });
    const bool mine = claim.owner && claim.owner->uid == user.uid;
    const bool foreign = !entry.template_name.empty() && !mine;
    if (!claim.allocated || claim.terminating || reserved || foreign) continue;
    registry_.OverwriteIfThere(claim_kind_, pod.self.ns, entry.claim,
                               [&user](Json& json) { claims::AddConsumer(user, json); });
  }
}

// A group uses its claims until it is gone, whatever became of its pods.
ClaimController::Usage ClaimController::UsageBy(const User& user) const {
  const ObjectPtr found = store_.Find(KindOf(user.kind), user.ns, user.name);
  if (found == nullptr || found->uid != user.uid) return Usage::kGone;
  if (user.kind == UserKind::kGroup) return Usage::kUses;
  return claims::ReadPod(found->Parse()).done ? Usage::kDone : Usage::kUses;
}

void ClaimController::SyncClaim(const std::string& key) {
  const ObjectPtr found = FindKey(claim_kind_, key);
  if (found == nullptr) return;
  const Claim claim = claims::ReadClaim(found->Parse());
  std::vector<std::string> kept;
  for (const Consumer& consumer : claim.consumers) {
    const bool uses = !consumer.kind || UsageBy({.kind = *consumer.kind,
                                                 .ns = found->ns,
                                                 .name = consumer.name,
                                                 .uid = consumer.uid}) == Usage::kUses;
    if (uses) kept.push_back(consumer.uid);
  }
  const Usage owner = claim.owner ? UsageBy(*claim.owner) : Usage::kUses;
  const bool unused =
      kept.empty() && (!claim.consumers.empty() || claim.terminating || owner != Usage::kUses);
  const bool deallocates = claim.is_protected && unused;
  if (kept.size() < claim.consumers.size() || deallocates) {
    registry_.OverwriteIfThere(claim_kind_, found->ns, found->name, [&](Json& json) {
      claims::KeepConsumers(kept, json);
      if (deallocates) claims::Deallocate(json);
    });
  }
  const bool unwanted = owner == Usage::kGone || (owner == Usage::kDone && kept.empty());
  if (!unwanted || claim.terminating) return;
  [[maybe_unused]] const auto deleted =
      registry_.Delete(claim_kind_, found->ns, found->name, {.uid = found->uid});
}

void ClaimController::SayFailed(const User& user, const std::string& message) {
  std::string& said = said_[UserKey(user)];
  if (said == message) return;
  said = message;
  const ObjectPtr found = store_.Find(KindOf(user.kind), user.ns, user.name);
  if (found == nullptr) return;
  RecordEvent(registry_, *found,
              {.component = std::string(kComponent),
               .type = "Warning",
               .reason = "FailedResourceClaimCreation",
               .message = message});
}

}  // namespace

std::unique_ptr<Controller> NewClaimController(Service& service) {
  return std::make_unique<ClaimController>(service);
}

}  // namespace ks::apiserver
