// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/claim_controller.h"

#include <algorithm>
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
using claims::Pod;
using claims::PodClaim;

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
    const bool unread = pod_log_.Unread() || claim_log_.Unread() || template_log_.Unread();
    if (unread || !dirty_pods_.empty() || !dirty_claims_.empty()) return clock_.Now();
    return std::nullopt;
  }

 private:
  void Read();
  void Rebuild();
  void ReadPod(const Change& change);
  void ReadClaim(const Change& change);
  void ForgetClaim(const std::string& key);

  bool DoOne();
  void SyncPod(const std::string& key);
  // The name of the claim of an entry that has none yet; empty: it cannot be made now.
  std::string MakeClaim(const Pod& pod, const PodClaim& entry);
  std::string FindMade(const Pod& pod, const PodClaim& entry) const;
  void ReserveForBound(const Pod& pod);
  void SyncClaim(const std::string& key);
  enum class User : uint8_t { kUses, kDone, kGone };
  User UserOf(const std::string& ns, const std::string& name, const std::string& uid) const;
  void SayFailed(const Pod& pod, const std::string& message);

  ObjectPtr FindKey(const KindInfo& kind, const std::string& key) const {
    const size_t slash = key.find('/');
    return store_.Find(kind, std::string_view(key).substr(0, slash),
                       std::string_view(key).substr(slash + 1));
  }
  void Write(const KindInfo& kind, const std::string& ns, const std::string& name,
             const std::function<void(Json&)>& change) {
    [[maybe_unused]] const auto written =
        registry_.Overwrite(kind, ns, name, [&](Json& json) -> std::optional<Failure> {
          change(json);
          return {};
        });
  }

  const KindInfo& pod_kind_ = *FindResource("", "v1", "pods");
  const KindInfo& claim_kind_ = *FindResource("resource.k8s.io", "v1", "resourceclaims");
  const KindInfo& template_kind_ = *FindResource("resource.k8s.io", "v1", "resourceclaimtemplates");

  Registry& registry_;
  Store& store_;
  const Clock& clock_;
  LogCursor pod_log_{store_, pod_kind_};
  LogCursor claim_log_{store_, claim_kind_};
  LogCursor template_log_{store_, template_kind_};

  // Keys are "ns/name".
  Index users_;                              // pod -> claims that it owns or has reserved
  Index used_by_;                            // the other way round
  Index waiting_;                            // template -> pods that wait for it
  std::map<std::string, std::string> said_;  // pod -> the last event about it
  // What is to be looked at.
  std::set<std::string> dirty_pods_;
  std::set<std::string> dirty_claims_;
};

void ClaimController::Read() {
  if (pod_log_.Lost() || claim_log_.Lost() || template_log_.Lost()) return Rebuild();
  while (const Change* change = claim_log_.Next()) ReadClaim(*change);
  while (const Change* change = pod_log_.Next()) ReadPod(*change);
  while (const Change* change = template_log_.Next()) {
    const auto it = waiting_.find(Key(change->object->ns, change->object->name));
    if (it == waiting_.end()) continue;
    dirty_pods_.merge(it->second);
    waiting_.erase(it);
  }
}

void ClaimController::Rebuild() {
  for (LogCursor* log : {&pod_log_, &claim_log_, &template_log_}) log->Restart();
  users_.clear();
  used_by_.clear();
  waiting_.clear();
  const auto added = [](const ObjectPtr& object) {
    return Change{.type = Change::Type::kAdded, .version = 0, .object = object, .before = nullptr};
  };
  for (const auto& [key, object] : store_.objects(claim_kind_)) ReadClaim(added(object));
  for (const auto& [key, object] : store_.objects(pod_kind_)) ReadPod(added(object));
}

void ClaimController::ReadPod(const Change& change) {
  const std::string key = Key(change.object->ns, change.object->name);
  if (const auto it = users_.find(key); it != users_.end()) {
    dirty_claims_.insert(it->second.begin(), it->second.end());
  }
  if (change.type == Change::Type::kDeleted) {
    said_.erase(key);
  } else if (change.object->text.find(R"("resourceClaims":[)") != std::string::npos) {
    dirty_pods_.insert(key);
  }
}

void ClaimController::ReadClaim(const Change& change) {
  const StoredObject& object = *change.object;
  const std::string key = Key(object.ns, object.name);
  ForgetClaim(key);
  if (change.type == Change::Type::kDeleted) return;
  const Claim claim = claims::ReadClaim(object.Parse());
  std::set<std::string>& pods = used_by_[key];
  if (!claim.owner.empty()) pods.insert(Key(object.ns, claim.owner));
  for (const Consumer& consumer : claim.consumers) {
    if (!consumer.pod.empty()) pods.insert(Key(object.ns, consumer.pod));
  }
  for (const std::string& pod : pods) users_[pod].insert(key);
  dirty_claims_.insert(key);
}

void ClaimController::ForgetClaim(const std::string& key) {
  const auto known = used_by_.find(key);
  if (known == used_by_.end()) return;
  for (const std::string& pod : known->second) {
    const auto it = users_.find(pod);
    it->second.erase(key);
    if (it->second.empty()) users_.erase(it);
  }
  used_by_.erase(known);
}

