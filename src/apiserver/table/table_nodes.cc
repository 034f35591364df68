// SPDX-License-Identifier: Apache-2.0
// Rows of nodes and events.
#include <algorithm>
#include <set>

#include "apiserver/table/table_cells.h"
#include "base/join.h"
#include "base/text.h"

namespace ks::apiserver {
namespace {

std::string NodeStatus(const Json& node) {
  std::string status = "Unknown";
  const Json& conditions = At(node, {"status", "conditions"});
  if (conditions.is_array()) {
    for (const Json& condition : conditions) {
      if (TextAt(condition, {"type"}) != "Ready") continue;
      status = TextAt(condition, {"status"}) == "True" ? "Ready" : "NotReady";
    }
  }
  if (At(node, {"spec", "unschedulable"}) == true) status += ",SchedulingDisabled";
  return status;
}

std::string Roles(const Json& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  const Json& labels = At(node, {"metadata", "labels"});
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      if (key.starts_with(kPrefix)) {
        if (key.size() > kPrefix.size()) roles.insert(key.substr(kPrefix.size()));
      } else if (key == "kubernetes.io/role" && value.is_string() && value != "") {
        roles.insert(value.get<std::string>());
      }
    }
  }
  if (roles.empty()) return "<none>";
  return Join(roles, ",");
}

std::string Address(const Json& node, std::string_view type) {
  const Json& addresses = At(node, {"status", "addresses"});
  if (addresses.is_array()) {
    for (const Json& address : addresses) {
      if (TextAt(address, {"type"}) == type) return TextAt(address, {"address"});
    }
  }
  return "<none>";
}

// Either form of an event has the field under its own name.
const Json& Either(const Json& event, const char* core, const char* v1) {
  const Json& found = At(event, {core});
  return found.is_null() ? At(event, {v1}) : found;
}

std::string Source(const Json& event) {
  const Json& source = Either(event, "source", "deprecatedSource");
  std::string component = TextAt(source, {"component"});
  std::string host = TextAt(source, {"host"});
  if (component.empty()) {
    const Json& reporter = Either(event, "reportingComponent", "reportingController");
    component = reporter.is_string() ? reporter.get<std::string>() : "";
    host = TextAt(event, {"reportingInstance"});
  }
  return host.empty() ? component : component + ", " + host;
}

}  // namespace

Json NodeCells(const Json& node, TimePoint now) {
  const auto info = [&node](const char* key, const char* fallback) {
    return TextAt(node, {"status", "nodeInfo", key}, fallback);
  };
  std::string kernel = info("kernelVersion", "<unknown>");
  const std::string architecture = info("architecture", "");
  if (!architecture.empty()) kernel += " (" + architecture + ")";
  return Json::array({TextAt(node, {"metadata", "name"}), NodeStatus(node), Roles(node),
                      Since(At(node, {"metadata", "creationTimestamp"}), now),
                      info("kubeletVersion", ""), Address(node, "InternalIP"),
                      Address(node, "ExternalIP"), info("osImage", "<unknown>"), kernel,
                      info("containerRuntimeVersion", "<unknown>")});
}

Json EventCells(const Json& event, TimePoint now) {
  const Json& happened = At(event, {"eventTime"});
  const Json& first = Either(event, "firstTimestamp", "deprecatedFirstTimestamp");
  const Json& last = Either(event, "lastTimestamp", "deprecatedLastTimestamp");
  const std::string first_seen = Since(first.is_null() ? happened : first, now);
  std::string last_seen = last.is_null() ? first_seen : Since(last, now);
  const Json& counted = Either(event, "count", "deprecatedCount");
  int64_t count = counted.is_number() ? counted.get<int64_t>() : 0;
  const Json& series = At(event, {"series"});
  if (series.is_object()) {
    last_seen = Since(At(series, {"lastObservedTime"}), now);
    count = NumberAt(series, {"count"});
  } else if (count == 0) {
    count = 1;
  }
  const Json& about = Either(event, "involvedObject", "regarding");
  std::string object = LowerCase(TextAt(about, {"kind"}));
  const std::string name = TextAt(about, {"name"});
  if (!name.empty()) object += "/" + name;
  const Json& message = Either(event, "message", "note");
  const std::string text = message.is_string() ? message.get<std::string>() : "";
  return Json::array({last_seen, TextAt(event, {"type"}), TextAt(event, {"reason"}), object,
                      TextAt(about, {"fieldPath"}), Source(event), Trimmed(text, kSpace),
                      first_seen, count, TextAt(event, {"metadata", "name"})});
}

}  // namespace ks::apiserver
