// SPDX-License-Identifier: Apache-2.0
#include "daemon/permission_check.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/kinds.h"
#include "base/logging.h"
#include "base/mutex.h"

namespace ks::daemon {
namespace {

using nlohmann::json;

constexpr const char* kSchedulerRole = "ClusterRole system:kube-scheduler";
constexpr const char* kReaderRole =
    "Role extension-apiserver-authentication-reader in namespace kube-system";

class List {
 public:
  void Add(std::initializer_list<const char*> verbs, const Permission& rest) {
    for (const char* verb : verbs) {
      items_.push_back(rest);
      items_.back().verb = verb;
    }
  }
  std::vector<Permission> Take() {
    std::stable_sort(items_.begin(), items_.end(), [](const Permission& a, const Permission& b) {
      return a.needed_for < b.needed_for;
    });
    return std::move(items_);
  }

 private:
  std::vector<Permission> items_;
};

void AddLease(const config::LeaderElection& election, bool coordinated, List& list) {
  const std::string role =
      "a Role in namespace " + election.resource_namespace + " (deploy/second-scheduler/rbac.yaml)";
  const char* const purpose = "leader election";
  const api::KindInfo& leases = api::kKindOf<api::Lease>;
  const api::KindInfo& candidates = api::kKindOf<api::LeaseCandidate>;
  if (coordinated) {
    list.Add({"create", "delete", "list", "update", "watch"},
             {.group = std::string(candidates.group),
              .resource = std::string(candidates.plural),
              .ns = election.resource_namespace,
              .needed_for = "coordinated leader election",
              .granted_by = kSchedulerRole});
  } else {
    list.Add({"create"}, {.group = std::string(leases.group),
                          .resource = std::string(leases.plural),
                          .ns = election.resource_namespace,
                          .needed_for = purpose,
                          .granted_by = role});
  }
  list.Add({"get", "update"}, {.group = std::string(leases.group),
                               .resource = std::string(leases.plural),
                               .ns = election.resource_namespace,
                               .name = election.resource_name,
                               .needed_for = purpose,
                               .granted_by = role});
  list.Add({"create"}, {.resource = "events",
                        .ns = election.resource_namespace,
                        .needed_for = "events of leader election",
                        .granted_by = kSchedulerRole});
}

void AddWatch(const api::KindInfo& kind, List& list) {
  const std::string resource(kind.plural);
  list.Add({"list", "watch"}, {.group = std::string(kind.group),
                               .resource = resource,
                               .needed_for = "watching " + resource,
                               .granted_by = kSchedulerRole});
}

void AddVolumes(framework::OptionalKinds kinds, List& list) {
  using enum framework::OptionalKind;
  for (const auto& [kind, resource] :
       {std::pair{kPersistentVolume, api::kKindOf<api::PersistentVolume>.plural},
        std::pair{kPersistentVolumeClaim, api::kKindOf<api::PersistentVolumeClaim>.plural}}) {
    if (!kinds.Contains(kind)) continue;
    Permission write{.resource = std::string(resource),
                     .needed_for = "binding volumes",
                     .granted_by = "ClusterRole system:volume-scheduler"};
    list.Add({"get"}, write);
    write.or_verb = "update";
    list.Add({"patch"}, write);
  }
}

// Of devices. For the binding, which is no resource of its own, the API server asks for the verb of
// the request to the status (docs/decisions/0045).
void AddClaims(List& list) {
  const api::KindInfo& kind = api::kKindOf<api::ResourceClaim>;
  const std::string claims(kind.plural);
  Permission permission{.group = std::string(kind.group),
                        .resource = claims,
                        .needed_for = "allocating devices",
                        .granted_by = kSchedulerRole};
  list.Add({"get", "patch"}, permission);
  for (const char* const subresource : {"/status", "/binding"}) {
    permission.resource = claims + subresource;
    list.Add({"patch"}, permission);
  }
  permission.resource = claims;
  permission.needed_for = "extended resources that are devices";
  list.Add({"create", "delete"}, permission);
}

void AddGroups(List& list) {
  const api::KindInfo& kind = api::kKindOf<api::PodGroup>;
  list.Add({"patch"}, {.group = std::string(kind.group),
                       .resource = std::string(kind.plural) + "/status",
                       .needed_for = "telling what became of groups of pods",
                       .granted_by = kSchedulerRole});
}

void AddDelegation(List& list) {
  const char* const purpose = "authenticating and authorizing callers";
  list.Add({"create"}, {.group = "authentication.k8s.io",
                        .resource = "tokenreviews",
                        .needed_for = purpose,
                        .granted_by = kSchedulerRole});
  list.Add({"create"}, {.group = "authorization.k8s.io",
                        .resource = "subjectaccessreviews",
                        .needed_for = purpose,
                        .granted_by = kSchedulerRole});
  list.Add({"get", "watch"}, {.resource = "configmaps",
                              .ns = "kube-system",
                              .name = "extension-apiserver-authentication",
                              .needed_for = purpose,
                              .granted_by = kReaderRole});
}

std::string ReviewBody(const Permission& wanted) {
  json attributes = {{"verb", wanted.verb}, {"group", wanted.group}};
  const size_t slash = wanted.resource.find('/');
  attributes["resource"] = wanted.resource.substr(0, slash);
  if (slash != std::string::npos) attributes["subresource"] = wanted.resource.substr(slash + 1);
  if (!wanted.ns.empty()) attributes["namespace"] = wanted.ns;
  if (!wanted.name.empty()) attributes["name"] = wanted.name;
  return json{{"apiVersion", "authorization.k8s.io/v1"},
              {"kind", "SelfSubjectAccessReview"},
              {"spec", {{"resourceAttributes", std::move(attributes)}}}}
      .dump();
}

// Absent: the answer is none.
std::optional<bool> Allowed(const std::string& body) {
  const json answer = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) return std::nullopt;
  const auto status = answer.find("status");
  if (status == answer.end() || !status->is_object()) return std::nullopt;
  const auto allowed = status->find("allowed");
  if (allowed == status->end() || !allowed->is_boolean()) return std::nullopt;
  return allowed->get<bool>();
}

// Questions on their way at a time. Each needs a connection of its own, which is then kept for a
// while; and nobody waits for the answers.
constexpr size_t kAtOnce = 4;

// Asks, and collects the answers.
class Round : public std::enable_shared_from_this<Round> {
 public:
  Round(client::RestClient& client, std::vector<Permission> needed,
        std::function<void(const PermissionAnswers&)> done)
      : client_(client),
        needed_(std::move(needed)),
        done_(std::move(done)),
        allowed_(needed_.size(), true) {}

