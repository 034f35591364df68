// SPDX-License-Identifier: Apache-2.0
#include "cel/weight.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ks::cel {
namespace {

// What functions do with a longer one may take longer than any number of nodes tells.
constexpr size_t kLongText = 1024;

// Those that make no text longer than the ones that they are given, and whose work is in proportion
// to them. Anything else counts as unbounded.
constexpr auto kPlainFunctions = std::to_array<std::string_view>({
    "!_",       "-_",        "@in",           "_!=_",        "_%_",           "_&&_",
    "_*_",      "_-_",       "_/_",           "_<=_",        "_<_",           "_==_",
    "_>=_",     "_>_",       "_?._",          "_?_:_",       "_[?_]",         "_[_]",
    "_||_",     "compareTo", "endsWith",      "hasValue",    "isGreaterThan", "isLessThan",
    "major",    "minor",     "optional.none", "optional.of", "orValue",       "patch",
    "quantity", "semver",    "size",          "startsWith",  "value",
});
static_assert(std::is_sorted(kPlainFunctions.begin(), kPlainFunctions.end()));

class Walk {
 public:
  // False: unbounded.
  bool Visit(const ExprPtr& expr) {
    if (expr == nullptr || IsSeen(expr->id)) return true;
    ++nodes_;
    if (expr->kind == ExprKind::kComprehension) return false;
    if (expr->kind == ExprKind::kConstant && IsLong(expr->constant)) return false;
    if (expr->kind == ExprKind::kCall && !IsPlain(expr->name)) return false;
    const auto visit = [this](const ExprPtr& part) { return Visit(part); };
    return Visit(expr->target) && std::all_of(expr->args.begin(), expr->args.end(), visit) &&
           std::all_of(expr->entries.begin(), expr->entries.end(), [this](const Entry& entry) {
             return Visit(entry.key) && Visit(entry.value);
           });
  }
  size_t nodes() const { return nodes_; }

 private:
  static bool IsLong(const Constant& constant) {
    const auto* text = std::get_if<std::string>(&constant);
    const auto* bytes = std::get_if<BytesConstant>(&constant);
    const size_t size = text != nullptr ? text->size() : bytes != nullptr ? bytes->bytes.size() : 0;
    return size > kLongText;
  }
  static bool IsPlain(std::string_view function) {
    return std::binary_search(kPlainFunctions.begin(), kPlainFunctions.end(), function);
  }
  bool IsSeen(uint32_t id) {
    if (seen_.size() <= id) seen_.resize(size_t{id} + 1);
    const bool seen = seen_[id];
    seen_[id] = true;
    return seen;
  }

  std::vector<bool> seen_;  // by id
  size_t nodes_ = 0;
};

}  // namespace

size_t WeightOf(const ExprPtr& root) {
  Walk walk;
  return walk.Visit(root) ? walk.nodes() : kUnbounded;
}

}  // namespace ks::cel
