// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/event_forms.h"

#include <array>
#include <string>
#include <string_view>

namespace ks::apiserver {
namespace {

struct Names {
  std::string_view core;
  std::string_view v1;
};
constexpr std::array<Names, 7> kRenamed = {{
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
}};

void Move(Json& event, std::string_view from, std::string_view to) {
  const auto it = event.find(std::string(from));
  if (it == event.end()) return;
  Json value = std::move(*it);
  event.erase(it);
  event[std::string(to)] = std::move(value);
}

void Fill(Json& event, const char* key, Json value) {
  if (!event.contains(key)) event[key] = std::move(value);
}

void DropEmpty(Json& event, const char* key) {
  const auto it = event.find(key);
  if (it != event.end() && it->is_string() && it->get_ref<const std::string&>().empty()) {
    event.erase(it);
  }
}

// "/note" and "/regarding/name" of a JSON patch.
void RenamePath(Json& operation, const char* key) {
  const auto it = operation.find(key);
  if (it == operation.end() || !it->is_string()) return;
  std::string& path = it->get_ref<std::string&>();
  for (const Names& names : kRenamed) {
    const std::string whole = "/" + std::string(names.v1);
    if (path == whole || path.starts_with(whole + "/")) {
      path = "/" + std::string(names.core) + path.substr(whole.size());
      return;
    }
  }
}

}  // namespace

void ToCoreEvent(Json& event) {
  if (!event.is_object()) return;
  ToCoreEventPatch(event);
  event["apiVersion"] = "v1";
  event["kind"] = "Event";
  Fill(event, "involvedObject", Json::object());
  Fill(event, "source", Json::object());
  Fill(event, "firstTimestamp", nullptr);
  Fill(event, "lastTimestamp", nullptr);
  Fill(event, "eventTime", nullptr);
  Fill(event, "reportingComponent", "");
  Fill(event, "reportingInstance", "");
}

void ToEventsV1(Json& event) {
  if (!event.is_object()) return;
  for (const Names& names : kRenamed) Move(event, names.core, names.v1);
  event["apiVersion"] = "events.k8s.io/v1";
  event["kind"] = "Event";
  Fill(event, "regarding", Json::object());
  Fill(event, "deprecatedSource", Json::object());
  Fill(event, "deprecatedFirstTimestamp", nullptr);
  Fill(event, "deprecatedLastTimestamp", nullptr);
  Fill(event, "eventTime", nullptr);
  DropEmpty(event, "reportingController");
  DropEmpty(event, "reportingInstance");
}

void ToCoreEventPatch(Json& patch) {
  if (patch.is_array()) {
    for (Json& operation : patch) {
      if (!operation.is_object()) continue;
      RenamePath(operation, "path");
      RenamePath(operation, "from");
    }
    return;
  }
  if (!patch.is_object()) return;
  for (const Names& names : kRenamed) Move(patch, names.v1, names.core);
  if (patch.contains("apiVersion")) patch["apiVersion"] = "v1";
}

}  // namespace ks::apiserver
