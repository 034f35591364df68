// SPDX-License-Identifier: Apache-2.0
#include "cel/literal_checks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cel/format_checks.h"
#include "cel/regex.h"
#include "cel/time_value.h"

namespace ks::cel {
namespace {

// The seconds of the years 1 to 9999.
constexpr int64_t kFirstSecond = -62'135'596'800;
constexpr int64_t kLastSecond = 253'402'300'799;

bool IsDuration(const Constant& constant) {
  const auto* text = std::get_if<std::string>(&constant);
  return text != nullptr && ReadDuration(*text).has_value();
}

bool IsTimestamp(const Constant& constant) {
  if (const auto* seconds = std::get_if<int64_t>(&constant)) {
    return *seconds >= kFirstSecond && *seconds <= kLastSecond;
  }
  const auto* text = std::get_if<std::string>(&constant);
  if (text == nullptr) return false;
  const std::optional<Value> timestamp = ReadTimestamp(*text);
  return timestamp.has_value() && !timestamp->is_error();
}

bool IsPattern(const Constant& constant) {
  const auto* text = std::get_if<std::string>(&constant);
  return text != nullptr && CompilePattern(*text).ok();
}

// The first argument, where it is a literal.
struct ArgumentCheck {
  std::string_view function;
  bool (*is_valid)(const Constant&);
};

constexpr ArgumentCheck kArgumentChecks[] = {
    {"duration", IsDuration},
    {"timestamp", IsTimestamp},
    {"matches", IsPattern},
};

// Without the wrappers that messages put around scalars.
bool IsSameElementType(const Type& a, const Type& b) {
  if (a.kind == TypeKind::kWrapper) return IsSameElementType(*a.params[0], b);
  if (b.kind == TypeKind::kWrapper) return IsSameElementType(a, *b.params[0]);
  return a.kind == b.kind && a.name == b.name &&
         std::equal(a.params.begin(), a.params.end(), b.params.begin(), b.params.end(),
                    [](const TypePtr& x, const TypePtr& y) { return IsSameElementType(*x, *y); });
}

// Walks over the tree; what is found twice, because a node has two parents, is told twice.
class LiteralChecker {
 public:
  LiteralChecker(const Checked& checked, Issues& issues)
      : checked_(checked), issues_(issues), clean_(checked.types.size()) {}

  // `in_format`: as part of an argument of format, where types may be mixed.
  void Visit(const Expr& expr, bool in_format) {
    if (clean_[expr.id] || issues_.full()) return;
    const size_t issues_before = issues_.count();
    switch (expr.kind) {
      case ExprKind::kCall:
        CheckArgument(expr);
        if (IsFormat(expr)) {
          CheckFormat(expr, checked_, issues_);
          in_format = true;
        }
        break;
      case ExprKind::kList:
        if (!in_format) CheckElements(expr);
        break;
      case ExprKind::kMap:
        if (!in_format) CheckEntries(expr);
        break;
      default:
        break;
    }
    VisitChildren(expr, in_format);
    clean_[expr.id] = issues_.count() == issues_before;
  }

 private:
  static bool IsFormat(const Expr& expr) {
    return expr.name == "format" && expr.target != nullptr && expr.args.size() == 1;
  }

  void VisitChildren(const Expr& expr, bool in_format) {
    if (expr.target != nullptr) Visit(*expr.target, in_format);
    for (const ExprPtr& arg : expr.args) Visit(*arg, in_format);
    for (const Entry& entry : expr.entries) {
      if (entry.key != nullptr) Visit(*entry.key, in_format);
      Visit(*entry.value, in_format);
    }
    if (expr.comprehension == nullptr) return;
    const Comprehension& loop = *expr.comprehension;
    for (const ExprPtr* part :
         {&loop.range, &loop.init, &loop.condition, &loop.step, &loop.result}) {
      Visit(**part, in_format);
    }
  }

  void CheckArgument(const Expr& call) {
    if (call.args.empty()) return;
    const Expr& arg = *call.args[0];
    if (arg.kind != ExprKind::kConstant) return;
    for (const ArgumentCheck& check : kArgumentChecks) {
      if (check.function != call.name || check.is_valid(arg.constant)) continue;
      issues_.Add(arg.position, "invalid " + call.name + " argument");
    }
  }

  // Of an entry's value: what the entry holds.
  TypePtr TypeOfValue(const Entry& entry) const {
    const TypePtr& type = checked_.types[entry.value->id];
    const bool wrapped = entry.optional && type->kind == TypeKind::kOptional;
    return wrapped ? type->params[0] : type;
  }

  // True: `type` is the first's, which is taken if there is none yet.
  bool CheckSame(TypePtr& first, const TypePtr& type, const Expr& culprit) {
    if (first == nullptr) first = type;
    if (IsSameElementType(*first, *type)) return true;
    issues_.Add(culprit.position, "expected type '" + CheckedTypeName(*first) + "' but found '" +
                                      CheckedTypeName(*type) + "'");
    return false;
  }

  // Of a list the first odd one, of a map all.
  void CheckElements(const Expr& list) {
    TypePtr first;
    for (const Entry& entry : list.entries) {
      if (!CheckSame(first, TypeOfValue(entry), *entry.value)) return;
    }
  }

  void CheckEntries(const Expr& map) {
    TypePtr first_key;
    TypePtr first_value;
    for (const Entry& entry : map.entries) {
      CheckSame(first_key, checked_.types[entry.key->id], *entry.key);
      CheckSame(first_value, TypeOfValue(entry), *entry.value);
    }
  }

  const Checked& checked_;
  Issues& issues_;
  std::vector<bool> clean_;  // by id: visited, nothing found
};

}  // namespace

void CheckLiterals(const Checked& checked, Issues& issues) {
  LiteralChecker(checked, issues).Visit(*checked.root, false);
}

}  // namespace ks::cel
