// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of pods that the benchmarks of decisions place: plain ones, and ones with a single
// constraint.

#include <array>
#include <string>

#include "testing/builders.h"

namespace ks::bench {

inline constexpr const char* kZone = "topology.kubernetes.io/zone";
inline constexpr const char* kHostname = "kubernetes.io/hostname";

inline testing::PodBuilder Plain(const std::string& app) {
  return testing::MakePod()
      .Labels({{"app", app}})
      .Req({{"cpu", "100m"}, {"memory", "128Mi"}}, "registry.example/app:1");
}

inline api::LabelSelectorSpec Selects(const std::string& app) { return {{{"app", app}}, {}}; }

inline testing::PodBuilder Spread(const std::string& app, const char* when, const char* key) {
  testing::PodBuilder pod = Plain(app);
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = 5;
  constraint.topology_key = Symbol(key);
  constraint.when_unsatisfiable = when;
  constraint.label_selector = Selects(app);
  pod.spec().topology_spread_constraints.push_back(constraint);
  return pod;
}

inline api::PodAffinityTerm Term(const std::string& app, const char* key) {
  api::PodAffinityTerm term;
  term.label_selector = Selects(app);
  term.topology_key = Symbol(key);
  return term;
}

struct PodKind {
  const char* name;
  testing::PodBuilder (*make)(const std::string& app);
};

inline const std::array<PodKind, 7> kPodKinds = {{
    {"plain", [](const std::string& app) { return Plain(app); }},
    {"hard_spread", [](const std::string& app) { return Spread(app, "DoNotSchedule", kZone); }},
    {"soft_spread", [](const std::string& app) { return Spread(app, "ScheduleAnyway", kZone); }},
    {"required_affinity",
     [](const std::string& app) {
       testing::PodBuilder pod = Plain(app);
       pod.spec().pod_affinity = api::PodAffinity{{Term(app, kZone)}, {}};
       return pod;
     }},
    {"required_anti_affinity",
     [](const std::string& app) {
       testing::PodBuilder pod = Plain(app);
       pod.spec().pod_anti_affinity = api::PodAffinity{{Term(app, kHostname)}, {}};
       return pod;
     }},
    {"preferred_affinity",
     [](const std::string& app) {
       testing::PodBuilder pod = Plain(app);
       pod.spec().pod_affinity = api::PodAffinity{{}, {{1, Term(app, kHostname)}}};
       return pod;
     }},
    {"node_affinity",
     [](const std::string& app) {
       return Plain(app).RequiredTerm({{kZone, "In", {"zone-0", "zone-1"}}});
     }},
}};

}  // namespace ks::bench
