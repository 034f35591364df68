// SPDX-License-Identifier: Apache-2.0
#include "cel/unifier.h"

#include <algorithm>

#include "cel/depth.h"

namespace ks::cel {
namespace {

bool FitsAnything(const Type& type) {
  return type.kind == TypeKind::kDyn || type.kind == TypeKind::kError ||
         type.kind == TypeKind::kAny;
}

// Whether null is a value of the type.
bool TakesNull(const Type& type) {
  switch (type.kind) {
    case TypeKind::kNull:
    case TypeKind::kTimestamp:
    case TypeKind::kDuration:
    case TypeKind::kWrapper:
    case TypeKind::kOptional:
    case TypeKind::kOpaque:
    case TypeKind::kObject:
      return true;
    default:
      return false;
  }
}

const Type& Unwrapped(const Type& type) {
  return type.kind == TypeKind::kWrapper ? *type.params[0] : type;
}

}  // namespace

TypePtr Unifier::NewOpen() { return ParamType("_var" + std::to_string(open_count_++)); }

bool Unifier::Assign(const TypePtr& from, const TypePtr& to) { return AssignAll({from}, {to}); }

bool Unifier::AssignAll(const std::vector<TypePtr>& from, const std::vector<TypePtr>& to) {
  undo_.clear();
  for (size_t i = 0; i < from.size(); ++i) {
    if (Unify(from[i], to[i])) continue;
    for (; !undo_.empty(); undo_.pop_back()) {
      auto& [open, earlier] = undo_.back();
      if (earlier == nullptr) {
        bound_.erase(open);
      } else {
        bound_[open] = std::move(earlier);
      }
    }
    return false;
  }
  return true;
}

TypePtr Unifier::Join(const TypePtr& so_far, const TypePtr& next) {
  if (!Assign(so_far, next)) return SimpleType(TypeKind::kDyn);
  return IsAsGeneral(so_far, next) ? so_far : next;
}

TypePtr Unifier::Resolve(TypePtr type) const {
  while (type->kind == TypeKind::kParam) {
    const auto found = bound_.find(type->name);
    if (found == bound_.end()) break;
    type = found->second;
  }
  return type;
}

TypePtr Unifier::Substitute(const TypePtr& type) { return Replace(type, false); }

TypePtr Unifier::Close(const TypePtr& type) { return Replace(type, true); }

TypePtr Unifier::Replace(const TypePtr& type, bool close) {
  const Deeper deeper(depth_);
  TypePtr resolved = Resolve(type);
  if (!Step() || (close && resolved->kind == TypeKind::kParam)) return SimpleType(TypeKind::kDyn);
  std::vector<TypePtr> params;
  bool changed = false;
  for (const TypePtr& param : resolved->params) {
    params.push_back(Replace(param, close));
    changed = changed || params.back() != param;
  }
  return changed ? WithParams(*resolved, std::move(params)) : resolved;
}

bool Unifier::Unify(const TypePtr& from, const TypePtr& to) {
  const Deeper deeper(depth_);
  if (!Step()) return false;
  if (to->kind == TypeKind::kParam) {
    return bound_.contains(to->name) ? UnifyBound(to->name, from, true) : Bind(to, from);
  }
  if (from->kind == TypeKind::kParam) {
    return bound_.contains(from->name) ? UnifyBound(from->name, to, false) : Bind(from, to);
  }
  if (FitsAnything(*from) || FitsAnything(*to)) return true;
  if (from->kind == TypeKind::kNull) return TakesNull(*to);
  if (to->kind == TypeKind::kNull) return TakesNull(*from);
  const Type& plain_from = Unwrapped(*from);
  const Type& plain_to = Unwrapped(*to);
  if (plain_from.kind != plain_to.kind || plain_from.name != plain_to.name) return false;
  // A value of type type may be any type.
  return plain_from.kind == TypeKind::kType || UnifyParams(plain_from, plain_to);
}

bool Unifier::UnifyParams(const Type& from, const Type& to) {
  for (size_t i = 0; i < from.params.size(); ++i) {
    if (!Unify(from.params[i], to.params[i])) return false;
  }
  return true;
}

bool Unifier::Bind(const TypePtr& open, const TypePtr& type) {
  const TypePtr resolved = Resolve(type);
  if (resolved->kind == TypeKind::kParam && resolved->name == open->name) return true;
  if (Mentions(resolved, open->name)) return false;
  Set(open->name, resolved);
  return true;
}

// The more general type stays. What is set is resolved, so that chains of open types have an end.
bool Unifier::UnifyBound(const std::string& open, const TypePtr& type, bool open_is_target) {
  const TypePtr current = bound_.at(open);
  if (!(open_is_target ? Unify(type, current) : Unify(current, type))) return false;
  const TypePtr resolved = Resolve(type);
  const bool itself = resolved->kind == TypeKind::kParam && resolved->name == open;
  if (!itself && IsAsGeneral(type, current) && !Mentions(type, open)) Set(open, resolved);
  return true;
}

bool Unifier::Mentions(const TypePtr& type, const std::string& open) {
  const Deeper deeper(depth_);
  if (!Step()) return true;
  const TypePtr resolved = Resolve(type);
  if (resolved->kind == TypeKind::kParam) return resolved->name == open;
  return std::any_of(resolved->params.begin(), resolved->params.end(),
                     [&](const TypePtr& param) { return Mentions(param, open); });
}

bool Unifier::IsAsGeneral(const TypePtr& general, const TypePtr& special) {
  const Deeper deeper(depth_);
  if (!Step()) return false;
  if (general->kind == TypeKind::kDyn || general->kind == TypeKind::kParam) return true;
  if (general->kind != special->kind || general->name != special->name) return false;
  if (general->kind == TypeKind::kType) return true;
  for (size_t i = 0; i < general->params.size(); ++i) {
    if (!IsAsGeneral(general->params[i], special->params[i])) return false;
  }
  return true;
}

bool Unifier::Step() {
  if (depth_ > kMostDepth) steps_ = kMostSteps;
  return ++steps_ <= kMostSteps;
}

void Unifier::Set(const std::string& open, TypePtr type) {
  TypePtr& slot = bound_[open];
  undo_.emplace_back(open, slot);
  slot = std::move(type);
}

}  // namespace ks::cel
