// SPDX-License-Identifier: Apache-2.0
// Groups of pods, and groups of groups.

#include "api/decode/decode_object.h"

namespace ks::api {

namespace {

// schedulingPolicy.gang, whose count is under `name`.
bool ReadPolicy(FieldReader auto& reader, auto value, std::string_view name,
                std::optional<int32_t>& count) {
  return ReadMember(reader, value, "gang", [&](auto gang) {
    return reader.Optional(gang, count, [&](auto object, int32_t& out) {
      return ReadMember(reader, object, name,
                        [&](auto number) { return reader.Int32(number, out); });
    });
  });
}

bool ReadTopology(FieldReader auto& reader, auto value, std::vector<Symbol>& keys) {
  return ReadMember(reader, value, "topology", [&](auto list) {
    return reader.List(list, keys, [&](auto element, Symbol& out) {
      return ReadMember(reader, element, "key", [&](auto text) { return reader.Sym(text, out); });
    });
  });
}

bool ReadDisruptionMode(FieldReader auto& reader, auto value, DisruptionMode& mode) {
  return ReadMember(reader, value, "all", [&](auto all) {
    bool is_null = false;
    if (!reader.IsNull(all, is_null)) return false;
    if (!is_null) mode = DisruptionMode::kAll;
    return true;
  });
}

// A field that both kinds have.
bool ReadGroupField(FieldReader auto& reader, std::string_view key, auto field, GroupSpec& spec) {
  if (key == "parentCompositePodGroupName") {
    return reader.String(field, spec.parent_composite_pod_group_name);
  }
  if (key == "schedulingConstraints") return ReadTopology(reader, field, spec.topology_keys);
  if (key == "disruptionMode") return ReadDisruptionMode(reader, field, spec.disruption_mode);
  if (key == "priorityClassName") return reader.String(field, spec.priority_class_name);
  if (key == "priority") {
    return reader.Optional(field, spec.priority,
                           [&](auto number, int32_t& out) { return reader.Int32(number, out); });
  }
  return key != "preemptionPolicy" || reader.Sym(field, spec.preemption_policy);
}

bool ReadSpec(FieldReader auto& reader, auto value, PodGroup& group) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "schedulingPolicy") return ReadPolicy(reader, field, "minCount", group.min_count);
    if (key == "resourceClaims") return ReadPodClaims(reader, field, group.resource_claims);
    return ReadGroupField(reader, key, field, group.spec);
  });
}

bool ReadStatusFields(FieldReader auto& reader, auto value, PodGroup& group) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "conditions") {
      return reader.List(field, group.conditions, [&](auto element, Condition& condition) {
        return ReadCondition(reader, element, condition);
      });
    }
    return key != "resourceClaimStatuses" ||
           ReadPodClaimStatuses(reader, field, group.resource_claim_statuses);
  });
}

}  // namespace

bool ReadField(FieldReader auto& reader, std::string_view key, auto value, Draft<PodGroup>& draft) {
  PodGroup& group = draft.object;
  if (key == "metadata") return ReadMeta(reader, value, group.meta, KeepAnnotations::kNo);
  if (key == "spec") return ReadSpec(reader, value, group);
  return key != "status" || ReadStatusFields(reader, value, group);
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<CompositePodGroup>& draft) {
  CompositePodGroup& group = draft.object;
  if (key == "metadata") return ReadMeta(reader, value, group.meta, KeepAnnotations::kNo);
  if (key != "spec") return true;
  return reader.Object(value, [&](std::string_view name, auto field) {
    if (name == "schedulingPolicy") {
      return ReadPolicy(reader, field, "minGroupCount", group.min_group_count);
    }
    return ReadGroupField(reader, name, field, group.spec);
  });
}

KS_READ_FIELD_FOR_EACH_READER(PodGroup)
KS_READ_FIELD_FOR_EACH_READER(CompositePodGroup)

}  // namespace ks::api
