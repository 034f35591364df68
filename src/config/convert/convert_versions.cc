// SPDX-License-Identifier: Apache-2.0
// KubeSchedulerConfiguration v1alpha1 to v1beta3 to v1.
#include <algorithm>
#include <array>

#include "config/convert/convert_draft.h"
#include "config/types.h"

namespace ks::config {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kTopFields[] = {
    "apiVersion",
    "kind",
    "parallelism",
    "leaderElection",
    "clientConnection",
    "enableProfiling",
    "enableContentionProfiling",
    "percentageOfNodesToScore",
    "podInitialBackoffSeconds",
    "podMaxBackoffSeconds",
    "profiles",
    "extenders",
    "delayCacheUntilActive",
};

constexpr std::string_view kElectionFields[] = {
    "leaderElect",  "leaseDuration", "renewDeadline",    "retryPeriod",
    "resourceLock", "resourceName",  "resourceNamespace"};

bool IsResourceScorer(std::string_view plugin) {
  return plugin == "NodeResourcesLeastAllocated" || plugin == "NodeResourcesMostAllocated" ||
         plugin == "RequestedToCapacityRatio";
}

bool IsVolumeLimit(std::string_view plugin) {
  return plugin == "EBSLimits" || plugin == "GCEPDLimits" || plugin == "AzureDiskLimits" ||
         plugin == "CinderLimits";
}

bool IsLegacy(std::string_view plugin) {
  return plugin == "NodeLabel" || plugin == "ServiceAffinity" || plugin == "NodePreferAvoidPods" ||
         plugin == "SelectorSpread" || plugin == "DefaultPodTopologySpread";
}

class VersionConverter {
 public:
  VersionConverter(const Json& old, std::string_view version, Draft& draft)
      : document_(old), version_(version), draft_(draft) {}

  Json Convert();

 private:
  bool Alpha() const { return version_.starts_with("v1alpha"); }
  Json Take(const char* field);
  void TopLevel();
  void AlgorithmSource(Json& profile, const Json& source);
  void LeaderElection();
  void Profile(Json& profile, const std::string& path);
  void Points(Json& profile, const std::string& path);
  void OldPoint(Json& profile, const char* from, const char* to, const std::string& path);
  void Enabled(Json& profile, const std::string& point, const Json& entry, const std::string& path);
  void Disabled(Json& profile, const std::string& point, const Json& entry,
                const std::string& path);
  void LegacyEnabled(Json& profile, const std::string& point, const std::string& plugin,
                     const Json& entry, const std::string& path);
  void Arguments(Json& profile, const std::string& path);
  void Argument(Json& profile, const Json& entry, const std::string& path);
  void ScorerArguments(Json& profile, const std::string& plugin, const Json& args,
                       const std::string& path);
  void LabelArguments(Json& profile, const Json& args, const std::string& path);
  void DropUnknown(Json& object, const std::string_view* begin, const std::string_view* end,
                   const std::string& path);

