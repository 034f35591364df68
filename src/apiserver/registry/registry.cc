// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/registry.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "apiserver/registry/registry_meta.h"
#include "apiserver/registry/strategy.h"
#include "apiserver/store/json_fields.h"
#include "base/generated_name.h"

namespace ks::apiserver {
namespace {

constexpr int kNameAttempts = 8;  // of a generated name, as upstream

// The name in the object, made from generateName when there is none.
std::string TakeName(Json& metadata, Registry& registry) {
  std::string name = Text(metadata, "name");
  if (!name.empty()) return name;
  const std::string prefix = Text(metadata, "generateName");
  if (prefix.empty()) return "";
  name = registry.NewName(prefix);
  metadata["name"] = name;
  return name;
}

Failure NameTaken(const KindInfo& kind, const Json& metadata, const StoredObject& by) {
  Failure failure = AlreadyExists(kind, by.name);
  if (by.Parse()["metadata"].contains("deletionTimestamp")) {
    failure.message = "object is being deleted: " + failure.message;
  }
  if (Text(metadata, "generateName").empty()) return failure;
  failure.message += ", the server was not able to generate a unique name for the object";
  failure.retry_after_seconds = 1;
  return failure;
}

// Whether anything outside of metadata and status differs, which makes a new generation.
bool SpecDiffers(const Json& before, const Json& after) {
  const auto counts = [](const std::string& key) {
    return key != "metadata" && key != "status" && key != "kind" && key != "apiVersion";
  };
  const auto covers = [&counts](const Json& one, const Json& other) {
    for (const auto& [key, value] : one.items()) {
      if (!counts(key)) continue;
      const auto it = other.find(key);
      if (it == other.end() || *it != value) return false;
    }
    return true;
  };
  return !covers(before, after) || !covers(after, before);
}

// What admission gave a pod when it was made stays when a client that knows nothing of it replaces
// the pod.
void KeepAdmitted(const KindInfo& kind, const Json& before, Json* object) {
  if (kind.kind != "Pod" || !before.contains("spec") || !object->contains("spec")) return;
  const Json& old_spec = before["spec"];
  Json& spec = (*object)["spec"];
  if (!spec.is_object()) return;
  for (const char* key : {"priority", "preemptionPolicy"}) {
    if (!spec.contains(key) && old_spec.contains(key)) spec[key] = old_spec[key];
  }
}

}  // namespace

Registry::Registry(Store& store, const Clock& clock, uint64_t seed)
    : store_(store), clock_(clock), random_(seed) {
  const KindInfo& namespaces = *FindKind("v1", "Namespace");
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    const Outcome<ObjectPtr> made = Create(namespaces, "", Json{{"metadata", {{"name", name}}}});
    KS_CHECK(made.ok(), "a namespace that every cluster has");
  }
  const KindInfo& classes = *FindKind("scheduling.k8s.io/v1", "PriorityClass");
  const auto priority_class = [&](const char* name, int64_t value, const char* description) {
    const Outcome<ObjectPtr> made = Create(
        classes, "",
        Json{{"metadata", {{"name", name}}}, {"value", value}, {"description", description}});
    KS_CHECK(made.ok(), "a priority class that every cluster has");
  };
  priority_class("system-node-critical", 2000001000,
                 "Used for system critical pods that must not be moved from their current node.");
  priority_class("system-cluster-critical", 2000000000,
                 "Used for system critical pods that must run in the cluster, but can be moved to "
                 "another node if necessary.");
}

std::string Registry::Now() const { return FormatTime(clock_.WallNow()); }

std::string Registry::NewUid() {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string uid = "xxxxxxxx-xxxx-4xxx-Vxxx-xxxxxxxxxxxx";  // version 4, random
  uint64_t bits = 0;
  int left = 0;
  for (char& c : uid) {
    if (c != 'x' && c != 'V') continue;
    if (left == 0) {
      bits = random_.Next();
      left = 16;
    }
    const uint64_t digit = bits & 0xF;
    c = kHex[c == 'V' ? 8 + (digit & 3) : digit];
    bits >>= 4;
    --left;
  }
  return uid;
}

