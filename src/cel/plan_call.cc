// SPDX-License-Identifier: Apache-2.0
// Planning of calls and selections.
#include <algorithm>

#include "cel/plan.h"

namespace ks::cel {
namespace {

const std::string* StringConstant(const Expr& expr) {
  return expr.kind == ExprKind::kConstant ? std::get_if<std::string>(&expr.constant) : nullptr;
}

// `operand.key`, `operand[key]` and their optional forms; null operand: something else.
struct Selection {
  const Expr* operand = nullptr;
  const Expr* key = nullptr;  // null: the field `expr.name`
  PathMode mode = PathMode::kPlain;
};

Selection SelectionOf(const Expr& expr) {
  if (expr.kind == ExprKind::kSelect) {
    return Selection{.operand = expr.target.get(),
                     .mode = expr.test_only ? PathMode::kTest : PathMode::kPlain};
  }
  if (expr.kind != ExprKind::kCall || expr.args.size() != 2) return {};
  const bool plain = expr.name == "_[_]";
  if (!plain && expr.name != "_[?_]" && expr.name != "_?._") return {};
  return Selection{.operand = expr.args[0].get(),
                   .key = expr.args[1].get(),
                   .mode = plain ? PathMode::kPlain : PathMode::kOptional};
}

// Functions of constants that are computed when the program is built.
bool IsFolded(std::string_view function) {
  constexpr std::string_view kFolded[] = {"bool", "bytes",  "double",    "duration", "dyn",
                                          "int",  "string", "timestamp", "type",     "uint"};
  return std::find(std::begin(kFolded), std::end(kFolded), function) != std::end(kFolded);
}

// Functions whose calls with constants give the same value each time.
bool IsComputed(std::string_view function) {
  constexpr std::string_view kComputed[] = {"cidr", "ip", "quantity", "semver", "url"};
  return std::find(std::begin(kComputed), std::end(kComputed), function) != std::end(kComputed);
}

bool IsSetElement(const Value& value) {
  return value.is_number() || value.is(Kind::kString) || value.is(Kind::kBool);
}

}  // namespace

std::optional<Planner::Path> Planner::PathOf(const Expr& expr) const {
  if (expr.kind == ExprKind::kIdent) {
    const bool device = expr.name == "device" || expr.name == ".device";
    if (!device || FindVariable("device") != nullptr) return std::nullopt;
    return Path{};
  }
  const Selection selection = SelectionOf(expr);
  if (selection.operand == nullptr) return std::nullopt;
  std::optional<Path> path = PathOf(*selection.operand);
  if (!path || path->mode != PathMode::kPlain) return std::nullopt;
  if (path->steps == 2 && path->field != "attributes" && path->field != "capacity") {
    return std::nullopt;
  }
  std::string_view key = expr.name;
  if (selection.key != nullptr) {
    const std::string* text = StringConstant(*selection.key);
    if (text == nullptr) return std::nullopt;
    key = *text;
  }
  std::string_view* const parts[] = {&path->field, &path->domain, &path->id};
  if (path->steps >= std::size(parts)) return std::nullopt;
  *parts[path->steps++] = key;
  path->mode = selection.mode;
  return path;
}

const Node* Planner::PlanPath(const Expr& expr) {
  const std::optional<Path> path = PathOf(expr);
  if (!path) return nullptr;
  if (path->steps == 1 && path->mode == PathMode::kPlain &&
      (path->field == "driver" || path->field == "allowMultipleAllocations")) {
    return New<DeviceFieldNode>(path->field == "driver");
  }
  if (path->steps != 3) return nullptr;
  const bool attributes = path->field == "attributes";
  if (!attributes && path->field != "capacity") return nullptr;
  const Value missing = MakeError(arena(), "no such key: " + std::string(path->id));
  const DeviceName name{
      .capacity = !attributes, .domain = Symbol(path->domain), .id = Symbol(path->id)};
  return New<DevicePathNode>(name, path->mode, missing);
}

const Node* Planner::PlanSelection(const Expr& expr) {
  if (const Node* path = PlanPath(expr)) return path;
  const Selection selection = SelectionOf(expr);
  const Node* operand = PlanExpr(*selection.operand);
  const Node* key = selection.key == nullptr ? Constant(MakeString(arena(), expr.name))
                                             : PlanExpr(*selection.key);
  if (key->constant() != nullptr && !IsQualifier(*key->constant())) {
    return Fail("invalid qualifier type: " + std::string(GoTypeName(*key->constant())));
  }
  return New<SelectNode>(operand, key, selection.mode, IsUnderShadow(expr));
}

// Upstream charges nothing for what is selected from `.device` where a variable has that name.
bool Planner::IsUnderShadow(const Expr& expr) const {
  const Expr* root = &expr;
  for (const Expr* next = root; next != nullptr; next = SelectionOf(*next).operand) root = next;
  return root->kind == ExprKind::kIdent && root->name == ".device" &&
         FindVariable("device") != nullptr;
}

const Node* Planner::PlanLogic(const Expr& expr) {
  // A run of operators is planned without recursion: it may be as long as the text.
  std::vector<const Expr*> waiting = {&expr};
  std::vector<const Node*> operands;
  while (!waiting.empty()) {
    const Expr* next = waiting.back();
    waiting.pop_back();
    if (next->kind == ExprKind::kCall && next->name == expr.name) {
      for (auto it = next->args.rbegin(); it != next->args.rend(); ++it) {
        waiting.push_back(it->get());
      }
    } else {
      operands.push_back(PlanExpr(*next));
    }
  }
  return New<LogicNode>(expr.name == "_||_", std::move(operands));
}

const Node* Planner::PlanCall(const Expr& expr) {
  const std::string& name = expr.name;
  if (SelectionOf(expr).operand != nullptr) return PlanSelection(expr);
  if (name == "_&&_" || name == "_||_") return PlanLogic(expr);
  if (name == "_?_:_") {
    const Node* condition = PlanExpr(*expr.args[0]);
    const Node* yes = PlanExpr(*expr.args[1]);
    return New<ConditionalNode>(condition, yes, PlanExpr(*expr.args[2]));
  }
  if (name == "@not_strictly_false") {
    return New<NotStrictlyFalseNode>(PlanExpr(*expr.args[0]));
  }
  if (expr.target != nullptr && (name == "or" || name == "orValue")) {
    const Node* optional = PlanExpr(*expr.target);
    return New<OptionalOrNode>(optional, PlanExpr(*expr.args[0]), name == "orValue");
  }
  if (const Node* growth = PlanGrowth(expr)) return growth;
  return PlanLibraryCall(expr);
}

const Node* Planner::PlanLibraryCall(const Expr& expr) {
  std::vector<const Node*> arguments;
  std::vector<const Type*> types;
  const auto add = [&](const Expr& argument) {
    arguments.push_back(PlanExpr(argument));
    types.push_back(&plan_.checked.type_of(argument));
  };
  if (expr.target != nullptr) add(*expr.target);
  for (const ExprPtr& argument : expr.args) add(*argument);
  if (const Node* folded = Fold(expr, arguments)) return folded;
  if (expr.name == "@in") {
    if (const Node* in = PlanIn(expr, arguments)) return in;
  }
  Call call(expr.name, expr.target != nullptr, types);
  if (const Node* computed = Compute(call, arguments)) return computed;
  if (arguments.size() < 2 || arguments[1]->constant() == nullptr) {
    return New<CallNode>(std::move(call), std::move(arguments));
  }
  const Value& second = *arguments[1]->constant();
  if (PatternFunctionOf(call.unique()) != nullptr && second.is(Kind::kString)) {
    Result<Pattern> pattern = CompilePattern(second.view());
    if (!pattern.ok()) return Fail(pattern.error().message);
    const OverloadId id = call.unique();
    return New<PatternNode>(std::move(call), id, std::move(*pattern), std::move(arguments));
  }
  if (std::unique_ptr<Node> comparison = MakeCompareNode(call, arguments[0], second)) {
    plan_.nodes.push_back(std::move(comparison));
    return plan_.nodes.back().get();
  }
  return New<CallNode>(std::move(call), std::move(arguments));
}

const Node* Planner::PlanIn(const Expr& expr, const std::vector<const Node*>& arguments) {
  const Value* list = arguments[1]->constant();
  if (expr.args[1]->kind != ExprKind::kList || list == nullptr) return nullptr;
  if (list->list->size == 0) return Constant(Value::Bool(false));
  if (!std::all_of(list->list->begin(), list->list->end(), IsSetElement)) return nullptr;
  Map* set = Map::Make(arena(), list->list->size);
  for (const Value& item : *list->list) Put(plan_.constants, *set, item, Value());
  return New<InSetNode>(arguments[0], set);
}

const Node* Planner::Fold(const Expr& expr, const std::vector<const Node*>& arguments) {
  if (expr.target != nullptr || arguments.size() != 1 || !IsFolded(expr.name)) return nullptr;
  const Value* constant = arguments[0]->constant();
  if (constant == nullptr) return nullptr;
  const Call call(expr.name, false, {&plan_.checked.type_of(*expr.args[0])});
  const Value folded = call.Apply(plan_.constants, Arguments(constant, 1));
  return folded.is_error() ? Fail(std::string(folded.view())) : Constant(folded);
}

const Node* Planner::Compute(const Call& call, const std::vector<const Node*>& arguments) {
  // In a loop each call makes an object of its own, which counts where objects are keys.
  if (!IsComputed(call.function()) || !scope_.empty()) return nullptr;
  std::vector<Value> values;
  for (const Node* argument : arguments) {
    if (argument->constant() == nullptr) return nullptr;
    values.push_back(*argument->constant());
  }
  const uint64_t before = plan_.constants.cost();
  const Value value = call.Apply(plan_.constants, values);
  if (value.is_error()) return nullptr;
  return New<ComputedNode>(value, plan_.constants.cost() - before);
}

}  // namespace ks::cel
