// SPDX-License-Identifier: Apache-2.0
// Services, the kinds that own pods, and disruption budgets.

#include "api/json/decode_object.h"

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

// spec.selector of the kinds that have a label selector.
bool ReadSpecSelector(JsonReader& reader, Value spec_value, LabelSelector& out) {
  out = LabelSelector();
  return ReadSelectorOf(reader, spec_value,
                        [&](Value field) { return ReadCompiledSelector(reader, field, out); });
}

// A ReplicaSet or StatefulSet.
template <class T>
bool ReadWorkload(JsonReader& reader, std::string_view key, Value value, T& object) {
  if (key == "metadata") return ReadIdentity(reader, value, object.meta);
  if (key != "spec") return true;
  return ReadSpecSelector(reader, value, object.selector);
}

bool ReadBudgetStatus(JsonReader& reader, Value value, PodDisruptionBudget& budget) {
  budget.disruptions_allowed = 0;
  budget.disrupted_pods.clear();
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "disruptionsAllowed") return reader.Int32(field, budget.disruptions_allowed);
    if (key != "disruptedPods") return true;
    return reader.Object(field, [&](std::string_view name, Value) {
      budget.disrupted_pods.emplace_back(name);
      return true;
    });
  });
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

bool ReadField(JsonReader& reader, std::string_view key, Value value,
               Draft<PodDisruptionBudget>& draft) {
  PodDisruptionBudget& budget = draft.object;
  if (key == "metadata") return ReadIdentity(reader, value, budget.meta);
  if (key == "spec") return ReadSpecSelector(reader, value, budget.selector);
  return key != "status" || ReadBudgetStatus(reader, value, budget);
}

}  // namespace ks::api
