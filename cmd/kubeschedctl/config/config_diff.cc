// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/config/config_diff.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "config/print/print.h"
#include "config/read/defaults.h"
#include "config/text/document.h"
#include "kubeschedctl/config/known_plugins.h"

namespace ks::ctl {
namespace {

using Json = nlohmann::json;

constexpr const char* kOrder = "order";

std::string Compact(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Lists whose elements all have a name of their own become mappings.
Json ByName(const Json& value) {
  if (value.is_object()) {
    Json made = Json::object();
    for (const auto& [key, member] : value.items()) made[key] = ByName(member);
    return made;
  }
  if (!value.is_array()) return value;
  std::set<std::string> names;
  for (const Json& item : value) {
    if (!item.is_object()) return value;
    const char* key = item.contains("schedulerName") ? "schedulerName" : "name";
    if (!item.contains(key) || !item[key].is_string()) return value;
    if (!names.insert(item[key].get<std::string>()).second) return value;
  }
  Json made = Json::object();
  for (Json item : value) {
    const char* key = item.contains("schedulerName") ? "schedulerName" : "name";
    const std::string name = item[key].get<std::string>();
    item.erase(key);
    made["[" + name + "]"] = ByName(item);
  }
  return made;
}

// {"order": names, "[NodeName]": true, "[ImageLocality]": 1}
Json PointTree(const std::vector<std::string>& entries) {
  Json point = Json::object();
  Json order = Json::array();
  for (const std::string& entry : entries) {
    const size_t blank = entry.find(' ');
    const std::string name = entry.substr(0, blank);
    order.push_back(name);
    point["[" + name + "]"] =
        blank == std::string::npos ? Json(true) : Json(std::stoll(entry.substr(blank + 1)));
  }
  if (!order.empty()) point[kOrder] = std::move(order);
  return point;
}

void Append(const std::string& path, const Json* before, const Json* after,
            std::vector<Difference>& differences);

void AppendOrder(const std::string& path, const Json& before, const Json& after,
                 std::vector<Difference>& differences) {
  const auto common = [](const Json& of, const Json& with) {
    Json names = Json::array();
    for (const Json& name : of) {
      if (std::find(with.begin(), with.end(), name) != with.end()) names.push_back(name);
    }
    return names;
  };
  const Json left = common(before, after);
  const Json right = common(after, before);
  if (left != right) differences.push_back({path, Compact(left), Compact(right)});
}

// The keys of both, sorted.
void AppendMembers(const std::string& path, const Json& before, const Json& after,
                   std::vector<Difference>& differences) {
  std::set<std::string> keys;
  for (const Json* side : {&before, &after}) {
    for (const auto& [key, member] : side->items()) keys.insert(key);
  }
  for (const std::string& key : keys) {
    const bool named = key.starts_with("[");
    const std::string at = path.empty() || named ? path + key : path + "." + key;
    const auto left = before.find(key);
    const auto right = after.find(key);
    if (key == kOrder && left != before.end() && right != after.end() && left->is_array()) {
      AppendOrder(at, *left, *right, differences);
    } else if (key != kOrder) {
      Append(at, left == before.end() ? nullptr : &*left, right == after.end() ? nullptr : &*right,
             differences);
    }
  }
}

void Append(const std::string& path, const Json* before, const Json* after,
            std::vector<Difference>& differences) {
  if (before != nullptr && after != nullptr && *before == *after) return;
  if (before != nullptr && after != nullptr && before->is_object() && after->is_object()) {
    return AppendMembers(path, *before, *after, differences);
  }
  differences.push_back(
      {path, before == nullptr ? "" : Compact(*before), after == nullptr ? "" : Compact(*after)});
}

}  // namespace

Json EffectiveTree(const Effective& effective) {
  config::Configuration configuration = effective.loaded.configuration;
  const framework::Registry& registry = KnownPlugins();
  config::ReducePluginConfig(&configuration, [&registry](std::string_view name) {
    return registry.Find(name) != nullptr;
  });
  const auto document = config::ParseDocument(config::WriteYaml(configuration));
  const auto* parsed = std::get_if<config::Document>(&document);
  KS_CHECK(parsed != nullptr, "a written configuration can be read");
  Json tree = Json::parse(config::CompactJson(parsed->root, parsed->syntax));
  for (Json& profile : tree["profiles"]) {
    const auto& framework = effective.profiles.at(profile["schedulerName"].get<std::string>());
    Json points = Json::object();
    for (const ExtensionPoint& point : ExtensionPoints()) {
      points[std::string(point.field)] = PointTree(framework->plugins().ListPlugins(point.name));
    }
    profile["plugins"] = std::move(points);
  }
  return ByName(tree);
}

std::vector<Difference> DiffTrees(const Json& before, const Json& after) {
  std::vector<Difference> differences;
  Append("", &before, &after, differences);
  return differences;
}

std::string DifferenceLine(const Difference& difference) {
  const auto shown = [](const std::string& value) { return value.empty() ? "(none)" : value; };
  return difference.path + ": " + shown(difference.before) + " -> " + shown(difference.after);
}

std::string DifferencesJson(const std::vector<Difference>& differences) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Difference& difference : differences) {
    nlohmann::ordered_json item = {{"path", difference.path}};
    for (const auto& [key, value] :
         {std::pair{"before", &difference.before}, std::pair{"after", &difference.after}}) {
      if (!value->empty()) item[key] = nlohmann::ordered_json::parse(*value);
    }
    list.push_back(std::move(item));
  }
  const nlohmann::ordered_json document = {{"same", differences.empty()},
                                           {"differences", std::move(list)}};
  return document.dump(2) + "\n";
}

}  // namespace ks::ctl
