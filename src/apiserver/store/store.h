// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of the in-memory API server: objects by kind and key, one counter of versions, and for
// each kind the log of its latest changes, from which every watch reads. An object is serialized
// once, when it is written. No rules about what may be written: registry.h.
//
// Threads: one (that of the Service). Lifetime: the store outlives its cursors.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/store/object.h"

namespace ks::apiserver {

struct Change {
  enum class Type : uint8_t { kAdded, kModified, kDeleted };
  Type type = Type::kAdded;
  uint64_t version = 0;  // of the change; a deletion has one of its own
  ObjectPtr object;      // the new state; of a deletion the last one, with `version` in its text
  ObjectPtr before;      // null for kAdded
};

struct StoreOptions {
  size_t history = 20000;  // changes kept per kind; older ones cannot be watched from
};

class Store {
 public:
  // (namespace, name); in list order, which is that of upstream's storage keys: <namespace>/<name>
  // by bytes.
  using Key = std::pair<std::string, std::string>;
  using KeyView = std::pair<std::string_view, std::string_view>;
  struct KeyLess {
    using is_transparent = void;
    bool operator()(const KeyView& a, const KeyView& b) const;
  };
  using Objects = std::map<Key, ObjectPtr, KeyLess>;

  explicit Store(StoreOptions options = {});
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // The version of the latest change; 1 at the beginning.
  uint64_t version() const { return version_; }

  const Objects& objects(const KindInfo& kind) const;
  ObjectPtr Find(const KindInfo& kind, std::string_view ns, std::string_view name) const;

  // The objects of a kind as they were at `version`, put together from the log, in list order and
  // only those whose key is not before `from`; `visit` returns false to stop. False, without a
  // visit: changes since then are forgotten. Requires: version <= version().
  // Cost: O(changes since) and what is visited.
  bool VisitAt(const KindInfo& kind, uint64_t version, const KeyView& from,
               const std::function<bool(const ObjectPtr&)>& visit) const;

  // Adds or replaces the object of this kind, namespace and name (from metadata), gives it the next
  // version and serializes it.
  ObjectPtr Put(const KindInfo& kind, Json object);
  // The same of an object that Make made: its text is used, with the new version in it.
  ObjectPtr Put(const StoredObject& made);
  // The object as Put would make it with this version, but not stored: for dry runs and to see
  // whether a write changes anything. Version 0: without one.
  static ObjectPtr Make(const KindInfo& kind, Json object, uint64_t version);
  // The text of an object with another resourceVersion in it.
  static std::string TextAt(const StoredObject& object, uint64_t version);
  // The object must be there. The log's entry carries `last` (made by Make; with the deletion's
  // version) when given, else what was stored.
  ObjectPtr Remove(const KindInfo& kind, std::string_view ns, std::string_view name,
                   const StoredObject* last = nullptr);

  // The changes of a kind with version > `since`, in order, as far as they are kept: index of the
  // first in Log(kind). Absent: some of them are forgotten.
  std::optional<uint64_t> SequenceAfter(const KindInfo& kind, uint64_t since) const;
  // By sequence number; null: not yet. Requires: sequence >= FirstSequence(kind).
  const Change* At(const KindInfo& kind, uint64_t sequence) const;
  // Nothing at or before this version can be watched from or read: the newest forgotten change.
  uint64_t ForgottenVersion(const KindInfo& kind) const;
  uint64_t FirstSequence(const KindInfo& kind) const;  // of the oldest kept change
  uint64_t NextSequence(const KindInfo& kind) const;   // of the next change

  // `woken` is called after each change of the kind, with the change in the log. It must not write,
  // subscribe or drop a handle.
  // The returned handle ends it when dropped.
  std::shared_ptr<void> Subscribe(const KindInfo& kind, std::function<void()> woken);

  // Forgets the whole log (as a restarted server with an empty watch cache): every watch from an
  // older version gets 410. Used by fault tests.
  void ForgetHistory();

 private:
  struct Kind;
  static ObjectPtr WithVersion(const StoredObject& object, uint64_t version);
  ObjectPtr Keep(ObjectPtr object);
  void Append(Kind& state, Change change);
  Kind& Of(const KindInfo& kind);
  const Kind& Of(const KindInfo& kind) const;

  StoreOptions options_;
  uint64_t version_ = 1;
  std::vector<std::unique_ptr<Kind>> kinds_;
};

}  // namespace ks::apiserver
