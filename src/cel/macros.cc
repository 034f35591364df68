// SPDX-License-Identifier: Apache-2.0
#include "cel/macros.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ks::cel {
namespace {

// No expression can name these.
constexpr std::string_view kAccumulator = "@result";
constexpr std::string_view kUnused = "#unused";
constexpr std::string_view kSortInput = "@__sortBy_input__";
// The accumulator's name in other implementations of the language; no variable may take it.
constexpr std::string_view kOldAccumulator = "__result__";

constexpr std::string_view kNotSimple = "argument must be a simple name";
constexpr std::string_view kNotIdentifier = "argument is not an identifier";

// The expansion of one call. All nodes that it makes are where the call is.
class Expansion {
 public:
  Expansion(ExprPtr call, NodeMaker& nodes, Issues& issues)
      : call_(std::move(call)), nodes_(nodes), issues_(issues) {}

  size_t arg_count() const { return call_->args.size(); }
  const ExprPtr& arg(size_t i) const { return call_->args[i]; }
  const ExprPtr& target() const { return call_->target; }

  ExprPtr Fail(const Expr& culprit, std::string_view message) {
    Reject(culprit, message);
    return Rejected();
  }

  bool Reject(const Expr& culprit, std::string_view message) {
    issues_.Add(culprit.position, std::string(message));
    culprit_position_ = culprit.position;
    return false;
  }
  // Stands for a call that was rejected; what is told about it points where the culprit is.
  ExprPtr Rejected() { return nodes_.Literal(culprit_position_, NullConstant{}); }

  ExprPtr Literal(Constant value) { return nodes_.Literal(call_->position, std::move(value)); }
  ExprPtr Ident(std::string_view name) { return nodes_.Ident(call_->position, std::string(name)); }
  ExprPtr Accumulator() { return Ident(kAccumulator); }
  ExprPtr Call(std::string_view function, std::vector<ExprPtr> args = {}) {
    return nodes_.Call(call_->position, std::string(function), std::move(args));
  }
  ExprPtr Method(ExprPtr target, std::string_view function, std::vector<ExprPtr> args = {}) {
    return nodes_.MemberCall(call_->position, std::string(function), std::move(target),
                             std::move(args));
  }
  ExprPtr List(std::vector<ExprPtr> elements) {
    return nodes_.List(call_->position, std::move(elements));
  }
  ExprPtr Map() { return nodes_.Make(ExprKind::kMap, call_->position); }
  ExprPtr Presence(ExprPtr operand, std::string field) {
    ExprPtr test = nodes_.Select(call_->position, std::move(operand), std::move(field));
    test->test_only = true;
    return test;
  }
  // `name` stands for `value` in `body`, which need not ask for it.
  ExprPtr Bind(std::string_view name, ExprPtr value, ExprPtr body) {
    return nodes_.Loop(call_->position, Comprehension{.iter_var = std::string(kUnused),
                                                      .iter_var2 = {},
                                                      .accu_var = std::string(name),
                                                      .range = List({}),
                                                      .init = std::move(value),
                                                      .condition = Literal(false),
                                                      .step = Ident(name),
                                                      .result = std::move(body)});
  }

  // The first arguments name the loop's variables. False: they do not, and an issue is added.
  bool TakeVariables(size_t count, std::string_view message) {
    for (size_t i = 0; i < count; ++i) {
      if (arg(i)->kind != ExprKind::kIdent) return Reject(*arg(i), message);
    }
    if (count == 2 && arg(0)->name == arg(1)->name) {
      return Reject(*arg(1), "duplicate variable name: " + arg(1)->name);
    }
    for (size_t i = 0; i < count; ++i) {
      if (arg(i)->name == kAccumulator || arg(i)->name == kOldAccumulator) {
        return Reject(*arg(i), "iteration variable overwrites accumulator variable");
      }
    }
    variable_ = arg(0)->name;
    if (count == 2) variable2_ = arg(1)->name;
    return true;
  }

