// SPDX-License-Identifier: Apache-2.0
#include "cel/compare/expression.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "cel/compare/literals.h"

namespace ks::cel::compare {
namespace {

constexpr int kDepth = 4;

const TypePtr& Simple(TypeKind kind) { return SimpleType(kind); }

struct Signature {
  std::string_view function;
  const Overload* overload;
};

// All but those that only a macro or another syntax makes.
const std::vector<Signature>& Signatures() {
  static const std::vector<Signature> kAll = [] {
    std::vector<std::string_view> names = {
#define KS_CEL_OVERLOAD(id, function, signatures) function,
#include "cel/overloads.inc"
#undef KS_CEL_OVERLOAD
    };
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::vector<Signature> all;
    for (const std::string_view name : names) {
      const bool written = name == "@in" || name.find('@') == std::string_view::npos;
      if (!written || name == "_?._") continue;
      for (const Overload& overload : FindFunction(name)->overloads)
        all.push_back({name, &overload});
    }
    return all;
  }();
  return kAll;
}

using Bindings = std::map<std::string, TypePtr>;

// Whether `pattern`, with type parameters, can be `type`; binds the parameters.
bool Fits(const Type& pattern, const TypePtr& type, Bindings& bindings) {
  if (pattern.kind == TypeKind::kParam) {
    const auto [at, added] = bindings.emplace(pattern.name, type);
    return added || SameType(*at->second, *type);
  }
  if (pattern.kind != type->kind || pattern.name != type->name ||
      pattern.params.size() != type->params.size()) {
    return false;
  }
  for (size_t i = 0; i < pattern.params.size(); ++i) {
    if (!Fits(*pattern.params[i], type->params[i], bindings)) return false;
  }
  return true;
}

// "$.name($, $)" and the like.
std::string CallPattern(std::string_view function, bool member, size_t count) {
  static const std::map<std::string_view, std::string_view> kOperators = {
      {"!_", "(!$)"},     {"-_", "(-$)"},           {"_[_]", "$[$]"},
      {"_[?_]", "$[?$]"}, {"_?_:_", "($ ? $ : $)"}, {"@in", "($ in $)"}};
  if (const auto at = kOperators.find(function); at != kOperators.end()) {
    return std::string(at->second);
  }
  if (function.starts_with("_")) {
    return "($ " + std::string(function.substr(1, function.size() - 2)) + " $)";
  }
  std::string pattern = member ? "$." : "";
  pattern += std::string(function) + "(";
  for (size_t i = member ? 1 : 0; i < count; ++i) pattern += i + 1 < count ? "$, " : "$";
  return pattern + ")";
}

void Replace(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace

std::string Node::Text() const {
  std::string text;
  size_t next = 0;
  for (const char c : pattern) {
    if (c == '$' && next < parts.size()) {
      text += parts[next++].Text();
    } else {
      text += c;
    }
  }
  return text;
}

size_t Node::Size() const {
  size_t size = 1;
  for (const Node& part : parts) size += part.Size();
  return size;
}

Node Generator::Selector() { return Make(Simple(TypeKind::kBool), kDepth); }

Node Generator::AnyValue() { return Make(AnyType(2), kDepth); }

std::string Generator::Damage(std::string text) {
  const uint64_t changes = 1 + random_.Below(2);
  for (uint64_t i = 0; i < changes; ++i) {
    const size_t at = random_.Below(text.size() + 1);
    const size_t length = random_.Below(std::min<size_t>(text.size() - at, 3) + 1);
    switch (random_.Below(3)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kPieces[random_.Below(kPieces.size())]);
        break;
      default:
        text.replace(at, length, kPieces[random_.Below(kPieces.size())]);
    }
  }
  return text;
}

TypePtr Generator::KeyType() {
  static constexpr std::array kKinds = {TypeKind::kString, TypeKind::kString, TypeKind::kInt,
                                        TypeKind::kUint, TypeKind::kBool};
  return Simple(kKinds[random_.Below(kKinds.size())]);
}

TypePtr Generator::AnyType(int depth) {
  static constexpr std::array kKinds = {
      TypeKind::kBool,   TypeKind::kInt,  TypeKind::kInt,       TypeKind::kString,
      TypeKind::kString, TypeKind::kUint, TypeKind::kDouble,    TypeKind::kBytes,
      TypeKind::kNull,   TypeKind::kDyn,  TypeKind::kTimestamp, TypeKind::kDuration};
  static constexpr std::array<std::string_view, 6> kOpaque = {
      "kubernetes.Quantity",   "kubernetes.Semver", "kubernetes.URL", "net.IP", "net.CIDR",
      "kubernetes.NamedFormat"};
  const uint64_t drawn = random_.Below(depth > 0 ? 12 : 8);
  if (drawn < 6) return Simple(kKinds[random_.Below(kKinds.size())]);
  if (drawn < 8) return OpaqueType(kOpaque[random_.Below(kOpaque.size())]);
  if (drawn < 10) return ListType(AnyType(depth - 1));
  if (drawn < 11) return MapType(KeyType(), AnyType(depth - 1));
  return OneIn(6) ? TypeType(AnyType(depth - 1)) : OptionalType(AnyType(depth - 1));
}

Node Generator::Make(const TypePtr& type, int depth) {
  TypePtr wanted = type;
  if (OneIn(90)) wanted = AnyType(1);  // a mistake
  if (wanted->kind != TypeKind::kDyn && OneIn(12)) wanted = Simple(TypeKind::kDyn);
  if (depth <= 0 || OneIn(6)) return Leaf(wanted);
  if (OneIn(4)) {
    Node macro = Macro(wanted, depth - 1);
    if (!macro.pattern.empty()) return macro;
  }
  Node call = Call(wanted, depth - 1);
  return call.pattern.empty() ? Leaf(wanted) : call;
}

Node Generator::Leaf(const TypePtr& type) {
  std::vector<const Variable*> fitting;
  for (const Variable& variable : scope_) {
    if (SameType(*variable.type, *type)) fitting.push_back(&variable);
  }
  if (!fitting.empty() && !OneIn(3)) {
    return {.pattern = fitting[random_.Below(fitting.size())]->name, .type = type};
  }
  if (OneIn(2)) {
    Node path = FromDevice(type);
    if (!path.pattern.empty()) return path;
  }
  return Literal(type);
}

Node Generator::FromDevice(const TypePtr& type) {
  std::vector<std::string_view> fitting;
  for (const Sample& sample : kDevicePaths) {
    if (sample.type == CheckedTypeName(*type)) fitting.push_back(sample.text);
  }
  if (fitting.empty()) return {};
  return {.pattern = std::string(fitting[random_.Below(fitting.size())]), .type = type};
}

Node Generator::Literal(const TypePtr& type) {
  const auto inner = [&](size_t i) { return Literal(type->params.at(i)); };
  switch (type->kind) {
    case TypeKind::kDyn:
      return {.pattern = "dyn($)", .parts = {Literal(AnyType(0))}, .type = type};
    case TypeKind::kList:
      if (OneIn(5)) return {.pattern = "[]", .type = type};
      if (OneIn(3)) return {.pattern = "[$]", .parts = {inner(0)}, .type = type};
      return {.pattern = "[$, $, $]", .parts = {inner(0), inner(0), inner(0)}, .type = type};
    case TypeKind::kMap:
      if (OneIn(5)) return {.pattern = "{}", .type = type};
      return {.pattern = "{$: $, $: $}",
              .parts = {inner(0), inner(1), inner(0), inner(1)},
              .type = type};
    case TypeKind::kOptional:
      if (OneIn(4)) return {.pattern = "optional.none()", .type = type};
      return {.pattern = "optional.of($)", .parts = {inner(0)}, .type = type};
    case TypeKind::kType:
      return {.pattern = "type($)", .parts = {inner(0)}, .type = type};
    default:
      break;
  }
  std::vector<std::string_view> fitting;
  for (const Sample& sample : kLiterals) {
    if (sample.type == CheckedTypeName(*type)) fitting.push_back(sample.text);
  }
  if (fitting.empty()) return {.pattern = "null", .type = type};
  return {.pattern = std::string(fitting[random_.Below(fitting.size())]), .type = type};
}

Node Generator::Call(const TypePtr& type, int depth) {
  std::vector<const Signature*> fitting;
  std::vector<const Signature*> generic;  // give any type at all: rarer
  for (const Signature& signature : Signatures()) {
    Bindings bindings;
    if (!Fits(*signature.overload->result, type, bindings)) continue;
    const bool any = signature.overload->result->kind == TypeKind::kParam;
    (any ? generic : fitting).push_back(&signature);
  }
  const auto& from = fitting.empty() || OneIn(5) ? generic : fitting;
  if (from.empty()) return {};
  const Signature& chosen = *from[random_.Below(from.size())];
  return CallOf(chosen.function, *chosen.overload, type, depth);
}

Node Generator::CallOf(std::string_view function, const Overload& overload, const TypePtr& type,
                       int depth) {
  Bindings bindings;
  Fits(*overload.result, type, bindings);
  const auto instantiate = [&](const auto& self, const TypePtr& pattern) -> TypePtr {
    if (pattern->kind == TypeKind::kParam) {
      return bindings.emplace(pattern->name, AnyType(1)).first->second;
    }
    Type made = *pattern;
    // Maps with other keys are possible and nearly useless.
    if (made.kind == TypeKind::kMap && made.params[0]->kind == TypeKind::kParam && !OneIn(20)) {
      bindings.emplace(made.params[0]->name, KeyType());
    }
    for (TypePtr& param : made.params) param = self(self, param);
    return made.params.empty() ? pattern : std::make_shared<Type>(std::move(made));
  };
  Node call{.pattern = CallPattern(function, overload.member, overload.params.size()),
            .type = type};
  for (size_t i = 0; i < overload.params.size(); ++i) {
    const TypePtr param = instantiate(instantiate, overload.params[i]);
    if (const auto samples = ArgumentSamples(function, i); !samples.empty()) {
      call.parts.push_back(
          {.pattern = std::string(samples[random_.Below(samples.size())]), .type = param});
    } else {
      call.parts.push_back(Make(param, depth));
    }
  }
  return call;
}

Node Generator::Loop(std::string_view pattern, const TypePtr& type,
                     const std::vector<TypePtr>& parts, const std::vector<TypePtr>& bound,
                     int depth) {
  Node loop{.pattern = std::string(pattern), .type = type};
  loop.parts.push_back(Make(parts[0], depth));  // what is looped over does not see the variables
  for (size_t i = 0; i < bound.size(); ++i) {
    const std::string name = OneIn(30) ? "device" : "v" + std::to_string(scope_.size());
    Replace(loop.pattern, i == 0 ? "#a" : "#b", name);
    scope_.push_back({name, bound[i]});
  }
  for (size_t i = 1; i < parts.size(); ++i) loop.parts.push_back(Make(parts[i], depth));
  scope_.resize(scope_.size() - bound.size());
  return loop;
}

Node Generator::Macro(const TypePtr& type, int depth) {
  if (OneIn(5)) {
    const TypePtr bound = AnyType(1);
    return Loop("cel.bind(#a, $, $)", type, {bound, type}, {bound}, depth);
  }
  switch (type->kind) {
    case TypeKind::kBool:
      return BoolMacro(depth);
    case TypeKind::kList:
      return ListMacro(type->params[0], depth);
    case TypeKind::kMap:
      return MapMacro(*type, depth);
    case TypeKind::kOptional:
      return OptionalMacro(type->params[0], depth);
    default:
      return {};
  }
}

Node Generator::BoolMacro(int depth) {
  static constexpr std::array<std::string_view, 3> kOne = {"$.all(#a, $)", "$.exists(#a, $)",
                                                           "$.exists_one(#a, $)"};
  static constexpr std::array<std::string_view, 4> kTwo = {
      "$.all(#a, #b, $)", "$.exists(#a, #b, $)", "$.exists_one(#a, #b, $)",
      "$.existsOne(#a, #b, $)"};
  const TypePtr& boolean = Simple(TypeKind::kBool);
  const TypePtr element = AnyType(0);
  switch (random_.Below(6)) {
    case 0:
      return {.pattern = std::string(kPresence[random_.Below(kPresence.size())]), .type = boolean};
    case 1: {
      const TypePtr key = KeyType();
      return Loop(kOne[random_.Below(kOne.size())], boolean, {MapType(key, element), boolean},
                  {key}, depth);
    }
    case 2:
      return Loop(kTwo[random_.Below(kTwo.size())], boolean, {ListType(element), boolean},
                  {Simple(TypeKind::kInt), element}, depth);
    case 3: {
      const TypePtr key = KeyType();
      return Loop(kTwo[random_.Below(kTwo.size())], boolean, {MapType(key, element), boolean},
                  {key, element}, depth);
    }
    default:
      return Loop(kOne[random_.Below(kOne.size())], boolean, {ListType(element), boolean},
                  {element}, depth);
  }
}

Node Generator::ListMacro(const TypePtr& element, int depth) {
  const TypePtr& boolean = Simple(TypeKind::kBool);
  const TypePtr type = ListType(element);
  const TypePtr other = AnyType(0);
  switch (random_.Below(6)) {
    case 0:
      return Loop("$.map(#a, $)", type, {ListType(other), element}, {other}, depth);
    case 1:
      return Loop("$.map(#a, $, $)", type, {ListType(other), boolean, element}, {other}, depth);
    case 2:
      return Loop("$.filter(#a, $)", type, {type, boolean}, {element}, depth);
    case 3:
      return Loop("$.sortBy(#a, $)", type, {type, OneIn(2) ? Simple(TypeKind::kInt) : other},
                  {element}, depth);
    case 4:
      return Loop("$.transformList(#a, #b, $)", type, {ListType(other), element},
                  {Simple(TypeKind::kInt), other}, depth);
    default:
      return Loop("$.transformList(#a, #b, $, $)", type,
                  {MapType(Simple(TypeKind::kString), other), boolean, element},
                  {Simple(TypeKind::kString), other}, depth);
  }
}

Node Generator::MapMacro(const Type& map, int depth) {
  const TypePtr& key = map.params[0];
  const TypePtr& value = map.params[1];
  const TypePtr type = MapType(key, value);
  const TypePtr other = AnyType(0);
  switch (random_.Below(3)) {
    case 0:
      return Loop("$.transformMap(#a, #b, $)", type, {MapType(key, other), value}, {key, other},
                  depth);
    case 1:
      return Loop("$.transformMap(#a, #b, $, $)", type,
                  {MapType(key, other), Simple(TypeKind::kBool), value}, {key, other}, depth);
    default:
      return Loop("$.transformMapEntry(#a, #b, {$: $})", type, {ListType(other), key, value},
                  {Simple(TypeKind::kInt), other}, depth);
  }
}

Node Generator::OptionalMacro(const TypePtr& value, int depth) {
  const TypePtr other = AnyType(0);
  if (OneIn(2)) {
    return Loop("$.optMap(#a, $)", OptionalType(value), {OptionalType(other), value}, {other},
                depth);
  }
  return Loop("$.optFlatMap(#a, $)", OptionalType(value),
              {OptionalType(other), OptionalType(value)}, {other}, depth);
}

std::vector<Node> Smaller(const Node& node) {
  std::vector<Node> found = node.parts;
  for (size_t i = 0; i < node.parts.size(); ++i) {
    for (Node& smaller : Smaller(node.parts[i])) {
      Node changed = node;
      changed.parts[i] = std::move(smaller);
      found.push_back(std::move(changed));
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Node& a, const Node& b) { return a.Size() < b.Size(); });
  return found;
}

}  // namespace ks::cel::compare
