// SPDX-License-Identifier: Apache-2.0
#pragma once
// The suite's templates of objects: text with actions between {{ and }}. Of Go's actions it knows
// those that the suite uses: values, `$x := …`, if with else, range over a number, end.
//
// Upstream: Go's text/template.

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ksdev/perf/expression.h"

namespace ks::ctl::dev::perf {

// Threads: immutable.
class TextTemplate {
 public:
  // Errors name the action.
  static Result<TextTemplate> Parse(std::string_view text);

  // `fields`: a mapping, for `.name`. Errors: a value that is printed and missing, and those of
  // expressions.
  Result<std::string> Render(const nlohmann::json& fields) const;

  // There are no actions: it always gives the same.
  bool constant() const;

 private:
  friend class TemplateParser;
  enum class Kind : uint8_t { kText, kPrint, kAssign, kIf, kRange };
  struct Node {
    Kind kind = Kind::kText;
    std::string text;      // kText: the text; else the action, for errors
    std::string variable;  // kAssign; kRange: empty when it has none
    Expression expression;
    std::vector<Node> body;
    std::vector<Node> otherwise;  // kIf
  };

  static Result<void> RenderNodes(const std::vector<Node>& nodes, Scope& scope, std::string& out);
  static Result<void> RenderNode(const Node& node, Scope& scope, std::string& out);
  static Result<void> RenderRange(const Node& node, const nlohmann::json& value, Scope& scope,
                                  std::string& out);

  std::vector<Node> nodes_;
};

}  // namespace ks::ctl::dev::perf
