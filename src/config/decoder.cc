// SPDX-License-Identifier: Apache-2.0
#include "config/decoder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "config/nearest_name.h"

namespace ks::config {
namespace {

constexpr const char* kStringTag = "tag:yaml.org,2002:str";

std::string Quoted(const std::string& text) {
  constexpr size_t kLongest = 60;
  return '"' + (text.size() <= kLongest ? text : text.substr(0, kLongest) + "…") + '"';
}

bool IsQuoted(const YAML::Node& node) { return node.Tag() == "!" || node.Tag() == kStringTag; }

std::string Join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

// For people: what was found instead of the wanted type.
std::string Describe(const YAML::Node& node, Syntax syntax) {
  if (node.IsMap()) {
    return "a mapping";
  }
  if (node.IsSequence()) {
    return "a list";
  }
  if (IsQuoted(node)) {
    return "the string " + Quoted(node.Scalar());
  }
  switch (ResolvePlainScalar(node.Scalar(), syntax).kind) {
    case Scalar::Kind::kNull:
      return "nothing";
    case Scalar::Kind::kBool:
      return "the boolean " + node.Scalar() +
             (node.Scalar() == "true" || node.Scalar() == "false"
                  ? ""
                  : " (unquoted, it is a boolean in YAML 1.1)");
    case Scalar::Kind::kInteger:
    case Scalar::Kind::kFloat:
      return "the number " + node.Scalar();
    case Scalar::Kind::kString:
      break;
  }
  return "the string " + Quoted(node.Scalar());
}

}  // namespace

void Decoder::Map(const YAML::Node& node, const std::string& path, const FieldTable& fields) {
  if (IsNull(node)) {
    return;
  }
  if (!node.IsMap()) {
    WrongType(node, path, "a mapping");
    return;
  }
  std::map<std::string, int> lines;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) {
      Fail(entry.first, path, "a key must be a plain text");
      continue;
    }
    const std::string& key = entry.first.Scalar();
    const auto [first, added] = lines.emplace(key, entry.first.Mark().line + 1);
    if (!added) {
      Fail(entry.first, Join(path, key),
           "key " + Quoted(key) + " already set in line " + std::to_string(first->second));
      continue;
    }
    CheckKey(entry.first, entry.second, path, fields);
  }
}

void Decoder::CheckKey(const YAML::Node& key, const YAML::Node& value, const std::string& path,
                       const FieldTable& fields) {
  const std::string& name = key.Scalar();
  const std::string at = Join(path, name);
  if (name == "<<" && syntax_ == Syntax::kYaml && !IsQuoted(key)) {
    Fail(key, at, "merge keys are not supported by this version of kubesched yet");
    return;
  }
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [&name](const Field& each) { return each.name == name; });
  if (field == fields.end()) {
    std::vector<std::string_view> names;
    for (const Field& each : fields) {
      names.push_back(each.name);
    }
    const std::string nearest = NearestName(name, names);
    Fail(key, "",
         "unknown field " + Quoted(at) +
             (nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?"));
  } else if (field->decode) {
    field->decode(value, at);
  } else if (!IsNull(value)) {
    Fail(key, at, "not supported by this version of kubesched yet; remove the field");
  }
}

bool Decoder::IsNull(const YAML::Node& node) const {
  if (!node || node.IsNull()) {
    return true;
  }
  return node.IsScalar() && !IsQuoted(node) &&
         ResolvePlainScalar(node.Scalar(), syntax_).kind == Scalar::Kind::kNull;
}

bool Decoder::IsList(const YAML::Node& node, const std::string& path) {
  if (IsNull(node)) {
    return false;
  }
  if (!node.IsSequence()) {
    WrongType(node, path, "a list");
    return false;
  }
  return true;
}

// False when there is nothing to decode: null, or an error that is reported.
bool Decoder::Resolve(const YAML::Node& node, const std::string& path, const char* wanted,
                      Scalar& scalar) {
  if (IsNull(node)) {
    return false;
  }
  if (!node.IsScalar()) {
    WrongType(node, path, wanted);
    return false;
  }
  if (!IsQuoted(node) && node.Tag() != "?" && !node.Tag().empty()) {
    Fail(node, path, "the tag " + node.Tag() + " is not supported; write the plain value");
    return false;
  }
  scalar = IsQuoted(node) ? Scalar() : ResolvePlainScalar(node.Scalar(), syntax_);
  return true;
}

bool Decoder::Bool(const YAML::Node& node, const std::string& path, bool& target) {
  constexpr const char* kWanted = "true or false";
  Scalar scalar;
  if (!Resolve(node, path, kWanted, scalar)) {
    return false;
  }
  if (scalar.kind != Scalar::Kind::kBool) {
    WrongType(node, path, kWanted);
    return false;
  }
  target = scalar.boolean;
  return true;
}

bool Decoder::Int32(const YAML::Node& node, const std::string& path, int32_t& target) {
  int64_t value = 0;
  if (!Int64(node, path, value)) {
    return false;
  }
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    WrongType(node, path, "an integer of 32 bits");
    return false;
  }
  target = static_cast<int32_t>(value);
  return true;
}

