// SPDX-License-Identifier: Apache-2.0
#include "cel/tree_builder.h"

#include <algorithm>
#include <utility>

#include "cel/macros.h"

namespace ks::cel {
namespace {
constexpr uint32_t kMostHeight = 250;
}  // namespace

ExprPtr TreeBuilder::Select(uint32_t position, ExprPtr operand, std::string field) {
  return Measured(nodes_.Select(position, std::move(operand), std::move(field)), 1);
}

ExprPtr TreeBuilder::Operator(uint32_t position, std::string_view function,
                              std::vector<ExprPtr> args) {
  return Measured(nodes_.Call(position, std::string(function), std::move(args)), 1);
}

ExprPtr TreeBuilder::Unary(uint32_t position, std::string_view function, ExprPtr operand) {
  return Measured(nodes_.Call(position, std::string(function), {std::move(operand)}), 0);
}

ExprPtr TreeBuilder::Logical(std::string_view function, std::vector<ExprPtr> terms,
                             const std::vector<uint32_t>& positions) {
  return Balance(function, terms, positions, 0, positions.size());
}

ExprPtr TreeBuilder::Balance(std::string_view function, std::vector<ExprPtr>& terms,
                             const std::vector<uint32_t>& positions, size_t begin, size_t end) {
  if (begin == end) return std::move(terms[begin]);
  const size_t middle = begin + (end - begin) / 2;
  ExprPtr left = Balance(function, terms, positions, begin, middle);
  ExprPtr right = Balance(function, terms, positions, middle + 1, end);
  return Measured(
      nodes_.Call(positions[middle], std::string(function), {std::move(left), std::move(right)}),
      0);
}

ExprPtr TreeBuilder::Call(uint32_t position, std::string function, ExprPtr target,
                          std::vector<ExprPtr> args) {
  const uint32_t own = target != nullptr ? 1 : 0;
  ExprPtr call = Measured(
      nodes_.MemberCall(position, std::move(function), std::move(target), std::move(args)), own);
  if (call == nullptr) return nullptr;
  const uint32_t height = HeightOf(call);
  ExprPtr expanded = ExpandMacro(std::move(call), nodes_, issues_);
  SetHeight(*expanded, height);
  return expanded;
}

ExprPtr TreeBuilder::Literals(ExprKind kind, uint32_t position, std::string name,
                              std::vector<Entry> entries) {
  ExprPtr node = nodes_.Make(kind, position);
  node->name = std::move(name);
  node->entries = std::move(entries);
  return Measured(std::move(node), 0);
}

ExprPtr TreeBuilder::Measured(ExprPtr node, uint32_t own) {
  uint32_t height = HeightOf(node->target);
  for (const ExprPtr& arg : node->args) height = std::max(height, HeightOf(arg));
  for (const Entry& entry : node->entries) {
    height = std::max({height, HeightOf(entry.key), HeightOf(entry.value)});
  }
  height += own;
  if (height > kMostHeight) {
    issues_.Add(Issues::kNowhere, "max recursion depth exceeded");
    return nullptr;
  }
  SetHeight(*node, height);
  return node;
}

uint32_t TreeBuilder::HeightOf(const ExprPtr& node) const {
  return node != nullptr && node->id < heights_.size() ? heights_[node->id] : 0;
}

void TreeBuilder::SetHeight(const Expr& node, uint32_t height) {
  if (heights_.size() <= node.id) heights_.resize(node.id + 1);
  heights_[node.id] = height;
}

}  // namespace ks::cel
