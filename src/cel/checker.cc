// SPDX-License-Identifier: Apache-2.0
#include "cel/checker.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cel/literal_checks.h"
#include "cel/overload_resolution.h"
#include "cel/parser.h"
#include "cel/source.h"
#include "cel/unifier.h"

namespace ks::cel {
namespace {

using Variable = Environment::Variable;

TypePtr Dyn() { return SimpleType(TypeKind::kDyn); }
TypePtr Bool() { return SimpleType(TypeKind::kBool); }
TypePtr ErrorType() { return SimpleType(TypeKind::kError); }

TypePtr TypeOfConstant(const Constant& constant) {
  constexpr auto kKinds =
      std::to_array({TypeKind::kNull, TypeKind::kBool, TypeKind::kInt, TypeKind::kUint,
                     TypeKind::kDouble, TypeKind::kString, TypeKind::kBytes});
  static_assert(kKinds.size() == std::variant_size_v<Constant>);
  return SimpleType(kKinds[constant.index()]);
}

// "a.b.c" of selections from an identifier. Empty: it is something else.
std::string QualifiedName(const Expr& expr) {
  std::vector<const std::string*> parts;
  const Expr* part = &expr;
  while (part->kind == ExprKind::kSelect && !part->test_only) {
    parts.push_back(&part->name);
    part = part->target.get();
  }
  if (part->kind != ExprKind::kIdent) return {};
  std::string name = part->name;
  for (auto it = parts.rbegin(); it != parts.rend(); ++it) name += '.' + **it;
  return name;
}

std::string_view WithoutDot(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);
  return name;
}

// Gives each node a type. An expression with a problem has the type "error", which fits everywhere,
// so that one problem is told once. Names are resolved in the tree itself.
class Checker {
 public:
  Checker(const Environment& environment, const Parsed& parsed, Issues& issues)
      : environment_(environment),
        issues_(issues),
        types_(parsed.last_id + 1),
        references_(parsed.last_id + 1),
        clean_(parsed.last_id + 1),
        opened_(parsed.last_id + 1) {}

  Checked Run(ExprPtr root) {
    Check(*root);
    for (TypePtr& type : types_) type = type == nullptr ? Dyn() : unifier_.Close(type);
    if (unifier_.exhausted()) issues_.Add(Issues::kNowhere, "expression is too complex to check");
    return Checked{std::move(root), std::move(types_), std::move(references_)};
  }

 private:
  // A node with two parents is checked twice, and its problems are told twice, as upstream does;
  // one without problems only once, so that the time stays in bounds.
  TypePtr Check(Expr& expr) {
    if (clean_[expr.id] || (issues_.full() && types_[expr.id] != nullptr)) {
      unifier_.SkipOpen(opened_[expr.id]);
      return types_[expr.id];
    }
    const size_t issues_before = issues_.count();
    const size_t open_before = unifier_.open_count();
    TypePtr type = CheckKind(expr);
    types_[expr.id] = type;
    clean_[expr.id] = issues_.count() == issues_before;
    opened_[expr.id] = unifier_.open_count() - open_before;
    return type;
  }

  TypePtr CheckKind(Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kConstant:
        return TypeOfConstant(expr.constant);
      case ExprKind::kIdent:
        return CheckIdent(expr);
      case ExprKind::kSelect:
        return CheckSelect(expr);
      case ExprKind::kCall:
        return CheckCall(expr);
      case ExprKind::kList:
        return CheckList(expr);
      case ExprKind::kMap:
        return CheckMap(expr);
      case ExprKind::kStruct:
        return CheckStruct(expr);
      case ExprKind::kComprehension:
        return CheckComprehension(*expr.comprehension);
    }
    return ErrorType();
  }

  TypePtr Fail(int64_t position, std::string message) {
    issues_.Add(position, std::move(message));
    return ErrorType();
  }

  TypePtr Undeclared(const Expr& expr, std::string_view name) {
    return Fail(expr.position,
                "undeclared reference to '" + std::string(name) + "' (in container '')");
  }

