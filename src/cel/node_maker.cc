// SPDX-License-Identifier: Apache-2.0
#include "cel/node_maker.h"

#include <memory>
#include <utility>

namespace ks::cel {

ExprPtr NodeMaker::Make(ExprKind kind, uint32_t position) {
  auto node = std::make_shared<Expr>();
  node->kind = kind;
  node->id = ++last_id_;
  node->position = position;
  return node;
}

ExprPtr NodeMaker::Literal(uint32_t position, Constant value) {
  ExprPtr node = Make(ExprKind::kConstant, position);
  node->constant = std::move(value);
  return node;
}

ExprPtr NodeMaker::Ident(uint32_t position, std::string name) {
  ExprPtr node = Make(ExprKind::kIdent, position);
  node->name = std::move(name);
  return node;
}

ExprPtr NodeMaker::Select(uint32_t position, ExprPtr operand, std::string field) {
  ExprPtr node = Make(ExprKind::kSelect, position);
  node->target = std::move(operand);
  node->name = std::move(field);
  return node;
}

ExprPtr NodeMaker::Call(uint32_t position, std::string function, std::vector<ExprPtr> args) {
  return MemberCall(position, std::move(function), nullptr, std::move(args));
}

ExprPtr NodeMaker::MemberCall(uint32_t position, std::string function, ExprPtr target,
                              std::vector<ExprPtr> args) {
  ExprPtr node = Make(ExprKind::kCall, position);
  node->name = std::move(function);
  node->target = std::move(target);
  node->args = std::move(args);
  return node;
}

ExprPtr NodeMaker::List(uint32_t position, std::vector<ExprPtr> elements) {
  ExprPtr node = Make(ExprKind::kList, position);
  for (ExprPtr& element : elements) {
    Entry entry;
    entry.value = std::move(element);
    node->entries.push_back(std::move(entry));
  }
  return node;
}

ExprPtr NodeMaker::Loop(uint32_t position, Comprehension comprehension) {
  ExprPtr node = Make(ExprKind::kComprehension, position);
  node->comprehension = std::make_unique<Comprehension>(std::move(comprehension));
  return node;
}

}  // namespace ks::cel