  Json document_;
  const std::string version_;
  Draft& draft_;
};

// The field, removed from the document; null when there is none.
Json VersionConverter::Take(const char* field) {
  const auto at = document_.find(field);
  if (at == document_.end()) return {};
  Json value = std::move(*at);
  document_.erase(at);
  return value;
}

void VersionConverter::DropUnknown(Json& object, const std::string_view* begin,
                                   const std::string_view* end, const std::string& path) {
  for (auto it = object.begin(); it != object.end();) {
    if (std::find(begin, end, it.key()) != end) {
      ++it;
      continue;
    }
    draft_.Note(path + it.key(), "unknown, left out");
    it = object.erase(it);
  }
}

void VersionConverter::LeaderElection() {
  if (!document_.contains("leaderElection") || !document_["leaderElection"].is_object()) return;
  Json& election = document_["leaderElection"];
  for (const auto& [from, to] : {std::pair{"lockObjectName", "resourceName"},
                                 std::pair{"lockObjectNamespace", "resourceNamespace"}}) {
    if (!election.contains(from)) continue;
    if (!election.contains(to)) election[to] = election[from];
    election.erase(from);
  }
  const std::string lock = draft_.Text(election, "resourceLock", "leaderElection");
  if (!lock.empty() && lock != "leases") {
    election["resourceLock"] = "leases";
    draft_.Note("leaderElection.resourceLock",
                "\"" + lock + "\" became leases; a scheduler that still uses the old lock does " +
                    "not see it, so stop that one first");
  }
  DropUnknown(election, std::begin(kElectionFields), std::end(kElectionFields), "leaderElection.");
}

void VersionConverter::AlgorithmSource(Json& profile, const Json& source) {
  if (source.is_null()) return;
  const std::string provider = draft_.Text(source, "provider", "algorithmSource");
  if (provider == "ClusterAutoscalerProvider") {
    const Json both = {{{"name", "cpu"}, {"weight", 1}}, {{"name", "memory"}, {"weight", 1}}};
    draft_.UseStrategy(profile, "algorithmSource.provider",
                       {{"type", "MostAllocated"}, {"resources", both}});
  } else if (!provider.empty() && provider != "DefaultProvider") {
    draft_.Note("algorithmSource.provider", "\"" + provider + "\" is unknown, left out");
  }
  const Json* policy = Draft::Field(source, "policy");
  if (policy == nullptr || policy->is_null()) return;
  draft_.Note("algorithmSource.policy",
              "left out; convert the policy file by itself and merge its profile");
}

// Fields that moved or went. Those of v1alpha1 describe the one profile there was.
void VersionConverter::TopLevel() {
  for (const char* field : {"healthzBindAddress", "metricsBindAddress"}) {
    const Json address = Take(field);
    if (address.is_string() && !address.get<std::string>().empty()) {
      draft_.Note(field, "left out; health and metrics are served over HTTPS at --bind-address " +
                             std::string("and --secure-port"));
    }
  }
  Json& profiles = document_["profiles"];
  if (!profiles.is_array() || profiles.empty()) profiles = Json::array({Json::object()});
  const Json name = Take("schedulerName");
  const Json plugins = Take("plugins");
  const Json plugin_config = Take("pluginConfig");
  const Json source = Take("algorithmSource");
  const int64_t hard = draft_.Number(document_, "hardPodAffinitySymmetricWeight", "", -1);
  const int64_t bind = draft_.Number(document_, "bindTimeoutSeconds", "", -1);
  const bool no_preemption = draft_.Flag(document_, "disablePreemption", "");
  for (const char* field :
       {"hardPodAffinitySymmetricWeight", "bindTimeoutSeconds", "disablePreemption"}) {
    document_.erase(field);
  }
  for (Json& profile : document_["profiles"]) {
    if (!profile.is_object()) profile = Json::object();
    if (!name.is_null() && !profile.contains("schedulerName")) profile["schedulerName"] = name;
    if (!plugins.is_null() && !profile.contains("plugins")) profile["plugins"] = plugins;
    if (!plugin_config.is_null() && !profile.contains("pluginConfig")) {
      profile["pluginConfig"] = plugin_config;
    }
  }
  for (size_t i = 0; i < document_["profiles"].size(); ++i) {
    Json& profile = document_["profiles"][i];
    Profile(profile, "profiles[" + std::to_string(i) + "]");
    AlgorithmSource(profile, source);
    if (hard >= 0) Draft::Args(profile, "InterPodAffinity")["hardPodAffinityWeight"] = hard;
    if (bind >= 0) Draft::Args(profile, "VolumeBinding")["bindTimeoutSeconds"] = bind;
    if (no_preemption) {
      Draft::Disable(profile, "postFilter", "DefaultPreemption");
      Draft::Disable(profile, "podGroupPostFilter", "DefaultPreemption");
    }
  }
  LeaderElection();
  DropUnknown(document_, std::begin(kTopFields), std::end(kTopFields), "");
}

void VersionConverter::OldPoint(Json& profile, const char* from, const char* to,
                                const std::string& path) {
  Json& plugins = profile["plugins"];
  if (!plugins.contains(from)) return;
  const Json set = plugins[from];
  plugins.erase(from);
  draft_.Note(path + ".plugins." + from, std::string("became ") + to);
  for (const char* list : {"enabled", "disabled"}) {
    for (const Json& entry : draft_.ListOf(set, list, path + ".plugins." + from)) {
      if (!Draft::Lists(profile, to, list, draft_.Text(entry, "name", path))) {
        Draft::Entries(profile, to, list).push_back(entry);
      }
    }
  }
}

void VersionConverter::LegacyEnabled(Json& profile, const std::string& point,
                                     const std::string& plugin, const Json& entry,
                                     const std::string& path) {
  const bool spread = plugin == "SelectorSpread" || plugin == "DefaultPodTopologySpread";
  const int64_t weight = draft_.Number(entry, "weight", path, 0);
  if (draft_.keep_legacy()) {
    Json kept = entry;
    if (spread) kept["name"] = "SelectorSpread";
    Draft::Entries(profile, point, "enabled").push_back(std::move(kept));
    return;
  }
  if (spread) {
    if (point == "score" || point == "preScore") {
      Draft::Enable(
          profile, point, "PodTopologySpread",
          point == "score" ? std::optional<int64_t>(std::max<int64_t>(weight, 1)) : std::nullopt);
    }
    draft_.Note(path, plugin + ": became PodTopologySpread with its built-in constraints");
  } else if (plugin == "NodeLabel") {
    const bool scores = point == "score";
    if (scores || point == "filter" || point == "preFilter") {
      Draft::Enable(profile, point, "NodeAffinity",
                    scores ? std::optional<int64_t>(std::max<int64_t>(weight, 1)) : std::nullopt);
    }
    draft_.Note(path, "NodeLabel: became addedAffinity of NodeAffinity");
  } else if (plugin == "ServiceAffinity") {
    if (point == "score") {
      Draft::Enable(profile, point, "PodTopologySpread", std::max<int64_t>(weight, 1));
    }
    draft_.Note(path, "ServiceAffinity: its filter is left out, there is no equal (or convert " +
                          std::string("with --legacy); its score became PodTopologySpread"));
  } else {
    draft_.Note(path, plugin + ": left out, it was removed; taint such nodes instead");
  }
}

void VersionConverter::Enabled(Json& profile, const std::string& point, const Json& entry,
                               const std::string& path) {
  const std::string plugin = draft_.Text(entry, "name", path);
  if (IsLegacy(plugin)) return LegacyEnabled(profile, point, plugin, entry, path);
  if (IsVolumeLimit(plugin)) {
    draft_.Note(path, plugin + ": left out; NodeVolumeLimits counts these volumes");
    if (Draft::Lists(profile, point, "disabled", "*")) {
      Draft::Enable(profile, point, "NodeVolumeLimits");
    }
    return;
  }
  if (!IsResourceScorer(plugin)) {
    Draft::Entries(profile, point, "enabled").push_back(entry);
    return;
  }
  Json& args = Draft::Args(profile, "NodeResourcesFit");
  const std::string type = plugin == "NodeResourcesLeastAllocated"  ? "LeastAllocated"
                           : plugin == "NodeResourcesMostAllocated" ? "MostAllocated"
                                                                    : "RequestedToCapacityRatio";
  if (args.contains("scoringStrategy") && args["scoringStrategy"].value("type", "") != type) {
    draft_.Note(path, plugin + ": left out, a profile has one scoring strategy now");
    return;
  }
  args["scoringStrategy"]["type"] = type;
  Draft::Enable(profile, point, "NodeResourcesFit",
                std::max<int64_t>(draft_.Number(entry, "weight", path, 0), 1));
}

void VersionConverter::Disabled(Json& profile, const std::string& point, const Json& entry,
                                const std::string& path) {
  const std::string plugin = draft_.Text(entry, "name", path);
  if (IsLegacy(plugin) || IsVolumeLimit(plugin)) return;  // in no default set any more
  if (IsResourceScorer(plugin)) {
    // LeastAllocated was on by default; switching it off means no such score, unless another
    // strategy is switched on in its place.
    if (plugin == "NodeResourcesLeastAllocated" &&
        !Draft::Lists(profile, point, "enabled", "NodeResourcesFit")) {
      Draft::Disable(profile, point, "NodeResourcesFit");
    }
    return;
  }
  Draft::Entries(profile, point, "disabled").push_back(entry);
}

void VersionConverter::Points(Json& profile, const std::string& path) {
  if (!profile.contains("plugins") || !profile["plugins"].is_object()) return;
  OldPoint(profile, "unreserve", "reserve", path);
  // Before v1alpha2 the point behind the filters was the one before scoring.
  if (version_ == "v1alpha1") OldPoint(profile, "postFilter", "preScore", path);
  const Json plugins = profile["plugins"];
  for (const auto& [point, set] : plugins.items()) {
    const std::string at = path + ".plugins." + point;
    const Json enabled = draft_.ListOf(set, "enabled", at);
    const Json disabled = draft_.ListOf(set, "disabled", at);
    profile["plugins"][point] = Json::object();
    for (const Json& entry : disabled) {
      if (draft_.Text(entry, "name", at) == "*") Draft::Disable(profile, point, "*");
    }
    for (size_t i = 0; i < enabled.size(); ++i) {
      Enabled(profile, point, enabled[i], at + ".enabled[" + std::to_string(i) + "]");
    }
    for (size_t i = 0; i < disabled.size(); ++i) {
      if (draft_.Text(disabled[i], "name", at) == "*") continue;
      Disabled(profile, point, disabled[i], at + ".disabled[" + std::to_string(i) + "]");
    }
  }
}

void VersionConverter::ScorerArguments(Json& profile, const std::string& plugin, const Json& args,
                                       const std::string& path) {
  Json& strategy = Draft::Args(profile, "NodeResourcesFit")["scoringStrategy"];
  const std::string type = strategy.is_object() ? strategy.value("type", "") : "";
  const bool in_use = (type == "LeastAllocated" && plugin == "NodeResourcesLeastAllocated") ||
                      (type == "MostAllocated" && plugin == "NodeResourcesMostAllocated") ||
                      (type == "RequestedToCapacityRatio" && plugin == "RequestedToCapacityRatio");
  // LeastAllocated was on without being named.
  if (!in_use && !(type.empty() && plugin == "NodeResourcesLeastAllocated")) {
    if (type.empty()) Draft::Args(profile, "NodeResourcesFit").erase("scoringStrategy");
    draft_.Note(path, "arguments of " + plugin + ": left out, the plugin is not enabled");
    return;
  }
  if (type.empty()) strategy = {{"type", "LeastAllocated"}};
  if (const Json resources = draft_.ListOf(args, "resources", path); !resources.empty()) {
    strategy["resources"] = resources;
  }
  if (plugin == "RequestedToCapacityRatio") {
    strategy["requestedToCapacityRatio"]["shape"] = draft_.ListOf(args, "shape", path);
  }
}

void VersionConverter::LabelArguments(Json& profile, const Json& args, const std::string& path) {
  for (const bool present : {true, false}) {
    const char* required = present ? "presentLabels" : "absentLabels";
    const char* preferred = present ? "presentLabelsPreference" : "absentLabelsPreference";
    for (const std::string& label : draft_.Texts(args, required, path)) {
      Draft::RequireLabel(profile, label, present);
    }
    for (const std::string& label : draft_.Texts(args, preferred, path)) {
      Draft::PreferLabel(profile, label, present, 1);
    }
  }
}

void VersionConverter::Argument(Json& profile, const Json& entry, const std::string& path) {
  const std::string plugin = draft_.Text(entry, "name", path);
  const Json* found = Draft::Field(entry, "args");
  Json args = found == nullptr || !found->is_object() ? Json::object() : *found;
  args.erase("apiVersion");
  args.erase("kind");
  if (IsResourceScorer(plugin)) return ScorerArguments(profile, plugin, args, path);
  if (plugin == "NodeLabel" && !draft_.keep_legacy()) return LabelArguments(profile, args, path);
  if (plugin == "ServiceAffinity" && !draft_.keep_legacy()) {
    for (const auto& label : draft_.Texts(args, "antiAffinityLabelsPreference", path)) {
      Draft::SpreadOver(profile, label, 1);
    }
    return;
  }
  if (IsVolumeLimit(plugin) || (IsLegacy(plugin) && !draft_.keep_legacy())) return;
  if (plugin == "PodTopologySpread" && args.contains("defaultConstraints") &&
      !args["defaultConstraints"].empty() && !args.contains("defaultingType")) {
    args["defaultingType"] = "List";
  }
  // Kept beside what other plugins' arguments became.
  Draft::Args(profile, plugin).update(args);
}

void VersionConverter::Arguments(Json& profile, const std::string& path) {
  Json made = Json::array();
  if (profile.contains("pluginConfig")) made = draft_.ListOf(profile, "pluginConfig", path);
  // Points() may have made entries already, behind those of the file.
  profile["pluginConfig"] = Json::array();
  for (const Json& entry : made) {
    if (entry.is_object() && entry.value("name", "") == "NodeResourcesFit") {
      Draft::Args(profile, "NodeResourcesFit").update(entry.value("args", Json::object()));
      Draft::Args(profile, "NodeResourcesFit").erase("apiVersion");
      Draft::Args(profile, "NodeResourcesFit").erase("kind");
    }
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i].is_object() && made[i].value("name", "") == "NodeResourcesFit") continue;
    Argument(profile, made[i], path + ".pluginConfig[" + std::to_string(i) + "]");
  }
  if (profile["pluginConfig"].empty()) profile.erase("pluginConfig");
}

void VersionConverter::Profile(Json& profile, const std::string& path) {
  Points(profile, path);
  Arguments(profile, path);
  // The default weights grew with v1beta3; the old ones are stated so that decisions stay the same.
  if (version_ != "v1beta3") {
    for (const char* plugin : {"TaintToleration", "NodeAffinity", "InterPodAffinity"}) {
      if (!Draft::Lists(profile, "multiPoint", "enabled", plugin)) {
        Draft::Enable(profile, "multiPoint", plugin, 1);
      }
    }
    draft_.Note(path + ".plugins.multiPoint",
                "states the old default weights of TaintToleration, NodeAffinity and " +
                    std::string("InterPodAffinity (1); today's are 3, 2 and 2"));
  }
}

Json VersionConverter::Convert() {
  TopLevel();
  document_["apiVersion"] = kApiVersion;
  document_["kind"] = kKind;
  return std::move(document_);
}

}  // namespace

Json ConvertVersion(const Json& old, std::string_view version, Draft& draft) {
  return VersionConverter(old, version, draft).Convert();
}

}  // namespace ks::config