std::string Registry::NewName(std::string_view prefix) { return GeneratedName(prefix, random_); }

Outcome<ObjectPtr> Registry::Get(const KindInfo& kind, std::string_view ns,
                                 std::string_view name) const {
  ObjectPtr object = store_.Find(kind, ns, name);
  if (object == nullptr) return NotFound(kind, name);
  return object;
}

Outcome<ObjectPtr> Registry::Create(const KindInfo& any_kind, std::string_view ns, Json object,
                                    const WriteOptions& options) {
  const KindInfo& kind = StorageKind(any_kind);
  if (auto failure = CheckForm(kind, ns, object)) return *std::move(failure);
  Json& metadata = object["metadata"];
  const std::string version = Text(metadata, "resourceVersion");
  if (!version.empty() && version != "0") {
    return PlainError("resourceVersion should not be set on objects to be created");
  }
  metadata.erase("uid");  // SetDefaults takes an object without one for a new one
  DropClientMetadata(metadata);
  SetDefaults(kind, object);
  Prepare(kind, Json(), Now(), object);
  // Namespace and priority come before the checks, as admission does upstream.
  const std::string wanted = Text(object["metadata"], "name");
  if (auto failure = CheckNamespace(kind, ns, wanted)) return *std::move(failure);
  if (auto failure = Admit(kind, *this, object)) return *std::move(failure);
  return StoreNew(kind, std::move(object), options);
}

Outcome<ObjectPtr> Registry::StoreNew(const KindInfo& kind, Json object,
                                      const WriteOptions& options) {
  Json& metadata = object["metadata"];
  const bool generated = Text(metadata, "name").empty();
  const std::string name = TakeName(metadata, *this);
  metadata["uid"] = NewUid();
  metadata["creationTimestamp"] = Now();
  if (kind.has_spec_generation) metadata["generation"] = 1;
  if (name.empty()) {
    return Invalid(kind, "",
                   {{"FieldValueRequired", "Required value: name or generateName is required",
                     "metadata.name"}});
  }
  FinishNew(kind, object);
  std::vector<Cause> causes = CheckNew(kind, object);
  if (!causes.empty()) return Invalid(kind, name, std::move(causes));
  const std::string ns = Text(metadata, "namespace");
  for (int attempt = 1;; ++attempt) {
    const ObjectPtr taken = store_.Find(kind, ns, Text(metadata, "name"));
    if (taken == nullptr) break;
    if (!generated || attempt == kNameAttempts) return NameTaken(kind, metadata, *taken);
    metadata["name"] = NewName(Text(metadata, "generateName"));
  }
  if (options.dry_run) return Store::Make(kind, std::move(object), 0);
  return store_.Put(kind, std::move(object));
}

Outcome<ObjectPtr> Registry::Update(const KindInfo& any_kind, std::string_view ns,
                                    std::string_view name, Json object, Part part,
                                    const WriteOptions& options) {
  const KindInfo& kind = StorageKind(any_kind);
  if (auto failure = CheckForm(kind, ns, object)) return *std::move(failure);
  if (auto failure = CheckName(name, object["metadata"])) return *std::move(failure);
  const ObjectPtr current = store_.Find(kind, ns, name);
  if (current == nullptr && CreatesOnUpdate(kind)) {
    object["metadata"].erase("resourceVersion");
    return Create(kind, ns, std::move(object), options);
  }
  if (current == nullptr) return NotFound(kind, name);
  if (auto failure = CheckUid(kind, *current, object["metadata"])) return *std::move(failure);
  if (auto failure = CheckVersion(kind, *current, object["metadata"])) return *std::move(failure);
  return StoreChanged(kind, current, current->Parse(), std::move(object), part, options);
}

