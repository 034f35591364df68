// SPDX-License-Identifier: Apache-2.0
// Deletion: grace periods, finalizers, preconditions, namespaces with their content.

#include <algorithm>
#include <array>

#include "api/time_text.h"
#include "apiserver/registry/registry.h"
#include "apiserver/registry/registry_meta.h"
#include "apiserver/store/json_fields.h"

namespace ks::apiserver {
namespace {

const KindInfo& Namespaces() {
  static const KindInfo* kind = FindKind("v1", "Namespace");
  return *kind;
}

bool Terminating(const StoredObject& ns) {
  return !ns.fields.empty() && ns.fields[0] == "Terminating";  // status.phase
}

std::optional<Failure> CheckPreconditions(const KindInfo& kind, const StoredObject& current,
                                          const DeleteOptions& options) {
  const std::string resource = kind.group.empty() ? kind.kind : kind.kind + "." + kind.group;
  if (!options.uid.empty() && options.uid != current.uid) {
    return Conflict(resource, current.name,
                    "the UID in the precondition (" + options.uid +
                        ") does not match the UID in record (" + current.uid +
                        "). The object might have been deleted and then recreated");
  }
  const std::string version = std::to_string(current.resource_version);
  if (!options.resource_version.empty() && options.resource_version != version) {
    return Conflict(resource, current.name,
                    "the ResourceVersion in the precondition (" + options.resource_version +
                        ") does not match the ResourceVersion in record (" + version +
                        "). The object might have been modified");
  }
  return {};
}

// The grace period that a deletion of this object gets.
int64_t GracePeriod(const KindInfo& kind, const Json& object, const DeleteOptions& options) {
  if (!kind.graceful_deletion) return 0;
  const auto spec = object.find("spec");
  const auto status = object.find("status");
  const std::string phase = status == object.end() ? "" : Text(*status, "phase");
  const bool unbound = spec == object.end() || Text(*spec, "nodeName").empty();
  if (unbound || phase == "Succeeded" || phase == "Failed") return 0;
  int64_t period = 30;
  if (options.grace_period_seconds.has_value()) {
    period = *options.grace_period_seconds;
  } else if (spec->contains("terminationGracePeriodSeconds")) {
    period = Integer(*spec, "terminationGracePeriodSeconds");
  }
  return period < 0 ? 1 : period;
}

// Counted from the same moment as the period that runs.
void Shorten(Json& metadata, int64_t period) {
  const int64_t less = Integer(metadata, "deletionGracePeriodSeconds") - period;
  const auto due = api::ParseTime(Text(metadata, "deletionTimestamp"), api::TimePrecision::kAny);
  if (due.has_value()) {
    metadata["deletionTimestamp"] = FormatTime(*due - std::chrono::seconds(less));
  }
  metadata["deletionGracePeriodSeconds"] = period;
}

void MarkDeleted(Json& metadata, TimePoint now, int64_t period) {
  if (Integer(metadata, "generation") > 0) {
    metadata["generation"] = Integer(metadata, "generation") + 1;
  }
  metadata["deletionTimestamp"] = FormatTime(now + std::chrono::seconds(period));
  metadata["deletionGracePeriodSeconds"] = period;
}

}  // namespace

std::optional<Failure> Registry::CheckNamespace(const KindInfo& kind, std::string_view ns,
                                                std::string_view name) const {
  if (!kind.namespaced) return {};
  const ObjectPtr found = store_.Find(Namespaces(), "", ns);
  if (found == nullptr) return NotFound(Namespaces(), ns);
  if (!Terminating(*found)) return {};
  Failure failure = Forbidden(kind, name,
                              "unable to create new content in namespace " + std::string(ns) +
                                  " because it is being terminated");
  failure.causes.push_back({"NamespaceTerminating",
                            "namespace " + std::string(ns) + " is being terminated",
                            "metadata.namespace"});
  return failure;
}

Outcome<Registry::Deleted> Registry::Delete(const KindInfo& any_kind, std::string_view ns,
                                            std::string_view name, const DeleteOptions& options) {
  const KindInfo& kind = StorageKind(any_kind);
  const ObjectPtr current = store_.Find(kind, ns, name);
  if (current == nullptr) return NotFound(kind, name);
  if (auto failure = CheckPreconditions(kind, *current, options)) return *std::move(failure);
  if (kind.kind == "Namespace") return DeleteNamespace(kind, current, options);
  Json object = current->Parse();
  Json& metadata = object["metadata"];
  const bool finalizers = HasFinalizers(metadata);
  const int64_t period = GracePeriod(kind, object, options);
  bool stays = period > 0 || finalizers;
  if (!metadata.contains("deletionTimestamp")) {
    if (kind.graceful_deletion || finalizers) MarkDeleted(metadata, clock_.WallNow(), period);
  } else {
    const int64_t running = Integer(metadata, "deletionGracePeriodSeconds");
    const bool shorter = options.grace_period_seconds.has_value() && period < running;
    if (shorter) Shorten(metadata, period);
    stays = finalizers || (shorter ? period : running) > 0;
  }
  if (options.dry_run) {
    return Deleted{Store::Make(kind, std::move(object), current->resource_version), false};
  }
  if (stays) return Deleted{PutIfChanged(kind, current, std::move(object)), false};
  // A pod that goes at once is seen terminating first, as upstream writes it.
  if (kind.graceful_deletion) {
    const ObjectPtr marked = PutIfChanged(kind, current, std::move(object));
    return Deleted{Remove(kind, marked), true};
  }
  return Deleted{Remove(kind, current), true};
}

ObjectPtr Registry::PutIfChanged(const KindInfo& kind, const ObjectPtr& current, Json object) {
  const ObjectPtr made = Store::Make(kind, std::move(object), current->resource_version);
  return made->text == current->text ? current : store_.Put(*made);
}

bool Registry::RemovesItself(const KindInfo& kind, const StoredObject& object) const {
  return kind.kind != "Namespace" || NamespaceIsEmpty(object.name);
}

ObjectPtr Registry::Remove(const KindInfo& kind, const ObjectPtr& current,
                           const StoredObject* last) {
  ObjectPtr removed = store_.Remove(kind, current->ns, current->name, last);
  if (!kind.namespaced) return removed;
  const ObjectPtr ns = store_.Find(Namespaces(), "", current->ns);
  if (ns != nullptr && Terminating(*ns)) RemoveNamespaceIfEmpty(*ns);
  return removed;
}

Outcome<Registry::Deleted> Registry::DeleteNamespace(const KindInfo& kind, const ObjectPtr& current,
                                                     const DeleteOptions& options) {
  static constexpr std::array<std::string_view, 3> kImmortal{"default", "kube-public",
                                                             "kube-system"};
  if (std::find(kImmortal.begin(), kImmortal.end(), current->name) != kImmortal.end()) {
    return Forbidden(kind, current->name, "this namespace may not be deleted");
  }
  Json object = current->Parse();
  Json& metadata = object["metadata"];
  if (!metadata.contains("deletionTimestamp")) metadata["deletionTimestamp"] = Now();
  object["status"]["phase"] = "Terminating";
  if (options.dry_run) {
    return Deleted{Store::Make(kind, std::move(object), current->resource_version), false};
  }
  const ObjectPtr marked = PutIfChanged(kind, current, std::move(object));
  EmptyNamespace(current->name);
  const ObjectPtr left = store_.Find(kind, "", current->name);
  if (left != nullptr) RemoveNamespaceIfEmpty(*left);
  return Deleted{marked, store_.Find(kind, "", current->name) == nullptr};
}

void Registry::RemoveNamespaceIfEmpty(const StoredObject& ns) {
  if (!NamespaceIsEmpty(ns.name) || HasFinalizers(ns.Parse()["metadata"])) return;
  const std::string name = ns.name;
  store_.Remove(Namespaces(), "", name);
}

void Registry::EmptyNamespace(const std::string& ns) {
  for (const KindInfo& kind : AllKinds()) {
    if (!kind.namespaced || &kind != &StorageKind(kind)) continue;
    std::vector<std::string> names;
    const Store::Objects& objects = store_.objects(kind);
    for (auto it = objects.lower_bound(Store::KeyView(ns, ""));
         it != objects.end() && it->first.first == ns; ++it) {
      names.push_back(it->first.second);
    }
    for (const std::string& name : names) {
      if (!Delete(kind, ns, name, {}).ok()) continue;  // it cannot fail: no precondition
    }
  }
}

bool Registry::NamespaceIsEmpty(const std::string& ns) const {
  return std::all_of(AllKinds().begin(), AllKinds().end(), [&](const KindInfo& kind) {
    if (!kind.namespaced || &kind != &StorageKind(kind)) return true;
    const auto it = store_.objects(kind).lower_bound(Store::KeyView(ns, ""));
    return it == store_.objects(kind).end() || it->first.first != ns;
  });
}

}  // namespace ks::apiserver
