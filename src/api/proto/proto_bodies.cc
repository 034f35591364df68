// SPDX-License-Identifier: Apache-2.0
#include "api/proto/proto_bodies.h"

#include <chrono>

#include <protozero/pbf_writer.hpp>

#include "api/json/event_reference.h"
#include "api/proto/proto_envelope.h"

namespace ks::api {

namespace {

using protozero::pbf_writer;

void AddText(pbf_writer& message, uint32_t number, std::string_view text) {
  message.add_string(number, text.data(), text.size());
}

// Upstream keeps whole microseconds.
void AddMicroTime(pbf_writer& message, uint32_t number, TimePoint time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time - seconds);
  pbf_writer timestamp(message, number);
  timestamp.add_int64(1, seconds.time_since_epoch().count());
  timestamp.add_int32(2, static_cast<int32_t>(std::chrono::nanoseconds(micros).count()));
}

// Of an object that is to be made.
void AddMetadata(pbf_writer& message, std::string_view name, std::string_view ns,
                 std::string_view uid) {
  pbf_writer meta(message, 1);
  AddText(meta, 1, name);
  AddText(meta, 2, "");  // generateName
  AddText(meta, 3, ns);
  AddText(meta, 4, "");  // selfLink
  AddText(meta, 5, uid);
  AddText(meta, 6, "");  // resourceVersion
  meta.add_int64(7, 0);  // generation
  AddText(meta, 8, "");  // creationTimestamp
}

void AddReference(pbf_writer& message, uint32_t number, const EventReference& object) {
  static const ObjectMeta none;
  const ObjectMeta& meta = object.meta == nullptr ? none : *object.meta;
  pbf_writer reference(message, number);
  AddText(reference, 1, object.kind);
  AddText(reference, 2, meta.ns.view());
  AddText(reference, 3, meta.name);
  AddText(reference, 4, meta.uid);
  AddText(reference, 5, object.api_version);
  AddText(reference, 6, meta.resource_version);
  AddText(reference, 7, "");  // fieldPath
}

// The fields of core/v1, all empty.
void AddDeprecated(pbf_writer& event) {
  {
    pbf_writer source(event, 12);
    AddText(source, 1, "");
    AddText(source, 2, "");
  }
  AddText(event, 13, "");  // first and last timestamp
  AddText(event, 14, "");
  event.add_int32(15, 0);  // count
}

}  // namespace

std::string BindingProto(const Pod& pod, std::string_view node_name) {
  ObjectMeta node;
  node.name = node_name;
  std::string message;
  pbf_writer binding(message);
  AddMetadata(binding, pod.meta.name, pod.meta.ns.view(), pod.meta.uid);
  AddReference(binding, 2, {.kind = "Node", .api_version = "", .meta = &node});
  return WriteEnvelope("v1", "Binding", message);
}

std::string EventProto(const EventRecord& record) {
  std::string message;
  pbf_writer event(message);
  AddMetadata(event, record.name, EventNamespaceOf(record), "");
  AddMicroTime(event, 2, record.event_time);
  if (record.series_count > 0) {
    pbf_writer series(event, 3);
    series.add_int32(1, record.series_count);
    AddMicroTime(series, 2, record.series_last_observed);
  }
  AddText(event, 4, record.reporting_controller);
  AddText(event, 5, record.reporting_instance);
  AddText(event, 6, record.action);
  AddText(event, 7, record.reason);
  EventReference regarding = ReferenceTo(record.regarding);
  if (regarding.meta == nullptr) regarding = {};
  AddReference(event, 8, regarding);
  const EventReference related = ReferenceTo(record.related);
  if (related.meta != nullptr) AddReference(event, 9, related);
  AddText(event, 10, record.note);
  AddText(event, 11, EventTypeOf(record));
  AddDeprecated(event);
  return WriteEnvelope("events.k8s.io/v1", "Event", message);
}

}  // namespace ks::api
