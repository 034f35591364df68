// SPDX-License-Identifier: Apache-2.0
#pragma once
// What open types stand for while an expression is checked: of an empty list the element, of a
// generic function its parameters.
//
// Upstream: docs/spec/cel.md section 4.

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text_hash.h"
#include "cel/type.h"

namespace ks::cel {

// Open types are kParam types that NewOpen made; each is bound to a type at most, which may be open
// or hold open types, but never itself. Threads: like a value.
class Unifier {
 public:
  TypePtr NewOpen();
  // How many there are, and counting more of them that nothing refers to.
  size_t open_count() const { return open_count_; }
  void SkipOpen(size_t count) { open_count_ += count; }

  // Whether a value of type `from` may stand where `to` is wanted, binding open types on both
  // sides. What is bound when the answer is no is bound no longer.
  bool Assign(const TypePtr& from, const TypePtr& to);
  // The same for all of `from`, one by one: all or nothing. Requires: equal sizes.
  bool AssignAll(const std::vector<TypePtr>& from, const std::vector<TypePtr>& to);

  // What the elements of a literal have in common, so far and with one more.
  TypePtr Join(const TypePtr& so_far, const TypePtr& next);

  // What an open type is bound to, at the outermost level; any other type as it is.
  TypePtr Resolve(TypePtr type) const;
  // With all bound open types replaced.
  TypePtr Substitute(const TypePtr& type);
  // With all open types replaced; those that are not bound are dyn.
  TypePtr Close(const TypePtr& type);

  // True: types have grown so intertwined that all answers since are worth nothing.
  bool exhausted() const { return steps_ > kMostSteps; }

 private:
  static constexpr size_t kMostSteps = 5'000'000;
  static constexpr size_t kMostDepth = 2'000;

  bool Unify(const TypePtr& from, const TypePtr& to);
  bool UnifyParams(const Type& from, const Type& to);
  bool Bind(const TypePtr& open, const TypePtr& type);
  bool UnifyBound(const std::string& open, const TypePtr& type, bool open_is_target);
  bool Mentions(const TypePtr& type, const std::string& open);
  // As the types are written: what open types are bound to is not looked at.
  bool IsAsGeneral(const TypePtr& general, const TypePtr& special);
  TypePtr Replace(const TypePtr& type, bool close);
  void Set(const std::string& open, TypePtr type);
  // False, for good, when there have been too many or too deep ones.
  bool Step();

  std::unordered_map<std::string, TypePtr, TextHash> bound_;
  std::vector<std::pair<std::string, TypePtr>> undo_;  // earlier values, null: not bound
  size_t open_count_ = 0;
  size_t steps_ = 0;
  size_t depth_ = 0;
};

}  // namespace ks::cel