bool ClaimController::DoOne() {
  if (!dirty_claims_.empty()) {
    SyncClaim(dirty_claims_.extract(dirty_claims_.begin()).value());
    return true;
  }
  if (dirty_pods_.empty()) return false;
  SyncPod(dirty_pods_.extract(dirty_pods_.begin()).value());
  return true;
}

// The status says of all claims or of none.
void ClaimController::SyncPod(const std::string& key) {
  const ObjectPtr found = FindKey(pod_kind_, key);
  if (found == nullptr) return;
  Pod pod = claims::ReadPod(found->Parse());
  if (pod.done || pod.terminating) return;
  bool made = false;
  for (PodClaim& entry : pod.claims) {
    if (entry.template_name.empty() || entry.noted) continue;
    entry.claim = MakeClaim(pod, entry);
    if (entry.claim.empty()) return;
    made = true;
  }
  if (made) {
    Write(pod_kind_, pod.ns, pod.name, [&pod](Json& json) { claims::NoteClaims(pod, json); });
  }
  if (!pod.node.empty()) ReserveForBound(pod);
}

std::string ClaimController::MakeClaim(const Pod& pod, const PodClaim& entry) {
  if (std::string made = FindMade(pod, entry); !made.empty()) return made;
  const ObjectPtr found = store_.Find(template_kind_, pod.ns, entry.template_name);
  if (found == nullptr) {
    waiting_[Key(pod.ns, entry.template_name)].insert(Key(pod.ns, pod.name));
    SayFailed(pod, "PodResourceClaim " + entry.entry + ": resource claim template \"" +
                       entry.template_name + "\": resourceclaimtemplate.resource.k8s.io \"" +
                       entry.template_name + "\" not found");
    return "";
  }
  const auto created = registry_.Create(claim_kind_, pod.ns,
                                        claims::GeneratedClaim(pod, entry.entry, found->Parse()));
  if (created.ok()) return (*created)->name;
  SayFailed(pod, "PodResourceClaim " + entry.entry +
                     ": create ResourceClaim: " + created.failure().message);
  return "";
}

// A claim that was made before the pod's status could say so.
std::string ClaimController::FindMade(const Pod& pod, const PodClaim& entry) const {
  const auto it = users_.find(Key(pod.ns, pod.name));
  if (it == users_.end()) return "";
  for (const std::string& key : it->second) {
    const ObjectPtr found = FindKey(claim_kind_, key);
    if (found == nullptr) continue;
    const Claim claim = claims::ReadClaim(found->Parse());
    if (claim.owner_uid == pod.uid && claim.entry == entry.entry) return found->name;
  }
  return "";
}

// Whoever gave the pod its node without a scheduler did not reserve its claims.
void ClaimController::ReserveForBound(const Pod& pod) {
  for (const PodClaim& entry : pod.claims) {
    const ObjectPtr found =
        entry.claim.empty() ? nullptr : store_.Find(claim_kind_, pod.ns, entry.claim);
    if (found == nullptr) continue;
    const Claim claim = claims::ReadClaim(found->Parse());
    const bool reserved =
        std::any_of(claim.consumers.begin(), claim.consumers.end(),
                    [&pod](const Consumer& consumer) { return consumer.uid == pod.uid; });
    const bool foreign = !entry.template_name.empty() && claim.owner_uid != pod.uid;
    if (!claim.allocated || claim.terminating || reserved || foreign) continue;
    Write(claim_kind_, pod.ns, entry.claim, [&pod](Json& json) { claims::AddConsumer(pod, json); });
  }
}

ClaimController::User ClaimController::UserOf(const std::string& ns, const std::string& name,
                                              const std::string& uid) const {
  const ObjectPtr found = store_.Find(pod_kind_, ns, name);
  if (found == nullptr || found->uid != uid) return User::kGone;
  return claims::ReadPod(found->Parse()).done ? User::kDone : User::kUses;
}

void ClaimController::SyncClaim(const std::string& key) {
  const ObjectPtr found = FindKey(claim_kind_, key);
  if (found == nullptr) return;
  const Claim claim = claims::ReadClaim(found->Parse());
  std::vector<std::string> kept;
  for (const Consumer& consumer : claim.consumers) {
    const bool uses =
        consumer.pod.empty() || UserOf(found->ns, consumer.pod, consumer.uid) == User::kUses;
    if (uses) kept.push_back(consumer.uid);
  }
  const User owner =
      claim.owner.empty() ? User::kUses : UserOf(found->ns, claim.owner, claim.owner_uid);
  const bool unused =
      kept.empty() && (!claim.consumers.empty() || claim.terminating || owner != User::kUses);
  const bool deallocates = claim.is_protected && unused;
  if (kept.size() < claim.consumers.size() || deallocates) {
    Write(claim_kind_, found->ns, found->name, [&](Json& json) {
      claims::KeepConsumers(kept, json);
      if (deallocates) claims::Deallocate(json);
    });
  }
  const bool unwanted = owner == User::kGone || (owner == User::kDone && kept.empty());
  if (!unwanted || claim.terminating) return;
  [[maybe_unused]] const auto deleted =
      registry_.Delete(claim_kind_, found->ns, found->name, {.uid = found->uid});
}

void ClaimController::SayFailed(const Pod& pod, const std::string& message) {
  std::string& said = said_[Key(pod.ns, pod.name)];
  if (said == message) return;
  said = message;
  const ObjectPtr found = store_.Find(pod_kind_, pod.ns, pod.name);
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
