// SPDX-License-Identifier: Apache-2.0
// Services and the kinds that own pods.

#include "api/decode_object.h"

namespace ks::api {

namespace {

using Value = JsonReader::Value;

// Labels, owners and times of these kinds are not read by anything.
bool ReadIdentity(JsonReader& reader, Value value, ObjectMeta& meta) {
  meta = ObjectMeta();
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "name") return reader.String(field, meta.name);
    if (key == "namespace") return reader.Sym(field, meta.ns);
    if (key == "uid") return reader.String(field, meta.uid);
    if (key == "resourceVersion") return reader.String(field, meta.resource_version);
    return true;
  });
}

// spec.selector; read(Value) -> bool.
template <class Read>
bool ReadSelectorOf(JsonReader& reader, Value spec, Read&& read) {
  return reader.Object(
      spec, [&](std::string_view key, Value field) { return key != "selector" || read(field); });
}

// The label selector of a ReplicaSet or StatefulSet.
template <class T>
bool ReadWorkload(JsonReader& reader, std::string_view key, Value value, T& object) {
  if (key == "metadata") return ReadIdentity(reader, value, object.meta);
  if (key != "spec") return true;
  std::optional<LabelSelectorSpec> spec;
  const bool ok = ReadSelectorOf(
      reader, value, [&](Value field) { return ReadOptionalLabelSelector(reader, field, spec); });
  if (!ok) return false;
  Result<LabelSelector> selector = LabelSelector::Compile(spec);
  object.selector = selector.ok() ? std::move(selector).value() : LabelSelector();
  return true;
}

}  // namespace

bool ReadField(JsonReader& reader, std::string_view key, Value value, Draft<Service>& draft) {
  Service& service = draft.object;
  if (key == "metadata") return ReadIdentity(reader, value, service.meta);
  if (key != "spec") return true;
  service.selector.reset();
  return ReadSelectorOf(reader, value, [&](Value field) {
    return reader.Optional(field, service.selector, [&](Value object, LabelMap& labels) {
      return reader.SymMap(object, labels);
    });
  });
}

bool ReadField(JsonReader& reader, std::string_view key, Value value,
               Draft<ReplicationController>& draft) {
  ReplicationController& controller = draft.object;
  if (key == "metadata") return ReadIdentity(reader, value, controller.meta);
  if (key != "spec") return true;
  controller.selector = LabelMap();
  return ReadSelectorOf(reader, value,
                        [&](Value field) { return reader.SymMap(field, controller.selector); });
}

bool ReadField(JsonReader& reader, std::string_view key, Value value, Draft<ReplicaSet>& draft) {
  return ReadWorkload(reader, key, value, draft.object);
}

bool ReadField(JsonReader& reader, std::string_view key, Value value, Draft<StatefulSet>& draft) {
  return ReadWorkload(reader, key, value, draft.object);
}

}  // namespace ks::api
