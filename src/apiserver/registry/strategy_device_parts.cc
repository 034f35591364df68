// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "apiserver/registry/strategy_devices.h"
#include "apiserver/schema/schema.h"
#include "base/check.h"
#include "cel/program.h"

namespace ks::apiserver {
namespace {

constexpr size_t kLongestReason = 1024;  // of a condition, and of its message
constexpr size_t kLongestMessage = 32768;
constexpr size_t kMostSelectors = 32;
constexpr size_t kLongestExpression = 10240;
constexpr size_t kLongestParameters = 10240;
constexpr size_t kMostBindingConditions = 4;
constexpr std::string_view kReason =
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. "
    "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex "
    "used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

std::string InOrder(const SchemaType& type, const Json& object);

std::string InOrder(const SchemaField& field, const Json& value) {
  if (field.type == nullptr || field.shape == SchemaField::Shape::kMap) return value.dump();
  if (field.shape == SchemaField::Shape::kOne) return InOrder(*field.type, value);
  std::string text;
  for (const Json& element : ElementsOf(value)) {
    text += (text.empty() ? "[" : ",") + InOrder(*field.type, element);
  }
  return text.empty() ? value.dump() : text + "]";
}

void AppendMembers(const SchemaType& type, const Json& object, std::string& text) {
  for (const SchemaField& field : type.fields) {
    if (field.inlined) {
      AppendMembers(*field.type, object, text);
      continue;
    }
    const auto member = object.find(field.name);
    if (member == object.end()) continue;
    text += text.empty() ? "" : ",";
    text += Json(field.name).dump() + ":" + (member->is_null() ? "null" : InOrder(field, *member));
  }
}

std::string InOrder(const SchemaType& type, const Json& object) {
  if (!object.is_object()) return object.dump();
  std::string text;
  AppendMembers(type, object, text);
  return "{" + text + "}";
}

bool IsReason(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto inside = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && letter(text.front()) && inside(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return inside(c) || c == ',' || c == ':'; });
}

void CheckExpression(const std::string& field, const std::string& text, Causes& causes) {
  if (text.size() > kLongestExpression) return causes.TooLong(field, kLongestExpression);
  const auto compiled = cel::Program::Compile(text);
  if (!compiled.ok()) causes.Invalid(field, text, compiled.error().message);
}

// Names of conditions; returns those that are well.
std::set<std::string> CheckConditionNames(const std::string& field, const Json& list,
                                          Causes& causes) {
  std::set<std::string> names;
  const std::vector<Json>& elements = AtMost(field, list, kMostBindingConditions, causes);
  for (size_t i = 0; i < elements.size(); ++i) {
    const std::string name = elements[i].is_string() ? elements[i].get<std::string>() : "";
    causes.All(Path(field, i), name, QualifiedNameErrors(name));
    if (!names.insert(name).second) causes.Duplicate(Path(field, i), name);
  }
  return names;
}

void CheckCondition(const std::string& field, const Json& condition, Causes& causes) {
  const std::string type = TextAt(condition, "type");
  if (type.empty()) {
    causes.Required(Path(field, "type"), "is required");
  } else {
    causes.All(Path(field, "type"), type, QualifiedNameErrors(type));
  }
  const std::string status = TextAt(condition, "status");
  if (status.empty()) {
    causes.Required(Path(field, "status"));
  } else {
    causes.OneOf(Path(field, "status"), status, {"False", "True", "Unknown"});
  }
  const int64_t generation = NumberAt(condition, "observedGeneration").value_or(0);
  if (generation < 0) {
    causes.Invalid(Path(field, "observedGeneration"), generation,
                   "must be greater than or equal to zero");
  }
  if (TextAt(condition, "lastTransitionTime").empty()) {
    causes.Required(Path(field, "lastTransitionTime"));
  }
  const std::string reason = TextAt(condition, "reason");
  if (reason.empty()) {
    causes.Required(Path(field, "reason"));
  } else if (!IsReason(reason)) {
    causes.Invalid(Path(field, "reason"), reason, kReason);
  }
  if (reason.size() > kLongestReason) causes.TooLong(Path(field, "reason"), kLongestReason);
  const size_t message_size = TextAt(condition, "message").size();
  if (message_size > kLongestMessage) causes.TooLong(Path(field, "message"), kLongestMessage);
}

}  // namespace

const std::vector<Json>& AtMost(const std::string& field, const Json& list, size_t most,
                                Causes& causes) {
  const std::vector<Json>& elements = ElementsOf(list);
  if (elements.size() <= most) return elements;
  causes.TooMany(field, elements.size(), most);
  return ElementsOf(Json());
}

void AddDuplicate(std::string field, const Json& value, std::string_view kind,
                  std::string_view path, Causes& causes) {
  const SchemaType* type = FindSchema("resource.k8s.io/v1", kind);
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    const SchemaField* member = type == nullptr ? nullptr : type->Find(path.substr(0, dot));
    KS_CHECK(member != nullptr, "a path that the schema lacks");
    type = member->type;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  KS_CHECK(type != nullptr, "no list of structs");
  causes.Add(
      {"FieldValueDuplicate", "Duplicate value: " + InOrder(*type, value), std::move(field)});
}

