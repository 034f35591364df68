// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an expression may name apart from functions: variables, types, messages and their fields.
//
// Upstream: docs/spec/cel.md sections 1, 2 and 4.

#include <string>
#include <string_view>
#include <vector>

#include "cel/type.h"

namespace ks::cel {

// The variables and object types that whoever evaluates expressions brings along; the look-ups know
// the language's own types besides. Immutable while in use.
struct Environment {
  struct Variable {
    std::string name{};
    TypePtr type{};
  };
  struct Object {
    std::string name{};  // "kubernetes.DRADevice"
    std::vector<Variable> fields{};
  };

  // A message as a literal makes it; the type is not always an object.
  struct Message {
    // Null: there is no such field.
    TypePtr FindField(std::string_view name) const;

    TypePtr type{};
    std::vector<Variable> fields{};
  };

  // Null: there is no such variable.
  const Variable* FindVariable(std::string_view name) const;
  // The type that an identifier names: "int", "net.IP", "google.protobuf.Duration". Null: none.
  TypePtr FindType(std::string_view name) const;
  // Type null: there is no such message.
  Message FindMessage(std::string_view name) const;

  std::vector<Variable> variables{};
  std::vector<Object> objects{};
};

}  // namespace ks::cel
