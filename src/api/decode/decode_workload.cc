// SPDX-License-Identifier: Apache-2.0
// Services, the kinds that own pods, and disruption budgets.

#include "api/decode/decode_object.h"

namespace ks::api {

namespace {

// Labels, owners and times of these kinds are not read by anything.
bool ReadIdentity(FieldReader auto& reader, auto value, ObjectMeta& meta) {
  meta = ObjectMeta();
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "name") return reader.String(field, meta.name);
    if (key == "namespace") return reader.Sym(field, meta.ns);
    if (key == "uid") return reader.String(field, meta.uid);
    if (key == "resourceVersion") return reader.String(field, meta.resource_version);
    return true;
  });
}

// spec.selector; read(Value) -> bool.
template <class Read>
bool ReadSelectorOf(FieldReader auto& reader, auto spec, Read&& read) {
  return reader.Object(
      spec, [&](std::string_view key, auto field) { return key != "selector" || read(field); });
}

// spec.selector of the kinds that have a label selector.
bool ReadSpecSelector(FieldReader auto& reader, auto spec_value, LabelSelector& out) {
  out = LabelSelector();
  return ReadSelectorOf(reader, spec_value,
                        [&](auto field) { return ReadCompiledSelector(reader, field, out); });
}

// A ReplicaSet or StatefulSet.
template <class T>
bool ReadWorkload(FieldReader auto& reader, std::string_view key, auto value, T& object) {
  if (key == "metadata") return ReadIdentity(reader, value, object.meta);
  if (key != "spec") return true;
  return ReadSpecSelector(reader, value, object.selector);
}

bool ReadBudgetStatus(FieldReader auto& reader, auto value, PodDisruptionBudget& budget) {
  budget.disruptions_allowed = 0;
  budget.disrupted_pods.clear();
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "disruptionsAllowed") return reader.Int32(field, budget.disruptions_allowed);
    if (key != "disruptedPods") return true;
    return reader.Object(field, [&](std::string_view name, auto) {
      budget.disrupted_pods.emplace_back(name);
      return true;
    });
  });
}

}  // namespace

bool ReadField(FieldReader auto& reader, std::string_view key, auto value, Draft<Service>& draft) {
  Service& service = draft.object;
  if (key == "metadata") return ReadIdentity(reader, value, service.meta);
  if (key != "spec") return true;
  service.selector.reset();
  return ReadSelectorOf(reader, value, [&](auto field) {
    return reader.Optional(field, service.selector, [&](auto object, LabelMap& labels) {
      return reader.SymMap(object, labels);
    });
  });
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<ReplicationController>& draft) {
  ReplicationController& controller = draft.object;
  if (key == "metadata") return ReadIdentity(reader, value, controller.meta);
  if (key != "spec") return true;
  controller.selector = LabelMap();
  return ReadSelectorOf(reader, value,
                        [&](auto field) { return reader.SymMap(field, controller.selector); });
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<ReplicaSet>& draft) {
  return ReadWorkload(reader, key, value, draft.object);
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<StatefulSet>& draft) {
  return ReadWorkload(reader, key, value, draft.object);
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<PodDisruptionBudget>& draft) {
  PodDisruptionBudget& budget = draft.object;
  if (key == "metadata") return ReadIdentity(reader, value, budget.meta);
  if (key == "spec") return ReadSpecSelector(reader, value, budget.selector);
  return key != "status" || ReadBudgetStatus(reader, value, budget);
}

KS_READ_FIELD_FOR_EACH_READER(Service)
KS_READ_FIELD_FOR_EACH_READER(ReplicationController)
KS_READ_FIELD_FOR_EACH_READER(ReplicaSet)
KS_READ_FIELD_FOR_EACH_READER(StatefulSet)
KS_READ_FIELD_FOR_EACH_READER(PodDisruptionBudget)

}  // namespace ks::api
