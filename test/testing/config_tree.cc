// SPDX-License-Identifier: Apache-2.0
#include "testing/config_tree.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ks::testing {
namespace {

std::string DoubleQuoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string KeyText(const std::string& key) {
  const bool plain =
      !key.empty() && key.find_first_of(":#{}[],&*!|>'\"%@` \t\n") == std::string::npos;
  return plain || key == "<<" ? key : DoubleQuoted(key);
}

std::string ScalarText(const Tree& tree) {
  switch (tree.kind) {
    case Tree::Kind::kQuoted:
      return DoubleQuoted(tree.text);
    case Tree::Kind::kAlias:
      return "*" + tree.text;
    default:
      return tree.text;
  }
}

std::string AnchorText(const Tree& tree) {
  return tree.anchor.empty() ? "" : "&" + tree.anchor + " ";
}

std::string FlowText(const Tree& tree) {
  std::string text = AnchorText(tree);
  if (!tree.IsContainer()) return text + ScalarText(tree);
  const bool mapping = tree.kind == Tree::Kind::kMapping;
  std::string inside;
  for (const TreeMember& member : tree.members) {
    inside += (inside.empty() ? "" : ", ") + KeyText(member.key) + ": " + FlowText(member.value);
  }
  for (const Tree& item : tree.items) {
    inside += (inside.empty() ? "" : ", ") + FlowText(item);
  }
  return text + (mapping ? "{" : "[") + inside + (mapping ? "}" : "]");
}

void AppendBlock(const Tree& tree, size_t indent, std::string& out);

// What follows "key:" or "-".
void AppendValue(const Tree& tree, size_t indent, std::string& out) {
  const bool empty = tree.items.empty() && tree.members.empty();
  if (!tree.IsContainer() || tree.flow || empty) {
    const std::string text = FlowText(tree);
    out += (text.empty() ? "" : " ") + text + "\n";
    return;
  }
  if (!tree.anchor.empty()) out += " &" + tree.anchor;
  out += "\n";
  AppendBlock(tree, indent, out);
}

void AppendBlock(const Tree& tree, size_t indent, std::string& out) {
  const std::string blanks(indent, ' ');
  for (const TreeMember& member : tree.members) {
    out += blanks + KeyText(member.key) + ":";
    AppendValue(member.value, indent + 2, out);
  }
  for (const Tree& item : tree.items) {
    out += blanks + "-";
    AppendValue(item, indent + 2, out);
  }
}

}  // namespace

Tree Plain(std::string_view text) { return {.text = std::string(text)}; }

Tree Quoted(std::string_view text) {
  return {.kind = Tree::Kind::kQuoted, .text = std::string(text)};
}

Tree Alias(std::string_view anchor) {
  return {.kind = Tree::Kind::kAlias, .text = std::string(anchor)};
}

Tree List(std::vector<Tree> items) {
  return {.kind = Tree::Kind::kList, .items = std::move(items)};
}

Tree Mapping(std::vector<TreeMember> members) {
  return {.kind = Tree::Kind::kMapping, .members = std::move(members)};
}

std::string ToYaml(const Tree& tree) {
  if (!tree.IsContainer() || tree.flow) return FlowText(tree) + "\n";
  std::string text;
  AppendBlock(tree, 0, text);
  return text;
}

std::string ToJson(const Tree& tree) {
  switch (tree.kind) {
    case Tree::Kind::kAlias:
      return "null";
    case Tree::Kind::kQuoted:
      return DoubleQuoted(tree.text);
    case Tree::Kind::kPlain:
      if (tree.text == "yes" || tree.text == "True") return "true";
      if (tree.text == "off") return "false";
      return nlohmann::json::accept(tree.text) ? tree.text : DoubleQuoted(tree.text);
    default:
      break;
  }
  const bool mapping = tree.kind == Tree::Kind::kMapping;
  std::string inside;
  for (const TreeMember& member : tree.members) {
    inside += (inside.empty() ? "" : ", ") + DoubleQuoted(member.key) + ": " + ToJson(member.value);
  }
  for (const Tree& item : tree.items) inside += (inside.empty() ? "" : ", ") + ToJson(item);
  return (mapping ? "{" : "[") + inside + (mapping ? "}" : "]");
}

}  // namespace ks::testing
