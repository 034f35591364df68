// SPDX-License-Identifier: Apache-2.0
// Groups of pods, and groups of groups.

#include "api/json/decode_object.h"

namespace ks::api {

namespace {

using Value = JsonReader::Value;

// schedulingPolicy.gang, whose count is under `name`.
bool ReadPolicy(JsonReader& reader, Value value, std::string_view name,
                std::optional<int32_t>& count) {
  return ReadMember(reader, value, "gang", [&](Value gang) {
    return reader.Optional(gang, count, [&](Value object, int32_t& out) {
      return ReadMember(reader, object, name,
                        [&](Value number) { return reader.Int32(number, out); });
    });
  });
}

bool ReadTopology(JsonReader& reader, Value value, std::vector<Symbol>& keys) {
  return ReadMember(reader, value, "topology", [&](Value list) {
    return reader.List(list, keys, [&](Value element, Symbol& out) {
      return ReadMember(reader, element, "key", [&](Value text) { return reader.Sym(text, out); });
    });
  });
}

bool ReadDisruptionMode(JsonReader& reader, Value value, DisruptionMode& mode) {
  return ReadMember(reader, value, "all", [&](Value all) {
    bool is_null = false;
    if (!reader.IsNull(all, is_null)) return false;
    if (!is_null) mode = DisruptionMode::kAll;
    return true;
  });
}

// A field that both kinds have.
bool ReadGroupField(JsonReader& reader, std::string_view key, Value field, GroupSpec& spec) {
  if (key == "parentCompositePodGroupName") {
    return reader.String(field, spec.parent_composite_pod_group_name);
  }
  if (key == "schedulingConstraints") return ReadTopology(reader, field, spec.topology_keys);
  if (key == "disruptionMode") return ReadDisruptionMode(reader, field, spec.disruption_mode);
  if (key == "priorityClassName") return reader.String(field, spec.priority_class_name);
  if (key == "priority") {
    return reader.Optional(field, spec.priority,
                           [&](Value number, int32_t& out) { return reader.Int32(number, out); });
  }
  return key != "preemptionPolicy" || reader.Sym(field, spec.preemption_policy);
}

bool ReadSpec(JsonReader& reader, Value value, PodGroup& group) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "schedulingPolicy") return ReadPolicy(reader, field, "minCount", group.min_count);
    if (key == "resourceClaims") return ReadPodClaims(reader, field, group.resource_claims);
    return ReadGroupField(reader, key, field, group.spec);
  });
}

bool ReadStatusFields(JsonReader& reader, Value value, PodGroup& group) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "conditions") {
      return reader.List(field, group.conditions, [&](Value element, Condition& condition) {
        return ReadCondition(reader, element, condition);
      });
    }
    return key != "resourceClaimStatuses" ||
           ReadPodClaimStatuses(reader, field, group.resource_claim_statuses);
  });
}

}  // namespace

bool ReadField(JsonReader& reader, std::string_view key, Value value, Draft<PodGroup>& draft) {
  PodGroup& group = draft.object;
  if (key == "metadata") return ReadMeta(reader, value, group.meta, KeepAnnotations::kNo);
  if (key == "spec") return ReadSpec(reader, value, group);
  return key != "status" || ReadStatusFields(reader, value, group);
}

bool ReadField(JsonReader& reader, std::string_view key, Value value,
               Draft<CompositePodGroup>& draft) {
  CompositePodGroup& group = draft.object;
  if (key == "metadata") return ReadMeta(reader, value, group.meta, KeepAnnotations::kNo);
  if (key != "spec") return true;
  return reader.Object(value, [&](std::string_view name, Value field) {
    if (name == "schedulingPolicy") {
      return ReadPolicy(reader, field, "minGroupCount", group.min_group_count);
    }
    return ReadGroupField(reader, name, field, group.spec);
  });
}

}  // namespace ks::api