  // Open types are dyn.
  std::string NameOf(const TypePtr& type) { return CheckedTypeName(*unifier_.Close(type)); }

  // As far as it is known. Other messages yet show the type as upstream had it in hand, with open
  // types that are bound by now.
  std::string OpenNameOf(const TypePtr& type) {
    return CheckedTypeName(*unifier_.Substitute(type));
  }

  // Adds an issue where `type` does not fit.
  bool Expect(const Expr& expr, const TypePtr& type, const TypePtr& wanted) {
    if (unifier_.Assign(type, wanted)) return true;
    Fail(expr.position, "expected type '" + CheckedTypeName(*wanted) + "' but found '" +
                            CheckedTypeName(*type) + "'");
    return false;
  }

  // The innermost variable of a macro.
  const Variable* FindLocal(std::string_view name) const {
    const auto found = std::find_if(locals_.rbegin(), locals_.rend(),
                                    [&](const Variable& local) { return local.name == name; });
    return found == locals_.rend() ? nullptr : &*found;
  }

  // What a full name means outside of all macros; the node becomes an identifier or a constant
  // then. Null: nothing.
  TypePtr ResolveGlobal(Expr& expr, std::string_view name) {
    const std::string_view plain = WithoutDot(name);
    TypePtr type;
    if (const Variable* variable = environment_.FindVariable(plain)) {
      type = variable->type;
    } else if (TypePtr named = environment_.FindType(plain)) {
      type = TypeType(std::move(named));
      references_[expr.id].is_type = true;
    } else if (plain == "google.protobuf.NullValue.NULL_VALUE") {
      expr.kind = ExprKind::kConstant;
      expr.constant = int64_t{0};
      return SimpleType(TypeKind::kInt);
    } else {
      return nullptr;
    }
    expr.kind = ExprKind::kIdent;
    expr.target = nullptr;
    // The dot stays where a macro's variable hides the name.
    expr.name = FindLocal(plain) == nullptr ? std::string(plain) : std::string(name);
    return type;
  }

  TypePtr CheckIdent(Expr& expr) {
    if (const Variable* local = FindLocal(expr.name); local != nullptr && expr.name[0] != '.') {
      return local->type;
    }
    const std::string name = expr.name;
    TypePtr type = ResolveGlobal(expr, name);
    return type != nullptr ? type : Undeclared(expr, name);
  }

  TypePtr CheckSelect(Expr& expr) {
    const std::string name = expr.test_only ? std::string() : QualifiedName(expr);
    if (!name.empty() && (name[0] == '.' || FindLocal(name.substr(0, name.find('.'))) == nullptr)) {
      if (TypePtr type = ResolveGlobal(expr, name)) return type;
    }
    const TypePtr field = CheckField(expr, Check(*expr.target), expr.name);
    return expr.test_only ? Bool() : field;
  }

  // Of an optional's value the field is optional, too.
  TypePtr CheckField(const Expr& expr, const TypePtr& operand, const std::string& name) {
    const TypePtr type = unifier_.Resolve(operand);
    if (type->kind == TypeKind::kOptional) {
      return OptionalType(CheckPlainField(expr, unifier_.Resolve(type->params[0]), name));
    }
    return CheckPlainField(expr, type, name);
  }

  TypePtr CheckPlainField(const Expr& expr, const TypePtr& type, const std::string& name) {
    switch (type->kind) {
      case TypeKind::kMap:
        return type->params[1];
      case TypeKind::kObject: {
        TypePtr field = environment_.FindMessage(type->name).FindField(name);
        return field != nullptr ? field : Fail(expr.position, "undefined field '" + name + "'");
      }
      case TypeKind::kParam:
        unifier_.Assign(Dyn(), type);
        return Dyn();
      case TypeKind::kAny:
      case TypeKind::kDyn:
      case TypeKind::kError:
        return Dyn();
      case TypeKind::kOpaque:
        // Upstream takes these for messages, but knows no definition.
        if (type->name.starts_with("kubernetes.")) {
          return Fail(expr.position, "unexpected failed resolution of '" + type->name + "'");
        }
        [[fallthrough]];
      default:
        Fail(expr.position, "type '" + OpenNameOf(type) + "' does not support field selection");
        return Dyn();
    }
  }

