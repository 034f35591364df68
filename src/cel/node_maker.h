// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes the nodes of one syntax tree.

#include <cstdint>
#include <string>
#include <vector>

#include "cel/ast.h"

namespace ks::cel {

// Numbers its nodes from 1. `position`: where an error in the node points. Threads: like a value.
class NodeMaker {
 public:
  ExprPtr Make(ExprKind kind, uint32_t position);
  ExprPtr Literal(uint32_t position, Constant value);
  ExprPtr Ident(uint32_t position, std::string name);
  ExprPtr Select(uint32_t position, ExprPtr operand, std::string field);
  // Without a receiver.
  ExprPtr Call(uint32_t position, std::string function, std::vector<ExprPtr> args);
  ExprPtr MemberCall(uint32_t position, std::string function, ExprPtr target,
                     std::vector<ExprPtr> args);
  ExprPtr List(uint32_t position, std::vector<ExprPtr> elements);
  ExprPtr Loop(uint32_t position, Comprehension comprehension);

  uint32_t last_id() const { return last_id_; }

 private:
  uint32_t last_id_ = 0;
};

}  // namespace ks::cel
