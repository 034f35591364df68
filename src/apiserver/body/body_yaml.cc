// SPDX-License-Identifier: Apache-2.0
// YAML 1.1 as upstream's reader types it (docs/spec/config.md section 2.3), for bodies of requests.
// The configuration has a reader of its own with places and exact texts (src/config), which this
// library may not use; here yaml-cpp reads the tree.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "apiserver/body/body_forms.h"

namespace ks::apiserver {
namespace {

constexpr size_t kMaxValues = 1'000'000;  // after aliases are expanded
constexpr int kMaxDepth = 500;

constexpr std::string_view kNulls[] = {"", "~", "null", "Null", "NULL"};
constexpr std::string_view kTrue[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                      "True", "TRUE", "on",  "On",  "ON"};
constexpr std::string_view kFalse[] = {"n",     "N",     "no",  "No",  "NO", "false",
                                       "False", "FALSE", "off", "Off", "OFF"};

template <size_t N>
bool Contains(const std::string_view (&list)[N], std::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

// 12, +12, -12, 0x10, 0b101, 020 and 0o20 (octal).
std::optional<Json> ParseInteger(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text.front() == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    text.remove_prefix(base != 8 || letter == 'o' ? 2 : 1);
  }
  uint64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, base);
  if (text.empty() || error != std::errc() || end != last) return std::nullopt;
  if (!negative) return Json(value);
  if (value > uint64_t{1} << 63) return std::nullopt;
  return Json(static_cast<int64_t>(0 - value));
}

// Integral values below 1e21 are written without a point, as upstream's JSON has them.
std::optional<Json> ParseFloat(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  std::string digits(text);
  if (digits.starts_with('.')) digits.insert(0, "0");
  if (digits.starts_with("-.")) digits.insert(1, "0");
  double value = 0;
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value);
  if (error != std::errc() || end != last || !std::isfinite(value)) return std::nullopt;
  constexpr double kMostExact = 9e18;
  if (std::trunc(value) == value && std::abs(value) < kMostExact) {
    return Json(static_cast<int64_t>(value));
  }
  return Json(value);
}

Json ResolvePlain(const std::string& text) {
  if (Contains(kNulls, text)) return nullptr;
  if (Contains(kTrue, text)) return true;
  if (Contains(kFalse, text)) return false;
  std::string digits = text;
  std::erase(digits, '_');
  const char first = text.front();
  const bool digit = first >= '0' && first <= '9';
  if (digit || first == '-' || first == '+') {
    if (auto integer = ParseInteger(digits)) return *std::move(integer);
  }
  if (digit || first == '-' || first == '+' || first == '.') {
    if (auto number = ParseFloat(digits)) return *std::move(number);
  }
  return text;
}

class Converter {
 public:
  // False: error().
  bool Convert(const YAML::Node& node, int depth, Json& value);
  const std::string& error() const { return error_; }

 private:
  bool ConvertMap(const YAML::Node& node, int depth, Json& value);
  bool Merge(const YAML::Node& node, int depth, Json& value);
  bool Fail(std::string message) {
    error_ = std::move(message);
    return false;
  }

  size_t values_ = 0;
  std::string error_;
};

bool Converter::Convert(const YAML::Node& node, int depth, Json& value) {
  if (++values_ > kMaxValues || depth > kMaxDepth) return Fail("yaml: document is too large");
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      value = nullptr;
      return true;
    case YAML::NodeType::Scalar: {
      // "?" is the tag of a plain scalar, "!" that of a quoted one.
      const std::string& tag = node.Tag();
      const bool typed = tag == "?" || tag == "tag:yaml.org,2002:int" ||
                         tag == "tag:yaml.org,2002:bool" || tag == "tag:yaml.org,2002:float";
      value = typed ? ResolvePlain(node.Scalar()) : Json(node.Scalar());
      return true;
    }
    case YAML::NodeType::Sequence:
      value = Json::array();
      for (const YAML::Node& element : node) {
        value.emplace_back();
        if (!Convert(element, depth + 1, value.back())) return false;
      }
      return true;
    case YAML::NodeType::Map:
      return ConvertMap(node, depth, value);
  }
  return true;
}

// `<<`: members of one mapping or several that are not there yet.
bool Converter::Merge(const YAML::Node& node, int depth, Json& value) {
  Json merged;
  if (!Convert(node, depth + 1, merged)) return false;
  if (merged.is_object()) merged = Json::array({merged});
  const bool maps =
      merged.is_array() && std::all_of(merged.begin(), merged.end(),
                                       [](const Json& element) { return element.is_object(); });
  if (!maps) return Fail("yaml: map merge requires map or sequence of maps as the value");
  for (const Json& element : merged) {
    for (const auto& [key, member] : element.items()) {
      if (!value.contains(key)) value[key] = member;
    }
  }
  return true;
}

bool Converter::ConvertMap(const YAML::Node& node, int depth, Json& value) {
  value = Json::object();
  for (const auto& member : node) {
    if (!member.first.IsScalar()) return Fail("yaml: invalid map key");
    Json key;
    if (!Convert(member.first, depth + 1, key)) return false;
    const std::string name = key.is_string() ? key.get<std::string>() : key.dump();
    if (name == "<<" && member.first.Tag() == "?") continue;
    if (!Convert(member.second, depth + 1, value[name])) return false;
  }
  for (const auto& member : node) {
    const bool merge = member.first.Scalar() == "<<" && member.first.Tag() == "?";
    if (merge && !Merge(member.second, depth, value)) return false;
  }
  return true;
}

}  // namespace

Result<Json> ParseYaml(std::string_view text) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    Json value;
    Converter converter;
    if (!converter.Convert(root, 0, value)) return Error{.message = converter.error()};
    return value;
  } catch (const YAML::Exception& error) {
    return Error{.message = "yaml: line " + std::to_string(error.mark.line + 1) + ": " + error.msg};
  }
}

}  // namespace ks::apiserver
