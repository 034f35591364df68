// SPDX-License-Identifier: Apache-2.0
#include "cel/overload_resolution.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace ks::cel {
namespace {

// The type parameters of one overload with an open type for each.
class Instance {
 public:
  explicit Instance(Unifier& unifier) : unifier_(unifier) {}

  TypePtr Open(const TypePtr& type) {
    if (type->kind == TypeKind::kParam) {
      TypePtr& open = open_[static_cast<size_t>(type->name[0] - 'A')];
      if (open == nullptr) open = unifier_.NewOpen();
      return open;
    }
    if (type->params.empty()) return type;
    return WithParams(*type, OpenAll(type->params));
  }

  std::vector<TypePtr> OpenAll(const std::vector<TypePtr>& types) {
    std::vector<TypePtr> opened;
    opened.reserve(types.size());
    for (const TypePtr& type : types) opened.push_back(Open(type));
    return opened;
  }

 private:
  Unifier& unifier_;
  std::array<TypePtr, 26> open_{};
};

}  // namespace

Resolution ResolveOverload(const Function& function, bool member, const std::vector<TypePtr>& args,
                           Unifier& unifier) {
  Resolution resolution;
  std::vector<OverloadId>& overloads = resolution.overloads;
  for (const Overload& overload : function.overloads) {
    if (overload.member != member) continue;
    Instance instance(unifier);
    const TypePtr result = instance.Open(overload.result);
    const std::vector<TypePtr> params = instance.OpenAll(overload.params);
    if (params.size() != args.size() || !unifier.AssignAll(args, params)) continue;
    if (std::find(overloads.begin(), overloads.end(), overload.id) == overloads.end()) {
      overloads.push_back(overload.id);
    }
    TypePtr type = unifier.Substitute(result);
    if (resolution.result == nullptr) {
      resolution.result = std::move(type);
    } else if (!SameType(*resolution.result, *type)) {
      resolution.result = SimpleType(TypeKind::kDyn);
    }
  }
  return resolution;
}

}  // namespace ks::cel
