// SPDX-License-Identifier: Apache-2.0
#include "cel/format_checks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cel/format_clause.h"

namespace ks::cel {
namespace {

struct Verb {
  std::string_view verbs;
  std::string_view complaint;
  std::vector<TypeKind> kinds;  // besides dyn
};

const Verb& FindVerb(char verb) {
  using enum TypeKind;
  static const std::vector<Verb> verbs = {
      {"s",
       "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
       "types, "
       "durations, and timestamps",
       {kString, kBool, kBytes, kInt, kUint, kDouble, kMap, kList, kType, kDuration, kTimestamp,
        kNull}},
      {"d", "decimal clause can only be used on integers", {kInt, kUint}},
      {"f", "fixed-point clause can only be used on doubles", {kDouble, kString}},
      {"e", "scientific clause can only be used on doubles", {kDouble, kString}},
      {"b", "only integers and bools can be formatted as binary", {kInt, kUint, kBool}},
      {"xX",
       "only integers, byte buffers, and strings can be formatted as hex",
       {kInt, kUint, kString, kBytes}},
      {"o", "octal clause can only be used on integers", {kInt, kUint}},
  };
  return *std::find_if(verbs.begin(), verbs.end(), [&](const Verb& candidate) {
    return candidate.verbs.find(verb) != std::string_view::npos;
  });
}

// The name without parameters.
std::string GivenName(const Type& type) {
  std::string name = RuntimeTypeName(type);
  return name.substr(0, name.find('('));
}

// False: a problem was added. Literals in literals are looked at, too.
bool CheckArgument(const Expr& arg, const Verb& verb, const Checked& checked, Issues& issues) {
  const Type* type = &checked.type_of(arg);
  if (type->kind == TypeKind::kWrapper) type = type->params[0].get();
  if (type->kind == TypeKind::kDyn) return true;
  if (std::find(verb.kinds.begin(), verb.kinds.end(), type->kind) == verb.kinds.end()) {
    issues.Add(arg.position, "error during formatting: " + std::string(verb.complaint) +
                                 ", was given " + GivenName(*type));
    return false;
  }
  return std::all_of(arg.entries.begin(), arg.entries.end(), [&](const Entry& entry) {
    return (entry.key == nullptr || CheckArgument(*entry.key, verb, checked, issues)) &&
           CheckArgument(*entry.value, verb, checked, issues);
  });
}

}  // namespace

void CheckFormat(const Expr& call, const Checked& checked, Issues& issues) {
  const auto* text = std::get_if<std::string>(&call.target->constant);
  const Expr& list = *call.args[0];
  if (call.target->kind != ExprKind::kConstant || text == nullptr) return;
  if (list.kind != ExprKind::kList) return;
  const std::vector<Entry>& args = list.entries;
  size_t used = 0;
  for (std::string_view format = *text; !format.empty();) {
    const Result<FormatClause> clause = TakeFormatClause(format, used, args.size());
    if (!clause.ok()) return issues.Add(call.position, clause.error().message);
    if (clause.value().verb == '\0') break;
    const Verb& verb = FindVerb(clause.value().verb);
    if (!CheckArgument(*args[used].value, verb, checked, issues)) return;
    ++used;
  }
  if (used < args.size()) {
    issues.Add(call.position, "too many arguments supplied to string.format (expected " +
                                  std::to_string(used) + ", got " + std::to_string(args.size()) +
                                  ")");
  }
}

}  // namespace ks::cel
