// SPDX-License-Identifier: Apache-2.0
#pragma once
// A configuration file as a tree that may be wrong in every way a file can be: repeated keys,
// literals of any spelling, anchors and aliases. For generated test files; see config_mutations.h.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ks::testing {

struct TreeMember;

// Value semantics.
struct Tree {
  enum class Kind : uint8_t { kPlain, kQuoted, kAlias, kList, kMapping };

  Kind kind = Kind::kPlain;
  std::string text;  // kPlain: as written in YAML; kQuoted: the string; kAlias: the anchor's name
  std::vector<Tree> items;
  std::vector<TreeMember> members;
  std::string anchor;  // empty: none
  bool flow = false;   // YAML: {a: 1} instead of lines

  bool IsContainer() const { return kind == Kind::kList || kind == Kind::kMapping; }
};

struct TreeMember {
  std::string key;
  Tree value;
};

Tree Plain(std::string_view text);
Tree Quoted(std::string_view text);
Tree Alias(std::string_view anchor);
Tree List(std::vector<Tree> items);
Tree Mapping(std::vector<TreeMember> members);

// Containers with `flow` and everything below them are written in flow style.
std::string ToYaml(const Tree& tree);
// yes, True and off become booleans, other plain texts that are no JSON literals strings; anchors
// are left out, aliases are null.
std::string ToJson(const Tree& tree);

}  // namespace ks::testing
