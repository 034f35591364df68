// SPDX-License-Identifier: Apache-2.0
// Policy (releases up to 1.22) to v1.
#include <algorithm>
#include <array>
#include <chrono>

#include "base/clock.h"
#include "config/convert/convert_draft.h"
#include "config/types.h"

namespace ks::config {
namespace {

using Json = nlohmann::json;

struct PredicateRow {
  std::string_view name;
  std::array<std::string_view, 4> plugins;
};

constexpr PredicateRow kPredicates[] = {
    {"PodFitsHostPorts", {"NodePorts"}},
    {"PodFitsPorts", {"NodePorts"}},
    {"PodFitsResources", {"NodeResourcesFit"}},
    {"HostName", {"NodeName"}},
    {"MatchNodeSelector", {"NodeAffinity"}},
    {"GeneralPredicates", {"NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"}},
    {"NoDiskConflict", {"VolumeRestrictions"}},
    {"NoVolumeZoneConflict", {"VolumeZone"}},
    {"MaxCSIVolumeCountPred", {"NodeVolumeLimits"}},
    {"MaxEBSVolumeCount", {"NodeVolumeLimits"}},
    {"MaxGCEPDVolumeCount", {"NodeVolumeLimits"}},
    {"MaxAzureDiskVolumeCount", {"NodeVolumeLimits"}},
    {"MaxCinderVolumeCount", {"NodeVolumeLimits"}},
    {"CheckVolumeBinding", {"VolumeBinding"}},
    {"PodToleratesNodeTaints", {"TaintToleration"}},
    {"PodToleratesNodeNoExecuteTaints", {"TaintToleration"}},
    {"CheckNodeUnschedulable", {"NodeUnschedulable"}},
    {"CheckNodeCondition", {"TaintToleration"}},
    {"CheckNodeMemoryPressure", {"TaintToleration"}},
    {"CheckNodeDiskPressure", {"TaintToleration"}},
    {"CheckNodePIDPressure", {"TaintToleration"}},
    {"MatchInterPodAffinity", {"InterPodAffinity"}},
    {"EvenPodsSpread", {"PodTopologySpread"}},
};

struct PriorityRow {
  std::string_view name;
  std::string_view plugin;
};

constexpr PriorityRow kPriorities[] = {
    {"LeastRequestedPriority", "NodeResourcesFit"},
    {"MostRequestedPriority", "NodeResourcesFit"},
    {"BalancedResourceAllocation", "NodeResourcesBalancedAllocation"},
    {"SelectorSpreadPriority", "PodTopologySpread"},
    {"ServiceSpreadingPriority", "PodTopologySpread"},
    {"EvenPodsSpreadPriority", "PodTopologySpread"},
    {"InterPodAffinityPriority", "InterPodAffinity"},
    {"NodeAffinityPriority", "NodeAffinity"},
    {"TaintTolerationPriority", "TaintToleration"},
    {"ImageLocalityPriority", "ImageLocality"},
};

class PolicyConverter {
 public:
  PolicyConverter(const Json& policy, Draft& draft) : policy_(policy), draft_(draft) {}

  Json Convert();

 private:
  void Predicates();
  void Predicate(const Json& predicate, const std::string& path);
  void LabelsPresence(const Json& labels, const std::string& name, const std::string& path);
  void ServiceAffinity(const Json& service, const std::string& name, const std::string& path);
  void Priorities();
  void Priority(const Json& priority, const std::string& path);
  bool CustomPriority(const Json& argument, int64_t weight, const std::string& path);
  void PlainPriority(const std::string& name, int64_t weight, const std::string& path);
  void Filter(std::string_view plugin);
  void Score(std::string_view plugin, int64_t weight);
  void Extenders(Json& document);
  void Unknown(const Json& object, std::initializer_list<std::string_view> known,
               const std::string& path);

