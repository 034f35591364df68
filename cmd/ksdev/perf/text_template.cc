// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/text_template.h"

#include <optional>
#include <utility>

namespace ks::ctl::dev::perf {
namespace {

using Json = nlohmann::json;

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// "if x" → "x"; nothing when it is another action.
std::optional<std::string_view> After(std::string_view action, std::string_view keyword) {
  if (!action.starts_with(keyword)) return std::nullopt;
  const std::string_view rest = action.substr(keyword.size());
  if (!rest.empty() && rest.front() != ' ' && rest.front() != '(') return std::nullopt;
  return Trim(rest);
}

Error Bad(std::string_view action, const std::string& why) {
  return Error{"{{" + std::string(action) + "}}: " + why};
}

// "$x := y" → "x" and "y".
struct Assignment {
  std::string variable;
  std::string_view value;
};
std::optional<Assignment> AssignmentOf(std::string_view action) {
  constexpr std::string_view kSign = ":=";
  const size_t sign = action.find(kSign);
  if (!action.starts_with('$') || sign == std::string_view::npos) return std::nullopt;
  return Assignment{.variable = std::string(Trim(action.substr(1, sign - 1))),
                    .value = Trim(action.substr(sign + kSign.size()))};
}

}  // namespace

// Lifetime: borrows the text.
class TemplateParser {
 public:
  explicit TemplateParser(std::string_view text) : text_(text) {}

  Result<std::vector<TextTemplate::Node>> Whole();

 private:
  using Node = TextTemplate::Node;
  using Kind = TextTemplate::Kind;
  using Nodes = std::vector<Node>;

  // Up to an else or end, which is left in `closing_`, or to the end of the text.
  Result<Nodes> Sequence(int depth);
  Result<Node> Action(std::string_view action, int depth);
  Result<Node> Block(Node node, int depth);

  const std::string_view text_;
  size_t position_ = 0;
  std::string_view closing_;
};

Result<std::vector<TextTemplate::Node>> TemplateParser::Whole() {
  Result<Nodes> nodes = Sequence(0);
  if (nodes.ok() && !closing_.empty()) return Bad(closing_, "has no beginning");
  return nodes;
}

Result<TemplateParser::Nodes> TemplateParser::Sequence(int depth) {
  Nodes nodes;
  closing_ = {};
  while (position_ < text_.size()) {
    const size_t open = text_.find("{{", position_);
    const std::string_view before = text_.substr(position_, open - position_);
    if (!before.empty()) {
      Node node;
      node.text = before;
      nodes.push_back(std::move(node));
    }
    if (open == std::string_view::npos) break;
    const size_t close = text_.find("}}", open);
    if (close == std::string_view::npos) return Error{"a {{ without }}"};
    const std::string_view action = Trim(text_.substr(open + 2, close - open - 2));
    position_ = close + 2;
    if (action == "end" || action == "else") {
      closing_ = action;
      return nodes;
    }
    Result<Node> node = Action(action, depth);
    if (!node.ok()) return node.error();
    nodes.push_back(std::move(node).value());
  }
  position_ = text_.size();
  return nodes;
}

Result<TextTemplate::Node> TemplateParser::Action(std::string_view action, int depth) {
  Node node;
  node.text = action;
  std::string_view value = action;
  node.kind = Kind::kPrint;
  if (const auto condition = After(action, "if")) {
    node.kind = Kind::kIf;
    value = *condition;
  } else if (const auto range = After(action, "range")) {
    node.kind = Kind::kRange;
    value = *range;
  }
  if (const std::optional<Assignment> assigned = AssignmentOf(value)) {
    if (node.kind == Kind::kIf || assigned->variable.find(',') != std::string::npos) {
      return Bad(action, "is not understood");
    }
    if (node.kind == Kind::kPrint) node.kind = Kind::kAssign;
    node.variable = assigned->variable;
    value = assigned->value;
  }
  for (const char* unknown : {"with", "block", "template", "define", "break", "continue", "else"}) {
    if (After(action, unknown)) return Bad(action, "is not understood");
  }
  Result<Expression> expression = Expression::Parse(value);
  if (!expression.ok()) return expression.error();
  node.expression = std::move(expression).value();
  const bool block = node.kind == Kind::kIf || node.kind == Kind::kRange;
  return block ? Block(std::move(node), depth + 1) : Result<Node>(std::move(node));
}

Result<TextTemplate::Node> TemplateParser::Block(Node node, int depth) {
  constexpr int kMostDepth = 20;
  if (depth > kMostDepth) return Bad(node.text, "is nested too deeply");
  Result<Nodes> body = Sequence(depth);
  if (!body.ok()) return body.error();
  node.body = std::move(body).value();
  if (closing_ == "else") {
    if (node.kind != Kind::kIf) return Bad(node.text, "an else of a range is not understood");
    Result<Nodes> otherwise = Sequence(depth);
    if (!otherwise.ok()) return otherwise.error();
    node.otherwise = std::move(otherwise).value();
  }
  if (closing_ != "end") return Bad(node.text, "has no end");
  closing_ = {};
  return node;
}

Result<TextTemplate> TextTemplate::Parse(std::string_view text) {
  auto nodes = TemplateParser(text).Whole();
  if (!nodes.ok()) return nodes.error();
  TextTemplate made;
  made.nodes_ = std::move(nodes).value();
  return made;
}

bool TextTemplate::constant() const {
  return nodes_.empty() || (nodes_.size() == 1 && nodes_.front().kind == Kind::kText);
}

Result<std::string> TextTemplate::Render(const Json& fields) const {
  Scope scope{.fields = fields, .dot = {}, .variables = {}};
  std::string out;
  if (const Result<void> done = RenderNodes(nodes_, scope, out); !done.ok()) return done.error();
  return out;
}

Result<void> TextTemplate::RenderNodes(const std::vector<Node>& nodes, Scope& scope,
                                       std::string& out) {
  for (const Node& node : nodes) {
    if (Result<void> done = RenderNode(node, scope, out); !done.ok()) return done;
  }
  return {};
}

Result<void> TextTemplate::RenderNode(const Node& node, Scope& scope, std::string& out) {
  if (node.kind == Kind::kText) {
    out += node.text;
    return {};
  }
  const Result<Json> value = node.expression.Evaluate(scope);
  if (!value.ok()) return Bad(node.text, value.error().message);
  switch (node.kind) {
    case Kind::kPrint:
      if (value->is_null()) return Bad(node.text, "has no value");
      out += Printed(*value);
      return {};
    case Kind::kAssign:
      scope.variables[node.variable] = *value;
      return {};
    case Kind::kIf:
      return RenderNodes(Truth(*value) ? node.body : node.otherwise, scope, out);
    case Kind::kRange:
    case Kind::kText:
      break;
  }
  return RenderRange(node, *value, scope, out);
}

Result<void> TextTemplate::RenderRange(const Node& node, const Json& value, Scope& scope,
                                       std::string& out) {
  if (!value.is_number_integer()) return Bad(node.text, "is no range over a whole number");
  Scope inner = scope;
  for (int64_t i = 0; i < value.get<int64_t>(); ++i) {
    inner.dot = i;
    if (!node.variable.empty()) inner.variables[node.variable] = i;
    if (Result<void> done = RenderNodes(node.body, inner, out); !done.ok()) return done;
  }
  return {};
}

}  // namespace ks::ctl::dev::perf
