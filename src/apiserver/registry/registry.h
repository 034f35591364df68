// SPDX-License-Identifier: Apache-2.0
#pragma once
// What may be written and what it becomes: metadata, optimistic concurrency, finalizers and grace,
// generation, status subresources, namespaces. The verbs of every kind, without HTTP; used by the
// Service, by the controllers inside of the server and by tests.
//
// Upstream: docs/spec/api.md sections 6, 7.5 and 9.
// Threads: one (that of the Service).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/store/failure.h"
#include "apiserver/store/object.h"
#include "apiserver/store/store.h"
#include "base/clock.h"
#include "base/random.h"

namespace ks::apiserver {

enum class Part : uint8_t {
  kMain,    // everything but status (and status too for kinds without that subresource)
  kStatus,  // status and metadata's labels, annotations and finalizers
  kResize,  // of pods: what the pod and its containers ask for
};

struct DeleteOptions {
  std::optional<int64_t> grace_period_seconds{};
  std::string uid{};               // precondition; empty: none
  std::string resource_version{};  // precondition; empty: none
  bool dry_run = false;
};

struct WriteOptions {
  bool dry_run = false;  // everything but the write
};

class Registry {
 public:
  // Makes what every cluster has: the namespaces default, kube-system, kube-public and
  // kube-node-lease, the priority classes system-cluster-critical and system-node-critical.
  // `seed` makes uids and generated names.
  Registry(Store& store, const Clock& clock, uint64_t seed);

  Outcome<ObjectPtr> Get(const KindInfo& kind, std::string_view ns, std::string_view name) const;

  // `object` as a client sent it: kind, apiVersion and namespace may be missing, must not
  // contradict. SetDefaults (strategy.h) sees a new object without metadata.uid, on updates there
  // is one.
  Outcome<ObjectPtr> Create(const KindInfo& kind, std::string_view ns, Json object,
                            const WriteOptions& options = {});
  // A PUT. A resourceVersion in the object is a precondition, and so is a uid.
  Outcome<ObjectPtr> Update(const KindInfo& kind, std::string_view ns, std::string_view name,
                            Json object, Part part = Part::kMain, const WriteOptions& options = {});
  // Reads, changes, writes: `change` gets the current object and edits it in place, or refuses.
  Outcome<ObjectPtr> Modify(const KindInfo& kind, std::string_view ns, std::string_view name,
                            Part part, const std::function<std::optional<Failure>(Json&)>& change,
                            const WriteOptions& options = {});
  // Writes what `change` made of the object without asking what may change (the binding of a pod
  // sets an immutable field). The generation stays: upstream's storage does not count such writes.
  Outcome<ObjectPtr> Overwrite(const KindInfo& kind, std::string_view ns, std::string_view name,
                               const std::function<std::optional<Failure>(Json&)>& change);
  // The same for controllers, which come too late for an object that is gone.
  void OverwriteIfThere(const KindInfo& kind, std::string_view ns, std::string_view name,
                        const std::function<void(Json&)>& change);
  // The object as it is now: gone, or (grace period, finalizers) still there and terminating.
  struct Deleted {
    ObjectPtr object;
    bool gone = true;
  };
  Outcome<Deleted> Delete(const KindInfo& kind, std::string_view ns, std::string_view name,
                          const DeleteOptions& options = {});

  Store& store() { return store_; }
  const Store& store() const { return store_; }
  const Clock& clock() const { return clock_; }
  Random& random() { return random_; }
  // "2026-01-02T03:04:05Z"
  std::string Now() const;
  std::string NewUid();
  // The generated name for a prefix: cut to 58 characters, five random ones behind it.
  std::string NewName(std::string_view prefix);

 private:
  using Change = std::function<std::optional<Failure>(Json&)>;

  // registry.cc
  Outcome<ObjectPtr> StoreNew(const KindInfo& kind, Json object, const WriteOptions& options);
  Outcome<ObjectPtr> StoreChanged(const KindInfo& kind, const ObjectPtr& current, Json before,
                                  Json object, Part part, const WriteOptions& options);
  // Writes unless nothing changes; an object whose deletion waited for this goes away.
  ObjectPtr Commit(const KindInfo& kind, const ObjectPtr& current, Json object,
                   const WriteOptions& options);

  // registry_delete.cc
  Outcome<Deleted> DeleteNamespace(const KindInfo& kind, const ObjectPtr& current,
                                   const DeleteOptions& options);
  void EmptyNamespace(const std::string& ns);
  void RemoveNamespaceIfEmpty(const StoredObject& ns);
  ObjectPtr PutIfChanged(const KindInfo& kind, const ObjectPtr& current, Json object);
  bool NamespaceIsEmpty(const std::string& ns) const;
  // Whether an object goes away when nothing holds it any more.
  bool RemovesItself(const KindInfo& kind, const StoredObject& object) const;
  // Removes the object, and its namespace if that waited for it.
  ObjectPtr Remove(const KindInfo& kind, const ObjectPtr& current,
                   const StoredObject* last = nullptr);
  // Refusal to create something in a namespace; absent: it may be.
  std::optional<Failure> CheckNamespace(const KindInfo& kind, std::string_view ns,
                                        std::string_view name) const;

  Store& store_;
  const Clock& clock_;
  Random random_;
};

}  // namespace ks::apiserver
