// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random CEL expressions about a device: most of them compile, some have a wrong type in one place,
// a few are damaged texts. Not what they mean: that is asked of two engines.

#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "cel/functions.h"
#include "cel/type.h"

namespace ks::cel::compare {

// An expression in parts, so that it can be made smaller: `pattern` with a part for each "$".
struct Node {
  std::string pattern{};
  std::vector<Node> parts{};
  TypePtr type{};

  std::string Text() const;
  size_t Size() const;
};

// Threads: one. Lifetime: any; the same seed gives the same expressions.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  // An expression that is meant to have the type bool.
  Node Selector();
  // Of any type.
  Node AnyValue();
  // Changes a few characters.
  std::string Damage(std::string text);
  Random& random() { return random_; }

 private:
  struct Variable {
    std::string name{};
    TypePtr type{};
  };

  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  TypePtr AnyType(int depth);
  TypePtr KeyType();

  Node Make(const TypePtr& type, int depth);
  Node Leaf(const TypePtr& type);
  Node Literal(const TypePtr& type);
  Node FromDevice(const TypePtr& type);
  Node Call(const TypePtr& type, int depth);
  Node CallOf(std::string_view function, const Overload& overload, const TypePtr& type, int depth);
  // The calls of the language's macros that give the type; an empty pattern if there is none.
  Node Macro(const TypePtr& type, int depth);
  Node ListMacro(const TypePtr& element, int depth);
  Node MapMacro(const Type& map, int depth);
  Node BoolMacro(int depth);
  Node OptionalMacro(const TypePtr& value, int depth);
  // `pattern` with `bound` for its "#", visible in the parts.
  Node Loop(std::string_view pattern, const TypePtr& type, const std::vector<TypePtr>& parts,
            const std::vector<TypePtr>& bound, int depth);

  Random random_;
  std::vector<Variable> scope_;
};

// Smaller expressions than `node`, likely to be of its type; the smallest first.
std::vector<Node> Smaller(const Node& node);

}  // namespace ks::cel::compare
