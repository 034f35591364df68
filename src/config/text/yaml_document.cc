// SPDX-License-Identifier: Apache-2.0
#include "config/text/yaml_document.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "api/selector.h"
#include "config/text/yaml_events.h"
#include "config/text/yaml_resolve.h"
#include "golang/print_number.h"
#include "golang/quote.h"
#include "golang/utf8.h"

namespace ks::config {
namespace {

// Far above any real configuration, far below what hurts: aliases can multiply a small file.
struct Limits {
  size_t values = 200'000;
  size_t text = size_t{64} << 20;
};
constexpr size_t kLongestPath = 1000;  // of duplicate keys; the rest is cut

std::string GoSyntaxOf(const Value& value, bool nested = false) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return nested ? "interface {}(nil)" : "<nil>";
    case Value::Kind::kBool:
      return value.boolean ? "true" : "false";
    case Value::Kind::kNumber:
      return value.text;
    case Value::Kind::kString:
      return golang::Quote(value.text);
    case Value::Kind::kList: {
      std::string text = "[]interface {}{";
      for (const Value& item : value.items) {
        text += (&item == &value.items.front() ? "" : ", ") + GoSyntaxOf(item, true);
      }
      return text + "}";
    }
    case Value::Kind::kMapping:
      break;
  }
  std::string text = "map[interface {}]interface {}{";
  bool first = true;
  for (const Member* member : VisibleMembers(value, Syntax::kYaml)) {
    text +=
        (first ? "" : ", ") + golang::Quote(member->key) + ":" + GoSyntaxOf(member->value, true);
    first = false;
  }
  return text + "}";
}

class Builder {
 public:
  Builder(const YamlTree& tree, const Limits& limits)
      : tree_(tree), limits_(limits), active_(tree.nodes.size()) {}

  std::variant<Document, Finding> Run() {
    if (!tree_.nodes.empty() && !Build(0, 0, document_.root)) return *std::move(fatal_);
    if (conversion_error_) return *std::move(conversion_error_);
    if (has_unsupported_) {
      if (const Value* value = FindUnsupported(document_.root)) return Unsupported(*value);
    }
    return std::move(document_);
  }

 private:
  // Keys that a mapping has: kind and text, because 5 and "5" are two keys to YAML.
  using SeenKeys = std::set<std::pair<YamlScalar::Kind, std::string>>;

  bool Fail(Place place, std::string message) {
    fatal_ = Finding{.message = "yaml: " + std::move(message), .place = place};
    return false;
  }

  bool Count(Place place, size_t text) {
    text_ += text;
    if (++values_ > limits_.values || text_ > limits_.text) {
      return Fail(place, "document contains excessive aliasing");
    }
    return true;
  }

  bool Build(uint32_t index, int depth, Value& out) {
    const YamlNode& node = tree_.nodes[index];
    if (!Count(node.place, node.text.size())) return false;
    if (depth > kMaxDepth) {
      return Fail(node.place, "exceeded max depth of " + std::to_string(kMaxDepth));
    }
    switch (node.kind) {
      case YamlNode::Kind::kScalar:
        out.place = node.place;
        return BuildScalar(node, out);
      case YamlNode::Kind::kAlias:
        return BuildAlias(node, depth, out);
      case YamlNode::Kind::kSequence: {
        out.place = node.place;
        out.kind = Value::Kind::kList;
        active_[index] = true;
        const bool built = BuildList(node, depth, out);
        active_[index] = false;
        return built;
      }
      case YamlNode::Kind::kMapping:
        break;
    }
    out.place = node.place;
    out.kind = Value::Kind::kMapping;
    SeenKeys seen;
    return BuildMembers(index, depth, out, seen);
  }

  bool BuildList(const YamlNode& node, int depth, Value& out) {
    const size_t path = path_.size();
    for (const uint32_t child : node.children) {
      Push("[" + std::to_string(out.items.size()) + "]");
      const bool built = Build(child, depth + 1, out.items.emplace_back());
      path_.resize(path);
      if (!built) return false;
    }
    return true;
  }

  bool BuildAlias(const YamlNode& node, int depth, Value& out) {
    if (active_[node.target]) {
      return Fail(node.place, "anchor '" + node.text + "' value contains itself");
    }
    return Build(node.target, depth, out);
  }

  Result<YamlScalar> Resolve(const YamlNode& node) {
    if (node.tag.empty() && !node.implicit) return YamlScalar{.text = node.text};
    return ResolveScalar(node.tag, node.text);
  }

