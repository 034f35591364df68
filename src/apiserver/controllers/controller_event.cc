// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/controller_event.h"

#include <array>
#include <charconv>

namespace ks::apiserver {
namespace {

// Upstream's suffix is the time in nanoseconds as hex; chance keeps names apart under a clock that
// stands still.
std::string EventName(Registry& registry, const std::string& object) {
  std::array<char, 17> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), registry.random().Next(), 16).ptr;
  return object + "." + std::string(digits.data(), end);
}

}  // namespace

void RecordEvent(Registry& registry, const StoredObject& object, const ControllerEvent& event) {
  static const KindInfo& events = *FindResource("", "v1", "events");
  const std::string ns = object.ns.empty() ? "default" : object.ns;
  const std::string now = registry.Now();
  Json involved{{"kind", object.kind->kind},
                {"apiVersion", object.kind->api_version()},
                {"name", object.name},
                {"uid", object.uid},
                {"resourceVersion", std::to_string(object.resource_version)}};
  if (!object.ns.empty()) involved["namespace"] = object.ns;
  Json json{{"apiVersion", "v1"},
            {"kind", "Event"},
            {"metadata", {{"name", EventName(registry, object.name)}, {"namespace", ns}}},
            {"involvedObject", std::move(involved)},
            {"reason", event.reason},
            {"message", event.message},
            {"source", {{"component", event.component}}},
            {"firstTimestamp", now},
            {"lastTimestamp", now},
            {"count", 1},
            {"type", event.type},
            {"eventTime", nullptr},
            {"reportingComponent", event.component},
            {"reportingInstance", ""}};
  [[maybe_unused]] const auto created = registry.Create(events, ns, std::move(json));
}

}  // namespace ks::apiserver
