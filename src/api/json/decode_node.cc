// SPDX-License-Identifier: Apache-2.0
// Nodes, namespaces, leases and their candidates.

#include "api/json/decode_object.h"

namespace ks::api {

namespace {

using Value = JsonReader::Value;

bool ReadTaint(JsonReader& reader, Value value, Taint& taint) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "key") return reader.Sym(field, taint.key);
    if (key == "value") return reader.Sym(field, taint.value);
    if (key == "effect") return reader.Sym(field, taint.effect);
    return true;
  });
}

bool ReadImage(JsonReader& reader, Value value, ContainerImage& image) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "names") return reader.Syms(field, image.names);
    if (key == "sizeBytes") return reader.Int64(field, image.size_bytes);
    return true;
  });
}

bool ReadNodeCondition(JsonReader& reader, Value value, std::pair<Symbol, Symbol>& condition) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "type") return reader.Sym(field, condition.first);
    if (key == "status") return reader.Sym(field, condition.second);
    return true;
  });
}

// Only whether it is empty matters, so that anything that is no text counts as set.
bool ReadDisableResizePreemption(JsonReader& reader, Value value, std::string& out) {
  using simdjson::ondemand::json_type;
  json_type type{};
  if (const simdjson::error_code error = value.type().get(type)) return reader.Fail(error);
  if (type == json_type::string || type == json_type::null) return reader.String(value, out);
  out.clear();
  const auto set = [&] {
    out = "true";
    return true;
  };
  if (type == json_type::array) return reader.Array(value, [&](Value) { return set(); });
  if (type == json_type::object) {
    return reader.Object(value, [&](std::string_view, Value) { return set(); });
  }
  bool flag = false;
  if (!reader.Bool(value, flag)) return false;
  return !flag || set();
}

bool ReadPreemptionPolicy(JsonReader& reader, Value value, Node& node) {
  node.disable_resize_preemption.clear();
  bool is_null = false;
  if (!reader.IsNull(value, is_null)) return false;
  node.pod_preemption_policy_present = !is_null;
  if (is_null) return true;
  return reader.Object(value, [&](std::string_view key, Value field) {
    return key != "disableResizePreemption" ||
           ReadDisableResizePreemption(reader, field, node.disable_resize_preemption);
  });
}

bool ReadNodeSpec(JsonReader& reader, Value value, Node& node) {
  node.unschedulable = false;
  node.taints.clear();
  node.pod_preemption_policy_present = false;
  node.disable_resize_preemption.clear();
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "unschedulable") return reader.Bool(field, node.unschedulable);
    if (key == "taints") {
      return reader.List(field, node.taints, [&](Value element, Taint& taint) {
        return ReadTaint(reader, element, taint);
      });
    }
    if (key == "podPreemptionPolicy") return ReadPreemptionPolicy(reader, field, node);
    return true;
  });
}

bool ReadNodeStatus(JsonReader& reader, Value value, Node& node) {
  node.allocatable = ResourceList();
  node.images.clear();
  node.conditions.clear();
  node.declared_features.clear();
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "allocatable") return reader.Resources(field, node.allocatable);
    if (key == "images") {
      return reader.List(field, node.images, [&](Value element, ContainerImage& image) {
        return ReadImage(reader, element, image);
      });
    }
    if (key == "conditions") {
      return reader.List(field, node.conditions,
                         [&](Value element, std::pair<Symbol, Symbol>& condition) {
                           return ReadNodeCondition(reader, element, condition);
                         });
    }
    if (key == "declaredFeatures") return reader.Strings(field, node.declared_features);
    return true;
  });
}

bool ReadCandidateSpec(JsonReader& reader, Value value, LeaseCandidate& candidate) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "leaseName") return reader.String(field, candidate.lease_name);
    if (key == "pingTime") return reader.MicroTime(field, candidate.ping_time);
    if (key == "renewTime") return reader.MicroTime(field, candidate.renew_time);
    return true;
  });
}

bool ReadLeaseSpec(JsonReader& reader, Value value, Lease& lease) {
  return reader.Object(value, [&](std::string_view key, Value field) {
    if (key == "holderIdentity") return reader.String(field, lease.holder_identity);
    if (key == "leaseDurationSeconds") return reader.Int32(field, lease.lease_duration_seconds);
    if (key == "acquireTime") return reader.MicroTime(field, lease.acquire_time);
    if (key == "renewTime") return reader.MicroTime(field, lease.renew_time);
    if (key == "leaseTransitions") return reader.Int32(field, lease.lease_transitions);
    return true;
  });
}

}  // namespace

bool ReadField(JsonReader& reader, std::string_view key, Value value, Draft<Node>& draft) {
  if (key == "metadata") return ReadMeta(reader, value, draft.object.meta, KeepAnnotations::kYes);
  if (key == "spec") return ReadNodeSpec(reader, value, draft.object);
  if (key == "status") return ReadNodeStatus(reader, value, draft.object);
  return true;
}

bool ReadField(JsonReader& reader, std::string_view key, Value value, Draft<Namespace>& draft) {
  return key != "metadata" || ReadMeta(reader, value, draft.object.meta, KeepAnnotations::kNo);
}

bool ReadField(JsonReader& reader, std::string_view key, Value value, Draft<Lease>& draft) {
  if (key == "metadata") return ReadMeta(reader, value, draft.object.meta, KeepAnnotations::kYes);
  if (key != "spec") return true;
  ObjectMeta meta = std::move(draft.object.meta);
  draft.object = Lease();
  draft.object.meta = std::move(meta);
  return ReadLeaseSpec(reader, value, draft.object);
}

bool ReadField(JsonReader& reader, std::string_view key, Value value,
               Draft<LeaseCandidate>& draft) {
  if (key == "metadata") return ReadMeta(reader, value, draft.object.meta, KeepAnnotations::kNo);
  if (key != "spec") return true;
  ObjectMeta meta = std::move(draft.object.meta);
  draft.object = LeaseCandidate();
  draft.object.meta = std::move(meta);
  return ReadCandidateSpec(reader, value, draft.object);
}

}  // namespace ks::api
