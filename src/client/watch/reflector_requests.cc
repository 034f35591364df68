// SPDX-License-Identifier: Apache-2.0
#include "client/watch/reflector_requests.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "client/rest/rest_client.h"

namespace ks::client {
namespace {

// How long a watch is asked to last; at random, so that the watches of a cluster do not all end at
// once. kube-scheduler asks for 300 to 599 seconds. A server says
// where it is, by a bookmark, once a minute and two seconds before the end of a watch: with a short
// one, a server that says nothing for longer is not there (TransportOptions::stream_idle_timeout).
constexpr double kWatchSeconds = 20;
constexpr double kMoreWatchSeconds = 5;

}  // namespace

std::string QueryTarget(std::string_view path, const std::string& field_selector,
                        std::vector<std::pair<std::string, std::string>> parameters) {
  if (!field_selector.empty()) parameters.emplace_back("fieldSelector", field_selector);
  std::sort(parameters.begin(), parameters.end());
  std::string target(path);
  char separator = '?';
  for (const auto& [key, value] : parameters) {
    target += separator;
    target += key + "=" + EscapeUrl(value);
    separator = '&';
  }
  return target;
}

std::string WatchTarget(std::string_view path, const std::string& field_selector,
                        const std::string& resource_version, double chance) {
  const auto seconds = static_cast<int64_t>(kWatchSeconds + kMoreWatchSeconds * chance);
  return QueryTarget(path, field_selector,
                     {{"allowWatchBookmarks", "true"},
                      {"resourceVersion", resource_version},
                      {"timeout", FormatDuration(std::chrono::seconds(seconds))},
                      {"timeoutSeconds", std::to_string(seconds)},
                      {"watch", "true"}});
}

bool Serves(const std::string& list, const std::string& resource) {
  const auto read = nlohmann::json::parse(list, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object() || !read.contains("resources")) return true;
  const nlohmann::json& resources = read["resources"];
  return std::any_of(resources.begin(), resources.end(), [&](const nlohmann::json& each) {
    return each.is_object() && each.value("name", nlohmann::json()) == resource;
  });
}

}  // namespace ks::client
