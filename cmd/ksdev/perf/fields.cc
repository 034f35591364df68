// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/fields.h"

#include <cmath>

#include "golang/durations.h"

namespace ks::ctl::dev::perf {

using Json = nlohmann::json;

Fields::Fields(const Json& mapping, Parameters* parameters)
    : mapping_(mapping), parameters_(parameters) {
  if (!mapping.is_object()) Fail("is no mapping");
}

void Fields::Fail(const std::string& text) {
  if (!fault_) fault_ = text;
}

bool Fields::Has(const char* name) const { return mapping_.is_object() && mapping_.contains(name); }

const Json* Fields::Take(const std::string& name) {
  taken_.insert(name);
  if (!mapping_.is_object()) return nullptr;
  const auto found = mapping_.find(name);
  return found == mapping_.end() || found->is_null() ? nullptr : &*found;
}

std::string Fields::Text(const char* name) {
  const Json* value = Take(name);
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  Fail(std::string(name) + ": is no string");
  return "";
}

std::string Fields::RequiredText(const char* name) {
  std::string text = Text(name);
  if (text.empty()) Fail(std::string(name) + ": must be set");
  return text;
}

std::string Fields::Path(const char* name, const std::string& folder) {
  const std::string text = Text(name);
  return text.empty() ? text : folder + "/" + text;
}

std::vector<std::string> Fields::Paths(const char* name, const std::string& folder) {
  std::vector<std::string> paths = Texts(name);
  for (std::string& path : paths) path.insert(0, folder + "/");
  return paths;
}

bool Fields::Flag(const char* name) {
  const Json* value = Take(name);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  Fail(std::string(name) + ": is no boolean");
  return false;
}

double Fields::Number(const char* name) {
  const Json* value = Take(name);
  if (value == nullptr) return 0;
  if (value->is_number()) return value->get<double>();
  Fail(std::string(name) + ": is no number");
  return 0;
}

size_t Fields::ToWhole(const Json& value, const std::string& name) {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (number >= 0 && number <= 1e9 && number == std::floor(number)) {
    return static_cast<size_t>(number);
  }
  Fail(name + ": is no whole number that is not negative: " + value.dump());
  return 0;
}

size_t Fields::Whole(const char* name) {
  const Json* value = Take(name);
  return value == nullptr ? 0 : ToWhole(*value, name);
}

std::vector<std::string> Fields::Texts(const char* name) {
  std::vector<std::string> texts;
  const Json* value = Take(name);
  if (value == nullptr) return texts;
  if (!value->is_array()) Fail(std::string(name) + ": is no list");
  for (const Json& item : *value) {
    if (item.is_string()) {
      texts.push_back(item.get<std::string>());
    } else {
      Fail(std::string(name) + ": is no list of strings");
    }
  }
  return texts;
}

TextMap Fields::Map(const char* name) {
  TextMap map;
  const Json* value = Take(name);
  if (value == nullptr) return map;
  if (!value->is_object()) {
    Fail(std::string(name) + ": is no mapping");
    return map;
  }
  for (const auto& [key, item] : value->items()) {
    if (item.is_string()) {
      map.emplace(key, item.get<std::string>());
    } else {
      Fail(std::string(name) + "." + key + ": is no string");
    }
  }
  return map;
}

Json Fields::Tree(const char* name) {
  const Json* value = Take(name);
  return value == nullptr ? Json() : *value;
}

std::optional<Json> Fields::Parameter(const std::string& name) {
  const std::string field = name + "Param";
  const Json* reference = Take(field);
  if (reference == nullptr) return std::nullopt;
  const std::string text = reference->is_string() ? reference->get<std::string>() : "";
  if (!text.starts_with('$')) {
    Fail(field + ": is no reference to a parameter ($name): " + reference->dump());
    return Json();
  }
  if (parameters_ == nullptr) return Json();
  const Result<Json> value = parameters_->Get(text);
  if (value.ok()) return *value;
  Fail(field + ": " + value.error().message);
  return Json();
}

size_t Fields::Count(const std::string& name, size_t otherwise) {
  const Json* value = Take(name);
  const size_t written = value == nullptr ? otherwise : ToWhole(*value, name);
  const std::optional<Json> parameter = Parameter(name);
  if (!parameter) return written;
  return parameter->is_null() ? 0 : ToWhole(*parameter, name + "Param");
}

size_t Fields::Multiplier(const std::string& name) {
  const std::optional<Json> parameter = Parameter(name);
  if (!parameter) return 1;
  return parameter->is_null() ? 0 : ToWhole(*parameter, name + "Param");
}

bool Fields::FlagOrParameter(const std::string& name) {
  const bool written = Flag(name.c_str());
  const std::optional<Json> parameter = Parameter(name);
  if (!parameter || parameter->is_null()) return written;
  if (!parameter->is_boolean()) {
    Fail(name + "Param: is no boolean: " + parameter->dump());
    return written;
  }
  return parameter->get<bool>();
}

Duration Fields::ToDuration(const Json& value, const std::string& name) {
  const Result<Duration> duration =
      value.is_string() ? golang::ParseDuration(value.get_ref<const std::string&>())
                        : Result<Duration>(Error{"is no duration: " + value.dump()});
  if (duration.ok() && *duration >= Duration{}) return *duration;
  Fail(name + ": " + (duration.ok() ? "is negative" : duration.error().message));
  return {};
}

Duration Fields::Time(const std::string& name) {
  const Json* value = Take(name);
  const Duration written = value == nullptr ? Duration{} : ToDuration(*value, name);
  const std::optional<Json> parameter = Parameter(name);
  if (!parameter || parameter->is_null()) return written;
  return ToDuration(*parameter, name + "Param");
}

Json Fields::TemplateParameters(const char* name) {
  Json resolved = Json::object();
  const Json* value = Take(name);
  if (value == nullptr) return resolved;
  if (!value->is_object()) {
    Fail(std::string(name) + ": is no mapping");
    return resolved;
  }
  for (const auto& [key, item] : value->items()) {
    if (parameters_ == nullptr) continue;
    Result<Json> one = parameters_->Resolve(item);
    if (one.ok()) {
      resolved[key] = std::move(one).value();
    } else {
      Fail(std::string(name) + "." + key + ": " + one.error().message);
    }
  }
  return resolved;
}

Result<void> Fields::Finish() const {
  if (fault_) return Error{*fault_};
  for (const auto& [name, value] : mapping_.items()) {
    if (!taken_.contains(name)) return Error{"unknown field \"" + name + "\""};
  }
  return {};
}

}  // namespace ks::ctl::dev::perf
