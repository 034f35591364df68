// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/strategy_check.h"

#include <algorithm>
#include <utility>

#include "api/selector.h"
#include "golang/quote.h"

namespace ks::apiserver {
namespace {

constexpr std::string_view kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValue =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool IsLower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlphanumeric(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }

bool IsLabel(std::string_view text) {
  return !text.empty() && IsLower(text.front()) && IsLower(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLower(c) || c == '-'; });
}

bool IsSubdomain(std::string_view text) {
  while (true) {
    const size_t dot = text.find('.');
    if (!IsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool IsName(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

std::string Shown(const Json& value) {
  if (value.is_string()) return golang::Quote(value.get_ref<const std::string&>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

const Json& At(const Json& object, std::string_view key) {
  static const Json* null = new Json();
  if (!object.is_object()) return *null;
  const auto it = object.find(key);
  return it == object.end() ? *null : *it;
}

std::string TextAt(const Json& object, std::string_view key) {
  const Json& value = At(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<int64_t> NumberAt(const Json& object, std::string_view key) {
  const Json& value = At(object, key);
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<int64_t>();
}

const std::vector<Json>& ElementsOf(const Json& list) {
  static const auto* none = new std::vector<Json>();
  return list.is_array() ? list.get_ref<const Json::array_t&>() : *none;
}

Json* Find(Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

Json* FindObject(Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  Json& member = object[std::string(key)];
  if (member.is_null()) member = Json::object();
  return member.is_object() ? &member : nullptr;
}

void SetDefault(Json& object, std::string_view key, Json value) {
  if (!object.is_object()) return;
  Json& member = object[std::string(key)];
  if (member.is_null()) member = std::move(value);
}

std::string Path(std::string_view base, size_t index) {
  return std::string(base) + "[" + std::to_string(index) + "]";
}
std::string Path(std::string_view base, std::string_view name) {
  return std::string(base) + "." + std::string(name);
}
std::string PathKey(std::string_view base, std::string_view key) {
  return std::string(base) + "[" + std::string(key) + "]";
}

void Causes::Invalid(std::string field, const Json& value, std::string_view why) {
  list_.push_back({"FieldValueInvalid", "Invalid value: " + Shown(value) + ": " + std::string(why),
                   std::move(field)});
}
void Causes::Required(std::string field, std::string_view why) {
  list_.push_back({"FieldValueRequired",
                   "Required value" + (why.empty() ? "" : ": " + std::string(why)),
                   std::move(field)});
}
void Causes::Forbidden(std::string field, std::string_view why) {
  list_.push_back({"FieldValueForbidden", "Forbidden: " + std::string(why), std::move(field)});
}
void Causes::Duplicate(std::string field, const Json& value) {
  list_.push_back({"FieldValueDuplicate", "Duplicate value: " + Shown(value), std::move(field)});
}
void Causes::NotFound(std::string field, const Json& value, std::string_view why) {
  list_.push_back({"FieldValueNotFound",
                   "Not found: " + Shown(value) + (why.empty() ? "" : ": " + std::string(why)),
                   std::move(field)});
}
void Causes::TooLong(std::string field, size_t most_bytes) {
  list_.push_back({"FieldValueTooLong",
                   "Too long: may not be more than " + std::to_string(most_bytes) + " bytes",
                   std::move(field)});
}
void Causes::TooMany(std::string field, size_t items, size_t most) {
  list_.push_back({"FieldValueTooMany",
                   "Too many: " + std::to_string(items) + ": must have at most " +
                       std::to_string(most) + (most == 1 ? " item" : " items"),
                   std::move(field)});
}
void Causes::NotSupported(std::string field, const Json& value,
                          std::initializer_list<std::string_view> supported) {
  std::string text = "Unsupported value: " + Shown(value) + ": supported values: ";
  bool first = true;
  for (const std::string_view each : supported) {
    text += (first ? "\"" : ", \"") + std::string(each) + "\"";
    first = false;
  }
  list_.push_back({"FieldValueNotSupported", std::move(text), std::move(field)});
}
void Causes::OneOf(std::string field, const std::string& value,
                   std::initializer_list<std::string_view> supported) {
  if (std::find(supported.begin(), supported.end(), value) != supported.end()) return;
  NotSupported(std::move(field), value, supported);
}
void Causes::All(const std::string& field, const Json& value,
                 const std::vector<std::string>& errors) {
  for (const std::string& error : errors) Invalid(field, value, error);
}

std::vector<std::string> SubdomainErrors(std::string_view name) {
  std::vector<std::string> errors;
  if (name.size() > 253) errors.emplace_back("must be no more than 253 characters");
  if (!IsSubdomain(name)) errors.emplace_back(kSubdomain);
  return errors;
}

std::vector<std::string> LabelErrors(std::string_view name) {
  std::vector<std::string> errors;
  if (name.size() > 63) errors.emplace_back("must be no more than 63 characters");
  if (IsLabel(name)) return errors;
  const bool dots = IsSubdomain(name);
  errors.emplace_back(dots ? "must not contain dots" : kLabel);
  return errors;
}

std::vector<std::string> QualifiedNameErrors(std::string_view name) {
  std::vector<std::string> errors;
  const auto slashes = std::count(name.begin(), name.end(), '/');
  if (slashes > 1) {
    return {"a valid label key " + std::string(kNameRule) +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  }
  if (slashes == 1) {
    const std::string_view prefix = name.substr(0, name.find('/'));
    name.remove_prefix(prefix.size() + 1);
    if (prefix.empty()) {
      errors.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& error : SubdomainErrors(prefix)) {
        errors.push_back("prefix part " + error);
      }
    }
  }
  if (name.empty()) errors.emplace_back("name part must be non-empty");
  if (name.size() > 63) errors.emplace_back("name part must be no more than 63 bytes");
  if (!IsName(name)) errors.push_back("name part " + std::string(kNameRule));
  return errors;
}

std::vector<std::string> LabelValueErrors(std::string_view value) {
  std::vector<std::string> errors;
  if (value.size() > 63) errors.emplace_back("must be no more than 63 bytes");
  if (!value.empty() && !IsName(value)) errors.emplace_back(kLabelValue);
  return errors;
}

void CheckLabels(const std::string& field, const Json& labels, Causes& causes) {
  if (!labels.is_object()) return;
  for (const auto& [key, value] : labels.items()) {
    causes.All(field, key, QualifiedNameErrors(key));
    if (value.is_string()) {
      causes.All(field, value, LabelValueErrors(value.get_ref<const std::string&>()));
    }
  }
}

namespace {

constexpr std::string_view kNeedsValues = "must be specified when `operator` is 'In' or 'NotIn'";
constexpr std::string_view kNoValues =
    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";

// The values that an operator asks for; `node`: Gt and Lt are operators, too.
void CheckExpression(const std::string& field, const Json& expression, bool node, Causes& causes) {
  const std::string op = TextAt(expression, "operator");
  const std::vector<Json>& values = ElementsOf(At(expression, "values"));
  if (op == "In" || op == "NotIn") {
    if (values.empty()) causes.Required(Path(field, "values"), kNeedsValues);
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) causes.Forbidden(Path(field, "values"), kNoValues);
  } else if (node && (op == "Gt" || op == "Lt")) {
    if (values.size() != 1) {
      causes.Required(Path(field, "values"),
                      "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    causes.Invalid(Path(field, "operator"), op, "not a valid selector operator");
  }
  const std::string key = TextAt(expression, "key");
  causes.All(Path(field, "key"), key, QualifiedNameErrors(key));
  const bool numbers = node && (op == "Gt" || op == "Lt");
  for (size_t i = 0; i < values.size() && !numbers; ++i) {
    if (!values[i].is_string()) continue;
    causes.All(Path(Path(field, "values"), i), values[i],
               LabelValueErrors(values[i].get_ref<const std::string&>()));
  }
}

void CheckNodeField(const std::string& field, const Json& expression, Causes& causes) {
  const std::string op = TextAt(expression, "operator");
  const std::vector<Json>& values = ElementsOf(At(expression, "values"));
  if (op != "In" && op != "NotIn") {
    causes.Invalid(Path(field, "operator"), op, "not a valid selector operator");
  } else if (values.size() != 1) {
    causes.Required(Path(field, "values"),
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                    "selector");
  }
  const std::string key = TextAt(expression, "key");
  if (key != "metadata.name") {
    causes.Invalid(Path(field, "key"), key, "not a valid field selector key");
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_string()) continue;
    causes.All(Path(Path(field, "values"), i), values[i],
               SubdomainErrors(values[i].get_ref<const std::string&>()));
  }
}

}  // namespace

void CheckLabelSelector(const std::string& field, const Json& selector, Causes& causes) {
  if (!selector.is_object()) return;
  CheckLabels(Path(field, "matchLabels"), At(selector, "matchLabels"), causes);
  const std::vector<Json>& expressions = ElementsOf(At(selector, "matchExpressions"));
  for (size_t i = 0; i < expressions.size(); ++i) {
    CheckExpression(Path(Path(field, "matchExpressions"), i), expressions[i], false, causes);
  }
}

void CheckNodeSelectorTerm(const std::string& field, const Json& term, Causes& causes) {
  const std::vector<Json>& expressions = ElementsOf(At(term, "matchExpressions"));
  for (size_t i = 0; i < expressions.size(); ++i) {
    CheckExpression(Path(Path(field, "matchExpressions"), i), expressions[i], true, causes);
  }
  const std::vector<Json>& fields = ElementsOf(At(term, "matchFields"));
  for (size_t i = 0; i < fields.size(); ++i) {
    CheckNodeField(Path(Path(field, "matchFields"), i), fields[i], causes);
  }
}

void CheckNodeSelector(const std::string& field, const Json& selector, Causes& causes) {
  if (!selector.is_object()) return;
  const std::string terms_field = Path(field, "nodeSelectorTerms");
  const std::vector<Json>& terms = ElementsOf(At(selector, "nodeSelectorTerms"));
  if (terms.empty()) causes.Required(terms_field, "must have at least one node selector term");
  for (size_t i = 0; i < terms.size(); ++i) {
    CheckNodeSelectorTerm(Path(terms_field, i), terms[i], causes);
  }
}

void CheckNotNegative(const std::string& field, const Json& object, std::string_view key,
                      Causes& causes) {
  const auto number = NumberAt(object, key);
  if (!number || *number >= 0) return;
  causes.Invalid(Path(field, key), *number, "must be greater than or equal to 0");
}

}  // namespace ks::apiserver