  TypePtr CheckOptionalSelect(Expr& expr) {
    references_[expr.id].overloads = {OverloadId::kOptionalSelect};
    const TypePtr operand = unifier_.Resolve(Check(*expr.args[0]));
    TypePtr field = CheckField(expr, operand, std::get<std::string>(expr.args[1]->constant));
    return operand->kind == TypeKind::kOptional ? field : OptionalType(std::move(field));
  }

  TypePtr CheckLogical(Expr& expr, OverloadId overload) {
    references_[expr.id].overloads = {overload};
    bool fits = true;
    for (const ExprPtr& arg : expr.args) fits = Expect(*arg, Check(*arg), Bool()) && fits;
    return fits ? Bool() : ErrorType();
  }

  TypePtr CheckCall(Expr& expr) {
    if (expr.name == "_?._") return CheckOptionalSelect(expr);
    if (expr.name == "_&&_") return CheckLogical(expr, OverloadId::kAnd);
    if (expr.name == "_||_") return CheckLogical(expr, OverloadId::kOr);
    const Function* function = FindCalled(expr);
    std::vector<TypePtr> args;
    for (const ExprPtr& arg : expr.args) args.push_back(Check(*arg));
    if (expr.target != nullptr) args.insert(args.begin(), Check(*expr.target));
    if (function == nullptr) return Undeclared(expr, expr.name);
    expr.name = function->name;
    Resolution resolution = ResolveOverload(*function, expr.target != nullptr, args, unifier_);
    references_[expr.id].overloads = std::move(resolution.overloads);
    return resolution.result != nullptr ? resolution.result : NoOverload(expr, args);
  }

  // A receiver may be the first part of the function's name.
  const Function* FindCalled(Expr& expr) {
    if (expr.target == nullptr) return FindFunction(WithoutDot(expr.name));
    const std::string scope = QualifiedName(*expr.target);
    if (!scope.empty()) {
      const std::string name = scope + '.' + expr.name;
      if (const Function* function = FindFunction(WithoutDot(name))) {
        expr.target = nullptr;
        return function;
      }
    }
    return FindFunction(expr.name);
  }

  TypePtr NoOverload(const Expr& expr, const std::vector<TypePtr>& args) {
    std::string applied;
    size_t i = 0;
    if (expr.target != nullptr) applied = NameOf(args[i++]) + '.';
    applied += '(';
    for (const size_t first = i; i < args.size(); ++i) {
      if (i > first) applied += ", ";
      applied += NameOf(args[i]);
    }
    return Fail(expr.position,
                "found no matching overload for '" + expr.name + "' applied to '" + applied + ")'");
  }

  // Of what stands behind a question mark: what the optional holds.
  TypePtr CheckOptionalValue(Expr& value) {
    TypePtr type = Check(value);
    const TypePtr resolved = unifier_.Resolve(type);
    if (resolved->kind == TypeKind::kOptional) return resolved->params[0];
    if (resolved->kind != TypeKind::kDyn) {
      const std::string name = CheckedTypeName(*type);
      Fail(value.position, "expected type 'optional_type(" + name + ")' but found '" + name + "'");
    }
    return type;
  }

  TypePtr CheckValue(const Entry& entry) {
    return entry.optional ? CheckOptionalValue(*entry.value) : Check(*entry.value);
  }

  TypePtr Join(const TypePtr& so_far, const TypePtr& next) {
    return so_far == nullptr ? next : unifier_.Join(so_far, next);
  }

  TypePtr CheckList(const Expr& expr) {
    TypePtr element;
    for (const Entry& entry : expr.entries) element = Join(element, CheckValue(entry));
    return ListType(element != nullptr ? element : unifier_.NewOpen());
  }

