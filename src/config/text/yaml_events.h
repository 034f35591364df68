// SPDX-License-Identifier: Apache-2.0
#pragma once
// The documents of a YAML stream as libyaml reads them: syntax and anchors are checked, scalars
// not yet resolved, aliases not yet expanded.
//
// Upstream: docs/spec/config.md section 2.3 (syntax errors).

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/text/findings.h"

namespace ks::config {

struct YamlNode {
  enum class Kind : uint8_t { kScalar, kSequence, kMapping, kAlias };
  Kind kind = Kind::kScalar;
  bool implicit = false;           // a scalar whose type is to be resolved: plain, or tagged "!"
  bool plain = false;              // a scalar without quotes
  std::string tag;                 // long form; empty: none
  std::string text;                // of a scalar; the name of an alias
  uint32_t target = 0;             // of an alias
  std::vector<uint32_t> children;  // of a mapping: key, value, key, value …
  Place place;
};

// Lifetime: indices refer to `nodes`. The root is node 0.
struct YamlTree {
  std::vector<YamlNode> nodes;  // empty: an empty stream
};

// The first document. Not deeper than kMaxDepth, at most `most_nodes` nodes. The error's message is
// upstream's.
std::variant<YamlTree, Finding> ReadYamlTree(std::string_view text, size_t most_nodes);

// All documents, with the same limits for each.
std::variant<std::vector<YamlTree>, Finding> ReadYamlStream(std::string_view text,
                                                            size_t most_nodes);

}  // namespace ks::config
