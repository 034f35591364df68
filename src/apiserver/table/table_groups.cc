// SPDX-License-Identifier: Apache-2.0
// Rows of PodGroups, CompositePodGroups and Workloads.
#include "apiserver/table/table_cells.h"

namespace ks::apiserver {
namespace {

std::string Name(const Json& object) { return TextAt(object, {"metadata", "name"}); }
std::string Age(const Json& object, TimePoint now) {
  return Since(At(object, {"metadata", "creationTimestamp"}), now);
}
std::string Policy(const Json& object) {
  return At(object, {"spec", "schedulingPolicy", "gang"}).is_null() ? "Basic" : "Gang";
}
std::string Workload(const Json& object) {
  return TextAt(object, {"spec", "workloadRef", "workloadName"}, "<none>");
}

std::string Status(const Json& object) {
  std::string scheduled = "Pending";
  std::string disrupted;
  const Json& conditions = At(object, {"status", "conditions"});
  if (!conditions.is_array()) return scheduled;
  for (const Json& condition : conditions) {
    const std::string type = TextAt(condition, {"type"});
    if (type == "DisruptionTarget") disrupted = TextAt(condition, {"reason"});
    if (type != "PodGroupInitiallyScheduled") continue;
    scheduled = TextAt(condition, {"status"}) == "True" ? "Scheduled" : "Unschedulable";
  }
  return disrupted.empty() ? scheduled : disrupted;
}

Json GroupCells(const Json& object, TimePoint now) {
  return Json::array(
      {Name(object), Policy(object), Workload(object), Status(object), Age(object, now)});
}

Json CompositeCells(const Json& object, TimePoint now) {
  return Json::array({Name(object), Policy(object), Workload(object), Age(object, now)});
}

Json AgeCells(const Json& object, TimePoint now) {
  return Json::array({Name(object), Age(object, now)});
}

}  // namespace

const std::vector<Printer>& GroupPrinters() {
  static const Column name{.name = "Name", .format = "name"};
  static const auto* printers = new std::vector<Printer>{
      {"scheduling.k8s.io",
       "PodGroup",
       {name, {"Policy"}, {"Workload"}, {"Status"}, {"Age"}},
       GroupCells},
      {"scheduling.k8s.io",
       "CompositePodGroup",
       {name, {"Policy"}, {"Workload"}, {"Age"}},
       CompositeCells},
      {"scheduling.k8s.io", "Workload", {name, {"Age"}}, AgeCells},
  };
  return *printers;
}

}  // namespace ks::apiserver