  void Ask() {
    for (size_t i = 0; i < kAtOnce; ++i) AskNext();
  }

 private:
  // Without an effect when each has been asked for.
  void AskNext() KS_EXCLUDES(mutex_) {
    size_t i = 0;
    {
      MutexLock lock(mutex_);
      if (asked_ == needed_.size()) return;
      i = asked_++;
    }
    Send(needed_[i], [self = shared_from_this(), i](const client::RestReply& reply) {
      if (!self->AskForSubstitute(i, reply)) self->Answer(i, reply);
    });
  }

  void Send(const Permission& permission, client::RestHandler handler) {
    client_.Send({.method = "POST",
                  .target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                  .body = ReviewBody(permission),
                  .timeout = std::chrono::seconds(30),
                  .resource = "selfsubjectaccessreviews"},
                 std::move(handler));
  }

  // False: there is nothing more to ask, `reply` is the answer.
  bool AskForSubstitute(size_t i, const client::RestReply& reply) {
    const bool refused = reply.ok() && Allowed(reply.body) == false;
    if (!refused || needed_[i].or_verb.empty()) return false;
    Permission substitute = needed_[i];
    substitute.verb = substitute.or_verb;
    Send(substitute, [self = shared_from_this(), i](const client::RestReply& second) {
      self->Answer(i, second);
    });
    return true;
  }

  void Answer(size_t i, const client::RestReply& reply) {
    std::string failure;
    std::optional<bool> allowed;
    bool all = false;
    if (!reply.ok()) {
      failure = reply.error->message;
    } else {
      allowed = Allowed(reply.body);
      if (!allowed) failure = "the answer to an access review has no status.allowed";
    }
    {
      MutexLock lock(mutex_);
      if (allowed) allowed_[i] = *allowed;
      if (!failure.empty()) AddFailure(std::move(failure));
      ++answered_;
      all = answered_ == needed_.size();
    }
    all ? Conclude() : AskNext();
  }