  bool BuildScalar(const YamlNode& node, Value& out) {
    Result<YamlScalar> scalar = Resolve(node);
    if (!scalar.ok()) return Fail(node.place, scalar.error().message);
    out.plain = node.plain && node.tag.empty();
    if (out.plain) out.written = node.text;
    switch (scalar->kind) {
      case YamlScalar::Kind::kNull:
        return true;
      case YamlScalar::Kind::kBool:
        out.kind = Value::Kind::kBool;
        out.boolean = scalar->boolean;
        return true;
      case YamlScalar::Kind::kInteger:
        out.kind = Value::Kind::kNumber;
        out.text = std::move(scalar->text);
        return true;
      case YamlScalar::Kind::kFloat:
        out.kind = Value::Kind::kNumber;
        out.text = FloatText(*scalar);
        return true;
      case YamlScalar::Kind::kString:
        break;
    }
    out.kind = Value::Kind::kString;
    out.text = golang::ToUtf8(scalar->text);
    return true;
  }

  // What is not finite keeps its name as text until Run() has looked at it.
  std::string FloatText(const YamlScalar& scalar) {
    if (std::isfinite(scalar.number)) return golang::JsonFloatText(scalar.number);
    has_unsupported_ = true;
    return std::isnan(scalar.number) ? "NaN" : scalar.number > 0 ? "+Inf" : "-Inf";
  }

  // The first number that JSON has not, among what the decoder sees; null when there is none.
  static const Value* FindUnsupported(const Value& value) {
    if (value.kind == Value::Kind::kNumber && value.text.ends_with("Inf")) return &value;
    if (value.kind == Value::Kind::kNumber && value.text == "NaN") return &value;
    for (const Value& item : value.items) {
      if (const Value* found = FindUnsupported(item)) return found;
    }
    if (!value.IsMapping()) return nullptr;
    for (const Member* member : VisibleMembers(value, Syntax::kYaml)) {
      if (const Value* found = FindUnsupported(member->value)) return found;
    }
    return nullptr;
  }

  static Finding Unsupported(const Value& value) {
    return {.message = "json: unsupported value: " + value.text,
            .place = value.place,
            .hint = "JSON has no such number; write a finite one"};
  }

  static bool IsMerge(const YamlNode& node) {
    return node.kind == YamlNode::Kind::kScalar && node.text == "<<" &&
           (node.tag == "tag:yaml.org,2002:merge" || (node.tag.empty() && node.implicit));
  }

  // The members of mapping `index` behind those that `out` has.
  bool BuildMembers(uint32_t index, int depth, Value& out, SeenKeys& seen) {
    const YamlNode& node = tree_.nodes[index];
    active_[index] = true;
    bool built = true;
    for (size_t i = 0; built && i + 1 < node.children.size(); i += 2) {
      built = IsMerge(tree_.nodes[node.children[i]])
                  ? Merge(node.children[i + 1], depth, out, seen)
                  : BuildMember(node.children[i], node.children[i + 1], depth, out, seen);
    }
    active_[index] = false;
    return built;
  }

