// SPDX-License-Identifier: Apache-2.0
#include "cel/plan.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace ks::cel {
namespace {

std::string UndefinedType(std::string_view name) {
  return "reference to undefined type: " + std::string(name);
}

bool IsEmptyLiteral(const Expr& expr, ExprKind kind) {
  return expr.kind == kind && expr.entries.empty();
}

// Whether the type that the checker knows by this name is one of those that upstream has no value
// for when a program runs.
bool IsForCheckerOnly(const Type& type, std::string_view name) {
  constexpr std::string_view kNames[] = {
      "duration",
      "timestamp",
      "google.protobuf.Any",
      "google.protobuf.ListValue",
      "google.protobuf.Struct",
      "google.protobuf.Value",
  };
  return type.kind == TypeKind::kWrapper || name.starts_with("kubernetes.DRA") ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

const Node* Planner::Fail(std::string message) {
  if (!error_) error_ = "program instantiation failed: " + std::move(message);
  return Constant(Value());
}

Value Planner::ValueOf(const ks::cel::Constant& constant) {
  struct Converter {
    Arena& arena;
    Value operator()(NullConstant /*null*/) const { return Value(); }
    Value operator()(bool v) const { return Value::Bool(v); }
    Value operator()(int64_t v) const { return Value::Int(v); }
    Value operator()(uint64_t v) const { return Value::Uint(v); }
    Value operator()(double v) const { return Value::Double(v); }
    Value operator()(const std::string& v) const { return MakeString(arena, v); }
    Value operator()(const BytesConstant& v) const { return MakeBytes(arena, v.bytes); }
  };
  return std::visit(Converter{arena()}, constant);
}

const Planner::Variable* Planner::FindVariable(std::string_view name) const {
  const auto found = std::find_if(scope_.rbegin(), scope_.rend(),
                                  [&](const Variable& each) { return each.name == name; });
  return found == scope_.rend() ? nullptr : &*found;
}

const Node* Planner::PlanExpr(const Expr& expr) {
  if (expr.id < planned_.size() && planned_[expr.id] != nullptr) return planned_[expr.id];
  const Node* node = PlanAnew(expr);
  if (expr.id < planned_.size()) planned_[expr.id] = node;
  return node;
}

const Node* Planner::PlanAnew(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kConstant:
      return Constant(ValueOf(expr.constant));
    case ExprKind::kIdent:
      return PlanIdent(expr);
    case ExprKind::kSelect:
      return PlanSelection(expr);
    case ExprKind::kCall:
      return PlanCall(expr);
    case ExprKind::kList:
      return PlanList(expr);
    case ExprKind::kMap:
      return PlanMap(expr);
    case ExprKind::kStruct:
      return PlanMessage(expr);
    case ExprKind::kComprehension:
      return expr.comprehension->iter_var == "#unused" ? PlanBind(*expr.comprehension)
                                                       : PlanLoop(*expr.comprehension);
  }
  return Fail("unknown kind of expression");
}

const Node* Planner::PlanIdent(const Expr& expr) {
  const Type& type = plan_.checked.type_of(expr);
  if (const Variable* variable = FindVariable(expr.name)) {
    // Upstream takes a variable that holds a type for the name of one.
    if (type.kind == TypeKind::kType) return Fail(UndefinedType(expr.name));
    if (variable->init == nullptr) return New<VariableNode>(variable->slot);
    return New<BoundVariableNode>(variable->slot, variable->init);
  }
  if (plan_.checked.reference_of(expr).is_type && !type.params.empty()) {
    const std::string name = expr.name.substr(expr.name.starts_with('.') ? 1 : 0);
    if (IsForCheckerOnly(*type.params[0], name)) return Fail(UndefinedType(expr.name));
    return Constant(Value(Kind::kType, MakeText(arena(), name)));
  }
  return New<DeviceNode>();
}

const Node* Planner::PlanList(const Expr& expr) {
  std::vector<EntryPlan> entries;
  bool constant = true;
  for (const Entry& entry : expr.entries) {
    entries.push_back(EntryPlan{.value = PlanExpr(*entry.value), .optional = entry.optional});
    constant = constant && !entry.optional && entries.back().value->constant() != nullptr;
  }
  if (!constant) return New<ListNode>(std::move(entries));
  List* list = List::Make(arena(), entries.size());
  for (const EntryPlan& entry : entries) list->Append(arena(), *entry.value->constant());
  return Constant(Value::Of(list));
}

const Node* Planner::PlanMap(const Expr& expr) {
  std::vector<EntryPlan> entries;
  bool constant = true;
  for (const Entry& entry : expr.entries) {
    entries.push_back(EntryPlan{
        .key = PlanExpr(*entry.key), .value = PlanExpr(*entry.value), .optional = entry.optional});
    const Value* key = entries.back().key->constant();
    constant = constant && !entry.optional && key != nullptr &&
               entries.back().value->constant() != nullptr;
  }
  if (!constant) return New<MapNode>(std::move(entries));
  Map* map = Map::Make(arena(), entries.size());
  for (const EntryPlan& entry : entries) {
    if (const auto type = UnhashableType(*entry.key->constant())) {
      return Fail("runtime error: hash of unhashable type " + std::string(*type));
    }
    Put(plan_.constants, *map, *entry.key->constant(), *entry.value->constant());
  }
  return Constant(Value::Of(map));
}

const Node* Planner::PlanMessage(const Expr& expr) {
  std::vector<EntryPlan> entries;
  for (const Entry& entry : expr.entries) {
    entries.push_back(EntryPlan{
        .value = PlanExpr(*entry.value), .field = entry.field, .optional = entry.optional});
  }
  return New<MessageNode>(expr.name, std::move(entries));
}

const Node* Planner::PlanBind(const Comprehension& loop) {
  const Node* init = PlanExpr(*loop.init);
  if (plan_.checked.type_of(*loop.init).kind == TypeKind::kType) {  // as in PlanIdent
    return Fail(UndefinedType(loop.accu_var));
  }
  const size_t slot = NewSlot();
  scope_.push_back(Variable{.name = loop.accu_var, .slot = slot, .init = init});
  const Node* body = PlanExpr(*loop.result);
  scope_.pop_back();
  return New<BindNode>(slot, body);
}

const Node* Planner::PlanLoop(const Comprehension& loop) {
  LoopPlan plan;
  plan.range = PlanExpr(*loop.range);
  plan.init = PlanExpr(*loop.init);
  // User's texts cannot name the accumulator of a macro.
  if (loop.accu_var.starts_with('@')) {
    if (IsEmptyLiteral(*loop.init, ExprKind::kList)) plan.accumulator = Accumulator::kList;
    if (IsEmptyLiteral(*loop.init, ExprKind::kMap)) plan.accumulator = Accumulator::kMap;
  }
  plan.accumulator_slot = NewSlot();
  plan.first_slot = NewSlot();
  plan.two_variables = !loop.iter_var2.empty();
  scope_.push_back(Variable{.name = loop.accu_var,
                            .slot = plan.accumulator_slot,
                            .in_place = plan.accumulator != Accumulator::kValue});
  scope_.push_back(Variable{.name = loop.iter_var, .slot = plan.first_slot});
  if (plan.two_variables) {
    plan.second_slot = NewSlot();
    scope_.push_back(Variable{.name = loop.iter_var2, .slot = plan.second_slot});
  }
  plan.condition = PlanExpr(*loop.condition);
  plan.step = PlanExpr(*loop.step);
  scope_.resize(scope_.size() - (plan.two_variables ? 2 : 1));
  plan.result = PlanExpr(*loop.result);
  scope_.pop_back();
  return New<LoopNode>(plan);
}

const Node* Planner::PlanGrowth(const Expr& expr) {
  const bool append = expr.name == "_+_";
  if ((!append && expr.name != "cel.@mapInsert") || expr.args.empty()) return nullptr;
  if (expr.target != nullptr || expr.args[0]->kind != ExprKind::kIdent) return nullptr;
  const Variable* variable = FindVariable(expr.args[0]->name);
  if (variable == nullptr || !variable->in_place) return nullptr;
  const size_t slot = variable->slot;
  if (!append) {
    const Node* key = PlanExpr(*expr.args[1]);
    return New<InsertNode>(slot, key, expr.args.size() > 2 ? PlanExpr(*expr.args[2]) : nullptr);
  }
  const Expr& list = *expr.args[1];
  if (list.kind != ExprKind::kList || list.entries.size() != 1 || list.entries[0].optional) {
    return nullptr;
  }
  constexpr uint64_t kListCost = 10;
  const Node* element = PlanExpr(*list.entries[0].value);
  return New<AppendNode>(slot, element, element->constant() != nullptr ? 0 : kListCost);
}

Result<std::unique_ptr<Plan>> MakePlan(Checked checked) {
  auto plan = std::make_unique<Plan>();
  plan->checked = std::move(checked);
  Planner planner(*plan);
  plan->root = planner.PlanExpr(*plan->checked.root);
  if (planner.error()) return Error{.message = *planner.error()};
  return plan;
}

}  // namespace ks::cel
