// SPDX-License-Identifier: Apache-2.0
// Nodes, namespaces, leases and their candidates.

#include <algorithm>

#include "api/decode/decode_object.h"

namespace ks::api {

namespace {

bool ReadTaint(FieldReader auto& reader, auto value, Taint& taint) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "key") return reader.Sym(field, taint.key);
    if (key == "value") return reader.Sym(field, taint.value);
    if (key == "effect") return reader.Sym(field, taint.effect);
    return true;
  });
}

using ImageEntries = std::vector<ImageSizes::Entry>;

bool ReadImage(FieldReader auto& reader, auto value, ImageEntries& images) {
  std::vector<Symbol> names;
  int64_t size_bytes = 0;
  const bool ok = reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "names") return reader.Syms(field, names);
    if (key == "sizeBytes") return reader.Int64(field, size_bytes);
    return true;
  });
  for (const Symbol& name : names) images.emplace_back(name, size_bytes);
  return ok;
}

bool ReadImages(FieldReader auto& reader, auto value, ImageSizes& images) {
  ImageEntries mentions;
  const bool ok =
      reader.Array(value, [&](auto element) { return ReadImage(reader, element, mentions); });
  std::ranges::reverse(mentions);  // Assign takes the last one of a name
  images.Assign(mentions);
  return ok;
}

bool ReadNodeCondition(FieldReader auto& reader, auto value, std::pair<Symbol, Symbol>& condition) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "type") return reader.Sym(field, condition.first);
    if (key == "status") return reader.Sym(field, condition.second);
    return true;
  });
}

// Only whether it is empty matters.
bool ReadDisableResizePreemption(FieldReader auto& reader, auto value, std::string& out) {
  bool set = false;
  const bool ok = reader.NonEmpty(value, set);
  out = set ? "true" : "";
  return ok;
}

bool ReadPreemptionPolicy(FieldReader auto& reader, auto value, Node& node) {
  node.disable_resize_preemption.clear();
  bool is_null = false;
  if (!reader.IsNull(value, is_null)) return false;
  node.pod_preemption_policy_present = !is_null;
  if (is_null) return true;
  return reader.Object(value, [&](std::string_view key, auto field) {
    return key != "disableResizePreemption" ||
           ReadDisableResizePreemption(reader, field, node.disable_resize_preemption);
  });
}

bool ReadNodeSpec(FieldReader auto& reader, auto value, Node& node) {
  node.unschedulable = false;
  node.taints.clear();
  node.pod_preemption_policy_present = false;
  node.disable_resize_preemption.clear();
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "unschedulable") return reader.Bool(field, node.unschedulable);
    if (key == "taints") {
      return reader.List(field, node.taints, [&](auto element, Taint& taint) {
        return ReadTaint(reader, element, taint);
      });
    }
    if (key == "podPreemptionPolicy") return ReadPreemptionPolicy(reader, field, node);
    return true;
  });
}

bool ReadNodeStatus(FieldReader auto& reader, auto value, Node& node) {
  node.allocatable = ResourceList();
  node.images = ImageSizes();
  node.conditions.clear();
  node.declared_features.clear();
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "allocatable") return reader.Resources(field, node.allocatable);
    if (key == "images") return ReadImages(reader, field, node.images);
    if (key == "conditions") {
      return reader.List(field, node.conditions,
                         [&](auto element, std::pair<Symbol, Symbol>& condition) {
                           return ReadNodeCondition(reader, element, condition);
                         });
    }
    if (key == "declaredFeatures") return reader.Strings(field, node.declared_features);
    return true;
  });
}

bool ReadCandidateSpec(FieldReader auto& reader, auto value, LeaseCandidate& candidate) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "leaseName") return reader.String(field, candidate.lease_name);
    if (key == "pingTime") return reader.MicroTime(field, candidate.ping_time);
    if (key == "renewTime") return reader.MicroTime(field, candidate.renew_time);
    return true;
  });
}

bool ReadLeaseSpec(FieldReader auto& reader, auto value, Lease& lease) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "holderIdentity") return reader.String(field, lease.holder_identity);
    if (key == "leaseDurationSeconds") return reader.Int32(field, lease.lease_duration_seconds);
    if (key == "acquireTime") return reader.MicroTime(field, lease.acquire_time);
    if (key == "renewTime") return reader.MicroTime(field, lease.renew_time);
    if (key == "leaseTransitions") return reader.Int32(field, lease.lease_transitions);
    return true;
  });
}

}  // namespace

bool ReadField(FieldReader auto& reader, std::string_view key, auto value, Draft<Node>& draft) {
  if (key == "metadata") return ReadMeta(reader, value, draft.object.meta, KeepAnnotations::kYes);
  if (key == "spec") return ReadNodeSpec(reader, value, draft.object);
  if (key == "status") return ReadNodeStatus(reader, value, draft.object);
  return true;
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<Namespace>& draft) {
  return key != "metadata" || ReadMeta(reader, value, draft.object.meta, KeepAnnotations::kNo);
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value, Draft<Lease>& draft) {
  if (key == "metadata") return ReadMeta(reader, value, draft.object.meta, KeepAnnotations::kYes);
  if (key != "spec") return true;
  ObjectMeta meta = std::move(draft.object.meta);
  draft.object = Lease();
  draft.object.meta = std::move(meta);
  return ReadLeaseSpec(reader, value, draft.object);
}

bool ReadField(FieldReader auto& reader, std::string_view key, auto value,
               Draft<LeaseCandidate>& draft) {
  if (key == "metadata") return ReadMeta(reader, value, draft.object.meta, KeepAnnotations::kNo);
  if (key != "spec") return true;
  ObjectMeta meta = std::move(draft.object.meta);
  draft.object = LeaseCandidate();
  draft.object.meta = std::move(meta);
  return ReadCandidateSpec(reader, value, draft.object);
}

KS_READ_FIELD_FOR_EACH_READER(Node)
KS_READ_FIELD_FOR_EACH_READER(Namespace)
KS_READ_FIELD_FOR_EACH_READER(Lease)
KS_READ_FIELD_FOR_EACH_READER(LeaseCandidate)

}  // namespace ks::api
