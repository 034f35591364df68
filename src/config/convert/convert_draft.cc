// SPDX-License-Identifier: Apache-2.0
#include "config/convert/convert_draft.h"

#include <strings.h>

#include <algorithm>

namespace ks::config {
namespace {

using Json = nlohmann::json;

// Null when the field is absent or null.
const Json* Given(const Json& object, std::string_view name) {
  const Json* field = Draft::Field(object, name);
  return field == nullptr || field->is_null() ? nullptr : field;
}

Json Requirement(const std::string& label, bool present) {
  return {{"key", label}, {"operator", present ? "Exists" : "DoesNotExist"}};
}

}  // namespace

void Draft::Fail(const std::string& path, std::string_view name, std::string_view wanted) {
  if (!failure_.empty()) return;
  failure_ =
      path + (path.empty() ? "" : ".") + std::string(name) + ": must be " + std::string(wanted);
}

void Draft::Note(std::string_view path, std::string_view text) {
  std::string note(path);
  if (!note.empty()) note += ": ";
  note += text;
  if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
}

Json& Draft::Args(Json& profile, std::string_view plugin) {
  Json& entries = profile["pluginConfig"];
  if (!entries.is_array()) entries = Json::array();
  for (Json& entry : entries) {
    if (entry.value("name", "") == plugin) {
      if (!entry["args"].is_object()) entry["args"] = Json::object();
      return entry["args"];
    }
  }
  entries.push_back({{"name", plugin}, {"args", Json::object()}});
  return entries.back()["args"];
}

Json& Draft::Entries(Json& profile, std::string_view point, const char* list) {
  Json& entries = profile["plugins"][std::string(point)][list];
  if (!entries.is_array()) entries = Json::array();
  return entries;
}

bool Draft::Lists(const Json& profile, std::string_view point, const char* list,
                  std::string_view plugin) {
  const auto at = Json::json_pointer("/plugins/" + std::string(point) + "/" + list);
  if (!profile.contains(at) || !profile.at(at).is_array()) return false;
  return std::any_of(profile.at(at).begin(), profile.at(at).end(), [&](const Json& entry) {
    return entry.is_object() && entry.value("name", "") == plugin;
  });
}

void Draft::Enable(Json& profile, std::string_view point, std::string_view plugin,
                   std::optional<int64_t> weight) {
  Json& entries = Entries(profile, point, "enabled");
  for (Json& entry : entries) {
    if (entry.value("name", "") != plugin) continue;
    if (weight) entry["weight"] = entry.value("weight", int64_t{0}) + *weight;
    return;
  }
  Json entry = {{"name", plugin}};
  if (weight) entry["weight"] = *weight;
  entries.push_back(std::move(entry));
}

void Draft::Disable(Json& profile, std::string_view point, std::string_view plugin) {
  if (Lists(profile, point, "disabled", plugin)) return;
  Entries(profile, point, "disabled").push_back({{"name", plugin}});
}

void Draft::RequireLabel(Json& profile, const std::string& label, bool present) {
  Json& terms = Args(
      profile, "NodeAffinity")["addedAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
                              ["nodeSelectorTerms"];
  if (!terms.is_array() || terms.empty()) terms = Json::array({Json::object()});
  // Terms are alternatives, so each of them gets the requirement.
  for (Json& term : terms) term["matchExpressions"].push_back(Requirement(label, present));
}

void Draft::PreferLabel(Json& profile, const std::string& label, bool present, int64_t weight) {
  Json& terms = Args(
      profile, "NodeAffinity")["addedAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
  Json preference = Json::object();
  preference["matchExpressions"] = Json::array({Requirement(label, present)});
  terms.push_back({{"weight", weight}, {"preference", std::move(preference)}});
}

void Draft::SpreadOver(Json& profile, const std::string& label, int max_skew) {
  Json& args = Args(profile, "PodTopologySpread");
  Json& constraints = args["defaultConstraints"];
  if (args.value("defaultingType", "") != "List") {
    constraints = Json::array();
    args["defaultingType"] = "List";
  }
  for (const Json& constraint : constraints) {
    if (constraint.value("topologyKey", "") == label) return;
  }
  constraints.push_back(
      {{"maxSkew", max_skew}, {"topologyKey", label}, {"whenUnsatisfiable", "ScheduleAnyway"}});
}

bool Draft::UseStrategy(Json& profile, const std::string& path, Json strategy) {
  Json& args = Args(profile, "NodeResourcesFit");
  if (args.contains("scoringStrategy") && args["scoringStrategy"] != strategy) {
    Note(path, "left out: a profile has one scoring strategy now, and " +
                   args["scoringStrategy"].value("type", "another one") + " is in use");
    return false;
  }
  args["scoringStrategy"] = std::move(strategy);
  return true;
}

const Json* Draft::Field(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const std::string wanted(name);
  if (const auto exact = object.find(wanted); exact != object.end()) return &*exact;
  for (auto it = object.begin(); it != object.end(); ++it) {
    if (strcasecmp(it.key().c_str(), wanted.c_str()) == 0) return &*it;
  }
  return nullptr;
}

std::string Draft::Text(const Json& object, std::string_view name, const std::string& path) {
  const Json* field = Given(object, name);
  if (field == nullptr) return "";
  if (field->is_string()) return field->get<std::string>();
  Fail(path, name, "a string");
  return "";
}

int64_t Draft::Number(const Json& object, std::string_view name, const std::string& path,
                      int64_t otherwise) {
  const Json* field = Given(object, name);
  if (field == nullptr) return otherwise;
  if (field->is_number_integer()) return field->get<int64_t>();
  Fail(path, name, "an integer");
  return otherwise;
}

bool Draft::Flag(const Json& object, std::string_view name, const std::string& path) {
  const Json* field = Given(object, name);
  if (field == nullptr) return false;
  if (field->is_boolean()) return field->get<bool>();
  Fail(path, name, "true or false");
  return false;
}

std::vector<std::string> Draft::Texts(const Json& object, std::string_view name,
                                      const std::string& path) {
  std::vector<std::string> texts;
  for (const Json& item : ListOf(object, name, path)) {
    if (item.is_string()) {
      texts.push_back(item.get<std::string>());
    } else {
      Fail(path, name, "a list of strings");
    }
  }
  return texts;
}

Json Draft::ListOf(const Json& object, std::string_view name, const std::string& path) {
  const Json* field = Given(object, name);
  if (field == nullptr) return Json::array();
  if (field->is_array()) return *field;
  Fail(path, name, "a list");
  return Json::array();
}

}  // namespace ks::config
