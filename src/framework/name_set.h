// SPDX-License-Identifier: Apache-2.0
#pragma once
// NameSet: a set of plugin names that all pods with the same one share. A hundred thousand rejected
// pods have a dozen different sets of rejecting plugins between them.

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

namespace ks::framework {

// The size of a pointer; comparing is comparing pointers. Every set that was ever made stays until
// the process ends, so it is for names out of a small stock only. Order: by text.
// Threads: like a value; making one from names takes a lock.
class NameSet {
 public:
  using Names = std::set<std::string>;
  using value_type = Names::value_type;
  using const_iterator = Names::const_iterator;

  NameSet();
  NameSet(const Names& names);  // NOLINT(google-explicit-constructor): the same value, shared
  NameSet(std::initializer_list<std::string> names) : NameSet(Names(names)) {}

  const Names& names() const { return *names_; }
  const_iterator begin() const { return names_->begin(); }
  const_iterator end() const { return names_->end(); }
  bool empty() const { return names_->empty(); }
  size_t size() const { return names_->size(); }
  bool contains(const std::string& name) const { return names_->contains(name); }

  // Becomes the set with that name, too; false when it was there already.
  bool Insert(const std::string& name);
  void Clear() { *this = NameSet(); }

  friend bool operator==(NameSet a, NameSet b) { return a.names_ == b.names_; }
  friend bool operator==(NameSet a, const Names& b) { return *a.names_ == b; }

  template <class H>
  friend H AbslHashValue(H state, NameSet set) {
    return H::combine(std::move(state), set.names_);
  }

 private:
  const Names* names_;  // never null
};

}  // namespace ks::framework
