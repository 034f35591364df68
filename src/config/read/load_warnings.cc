// SPDX-License-Identifier: Apache-2.0
#include "config/read/load_warnings.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "config/read/defaults.h"
#include "config/text/nearest_name.h"

namespace ks::config {
namespace {

using Names = std::set<std::string_view>;

std::string Nearest(const std::string& name, const Names& names) {
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string nearest = NearestName(name, candidates);
  return nearest.empty() ? "" : "did you mean \"" + nearest + "\"?";
}

void AddNames(const std::vector<PluginRef>& refs, Names& names) {
  for (const PluginRef& ref : refs) names.insert(ref.name);
}

class IgnoredFinder {
 public:
  IgnoredFinder(const SourceMap& source, const FeatureGates& gates)
      : source_(source), defaults_(DefaultPlugins(gates)) {}

  void CheckProfile(const std::string& path, const Profile& written, const Profile& effective) {
    for (const PluginSection& section : PluginSections()) {
      CheckDisabled(path + ".plugins." + std::string(section.field) + ".disabled", section,
                    written.plugins);
    }
    Names enabled;
    for (const PluginSection& section : PluginSections()) {
      AddNames((effective.plugins.*section.section).enabled, enabled);
    }
    for (size_t i = 0; i < written.plugin_config.size(); ++i) {
      const std::string& name = written.plugin_config[i].name;
      if (enabled.contains(name)) continue;
      Add(path + ".pluginConfig[" + std::to_string(i) + "]",
          "the arguments of plugin \"" + name +
              "\" are not used, because the profile does not enable it",
          Nearest(name, enabled));
    }
  }

  void CheckTop(const Configuration& configuration) {
    const std::string& type = configuration.client_connection.content_type;
    if (type != kJsonType && type != kProtobufType) {
      Add("clientConnection.contentType",
          "\"" + type +
              "\" is not used: kubesched speaks JSON with the API server unless this is " +
              std::string(kProtobufType),
          "");
    }
    if (configuration.delay_cache_until_active) {
      Add("delayCacheUntilActive",
          "has no effect without leader election, which this version of kubesched does not have",
          "");
    }
    if (!configuration.enable_profiling &&
        configuration.enable_contention_profiling.value_or(false)) {
      Add("enableContentionProfiling", "has no effect while enableProfiling is false", "");
    }
  }

  // By place.
  std::vector<Finding> Take() {
    std::ranges::stable_sort(findings_, [](const Finding& a, const Finding& b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    return std::move(findings_);
  }

 private:
  // A name must be on by default or through multiPoint for its being off to mean anything.
  void CheckDisabled(const std::string& path, const PluginSection& section,
                     const Plugins& written) {
    const std::vector<PluginRef>& disabled = (written.*section.section).disabled;
    if (disabled.empty()) return;
    Names known;
    AddNames((defaults_.*section.section).enabled, known);
    AddNames(defaults_.multi_point.enabled, known);
    if (section.section != &Plugins::multi_point) AddNames(written.multi_point.enabled, known);
    for (size_t i = 0; i < disabled.size(); ++i) {
      const std::string at = path + "[" + std::to_string(i) + "]";
      const std::string& name = disabled[i].name;
      if (name != "*" && !known.contains(name)) {
        Add(at, "there is no plugin \"" + name + "\" to disable here", Nearest(name, known));
      }
      if (source_.Contains(at + ".weight")) {
        Add(at + ".weight", "a disabled plugin has no weight", "remove it");
      }
    }
  }

  void Add(std::string path, std::string message, std::string hint) {
    const Place place = source_.Find(path);
    findings_.push_back({.path = std::move(path),
                         .message = std::move(message),
                         .place = place,
                         .hint = std::move(hint)});
  }

  const SourceMap& source_;
  const Plugins defaults_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> FindIgnored(const Configuration& written, const Configuration& effective,
                                 const SourceMap& source, const FeatureGates& gates) {
  IgnoredFinder finder(source, gates);
  finder.CheckTop(written);
  for (size_t i = 0; i < written.profiles.size() && i < effective.profiles.size(); ++i) {
    finder.CheckProfile("profiles[" + std::to_string(i) + "]", written.profiles[i],
                        effective.profiles[i]);
  }
  return finder.Take();
}

}  // namespace ks::config
