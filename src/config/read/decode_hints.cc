// SPDX-License-Identifier: Apache-2.0
#include "config/read/decode_hints.h"

#include <algorithm>

#include "api/selector.h"
#include "base/text.h"
#include "config/text/nearest_name.h"
#include "golang/quote.h"

namespace ks::config {
namespace {

constexpr std::string_view kConvert = "; \"kubeschedctl convert FILE\" writes the file anew";
constexpr size_t kMostNamed = 20;     // fields listed when nothing is near
constexpr size_t kLongestShown = 60;  // characters of a value in a hint

// Fields that older versions had (docs/spec/config.md section 11), and common misplacements.
struct Moved {
  std::string_view structure;
  std::string_view field;
  std::string_view hint;
  bool convertible;
};

constexpr std::string_view kTop = "KubeSchedulerConfiguration";
constexpr std::string_view kElection = "LeaderElectionConfiguration";

constexpr Moved kMoved[] = {
    {kTop, "algorithmSource", "removed with v1alpha1: plugins are chosen in profiles[].plugins",
     true},
    {kTop, "schedulerName", "moved to profiles[].schedulerName", true},
    {kTop, "hardPodAffinitySymmetricWeight",
     "moved to hardPodAffinityWeight in the arguments of InterPodAffinity", true},
    {kTop, "disablePreemption",
     "removed with v1alpha1: disable DefaultPreemption at profiles[].plugins.postFilter", true},
    {kTop, "bindTimeoutSeconds", "moved to the arguments of VolumeBinding", true},
    {kTop, "healthzBindAddress", "removed: use the flags --bind-address and --secure-port", true},
    {kTop, "metricsBindAddress", "removed: use the flags --bind-address and --secure-port", true},
    {kTop, "plugins", "moved to profiles[].plugins", true},
    {kTop, "pluginConfig", "moved to profiles[].pluginConfig", true},
    {kTop, "featureGates", "feature gates are set by the flag --feature-gates", false},
    {kTop, "kubeconfig", "belongs to clientConnection", false},
    {kElection, "lockObjectName", "now called resourceName", true},
    {kElection, "lockObjectNamespace", "now called resourceNamespace", true},
    {"KubeSchedulerProfile", "args", "belongs to an entry of pluginConfig", false},
    {"PluginSet", "enable", "did you mean \"enabled\"?", false},
    {"PluginSet", "disable", "did you mean \"disabled\"?", false},
};

std::string Quoted(const std::string& text) {
  return golang::Quote(text.size() <= kLongestShown ? text : text.substr(0, kLongestShown) + "…");
}

std::string NumberHint(const Value& value, std::string_view type) {
  const std::string wanted = type == "float32" ? "a number" : "an integer";
  if (value.IsString()) return wanted + " is needed here, without quotes";
  if (value.kind != Value::Kind::kNumber) return wanted + " is needed here";
  if (type == "float32") return "the number is beyond the range of a 32-bit float";
  if (type == "uint8") return "a byte is needed here, 0 to 255";
  const bool fraction = value.text.find_first_of(".eE") != std::string::npos;
  return fraction ? "an integer is needed here, without fraction or exponent"
                  : "the number is beyond the range of " +
                        std::string(type == "int64" ? "64" : "32") + "-bit integers";
}

// Where people write the one thing that matters instead of a mapping.
std::string StructureHint(const Value& value, std::string_view type) {
  constexpr std::string_view kNamed[] = {"v1.Plugin", "v1.PluginConfig", "v1.ResourceSpec",
                                         "v1.ExtenderManagedResource"};
  if (value.IsString() && std::ranges::find(kNamed, type) != std::end(kNamed)) {
    return "write {name: " + Quoted(value.text) + "}";
  }
  if (value.IsString() && type == "v1.ScoringStrategy") {
    return "write {type: " + Quoted(value.text) + "}";
  }
  return "a mapping of fields is needed here";
}

}  // namespace

std::string UnknownFieldHint(std::string_view name, const std::string& key,
                             std::span<const std::string_view> fields) {
  for (const Moved& moved : kMoved) {
    if (moved.structure != name || moved.field != key) continue;
    return std::string(moved.hint) + (moved.convertible ? std::string(kConvert) : "");
  }
  const std::string lower = LowerCase(key);
  for (const std::string_view field : fields) {
    if (LowerCase(field) == lower) {
      return "field names are case sensitive: \"" + std::string(field) + "\"";
    }
  }
  const std::string nearest = NearestName(key, fields);
  if (!nearest.empty()) return "did you mean \"" + nearest + "\"?";
  if (fields.empty() || fields.size() > kMostNamed) return "remove it";
  std::string hint = "known here: ";
  for (const std::string_view field : fields) {
    if (field != fields.front()) hint += ", ";
    hint += field;
  }
  return hint;
}

std::string TypeHint(const Value& value, std::string_view type) {
  if (type == "bool") {
    return value.IsString() ? "true or false is needed here, without quotes"
                            : "true or false is needed here";
  }
  if (type.starts_with("int") || type == "uint8" || type == "float32") {
    return NumberHint(value, type);
  }
  if (type.starts_with("[]")) return "a list is needed here";
  if (type.starts_with("map[")) return "a mapping is needed here";
  return StructureHint(value, type);
}

std::string StringHint(const Value& value) {
  if (value.IsList() || value.IsMapping()) return "a string is needed here";
  if (value.kind == Value::Kind::kBool && value.plain && value.written != "true" &&
      value.written != "false") {
    return "put it into quotes: " + Quoted(value.written) + "; without them " + value.written +
           " is a boolean in YAML 1.1";
  }
  if (!value.written.empty()) return "put it into quotes: " + Quoted(value.written);
  if (value.kind == Value::Kind::kNumber) return "put it into quotes: " + Quoted(value.text);
  return "a string is needed here";
}

std::string DurationHint(const Value& value) {
  if (value.IsNull()) return "remove the field to get its default";
  return "write a duration such as 15s, 500ms or 1h30m";
}

}  // namespace ks::config
