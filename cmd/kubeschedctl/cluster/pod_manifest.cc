// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cluster/pod_manifest.h"

#include <fmt/format.h>

namespace ks::ctl {
namespace {

using Json = nlohmann::json;

constexpr const char* kHostname = "kubernetes.io/hostname";

Json Selects(const std::string& app) { return {{"matchLabels", {{"app", app}}}}; }

Json Constraint(const std::string& app, const char* when) {
  return Json::array({{{"maxSkew", 5},
                       {"topologyKey", kZoneLabel},
                       {"whenUnsatisfiable", when},
                       {"labelSelector", Selects(app)}}});
}

Json Term(const std::string& app, const char* key) {
  return {{"topologyKey", key}, {"labelSelector", Selects(app)}};
}

}  // namespace

Json PodManifest(const std::string& name, const std::string& owner, const PodTemplate& size) {
  const Json container = {{"name", "main"},
                          {"image", "registry.k8s.io/pause:3.10"},
                          {"resources",
                           {{"requests",
                             {{"cpu", fmt::format("{}m", size.cpu_milli)},
                              {"memory", fmt::format("{}Mi", size.memory_mi)}}}}}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"labels", {{kOwnerLabel, owner}}}}},
          {"spec", {{"containers", Json::array({container})}}}};
}

std::map<std::string, PodKind> PodKinds() {
  return {{"plain", PodKind::kPlain},
          {"hard-spread", PodKind::kHardSpread},
          {"soft-spread", PodKind::kSoftSpread},
          {"required-affinity", PodKind::kRequiredAffinity},
          {"required-anti-affinity", PodKind::kRequiredAntiAffinity},
          {"preferred-affinity", PodKind::kPreferredAffinity},
          {"node-affinity", PodKind::kNodeAffinity},
          {"mixed", PodKind::kMixed}};
}

void AddPodKind(PodKind kind, const std::string& app, Json& spec) {
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  switch (kind) {
    case PodKind::kPlain:
    case PodKind::kMixed:
      return;
    case PodKind::kHardSpread:
      spec["topologySpreadConstraints"] = Constraint(app, "DoNotSchedule");
      return;
    case PodKind::kSoftSpread:
      spec["topologySpreadConstraints"] = Constraint(app, "ScheduleAnyway");
      return;
    case PodKind::kRequiredAffinity:
      spec["affinity"]["podAffinity"][kRequired] = Json::array({Term(app, kZoneLabel)});
      return;
    case PodKind::kRequiredAntiAffinity:
      spec["affinity"]["podAntiAffinity"][kRequired] = Json::array({Term(app, kHostname)});
      return;
    case PodKind::kPreferredAffinity:
      spec["affinity"]["podAffinity"][kPreferred] =
          Json::array({{{"weight", 1}, {"podAffinityTerm", Term(app, kHostname)}}});
      return;
    case PodKind::kNodeAffinity: {
      const Json zones = {
          {"key", kZoneLabel}, {"operator", "In"}, {"values", Json::array({"zone-0", "zone-1"})}};
      spec["affinity"]["nodeAffinity"][kRequired]["nodeSelectorTerms"] =
          Json::array({{{"matchExpressions", Json::array({zones})}}});
    }
  }
}

}  // namespace ks::ctl
