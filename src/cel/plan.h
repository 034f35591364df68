// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the checked tree to the compiled form: names become slots, constants are folded, what
// selectors do most gets nodes of its own.
//
// Upstream: docs/spec/cel.md section 6.3.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cel/call.h"
#include "cel/checker.h"
#include "cel/loop.h"
#include "cel/node.h"
#include "cel/program.h"

namespace ks::cel {

// Errors: upstream's texts behind `program instantiation failed: `.
Result<std::unique_ptr<Plan>> MakePlan(Checked checked);

// Plans one expression. The first problem is kept; planning goes on so that steps need not look at
// it. Threads: one. Lifetime: one call of MakePlan.
class Planner {
 public:
  explicit Planner(Plan& plan) : plan_(plan), planned_(plan.checked.types.size() + 1) {}

  const Node* PlanExpr(const Expr& expr);
  const std::optional<std::string>& error() const { return error_; }

 private:
  struct Variable {
    std::string_view name{};
    size_t slot = 0;
    const Node* init = nullptr;  // of cel.bind
    bool in_place = false;       // an accumulator that grows
  };
  // A constant path into the device.
  struct Path {
    std::string_view field{};
    std::string_view domain{};
    std::string_view id{};
    size_t steps = 0;
    PathMode mode = PathMode::kPlain;
  };

  const Node* PlanAnew(const Expr& expr);
  const Node* PlanIdent(const Expr& expr);
  const Node* PlanSelection(const Expr& expr);
  const Node* PlanCall(const Expr& expr);
  const Node* PlanLibraryCall(const Expr& expr);
  const Node* PlanIn(const Expr& expr, const std::vector<const Node*>& arguments);
  const Node* PlanLogic(const Expr& expr);
  const Node* PlanList(const Expr& expr);
  const Node* PlanMap(const Expr& expr);
  const Node* PlanMessage(const Expr& expr);
  const Node* PlanBind(const Comprehension& loop);
  const Node* PlanLoop(const Comprehension& loop);
  // Null: not such a step.
  const Node* PlanGrowth(const Expr& expr);
  const Node* PlanPath(const Expr& expr);
  // Null: not constant.
  const Node* Fold(const Expr& expr, const std::vector<const Node*>& arguments);
  // Null: not constant, or an error.
  const Node* Compute(const Call& call, const std::vector<const Node*>& arguments);

  std::optional<Path> PathOf(const Expr& expr) const;
  bool IsUnderShadow(const Expr& expr) const;
  const Variable* FindVariable(std::string_view name) const;
  const Node* Fail(std::string message);
  Value ValueOf(const Constant& constant);
  size_t NewSlot() { return plan_.slots++; }
  Arena& arena() { return plan_.constants.arena(); }

  template <class T, class... Args>
  const T* New(Args&&... args) {
    auto node = std::make_unique<T>(std::forward<Args>(args)...);
    const T* made = node.get();
    plan_.nodes.push_back(std::move(node));
    return made;
  }
  const Node* Constant(Value value) { return New<ConstantNode>(value); }

  Plan& plan_;
  std::vector<const Node*> planned_;  // by id: a tree may hold a node twice
  std::vector<Variable> scope_;
  std::optional<std::string> error_;
};

}  // namespace ks::cel
