// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/args_reader.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "config/text/nearest_name.h"

namespace ks::plugins {

nlohmann::json JsonOf(const config::PluginArgs& args) {
  const auto* raw = std::get_if<config::RawArgs>(&args);
  return raw == nullptr ? nlohmann::json() : nlohmann::json::parse(raw->json, nullptr, false);
}

Error FirstOf(const ArgsFaults& faults) {
  const config::Finding& first = faults.front();
  return Error{first.message, first.path, first.hint};
}

namespace {

using nlohmann::json;

const json& NullJson() {
  static const json null;
  return null;
}

// What to write instead of an unknown field.
std::string Cure(std::string_view field, std::initializer_list<std::string_view> known) {
  const std::string nearest = config::NearestName(field, {known.begin(), known.size()});
  if (!nearest.empty()) return "; did you mean \"" + nearest + "\"?";
  std::string cure;
  for (const std::string_view name : known) {
    cure += (cure.empty() ? "; the fields here are " : ", ") + std::string(name);
  }
  return cure;
}

}  // namespace

ArgsReader::ArgsReader(const json& value, std::string path,
                       std::initializer_list<std::string_view> known, ArgsFaults* faults)
    : value_(&value), path_(std::move(path)), faults_(faults) {
  if (value.is_null()) return;
  if (!value.is_object()) {
    value_ = &NullJson();
    if (path_.empty()) {
      faults_->push_back(
          {.message = std::string("args: expected an object, got ") + value.type_name()});
    } else {
      Expected(path_, "an object", value);
    }
    return;
  }
  for (const auto& [field, ignored] : value.items()) {
    if (path_.empty() && (field == "apiVersion" || field == "kind")) continue;
    if (std::find(known.begin(), known.end(), field) != known.end()) continue;
    faults_->push_back({.path = Path(field),
                        .message = "unknown field \"" + Path(field) + "\"" + Cure(field, known)});
  }
}

std::string ArgsReader::Path(std::string_view field) const {
  return path_.empty() ? std::string(field) : path_ + "." + std::string(field);
}

const json* ArgsReader::Find(std::string_view field) const {
  if (!value_->is_object()) return nullptr;
  const auto it = value_->find(field);
  return it == value_->end() || it->is_null() ? nullptr : &*it;
}

void ArgsReader::FaultAt(const std::string& path, const std::string& message) const {
  const bool has_one =
      std::any_of(faults_->begin(), faults_->end(),
                  [&path](const config::Finding& fault) { return fault.path == path; });
  if (!has_one) faults_->push_back({.path = path, .message = path + ": " + message});
}

void ArgsReader::Fault(std::string_view field, const std::string& message) const {
  FaultAt(Path(field), message);
}

void ArgsReader::Expected(const std::string& path, std::string_view what, const json& value) const {
  FaultAt(path, "expected " + std::string(what) + ", got " + value.type_name());
}

bool ArgsReader::Has(std::string_view field) const { return Find(field) != nullptr; }

std::string ArgsReader::Text(std::string_view field) const {
  const json* value = Find(field);
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  Expected(Path(field), "a string", *value);
  return {};
}

int64_t ArgsReader::Integer(std::string_view field, int64_t lowest, int64_t highest) const {
  const json* value = Find(field);
  if (value == nullptr) return 0;
  const bool too_large =
      value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(highest);
  if (value->is_number_integer() && !too_large) {
    const auto number = value->get<int64_t>();
    if (number >= lowest && number <= highest) return number;
  }
  if (value->is_number_integer()) {
    Fault(field, "number " + value->dump() + " is out of range");
    return 0;
  }
  Expected(Path(field), "a whole number", *value);
  return 0;
}

std::vector<std::string> ArgsReader::Texts(std::string_view field) const {
  const json* value = Find(field);
  std::vector<std::string> texts;
  if (value == nullptr) return texts;
  if (!value->is_array()) {
    Expected(Path(field), "a list", *value);
    return texts;
  }
  for (size_t i = 0; i < value->size(); ++i) {
    const json& item = (*value)[i];
    const auto* text = item.get_ptr<const std::string*>();
    texts.push_back(text == nullptr ? std::string() : *text);
    if (text == nullptr) Expected(Path(field) + "[" + std::to_string(i) + "]", "a string", item);
  }
  return texts;
}

ArgsReader ArgsReader::Object(std::string_view field,
                              std::initializer_list<std::string_view> known) const {
  const json* value = Find(field);
  return {value == nullptr ? NullJson() : *value, Path(field), known, faults_};
}

std::vector<ArgsReader> ArgsReader::Objects(std::string_view field,
                                            std::initializer_list<std::string_view> known) const {
  const json* value = Find(field);
  std::vector<ArgsReader> objects;
  if (value == nullptr) return objects;
  if (!value->is_array()) {
    Expected(Path(field), "a list", *value);
    return objects;
  }
  for (size_t i = 0; i < value->size(); ++i) {
    objects.emplace_back((*value)[i], Path(field) + "[" + std::to_string(i) + "]", known, faults_);
  }
  return objects;
}

}  // namespace ks::plugins