  // Over `range` with the variables taken. Without a condition: all elements.
  ExprPtr Loop(ExprPtr range, ExprPtr init, ExprPtr condition, ExprPtr step, ExprPtr result) {
    return nodes_.Loop(call_->position, Comprehension{.iter_var = variable_,
                                                      .iter_var2 = variable2_,
                                                      .accu_var = std::string(kAccumulator),
                                                      .range = std::move(range),
                                                      .init = std::move(init),
                                                      .condition = std::move(condition),
                                                      .step = std::move(step),
                                                      .result = std::move(result)});
  }
  // A loop over the receiver that adds to its result: `step` where `filter` (null: always) is true.
  ExprPtr Collect(ExprPtr init, ExprPtr filter, ExprPtr step) {
    if (filter != nullptr) {
      step = Call("_?_:_", {std::move(filter), std::move(step), Accumulator()});
    }
    return Loop(target(), std::move(init), Literal(true), std::move(step), Accumulator());
  }
  // The accumulator with one more element.
  ExprPtr Appended(ExprPtr element) {
    return Call("_+_", {Accumulator(), List({std::move(element)})});
  }

 private:
  const ExprPtr call_;
  NodeMaker& nodes_;
  Issues& issues_;
  uint32_t culprit_position_ = 0;
  std::string variable_;
  std::string variable2_;
};

ExprPtr ExpandHas(Expansion& e) {
  const ExprPtr& field = e.arg(0);
  if (field->kind != ExprKind::kSelect) return e.Fail(*field, "invalid argument to has() macro");
  return e.Presence(field->target, field->name);
}

ExprPtr ExpandAll(Expansion& e) {
  const size_t variables = e.arg_count() - 1;
  if (!e.TakeVariables(variables, kNotSimple)) return e.Rejected();
  ExprPtr step = e.Call("_&&_", {e.Accumulator(), e.arg(variables)});
  return e.Loop(e.target(), e.Literal(true), e.Call("@not_strictly_false", {e.Accumulator()}),
                std::move(step), e.Accumulator());
}

ExprPtr ExpandExists(Expansion& e) {
  const size_t variables = e.arg_count() - 1;
  if (!e.TakeVariables(variables, kNotSimple)) return e.Rejected();
  ExprPtr undecided = e.Call("@not_strictly_false", {e.Call("!_", {e.Accumulator()})});
  ExprPtr step = e.Call("_||_", {e.Accumulator(), e.arg(variables)});
  return e.Loop(e.target(), e.Literal(false), std::move(undecided), std::move(step),
                e.Accumulator());
}

ExprPtr ExpandExistsOne(Expansion& e) {
  const size_t variables = e.arg_count() - 1;
  if (!e.TakeVariables(variables, kNotSimple)) return e.Rejected();
  ExprPtr counted = e.Call("_+_", {e.Accumulator(), e.Literal(int64_t{1})});
  ExprPtr step = e.Call("_?_:_", {e.arg(variables), std::move(counted), e.Accumulator()});
  ExprPtr result = e.Call("_==_", {e.Accumulator(), e.Literal(int64_t{1})});
  return e.Loop(e.target(), e.Literal(int64_t{0}), e.Literal(true), std::move(step),
                std::move(result));
}

// Behind `variables` the filter, if there are two arguments left.
ExprPtr FilterArg(const Expansion& e, size_t variables) {
  return e.arg_count() == variables + 2 ? e.arg(variables) : nullptr;
}

ExprPtr ExpandMap(Expansion& e) {
  if (!e.TakeVariables(1, kNotIdentifier)) return e.Rejected();
  return e.Collect(e.List({}), FilterArg(e, 1), e.Appended(e.arg(e.arg_count() - 1)));
}

ExprPtr ExpandFilter(Expansion& e) {
  if (!e.TakeVariables(1, kNotIdentifier)) return e.Rejected();
  return e.Collect(e.List({}), e.arg(1), e.Appended(e.arg(0)));
}

ExprPtr ExpandTransformList(Expansion& e) {
  if (!e.TakeVariables(2, kNotSimple)) return e.Rejected();
  return e.Collect(e.List({}), FilterArg(e, 2), e.Appended(e.arg(e.arg_count() - 1)));
}

ExprPtr ExpandTransformMap(Expansion& e) {
  if (!e.TakeVariables(2, kNotSimple)) return e.Rejected();
  ExprPtr step = e.Call("cel.@mapInsert",
                        {e.Accumulator(), e.Ident(e.arg(0)->name), e.arg(e.arg_count() - 1)});
  return e.Collect(e.Map(), FilterArg(e, 2), std::move(step));
}

ExprPtr ExpandTransformMapEntry(Expansion& e) {
  if (!e.TakeVariables(2, kNotSimple)) return e.Rejected();
  ExprPtr step = e.Call("cel.@mapInsert", {e.Accumulator(), e.arg(e.arg_count() - 1)});
  return e.Collect(e.Map(), FilterArg(e, 2), std::move(step));
}

ExprPtr ExpandBind(Expansion& e) {
  if (e.arg(0)->kind != ExprKind::kIdent) {
    return e.Fail(*e.arg(0), "cel.bind() variable names must be simple identifiers");
  }
  return e.Bind(e.arg(0)->name, e.arg(1), e.arg(2));
}

// The second argument with the first bound to the receiver's value, if it has one.
ExprPtr ExpandOnValue(Expansion& e, bool flat) {
  if (e.arg(0)->kind != ExprKind::kIdent) {
    const std::string macro = flat ? "optFlatMap" : "optMap";
    return e.Fail(*e.arg(0), macro + "() variable name must be a simple identifier");
  }
  ExprPtr bound = e.Bind(e.arg(0)->name, e.Method(e.target(), "value"), e.arg(1));
  if (!flat) bound = e.Call("optional.of", {std::move(bound)});
  return e.Call("_?_:_",
                {e.Method(e.target(), "hasValue"), std::move(bound), e.Call("optional.none")});
}

ExprPtr ExpandOptMap(Expansion& e) { return ExpandOnValue(e, false); }
ExprPtr ExpandOptFlatMap(Expansion& e) { return ExpandOnValue(e, true); }

ExprPtr ExpandSortBy(Expansion& e) {
  switch (e.target()->kind) {
    case ExprKind::kConstant:
    case ExprKind::kMap:
    case ExprKind::kStruct:
      return e.Fail(*e.target(),
                    "sortBy can only be applied to a list, identifier, comprehension, call or "
                    "select expression");
    default:
      break;
  }
  if (!e.TakeVariables(1, kNotIdentifier)) return e.Rejected();
  ExprPtr keys = e.Loop(e.Ident(kSortInput), e.List({}), e.Literal(true), e.Appended(e.arg(1)),
                        e.Accumulator());
  return e.Bind(kSortInput, e.target(),
                e.Method(e.Ident(kSortInput), "@sortByAssociatedKeys", {std::move(keys)}));
}

enum class Receiver : uint8_t { kNone, kAny, kCel };

struct Macro {
  std::string_view name;
  Receiver receiver;
  size_t arg_count;
  ExprPtr (*expand)(Expansion&);
};

constexpr auto kMacros = std::to_array<Macro>({
    {"has", Receiver::kNone, 1, ExpandHas},
    {"all", Receiver::kAny, 2, ExpandAll},
    {"all", Receiver::kAny, 3, ExpandAll},
    {"exists", Receiver::kAny, 2, ExpandExists},
    {"exists", Receiver::kAny, 3, ExpandExists},
    {"exists_one", Receiver::kAny, 2, ExpandExistsOne},
    {"exists_one", Receiver::kAny, 3, ExpandExistsOne},
    {"existsOne", Receiver::kAny, 3, ExpandExistsOne},
    {"map", Receiver::kAny, 2, ExpandMap},
    {"map", Receiver::kAny, 3, ExpandMap},
    {"filter", Receiver::kAny, 2, ExpandFilter},
    {"transformList", Receiver::kAny, 3, ExpandTransformList},
    {"transformList", Receiver::kAny, 4, ExpandTransformList},
    {"transformMap", Receiver::kAny, 3, ExpandTransformMap},
    {"transformMap", Receiver::kAny, 4, ExpandTransformMap},
    {"transformMapEntry", Receiver::kAny, 3, ExpandTransformMapEntry},
    {"transformMapEntry", Receiver::kAny, 4, ExpandTransformMapEntry},
    {"bind", Receiver::kCel, 3, ExpandBind},
    {"optMap", Receiver::kAny, 2, ExpandOptMap},
    {"optFlatMap", Receiver::kAny, 2, ExpandOptFlatMap},
    {"sortBy", Receiver::kAny, 2, ExpandSortBy},
});

bool Fits(const Macro& macro, const Expr& call) {
  if (macro.name != call.name || macro.arg_count != call.args.size()) return false;
  if (macro.receiver == Receiver::kNone) return call.target == nullptr;
  if (call.target == nullptr) return false;
  return macro.receiver == Receiver::kAny ||
         (call.target->kind == ExprKind::kIdent && call.target->name == "cel");
}

}  // namespace

ExprPtr ExpandMacro(ExprPtr call, NodeMaker& nodes, Issues& issues) {
  for (const Macro& macro : kMacros) {
    if (!Fits(macro, *call)) continue;
    Expansion expansion(std::move(call), nodes, issues);
    return macro.expand(expansion);
  }
  return call;
}

}  // namespace ks::cel
