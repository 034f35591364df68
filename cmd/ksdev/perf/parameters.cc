// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/parameters.h"

#include "ksdev/perf/yaml_file.h"

namespace ks::ctl::dev::perf {

using Json = nlohmann::json;

Result<Json> Parameters::Get(std::string_view reference) {
  if (!reference.starts_with('$')) {
    return Error{"\"" + std::string(reference) + "\" is no reference to a parameter ($name)"};
  }
  const std::string name(reference.substr(1));
  used_.insert(name);
  if (!values_.is_object() || !values_.contains(name)) {
    return Error{"parameter " + name + " is undefined"};
  }
  return values_.at(name);
}

Result<Json> Parameters::Resolve(const Json& value) {
  if (!value.is_string() || !value.get_ref<const std::string&>().starts_with('$')) return value;
  const auto& text = value.get_ref<const std::string&>();
  const size_t bar = text.find('|');
  Result<Json> found = Get(std::string_view(text).substr(0, bar));
  if (found.ok() || bar == std::string::npos) return found;
  return ParseYaml(std::string_view(text).substr(bar + 1), "the default of " + text);
}

std::vector<std::string> Parameters::Unused() const {
  std::vector<std::string> names;
  if (!values_.is_object()) return names;
  for (const auto& [name, value] : values_.items()) {
    if (!used_.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace ks::ctl::dev::perf
