// SPDX-License-Identifier: Apache-2.0
#include "apiserver/table/table.h"

#include <algorithm>
#include <vector>

#include "apiserver/table/table_cells.h"

namespace ks::apiserver {
namespace {

std::vector<Column> EventColumns() {
  return {{"Last Seen"},
          {"Type"},
          {"Reason"},
          {"Object"},
          {"Subobject", "string", 1},
          {"Source", "string", 1},
          {"Message"},
          {"First Seen", "string", 1},
          {"Count", "string", 1},
          {"Name", "string", 1, "name"}};
}

// Kinds without columns of their own: the client makes an age of the time.
Json PlainCells(const Json& object, TimePoint) {
  return Json::array(
      {TextAt(object, {"metadata", "name"}), TextAt(object, {"metadata", "creationTimestamp"})});
}

std::vector<Printer> MakePrinters() {
  std::vector<Printer> printers = {
      {"",
       "Pod",
       {{"Name", "string", 0, "name"},
        {"Ready"},
        {"Status"},
        {"Restarts"},
        {"Age"},
        {"IP", "string", 1},
        {"Node", "string", 1},
        {"Nominated Node", "string", 1},
        {"Readiness Gates", "string", 1}},
       PodCells},
      {"",
       "Node",
       {{"Name", "string", 0, "name"},
        {"Status"},
        {"Roles"},
        {"Age"},
        {"Version"},
        {"Internal-IP", "string", 1},
        {"External-IP", "string", 1},
        {"OS-Image", "string", 1},
        {"Kernel-Version", "string", 1},
        {"Container-Runtime", "string", 1}},
       NodeCells},
      {"", "Event", EventColumns(), EventCells},
      {"events.k8s.io", "Event", EventColumns(), EventCells},
  };
  for (const auto* more :
       {&WorkloadPrinters(), &StoragePrinters(), &DevicePrinters(), &GroupPrinters()}) {
    printers.insert(printers.end(), more->begin(), more->end());
  }
  return printers;
}

const Printer& PrinterOf(const KindInfo& kind) {
  static const auto* printers = new std::vector<Printer>(MakePrinters());
  static const auto* plain =
      new Printer{"", "", {{"Name", "string", 0, "name"}, {"Created At", "date"}}, PlainCells};
  const auto it = std::find_if(printers->begin(), printers->end(), [&kind](const Printer& each) {
    return each.group == kind.group && each.kind == kind.kind;
  });
  return it == printers->end() ? *plain : *it;
}

Json RowObject(const KindInfo& kind, const Json& object, std::string_view include) {
  if (include == "None") return nullptr;
  if (include == "Object") {
    Json whole = object;
    whole["apiVersion"] = kind.api_version();
    whole["kind"] = kind.kind;
    return whole;
  }
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", At(object, {"metadata"})}};
}

}  // namespace

bool WantsTable(const KindInfo&, std::string_view accept) {
  while (!accept.empty()) {
    const size_t end = accept.find(',');
    std::string clause(accept.substr(0, end));
    accept.remove_prefix(end == std::string_view::npos ? accept.size() : end + 1);
    std::erase(clause, ' ');
    clause += ';';
    if (!clause.starts_with("application/json;") && !clause.starts_with("*/*;")) continue;
    if (clause.find(";as=") == std::string::npos) return false;  // the plain form comes first
    const bool table = clause.find(";as=Table;") != std::string::npos &&
                       clause.find(";v=v1;") != std::string::npos &&
                       clause.find(";g=meta.k8s.io;") != std::string::npos;
    if (table) return true;
  }
  return false;
}

Json TableHead(const KindInfo& kind, bool first) {
  Json head = {{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", Json::object()}};
  if (!first) {
    head["columnDefinitions"] = nullptr;
    return head;
  }
  Json definitions = Json::array();
  for (const Column& column : PrinterOf(kind).columns) {
    definitions.push_back({{"name", column.name},
                           {"type", column.type},
                           {"format", column.format},
                           {"description", ""},
                           {"priority", column.priority}});
  }
  head["columnDefinitions"] = std::move(definitions);
  return head;
}

Json TableRow(const KindInfo& kind, const Json& object, std::string_view include, TimePoint now) {
  Json row = {{"cells", PrinterOf(kind).cells(object, now)},
              {"object", RowObject(kind, object, include)}};
  if (kind.group.empty() && kind.kind == "Pod") {
    Json conditions = PodRowConditions(object);
    if (!conditions.empty()) row["conditions"] = std::move(conditions);
  }
  return row;
}

}  // namespace ks::apiserver
