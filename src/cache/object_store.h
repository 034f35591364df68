// SPDX-License-Identifier: Apache-2.0
#pragma once
// ObjectStore: the last known objects of one kind, and the translation of a reflector's deltas into
// Add, Update and Delete calls. Not for deciding what an event means: that is the handler's part.
//
// Upstream: docs/spec/api.md section 6.5.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "api/delta.h"
#include "base/check.h"
#include "base/text_hash.h"

namespace ks::cache {

// Told after the store has changed. Calls come in stream order; one call per object and delta.
template <class T>
class ObjectHandler {
 public:
  using Ptr = std::shared_ptr<const T>;

  virtual ~ObjectHandler() = default;
  virtual void Add(const Ptr& object) = 0;
  // Also when nothing changed, and when the object was deleted and created again meanwhile under
  // the same name: ask IsRecreated.
  virtual void Update(const Ptr& old_object, const Ptr& new_object) = 0;
  // `final_state_unknown`: the deletion was missed, and `object` is the last known state, which may
  // be out of date.
  virtual void Delete(const Ptr& object, bool final_state_unknown) = 0;
};

// Whether an update is really a missed delete followed by a create.
template <class T>
bool IsRecreated(const T& old_object, const T& new_object) {
  return old_object.meta.uid != new_object.meta.uid;
}

// An object's place among objects of its kind: by namespace and name, which it has itself. Found by
// "namespace/name", or the name for cluster-scoped kinds, too.
struct ObjectKeyHash {
  using is_transparent = void;
  size_t operator()(std::string_view key) const {
    const size_t slash = key.find('/');
    return slash == key.npos ? Of({}, key) : Of(key.substr(0, slash), key.substr(slash + 1));
  }
  template <class T>
  size_t operator()(const std::shared_ptr<const T>& object) const {
    return Of(object->meta.ns.view(), object->meta.name);
  }

 private:
  static size_t Of(std::string_view ns, std::string_view name) {
    return HashText(ns) * 31 + HashText(name);
  }
};
struct ObjectKeyEqual {
  using is_transparent = void;
  template <class T>
  bool operator()(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) const {
    return a->meta.ns == b->meta.ns && a->meta.name == b->meta.name;
  }
  template <class T>
  bool operator()(const std::shared_ptr<const T>& object, std::string_view key) const {
    const std::string_view ns = object->meta.ns.view();
    const std::string_view name = object->meta.name;
    if (ns.empty()) return key == name;
    return key.size() == ns.size() + 1 + name.size() && key.starts_with(ns) &&
           key[ns.size()] == '/' && key.ends_with(name);
  }
};
template <class T>
using ObjectSet = absl::flat_hash_set<std::shared_ptr<const T>, ObjectKeyHash, ObjectKeyEqual>;

// Keyed by "namespace/name", or the name for cluster-scoped kinds. A pointer an object: what it is
// found by is in it.
// Threads: the scheduling thread. Lifetime: pointers returned by Get stay valid while they are
// held.
template <class T>
class ObjectStore {
 public:
  using Ptr = std::shared_ptr<const T>;
  using Handler = ObjectHandler<T>;

  void Apply(const api::Delta<T>& delta, Handler& handler) {
    switch (delta.type) {
      case api::Delta<T>::Type::kReplace:
        Replace(delta.items, handler);
        return;
      case api::Delta<T>::Type::kUpsert:
        Upsert(delta.object, handler);
        return;
      case api::Delta<T>::Type::kDelete:
        // A deletion of something never seen is no event.
        if (objects_.erase(delta.object) != 0) handler.Delete(delta.object, false);
        return;
    }
  }

  // Null when unknown.
  Ptr Get(std::string_view key) const {
    const auto it = objects_.find(key);
    return it == objects_.end() ? nullptr : *it;
  }
  size_t size() const { return objects_.size(); }
  // All objects in no particular order. Cheap: copies pointers, about 20 ns each.
  std::vector<Ptr> Unsorted() const { return {objects_.begin(), objects_.end()}; }
  // All objects, ascending by key.
  std::vector<Ptr> List() const {
    std::vector<std::pair<std::string, Ptr>> sorted;
    sorted.reserve(objects_.size());
    for (const Ptr& object : objects_) sorted.emplace_back(object->meta.Key(), object);
    std::sort(sorted.begin(), sorted.end());
    std::vector<Ptr> list;
    list.reserve(sorted.size());
    for (auto& [key, object] : sorted) list.push_back(std::move(object));
    return list;
  }

 private:
  void Upsert(const Ptr& object, Handler& handler) {
    const auto known = objects_.find(object);
    if (known == objects_.end()) {
      objects_.insert(object);
      handler.Add(object);
      return;
    }
    const Ptr old_object = std::move(objects_.extract(known).value());
    objects_.insert(object);
    handler.Update(old_object, object);
  }

  void Replace(const std::vector<Ptr>& items, Handler& handler) {
    const ObjectSet<T> present(items.begin(), items.end());
    // Ascending by key, so that a run can be repeated.
    for (const Ptr& known : List()) {
      if (present.contains(known)) continue;
      objects_.erase(known);
      handler.Delete(known, true);
    }
    for (const Ptr& item : items) Upsert(item, handler);
    KS_CHECK(objects_.size() == present.size(), "a list leaves other objects than its own");
  }

  ObjectSet<T> objects_;
};

}  // namespace ks::cache