Outcome<ObjectPtr> Registry::Modify(const KindInfo& any_kind, std::string_view ns,
                                    std::string_view name, Part part, const Change& change,
                                    const WriteOptions& options) {
  const KindInfo& kind = StorageKind(any_kind);
  const ObjectPtr current = store_.Find(kind, ns, name);
  if (current == nullptr) return NotFound(kind, name);
  Json before = current->Parse();
  Json object = before;
  if (auto failure = change(object)) return *std::move(failure);
  if (auto failure = CheckForm(kind, ns, object)) return *std::move(failure);
  if (auto failure = CheckName(name, object["metadata"])) return *std::move(failure);
  if (auto failure = CheckVersion(kind, *current, object["metadata"])) return *std::move(failure);
  return StoreChanged(kind, current, std::move(before), std::move(object), part, options);
}

Outcome<ObjectPtr> Registry::StoreChanged(const KindInfo& kind, const ObjectPtr& current,
                                          Json before, Json object, Part part,
                                          const WriteOptions& options) {
  if (part == Part::kStatus) {
    KeepAllButStatus(kind, before, &object);
  } else if (part == Part::kResize) {
    KeepAllButResources(before, &object);
  } else if (kind.has_status) {
    CopyMember(before, "status", &object);
  }
  std::vector<Cause> causes = CheckMetadataUpdate(before["metadata"], object["metadata"]);
  KeepSystemMetadata(before["metadata"], &object["metadata"]);
  KeepAdmitted(kind, before, &object);
  SetDefaults(kind, object);
  Prepare(kind, before, Now(), object);
  Json& metadata = object["metadata"];  // only now: defaults may have exchanged it
  if (kind.has_spec_generation && SpecDiffers(before, object)) {
    metadata["generation"] = Integer(before["metadata"], "generation") + 1;
  }
  std::vector<Cause> more = CheckUpdate(kind, before, object, part);
  std::move(more.begin(), more.end(), std::back_inserter(causes));
  if (!causes.empty()) return Invalid(kind, current->name, std::move(causes));
  if (part == Part::kResize) {
    if (auto failure = AdmitResize(*this, object)) return *std::move(failure);
  }
  return Commit(kind, current, std::move(object), options);
}

ObjectPtr Registry::Commit(const KindInfo& kind, const ObjectPtr& current, Json object,
                           const WriteOptions& options) {
  const Json& metadata = object["metadata"];
  const bool deleting = metadata.contains("deletionTimestamp");
  const bool held = HasFinalizers(metadata) || Integer(metadata, "deletionGracePeriodSeconds") > 0;
  ObjectPtr made = Store::Make(kind, std::move(object), current->resource_version);
  if (made->text == current->text) return current;
  if (options.dry_run) return made;
  if (!deleting || held || !RemovesItself(kind, *current)) return store_.Put(*made);
  // What held it is gone, and so is the object. The answer shows it as it would have been.
  Remove(kind, current, made.get());
  return made;
}

Outcome<ObjectPtr> Registry::Overwrite(const KindInfo& any_kind, std::string_view ns,
                                       std::string_view name, const Change& change) {
  const KindInfo& kind = StorageKind(any_kind);
  const ObjectPtr current = store_.Find(kind, ns, name);
  if (current == nullptr) return NotFound(kind, name);
  Json object = current->Parse();
  if (auto failure = change(object)) return *std::move(failure);
  return Commit(kind, current, std::move(object), {});
}

void Registry::OverwriteIfThere(const KindInfo& kind, std::string_view ns, std::string_view name,
                                const std::function<void(Json&)>& change) {
  [[maybe_unused]] const auto written =
      Overwrite(kind, ns, name, [&change](Json& json) -> std::optional<Failure> {
        change(json);
        return {};
      });
}

}  // namespace ks::apiserver