bool Decoder::Int64(const YAML::Node& node, const std::string& path, int64_t& target) {
  constexpr const char* kWanted = "an integer";
  Scalar scalar;
  if (!Resolve(node, path, kWanted, scalar)) {
    return false;
  }
  if (scalar.kind != Scalar::Kind::kInteger) {
    WrongType(node, path, kWanted);
    return false;
  }
  target = scalar.integer;
  return true;
}

bool Decoder::Float32(const YAML::Node& node, const std::string& path, float& target) {
  constexpr const char* kWanted = "a number";
  Scalar scalar;
  if (!Resolve(node, path, kWanted, scalar)) {
    return false;
  }
  const bool number = scalar.kind == Scalar::Kind::kInteger || scalar.kind == Scalar::Kind::kFloat;
  if (!number || !(std::fabs(scalar.number) <= std::numeric_limits<float>::max())) {
    WrongType(node, path, number ? "a number of 32-bit float range" : kWanted);
    return false;
  }
  target = static_cast<float>(scalar.number);
  return true;
}

bool Decoder::String(const YAML::Node& node, const std::string& path, std::string& target) {
  constexpr const char* kWanted = "a string";
  Scalar scalar;
  if (!Resolve(node, path, kWanted, scalar)) {
    return false;
  }
  if (scalar.kind != Scalar::Kind::kString) {
    WrongType(node, path, "a string (put it into quotes)");
    return false;
  }
  target = node.Scalar();
  return true;
}

FieldDecoder Decoder::IntoString(std::string& target) {
  return [this, &target](const YAML::Node& value, const std::string& path) {
    String(value, path, target);
  };
}

void Decoder::Fail(const YAML::Node& node, const std::string& path, const std::string& text) {
  const YAML::Mark mark = node ? node.Mark() : YAML::Mark::null_mark();
  const bool prefixed = path.empty() || text.starts_with(path);
  findings_.push_back({.line = mark.line + 1,
                       .column = mark.column + 1,
                       .text = prefixed ? text : path + ": " + text});
}

void Decoder::Invalid(const YAML::Node& node, const std::string& path, int64_t value,
                      const std::string& detail) {
  Fail(node, path, path + ": Invalid value: " + std::to_string(value) + ": " + detail);
}

void Decoder::WrongType(const YAML::Node& node, const std::string& path, const char* wanted) {
  Fail(node, path, std::string("must be ") + wanted + ", not " + Describe(node, syntax_));
}

std::string Decoder::Report() const {
  std::vector<Finding> sorted = findings_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Finding& a, const Finding& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  std::string report;
  for (const Finding& finding : sorted) {
    report += (report.empty() ? "" : "\n") + file_ + ":" + std::to_string(finding.line) + ":" +
              std::to_string(finding.column) + ": " + finding.text;
  }
  return report;
}

}  // namespace ks::config
