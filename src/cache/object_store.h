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

#include "api/delta.h"
#include "base/check.h"
#include "base/string_map.h"

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

// Keyed by "namespace/name", or the name for cluster-scoped kinds.
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
        if (objects_.erase(delta.object->meta.Key()) != 0) handler.Delete(delta.object, false);
        return;
    }
  }

  // Null when unknown.
  Ptr Get(std::string_view key) const {
    const auto it = objects_.find(key);
    return it == objects_.end() ? nullptr : it->second;
  }
  size_t size() const { return objects_.size(); }
  // All objects in no particular order. Cheap: copies pointers, about 20 ns each.
  std::vector<Ptr> Unsorted() const {
    std::vector<Ptr> list;
    list.reserve(objects_.size());
    for (const auto& [key, object] : objects_) list.push_back(object);
    return list;
  }
  // All objects, ascending by key.
  std::vector<Ptr> List() const {
    std::vector<Ptr> list;
    for (const std::string& key : SortedKeys()) list.push_back(Get(key));
    return list;
  }

 private:
  void Upsert(const Ptr& object, Handler& handler) {
    const auto [it, inserted] = objects_.try_emplace(object->meta.Key(), object);
    if (inserted) {
      handler.Add(object);
      return;
    }
    const Ptr old_object = std::exchange(it->second, object);
    handler.Update(old_object, object);
  }

  void Replace(const std::vector<Ptr>& items, Handler& handler) {
    StringMap<bool> present;
    for (const Ptr& item : items) present.try_emplace(item->meta.Key(), true);
    // Ascending by key, so that a run can be repeated.
    for (const std::string& key : SortedKeys()) {
      if (present.contains(key)) continue;
      const auto it = objects_.find(key);
      const Ptr gone = it->second;
      objects_.erase(it);
      handler.Delete(gone, true);
    }
    for (const Ptr& item : items) Upsert(item, handler);
    KS_CHECK(objects_.size() == present.size(), "a list leaves other objects than its own");
  }

  std::vector<std::string> SortedKeys() const {
    std::vector<std::string> keys;
    keys.reserve(objects_.size());
    for (const auto& [key, object] : objects_) keys.push_back(key);
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  StringMap<Ptr> objects_;
};

}  // namespace ks::cache