  const Json& policy_;
  Draft& draft_;
  Json profile_ = {{"schedulerName", "default-scheduler"}};
  bool spreads_by_selector_ = false;
  bool spreads_by_list_ = false;
};

std::string ItemPath(const char* list, size_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

void PolicyConverter::Unknown(const Json& object, std::initializer_list<std::string_view> known,
                              const std::string& path) {
  if (!object.is_object()) return;
  for (auto it = object.begin(); it != object.end(); ++it) {
    const bool is_known = std::any_of(known.begin(), known.end(), [&](std::string_view name) {
      return Draft::Field(object, name) == &*it;
    });
    if (!is_known) draft_.Note(path + (path.empty() ? "" : ".") + it.key(), "unknown, left out");
  }
}

void PolicyConverter::Filter(std::string_view plugin) {
  Draft::Enable(profile_, "preFilter", plugin);
  Draft::Enable(profile_, "filter", plugin);
}

void PolicyConverter::Score(std::string_view plugin, int64_t weight) {
  static constexpr std::string_view kWithPreScore[] = {
      "TaintToleration",   "NodeAffinity",     "NodeResourcesFit",
      "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation",
      "SelectorSpread",    "ServiceAffinity"};
  if (std::find(std::begin(kWithPreScore), std::end(kWithPreScore), plugin) !=
      std::end(kWithPreScore)) {
    Draft::Enable(profile_, "preScore", plugin);
  }
  Draft::Enable(profile_, "score", plugin, weight);
}

void PolicyConverter::LabelsPresence(const Json& labels, const std::string& name,
                                     const std::string& path) {
  const std::string at = path + ".argument.labelsPresence";
  const bool present = draft_.Flag(labels, "presence", at);
  for (const std::string& label : draft_.Texts(labels, "labels", at)) {
    if (draft_.keep_legacy()) {
      Draft::Args(profile_, "NodeLabel")[present ? "presentLabels" : "absentLabels"].push_back(
          label);
    } else {
      Draft::RequireLabel(profile_, label, present);
    }
  }
  if (draft_.keep_legacy()) return Draft::Enable(profile_, "filter", "NodeLabel");
  draft_.Note(path, name + ": became addedAffinity of NodeAffinity, which also checks the node " +
                        "affinity of pods");
  Filter("NodeAffinity");
}

void PolicyConverter::ServiceAffinity(const Json& service, const std::string& name,
                                      const std::string& path) {
  const auto labels = draft_.Texts(service, "labels", path + ".argument.serviceAffinity");
  if (!draft_.keep_legacy()) {
    draft_.Note(path, name + ": left out, there is no equal; give the pods a pod affinity on " +
                          "that label, or convert with --legacy");
    return;
  }
  Json& kept = Draft::Args(profile_, "ServiceAffinity")["affinityLabels"];
  for (const std::string& label : labels) kept.push_back(label);
  Filter("ServiceAffinity");
}

void PolicyConverter::Predicate(const Json& predicate, const std::string& path) {
  const std::string name = draft_.Text(predicate, "name", path);
  if (const Json* argument = Draft::Field(predicate, "argument"); argument != nullptr) {
    if (const Json* labels = Draft::Field(*argument, "labelsPresence"); labels != nullptr) {
      return LabelsPresence(*labels, name, path);
    }
    if (const Json* service = Draft::Field(*argument, "serviceAffinity"); service != nullptr) {
      return ServiceAffinity(*service, name, path);
    }
  }
  for (const PredicateRow& row : kPredicates) {
    if (row.name != name) continue;
    for (const std::string_view plugin : row.plugins) {
      if (!plugin.empty()) Filter(plugin);
    }
    if (name.starts_with("Max") && name != "MaxCSIVolumeCountPred") {
      draft_.Note(path, name + ": became NodeVolumeLimits, which counts these volumes through " +
                            "their CSI drivers");
    }
    return;
  }
  draft_.Note(path, "predicate \"" + name + "\" is unknown, left out");
}

void PolicyConverter::Predicates() {
  const Json* list = Draft::Field(policy_, "predicates");
  if (list == nullptr || list->is_null()) return;  // the default filters
  for (const char* point : {"preFilter", "filter"}) Draft::Disable(profile_, point, "*");
  const Json predicates = draft_.ListOf(policy_, "predicates", "");
  // Always on, whatever the policy said.
  Filter("NodeUnschedulable");
  Filter("TaintToleration");
  for (size_t i = 0; i < predicates.size(); ++i) {
    Predicate(predicates[i], ItemPath("predicates", i));
  }
  // They guard what did not exist then.
  Filter("DynamicResources");
  Filter("NodeDeclaredFeatures");
  if (!Draft::Lists(profile_, "filter", "enabled", "VolumeBinding")) {
    for (const char* point : {"reserve", "preBind", "preScore", "score"}) {
      Draft::Disable(profile_, point, "VolumeBinding");
    }
    draft_.Note("predicates", "without CheckVolumeBinding no volume is bound by the scheduler");
  }
}

// A priority that is what its argument says.
bool PolicyConverter::CustomPriority(const Json& argument, int64_t weight,
                                     const std::string& path) {
  if (const Json* ratio = Draft::Field(argument, "requestedToCapacityRatioArguments");
      ratio != nullptr) {
    const std::string at = path + ".argument.requestedToCapacityRatioArguments";
    Json strategy = {{"type", "RequestedToCapacityRatio"},
                     {"requestedToCapacityRatio", {{"shape", draft_.ListOf(*ratio, "shape", at)}}}};
    const Json resources = draft_.ListOf(*ratio, "resources", at);
    if (!resources.empty()) strategy["resources"] = resources;
    if (draft_.UseStrategy(profile_, path, strategy)) Score("NodeResourcesFit", weight);
    return true;
  }
  if (const Json* label = Draft::Field(argument, "labelPreference"); label != nullptr) {
    const std::string at = path + ".argument.labelPreference";
    const std::string key = draft_.Text(*label, "label", at);
    const bool present = draft_.Flag(*label, "presence", at);
    if (draft_.keep_legacy()) {
      Draft::Args(profile_,
                  "NodeLabel")[present ? "presentLabelsPreference" : "absentLabelsPreference"]
          .push_back(key);
      Score("NodeLabel", weight);
    } else {
      Draft::PreferLabel(profile_, key, present, weight);
      Score("NodeAffinity", weight);
      draft_.Note(path,
                  "became a preferred term of NodeAffinity; its share in the score is "
                  "normalized with the pods' own preferences");
    }
    return true;
  }
  if (const Json* spread = Draft::Field(argument, "serviceAntiAffinity"); spread != nullptr) {
    const std::string at = path + ".argument.serviceAntiAffinity";
    const std::string label = draft_.Text(*spread, "label", at);
    if (draft_.keep_legacy()) {
      Draft::Args(profile_, "ServiceAffinity")["antiAffinityLabelsPreference"].push_back(label);
      Score("ServiceAffinity", weight);
    } else {
      Draft::SpreadOver(profile_, label, 1);
      spreads_by_list_ = true;
      Score("PodTopologySpread", weight);
      draft_.Note(path, "became a default constraint of PodTopologySpread on that label");
    }
    return true;
  }
  return false;
}

void PolicyConverter::PlainPriority(const std::string& name, int64_t weight,
                                    const std::string& path) {
  if (name == "EqualPriority") return;  // never had an effect
  if (name == "NodePreferAvoidPodsPriority" && draft_.keep_legacy()) {
    return Score("NodePreferAvoidPods", weight);
  }
  if (name == "NodePreferAvoidPodsPriority" || name == "ResourceLimitsPriority") {
    draft_.Note(path, name + ": left out, it was removed; taint such nodes instead");
    return;
  }
  const bool by_selector = name == "SelectorSpreadPriority" || name == "ServiceSpreadingPriority";
  if (by_selector && draft_.keep_legacy()) return Score("SelectorSpread", weight);
  if (name == "LeastRequestedPriority" || name == "MostRequestedPriority") {
    const char* type = name == "LeastRequestedPriority" ? "LeastAllocated" : "MostAllocated";
    const Json both = {{{"name", "cpu"}, {"weight", 1}}, {{"name", "memory"}, {"weight", 1}}};
    if (!draft_.UseStrategy(profile_, path, {{"type", type}, {"resources", both}})) return;
  }
  for (const PriorityRow& row : kPriorities) {
    if (row.name != name) continue;
    if (by_selector) {
      spreads_by_selector_ = true;
      draft_.Note(path, name + ": became PodTopologySpread with its built-in constraints");
    }
    return Score(row.plugin, weight);
  }
  draft_.Note(path, "priority \"" + name + "\" is unknown, left out");
}

void PolicyConverter::Priority(const Json& priority, const std::string& path) {
  const std::string name = draft_.Text(priority, "name", path);
  const int64_t weight = draft_.Number(priority, "weight", path, 0);
  if (weight <= 0) {
    draft_.Note(path, name + ": left out, its weight is not positive");
    return;
  }
  const Json* argument = Draft::Field(priority, "argument");
  if (argument != nullptr && CustomPriority(*argument, weight, path)) return;
  PlainPriority(name, weight, path);
}

void PolicyConverter::Priorities() {
  const Json* list = Draft::Field(policy_, "priorities");
  if (list == nullptr || list->is_null()) return;  // the default scores
  for (const char* point : {"preScore", "score"}) {
    // The star covers what an entry may name already.
    Draft::Entries(profile_, point, "disabled") = Json::array({{{"name", "*"}}});
  }
  const Json priorities = draft_.ListOf(policy_, "priorities", "");
  for (size_t i = 0; i < priorities.size(); ++i) {
    Priority(priorities[i], ItemPath("priorities", i));
  }
  // A list of constraints replaces the built-in ones, which selector spreading stands for.
  if (spreads_by_selector_ && spreads_by_list_) {
    Draft::SpreadOver(profile_, "kubernetes.io/hostname", 3);
    Draft::SpreadOver(profile_, "topology.kubernetes.io/zone", 5);
  }
}

void PolicyConverter::Extenders(Json& document) {
  const Json extenders = draft_.ListOf(policy_, "extenders", "");
  for (size_t i = 0; i < extenders.size(); ++i) {
    const Json& old = extenders[i];
    const std::string path = ItemPath("extenders", i);
    Json made = Json::object();
    for (const char* name :
         {"urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb"}) {
      if (const std::string text = draft_.Text(old, name, path); !text.empty()) made[name] = text;
    }
    for (const char* name : {"nodeCacheCapable", "ignorable"}) {
      if (draft_.Flag(old, name, path)) made[name] = true;
    }
    if (draft_.Flag(old, "enableHttps", path)) made["enableHTTPS"] = true;
    if (const int64_t weight = draft_.Number(old, "weight", path, 0); weight != 0) {
      made["weight"] = weight;
    }
    const Json* timeout = Draft::Field(old, "httpTimeout");
    if (timeout != nullptr && timeout->is_string()) {
      made["httpTimeout"] = *timeout;
    } else if (const int64_t nanoseconds = draft_.Number(old, "httpTimeout", path, 0)) {
      made["httpTimeout"] = FormatDuration(std::chrono::nanoseconds(nanoseconds));
    }
    for (const char* name : {"tlsConfig", "managedResources"}) {
      const Json* field = Draft::Field(old, name);
      if (field != nullptr && !field->is_null()) made[name] = *field;
    }
    Unknown(
        old,
        {"urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb", "nodeCacheCapable",
         "ignorable", "enableHttps", "weight", "httpTimeout", "tlsConfig", "managedResources"},
        path);
    document["extenders"].push_back(std::move(made));
  }
}

Json PolicyConverter::Convert() {
  Json document = {{"apiVersion", kApiVersion}, {"kind", kKind}};
  Predicates();
  Priorities();
  Extenders(document);
  const int64_t hard = draft_.Number(policy_, "hardPodAffinitySymmetricWeight", "", 1);
  if (hard < 0 || hard > 100) {
    draft_.Note("hardPodAffinitySymmetricWeight", "left out, it is not within 0 to 100");
  } else if (hard != 1) {
    Draft::Args(profile_, "InterPodAffinity")["hardPodAffinityWeight"] = hard;
  }
  if (draft_.Flag(policy_, "alwaysCheckAllPredicates", "")) {
    draft_.Note("alwaysCheckAllPredicates",
                "left out: filtering a node stops at the first plugin that refuses it");
  }
  Unknown(policy_,
          {"kind", "apiVersion", "metadata", "predicates", "priorities", "extenders",
           "hardPodAffinitySymmetricWeight", "alwaysCheckAllPredicates"},
          "");
  document["profiles"] = Json::array({profile_});
  return document;
}

}  // namespace

Json ConvertPolicy(const Json& policy, Draft& draft) {
  return PolicyConverter(policy, draft).Convert();
}

}  // namespace ks::config