  TypePtr CheckMap(const Expr& expr) {
    TypePtr key;
    TypePtr value;
    for (const Entry& entry : expr.entries) {
      key = Join(key, Check(*entry.key));
      value = Join(value, CheckValue(entry));
    }
    if (key == nullptr) {
      key = unifier_.NewOpen();
      value = unifier_.NewOpen();
    }
    return MapType(key, value);
  }

  TypePtr CheckStruct(Expr& expr) {
    const std::string name(WithoutDot(expr.name));
    const Environment::Message message = environment_.FindMessage(name);
    if (message.type == nullptr) {
      if (environment_.FindType(name) == nullptr) return Undeclared(expr, expr.name);
      return Fail(expr.position, "'" + name + "' is not a message type");
    }
    expr.name = name;
    for (const Entry& entry : expr.entries) CheckFieldEntry(entry, message);
    return message.type;
  }

  void CheckFieldEntry(const Entry& entry, const Environment::Message& message) {
    const TypePtr value = CheckValue(entry);
    const TypePtr field = message.FindField(entry.field);
    if (field == nullptr) {
      Fail(entry.position, "undefined field '" + entry.field + "'");
    } else if (!unifier_.Assign(value, field)) {
      Fail(entry.position, "expected type of field '" + entry.field + "' is '" +
                               CheckedTypeName(*field) + "' but provided type is '" +
                               CheckedTypeName(*value) + "'");
    }
  }

  // The types of the variables of a loop over `range`.
  std::pair<TypePtr, TypePtr> IterationTypes(const Comprehension& loop) {
    const TypePtr range = unifier_.Resolve(Check(*loop.range));
    switch (range->kind) {
      case TypeKind::kList:
        if (loop.iter_var2.empty()) return {range->params[0], nullptr};
        return {SimpleType(TypeKind::kInt), range->params[0]};
      case TypeKind::kMap:
        return {range->params[0], range->params[1]};
      case TypeKind::kParam:
        unifier_.Assign(Dyn(), range);
        return {Dyn(), Dyn()};
      case TypeKind::kAny:
      case TypeKind::kDyn:
      case TypeKind::kError:
        return {Dyn(), Dyn()};
      default:
        Fail(loop.range->position, "expression of type '" + OpenNameOf(range) +
                                       "' cannot be range of a comprehension (must be list, map, "
                                       "or dynamic)");
        return {ErrorType(), ErrorType()};
    }
  }

  TypePtr CheckComprehension(const Comprehension& loop) {
    const auto [first, second] = IterationTypes(loop);
    const TypePtr accumulator = Check(*loop.init);
    locals_.push_back({loop.accu_var, accumulator});
    const size_t outer = locals_.size();
    locals_.push_back({loop.iter_var, first});
    if (!loop.iter_var2.empty()) locals_.push_back({loop.iter_var2, second});
    Expect(*loop.condition, Check(*loop.condition), Bool());
    Expect(*loop.step, Check(*loop.step), accumulator);
    locals_.resize(outer);
    TypePtr result = unifier_.Substitute(Check(*loop.result));
    locals_.pop_back();
    return result;
  }

  const Environment& environment_;
  Issues& issues_;
  std::vector<TypePtr> types_;         // by id
  std::vector<Reference> references_;  // by id
  std::vector<bool> clean_;            // by id: checked without a problem
  std::vector<size_t> opened_;         // by id: open types made for it, whose numbers messages show
  std::vector<Variable> locals_;       // of macros, the innermost last
  Unifier unifier_;
};

}  // namespace

Result<Checked> Check(std::string_view text, const Environment& environment) {
  const Source source(text);
  Issues issues;
  Parsed parsed = Parse(source, issues);
  Checked checked;
  if (issues.empty()) checked = Checker(environment, parsed, issues).Run(parsed.root);
  if (issues.empty()) CheckLiterals(checked, issues);
  if (!issues.empty()) return Error{issues.Describe(source)};
  return checked;
}

}  // namespace ks::cel
