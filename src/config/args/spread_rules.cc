// SPDX-License-Identifier: Apache-2.0
// Default topology spread constraints. Upstream: docs/spec/config.md section 4.6.

#include <fmt/format.h>

#include <algorithm>

#include "config/args/args_rules.h"

namespace ks::config {
namespace {

void CheckConstraint(const TopologySpreadConstraint& constraint, const std::string& path,
                     Report& report) {
  if (constraint.max_skew <= 0) {
    report.InvalidNumber(path + ".maxSkew", constraint.max_skew, "not in valid range (0, inf)");
  }
  if (constraint.topology_key.empty()) {
    report.Required(path + ".topologyKey", "can not be empty");
  } else {
    report.LabelKey(path + ".topologyKey", constraint.topology_key);
  }
  const std::string& action = constraint.when_unsatisfiable;
  if (action.empty()) {
    report.Required(path + ".whenUnsatisfiable", "can not be empty");
  } else if (action != "DoNotSchedule" && action != "ScheduleAnyway") {
    report.Unsupported(path + ".whenUnsatisfiable", action, {"DoNotSchedule", "ScheduleAnyway"});
  }
  if (constraint.has_label_selector) {
    report.Forbidden(path + ".labelSelector",
                     "constraint must not define a selector, as they deduced for each pod");
  }
}

}  // namespace

void CheckSpread(const PodTopologySpreadArgs& args, const std::string& path,
                 const FeatureGates& /*gates*/, Report& report) {
  const std::vector<TopologySpreadConstraint>& constraints = args.default_constraints;
  if (args.defaulting_type != "System" && args.defaulting_type != "List") {
    report.Unsupported(path + ".defaultingType", args.defaulting_type, {"System", "List"});
  } else if (args.defaulting_type == "System" && !constraints.empty()) {
    report.InvalidText(path + ".defaultingType", args.defaulting_type,
                       "when .defaultConstraints are not empty");
    report.Hint("say defaultingType: List to use constraints of your own");
  }
  for (size_t i = 0; i < constraints.size(); ++i) {
    const std::string at = Indexed(path + ".defaultConstraints", i);
    CheckConstraint(constraints[i], at, report);
    const auto end = constraints.begin() + static_cast<ptrdiff_t>(i);
    const bool seen =
        std::any_of(constraints.begin(), end, [&](const TopologySpreadConstraint& earlier) {
          return earlier.topology_key == constraints[i].topology_key &&
                 earlier.when_unsatisfiable == constraints[i].when_unsatisfiable;
        });
    if (!seen) continue;
    report.DuplicateText(at, fmt::format("{{{}, {}}}", constraints[i].topology_key,
                                         constraints[i].when_unsatisfiable));
  }
}

}  // namespace ks::config
