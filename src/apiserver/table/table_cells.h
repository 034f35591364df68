// SPDX-License-Identifier: Apache-2.0
#pragma once
// What table.cc prints, kind by kind, and the words that upstream's tables have in common.
//
// Upstream: the Tables of kube-apiserver v1.37.1 (compared in test/e2e/kubectl_test.cc).

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store/object.h"
#include "base/clock.h"

namespace ks::apiserver {

// A member of a JSON object by path; null when something on the way is missing.
const Json& At(const Json& object, std::initializer_list<const char*> path);
std::string TextAt(const Json& object, std::initializer_list<const char*> path,
                   std::string_view fallback = "");
int64_t NumberAt(const Json& object, std::initializer_list<const char*> path, int64_t fallback = 0);

// Absent: not an RFC 3339 time.
std::optional<TimePoint> ParseTime(const Json& text);
// "5s", "3m20s", "4h", "2d3h", "323d"; `<invalid>` for times ahead.
std::string HumanDuration(Duration duration);
// How long ago; `<unknown>` for an absent time.
std::string Since(const Json& time, TimePoint now);

// Column of a table. Priority 1 is shown with -o wide.
struct Column {
  const char* name;
  const char* type = "string";
  int priority = 0;
  const char* format = "";
};

// The cells of a row, in the order of the kind's columns.
using Cells = Json (*)(const Json& object, TimePoint now);
Json PodCells(const Json& pod, TimePoint now);
Json NodeCells(const Json& node, TimePoint now);
Json EventCells(const Json& event, TimePoint now);
// "Completed" of a pod that has ended; an empty array otherwise.
Json PodRowConditions(const Json& pod);

struct Printer {
  std::string_view group;
  std::string_view kind;
  std::vector<Column> columns;
  Cells cells;
};
// The printers of all other kinds; the kinds without one show name and creation time.
const std::vector<Printer>& WorkloadPrinters();
const std::vector<Printer>& StoragePrinters();
const std::vector<Printer>& DevicePrinters();
const std::vector<Printer>& GroupPrinters();

}  // namespace ks::apiserver