  bool Merge(uint32_t index, int depth, Value& out, SeenKeys& seen) {
    const YamlNode& node = tree_.nodes[index];
    if (node.kind != YamlNode::Kind::kSequence) return MergeMapping(index, depth, out, seen);
    // Upstream walks backwards, because earlier mappings win.
    for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
      if (!MergeMapping(*child, depth, out, seen)) return false;
    }
    return true;
  }

  bool MergeMapping(uint32_t index, int depth, Value& out, SeenKeys& seen) {
    const YamlNode& node = tree_.nodes[index];
    if (!Count(node.place, 0)) return false;
    const uint32_t target = node.kind == YamlNode::Kind::kAlias ? node.target : index;
    if (tree_.nodes[target].kind != YamlNode::Kind::kMapping) {
      return Fail(node.place, "map merge requires map or sequence of maps as the value");
    }
    if (active_[target]) {
      return Fail(node.place, "anchor '" + node.text + "' value contains itself");
    }
    if (depth >= kMaxDepth) {
      return Fail(node.place, "exceeded max depth of " + std::to_string(kMaxDepth));
    }
    return BuildMembers(target, depth + 1, out, seen);
  }

  bool BuildMember(uint32_t key_index, uint32_t value_index, int depth, Value& out,
                   SeenKeys& seen) {
    const YamlNode* key = &tree_.nodes[key_index];
    const Place place = key->place;
    if (key->kind == YamlNode::Kind::kAlias) key = &tree_.nodes[key->target];
    if (key->kind != YamlNode::Kind::kScalar) return BadKey(key_index, depth);
    if (!Count(place, key->text.size())) return false;
    const Result<YamlScalar> scalar = Resolve(*key);
    if (!scalar.ok()) return Fail(place, scalar.error().message);

    Member member{.key = golang::ToUtf8(KeyText(*scalar)), .place = place, .value = {}};
    const size_t path = path_.size();
    Push((path == 0 ? "" : ".") + member.key);
    const bool built = Build(value_index, depth + 1, member.value);
    if (built && !seen.emplace(scalar->kind, SeenText(*scalar)).second) {
      NoteDuplicate(*scalar, tree_.nodes[value_index].place, place);
    }
    path_.resize(path);
    if (built && !IsSupportedKey(*scalar)) NoteBadKey(*scalar, member);
    out.members.push_back(std::move(member));
    return built;
  }

  static std::string SeenText(const YamlScalar& scalar) {
    return scalar.kind == YamlScalar::Kind::kFloat ? GoSyntax(scalar) : KeyText(scalar);
  }

  void NoteDuplicate(const YamlScalar& key, Place value, Place place) {
    document_.duplicates.push_back({.text = "line " + std::to_string(value.line) + ": key " +
                                            GoSyntax(key) + " already set in map",
                                    .path = path_,
                                    .place = place});
  }

  // Integers above 2^63-1 have a type of their own upstream.
  static bool IsSupportedKey(const YamlScalar& key) {
    if (key.kind == YamlScalar::Kind::kNull) return false;
    return key.kind != YamlScalar::Kind::kInteger || key.text.starts_with('-') ||
           key.text.size() < 19 || (key.text.size() == 19 && key.text <= "9223372036854775807");
  }

  void NoteBadKey(const YamlScalar& key, const Member& member) {
    if (conversion_error_) return;
    const bool null = key.kind == YamlScalar::Kind::kNull;
    std::string message = "unsupported map key of type: ";
    message += null ? "%!s(<nil>), key: <nil>" : "uint64, key: " + Hexadecimal(key.text);
    conversion_error_ = Finding{.message = message + ", value: " + GoSyntaxOf(member.value),
                                .place = member.place,
                                .hint = "put the key into quotes"};
  }

  static std::string Hexadecimal(const std::string& decimal) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (uint64_t rest = std::stoull(decimal); rest != 0; rest /= 16) {
      text.insert(text.begin(), kDigits[rest % 16]);
    }
    return "0x" + text;
  }

  bool BadKey(uint32_t index, int depth) {
    Value value;
    if (!Build(index, depth + 1, value)) return false;
    return Fail(tree_.nodes[index].place, "invalid map key: " + GoSyntaxOf(value));
  }

  void Push(std::string_view step) {
    if (path_.size() < kLongestPath) path_ += step.substr(0, kLongestPath);
  }

  const YamlTree& tree_;
  const Limits limits_;
  std::vector<bool> active_;  // collections around the current one
  Document document_;
  std::string path_;
  size_t values_ = 0;
  size_t text_ = 0;
  std::optional<Finding> fatal_;
  std::optional<Finding> conversion_error_;
  bool has_unsupported_ = false;
};

}  // namespace

std::variant<Document, Finding> ParseYamlDocument(std::string_view text) {
  const Limits limits;
  std::variant<YamlTree, Finding> tree = ReadYamlTree(text, limits.values);
  if (Finding* error = std::get_if<Finding>(&tree)) return std::move(*error);
  return Builder(std::get<YamlTree>(tree), limits).Run();
}

std::variant<std::vector<Document>, Finding> ParseYamlStream(std::string_view text) {
  Limits limits;
  limits.values = std::max(limits.values, text.size());
  limits.text = std::max(limits.text, 2 * text.size());
  auto trees = ReadYamlStream(text, limits.values);
  if (Finding* error = std::get_if<Finding>(&trees)) return std::move(*error);
  std::vector<Document> documents;
  for (const YamlTree& tree : std::get<0>(trees)) {
    std::variant<Document, Finding> built = Builder(tree, limits).Run();
    if (Finding* error = std::get_if<Finding>(&built)) return std::move(*error);
    documents.push_back(std::get<Document>(std::move(built)));
  }
  return documents;
}

}  // namespace ks::config