  void AddFailure(std::string failure) KS_REQUIRES(mutex_) {
    const bool known = std::find(failures_.begin(), failures_.end(), failure) != failures_.end();
    if (!known) failures_.push_back(std::move(failure));
  }
  void Conclude() {
    PermissionAnswers answers;
    {
      MutexLock lock(mutex_);
      for (size_t i = 0; i < needed_.size(); ++i) {
        if (!allowed_[i]) answers.missing.push_back(needed_[i]);
      }
      answers.failures = failures_;
    }
    done_(answers);
  }

  client::RestClient& client_;
  const std::vector<Permission> needed_;
  const std::function<void(const PermissionAnswers&)> done_;
  Mutex mutex_;
  std::vector<bool> allowed_ KS_GUARDED_BY(mutex_);  // by place in needed_
  std::vector<std::string> failures_ KS_GUARDED_BY(mutex_);
  size_t asked_ KS_GUARDED_BY(mutex_) = 0;
  size_t answered_ KS_GUARDED_BY(mutex_) = 0;
};

std::string ResourceText(const Permission& permission) {
  return permission.resource + (permission.group.empty() ? "" : "." + permission.group);
}

}  // namespace

std::vector<Permission> NeededPermissions(const PermissionNeeds& needs) {
  List list;
  AddWatch(api::kKindOf<api::Pod>, list);
  AddWatch(api::kKindOf<api::Node>, list);
  api::OptionalKindTypes::ForEach([&]<class T>(const T*) {
    if (needs.kinds.Contains(framework::kOptionalKindOf<T>)) AddWatch(api::kKindOf<T>, list);
  });
  const std::string pods(api::kKindOf<api::Pod>.plural);
  list.Add(
      {"create"},
      {.resource = pods + "/binding", .needed_for = "binding pods", .granted_by = kSchedulerRole});
  list.Add({"get"}, {.resource = pods,
                     .needed_for = "looking at pods whose binding got no answer",
                     .granted_by = kSchedulerRole});
  list.Add({"patch"}, {.resource = pods + "/status",
                       .needed_for = "telling why a pod is pending",
                       .granted_by = kSchedulerRole});
  AddVolumes(needs.kinds, list);
  if (needs.kinds.Contains(framework::OptionalKind::kResourceClaim)) AddClaims(list);
  if (needs.kinds.Contains(framework::OptionalKind::kPodGroup)) AddGroups(list);
  if (needs.preempts) {
    list.Add({"delete"},
             {.resource = pods, .needed_for = "preemption", .granted_by = kSchedulerRole});
  }
  list.Add({"create", "patch"}, {.group = needs.legacy_events ? "" : "events.k8s.io",
                                 .resource = "events",
                                 .needed_for = "events",
                                 .granted_by = kSchedulerRole});
  if (needs.leader_election.leader_elect) {
    AddLease(needs.leader_election, needs.coordinated, list);
  }
  if (needs.delegates) AddDelegation(list);
  return list.Take();
}

void AskPermissions(client::RestClient& client, std::vector<Permission> needed,
                    std::function<void(const PermissionAnswers&)> done) {
  std::make_shared<Round>(client, std::move(needed), std::move(done))->Ask();
}

void LogPermissions(const PermissionAnswers& answers) {
  for (const std::string& failure : answers.failures) {
    log::Info(1, "Permissions could not be checked", {{"err", failure}});
  }
  for (const Permission& permission : answers.missing) {
    log::Error("forbidden", "A permission is missing",
               {{"verb", permission.verb},
                {"resource", ResourceText(permission)},
                {"namespace", permission.ns},
                {"name", permission.name},
                {"neededFor", permission.needed_for},
                {"grantedBy", permission.granted_by}});
  }
  if (answers.missing.empty() && answers.failures.empty()) {
    log::Info(1, "All permissions that are needed are there");
  }
}

}  // namespace ks::daemon
