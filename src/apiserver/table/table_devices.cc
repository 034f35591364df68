// SPDX-License-Identifier: Apache-2.0
// Rows of the kinds of resource.k8s.io.
#include "apiserver/table/table_cells.h"
#include "base/join.h"

namespace ks::apiserver {
namespace {

std::string Name(const Json& object) { return TextAt(object, {"metadata", "name"}); }
std::string Age(const Json& object, TimePoint now) {
  return Since(At(object, {"metadata", "creationTimestamp"}), now);
}

Json ClaimCells(const Json& object, TimePoint now) {
  std::vector<std::string> states;
  if (At(object, {"metadata", "deletionTimestamp"}).is_string()) states.emplace_back("deleted");
  if (At(object, {"status", "allocation"}).is_object()) states.emplace_back("allocated");
  const Json& reserved = At(object, {"status", "reservedFor"});
  if (reserved.is_array() && !reserved.empty()) states.emplace_back("reserved");
  if (states.empty()) states.emplace_back("pending");
  return Json::array({Name(object), Join(states, ","), Age(object, now)});
}

Json SliceCells(const Json& object, TimePoint now) {
  return Json::array({Name(object), TextAt(object, {"spec", "nodeName"}),
                      TextAt(object, {"spec", "driver"}), TextAt(object, {"spec", "pool", "name"}),
                      Age(object, now)});
}

Json TaintRuleCells(const Json& object, TimePoint now) {
  return Json::array({Name(object), TextAt(object, {"spec", "taint", "key"}),
                      TextAt(object, {"spec", "taint", "value"}),
                      TextAt(object, {"spec", "taint", "effect"}),
                      Since(At(object, {"spec", "taint", "timeAdded"}), now), Age(object, now)});
}

Json AgeCells(const Json& object, TimePoint now) {
  return Json::array({Name(object), Age(object, now)});
}

}  // namespace

const std::vector<Printer>& DevicePrinters() {
  static const Column name{.name = "Name", .format = "name"};
  static const auto* printers = new std::vector<Printer>{
      {"resource.k8s.io", "ResourceClaim", {name, {"State"}, {"Age"}}, ClaimCells},
      {"resource.k8s.io",
       "ResourceSlice",
       {name, {"Node"}, {"Driver"}, {"Pool"}, {"Age"}},
       SliceCells},
      {"resource.k8s.io",
       "DeviceTaintRule",
       {name, {"Key"}, {"Value"}, {"Effect"}, {"TimeAdded"}, {"Age"}},
       TaintRuleCells},
      {"resource.k8s.io", "DeviceClass", {name, {"Age"}}, AgeCells},
      {"resource.k8s.io", "ResourceClaimTemplate", {name, {"Age"}}, AgeCells},
  };
  return *printers;
}

}  // namespace ks::apiserver