void CheckSelectors(const std::string& field, const Json& list, Causes& causes) {
  const std::vector<Json>& selectors = AtMost(field, list, kMostSelectors, causes);
  for (size_t i = 0; i < selectors.size(); ++i) {
    const std::string at = Path(Path(field, i), "cel");
    const Json& cel = At(selectors[i], "cel");
    if (!cel.is_object()) {
      causes.Required(at);
    } else {
      CheckExpression(Path(at, "expression"), TextAt(cel, "expression"), causes);
    }
  }
}

void CheckOpaque(const std::string& field, const Json& configuration, Causes& causes) {
  const std::string at = Path(field, "opaque");
  const Json& opaque = At(configuration, "opaque");
  if (!opaque.is_object()) return causes.Required(at);
  CheckDriver(Path(at, "driver"), At(opaque, "driver"), Spelling::kAny, causes);
  const std::string parameters_at = Path(at, "parameters");
  const Json& parameters = At(opaque, "parameters");
  if (parameters.is_null()) {
    causes.Required(parameters_at);
  } else if (parameters.dump().size() > kLongestParameters) {
    causes.TooLong(parameters_at, kLongestParameters);
  } else if (!parameters.is_object()) {
    causes.Invalid(parameters_at, "<value omitted>", "must be a valid JSON object");
  }
}

void CheckDeviceTolerations(const std::string& field, const Json& list, Causes& causes) {
  const std::vector<Json>& tolerations = ElementsOf(list);
  for (size_t i = 0; i < tolerations.size(); ++i) {
    const std::string at = Path(field, i);
    const std::string key = TextAt(tolerations[i], "key");
    if (!key.empty()) causes.All(Path(at, "key"), key, QualifiedNameErrors(key));
    const std::string value = TextAt(tolerations[i], "value");
    const std::string op = TextAt(tolerations[i], "operator");
    if (op == "Exists") {
      if (!value.empty()) {
        causes.Invalid(Path(at, "value"), value, "must be empty for operator `Exists`");
      }
    } else if (op == "Equal") {
      causes.All(Path(at, "value"), value, LabelValueErrors(value));
    } else {
      causes.NotSupported(Path(at, "operator"), op, {"Equal", "Exists"});
    }
    const std::string effect = TextAt(tolerations[i], "effect");
    if (!effect.empty()) {
      causes.OneOf(Path(at, "effect"), effect, {"NoExecute", "NoSchedule", "None"});
    }
  }
}

void CheckDeviceTaint(const std::string& field, const Json& taint, Causes& causes) {
  const std::string key = TextAt(taint, "key");
  causes.All(Path(field, "key"), key, QualifiedNameErrors(key));
  const std::string value = TextAt(taint, "value");
  causes.All(Path(field, "value"), value, LabelValueErrors(value));
  const std::string effect = TextAt(taint, "effect");
  if (effect.empty()) return causes.Required(Path(field, "effect"));
  causes.OneOf(Path(field, "effect"), effect, {"NoExecute", "NoSchedule", "None"});
}

void CheckBindingConditions(const std::string& field, const Json& object, Causes& causes) {
  const std::string good_at = Path(field, "bindingConditions");
  const std::string bad_at = Path(field, "bindingFailureConditions");
  const Json& good = At(object, "bindingConditions");
  const Json& bad = At(object, "bindingFailureConditions");
  const std::set<std::string> names = CheckConditionNames(good_at, good, causes);
  CheckConditionNames(bad_at, bad, causes);
  const std::vector<Json>& failures = ElementsOf(bad);
  for (size_t i = 0; i < failures.size(); ++i) {
    if (!failures[i].is_string() || !names.contains(failures[i].get<std::string>())) continue;
    causes.Invalid(Path(bad_at, i), failures[i],
                   "bindingFailureConditions must not overlap with bindingConditions");
  }
  if (!ElementsOf(good).empty() && failures.empty()) {
    causes.Invalid(bad_at, nullptr,
                   "bindingFailureConditions are required to use bindingConditions");
  }
  if (ElementsOf(good).empty() && !failures.empty()) {
    causes.Invalid(good_at, nullptr,
                   "bindingConditions are required to use bindingFailureConditions");
  }
}

void CheckConditions(const std::string& field, const Json& list, Causes& causes) {
  std::set<std::string> types;
  const std::vector<Json>& conditions = ElementsOf(list);
  for (size_t i = 0; i < conditions.size(); ++i) {
    CheckCondition(Path(field, i), conditions[i], causes);
    const std::string type = TextAt(conditions[i], "type");
    if (!types.insert(type).second) causes.Duplicate(Path(field, i), type);
  }
}

}  // namespace ks::apiserver
