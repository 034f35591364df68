// SPDX-License-Identifier: Apache-2.0
// What all kinds share: metadata, conditions, selectors, Status bodies.

#include <algorithm>

#include "api/decode/decode_object.h"

namespace ks::api {

namespace {

bool ReadOwner(FieldReader auto& reader, auto value, OwnerReference& owner) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "apiVersion") return reader.String(field, owner.api_version);
    if (key == "kind") return reader.String(field, owner.kind);
    if (key == "name") return reader.String(field, owner.name);
    if (key == "uid") return reader.String(field, owner.uid);
    if (key == "controller") return reader.Bool(field, owner.controller);
    return true;
  });
}

bool ReadRequirement(FieldReader auto& reader, auto value, SelectorRequirement& requirement) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "key") return reader.String(field, requirement.key);
    if (key == "operator") return reader.String(field, requirement.op);
    if (key == "values") return reader.Strings(field, requirement.values);
    return true;
  });
}

// Sorted by key; of equal keys the last one stays.
bool ReadMatchLabels(FieldReader auto& reader, auto value,
                     std::vector<std::pair<std::string, std::string>>& out) {
  out.clear();
  const bool ok = reader.Object(value, [&](std::string_view key, auto field) {
    auto it = std::lower_bound(
        out.begin(), out.end(), key,
        [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
    if (it == out.end() || it->first != key) it = out.emplace(it, std::string(key), std::string());
    return reader.String(field, it->second);
  });
  out.shrink_to_fit();
  return ok;
}

bool ReadCause(FieldReader auto& reader, auto value, StatusCause& cause) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "reason") return reader.String(field, cause.reason);
    if (key == "message") return reader.String(field, cause.message);
    if (key == "field") return reader.String(field, cause.field);
    return true;
  });
}

}  // namespace

bool ReadOptional(FieldReader auto& reader, auto value, std::optional<Symbol>& out) {
  return reader.Optional(value, out,
                         [&](auto text, Symbol& symbol) { return reader.Sym(text, symbol); });
}

bool ReadOptional(FieldReader auto& reader, auto value, std::optional<std::string>& out) {
  return reader.Optional(value, out,
                         [&](auto text, std::string& read) { return reader.String(text, read); });
}

bool ReadOptional(FieldReader auto& reader, auto value, std::optional<bool>& out) {
  return reader.Optional(value, out,
                         [&](auto flag, bool& read) { return reader.Bool(flag, read); });
}

bool ReadOptional(FieldReader auto& reader, auto value, std::optional<int64_t>& out) {
  return reader.Optional(value, out,
                         [&](auto number, int64_t& read) { return reader.Int64(number, read); });
}

bool ReadOptional(FieldReader auto& reader, auto value, std::optional<Quantity>& out) {
  return reader.Optional(value, out, [&](auto text, Quantity& quantity) {
    return reader.ReadQuantity(text, quantity);
  });
}

uint64_t MixFingerprint(uint64_t fingerprint, std::string_view text) {
  for (const char c : text) {
    fingerprint = (fingerprint ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  }
  return fingerprint;
}

bool ReadMetaField(FieldReader auto& reader, std::string_view key, auto value, ObjectMeta& meta) {
  if (key == "name") return reader.String(value, meta.name);
  if (key == "namespace") return reader.Sym(value, meta.ns);
  if (key == "uid") return reader.String(value, meta.uid);
  if (key == "resourceVersion") return reader.String(value, meta.resource_version);
  if (key == "generation") return reader.Int64(value, meta.generation);
  if (key == "labels") return reader.SymMap(value, meta.labels);
  if (key == "creationTimestamp") return reader.Time(value, meta.creation_timestamp);
  if (key == "deletionTimestamp") return reader.Time(value, meta.deletion_timestamp);
  if (key == "ownerReferences") {
    return reader.List(
        value, meta.owner_references.Mutable(),
        [&](auto element, OwnerReference& owner) { return ReadOwner(reader, element, owner); });
  }
  return true;
}

bool ReadMeta(FieldReader auto& reader, auto value, ObjectMeta& meta, KeepAnnotations keep) {
  meta = ObjectMeta();
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key != "annotations") return ReadMetaField(reader, key, field, meta);
    return keep == KeepAnnotations::kNo || reader.StringMap(field, meta.annotations);
  });
}

bool ReadCondition(FieldReader auto& reader, auto value, Condition& condition) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "type") return reader.String(field, condition.type);
    if (key == "status") return reader.String(field, condition.status);
    if (key == "reason") return reader.String(field, condition.reason);
    if (key == "message") return reader.String(field, condition.message);
    if (key == "lastProbeTime") return reader.Time(field, condition.last_probe_time);
    if (key == "lastTransitionTime") return reader.Time(field, condition.last_transition_time);
    if (key == "observedGeneration") return reader.Int64(field, condition.observed_generation);
    return true;
  });
}

bool ReadRequirements(FieldReader auto& reader, auto value, std::vector<SelectorRequirement>& out) {
  return reader.List(value, out, [&](auto element, SelectorRequirement& requirement) {
    return ReadRequirement(reader, element, requirement);
  });
}

bool ReadLabelSelector(FieldReader auto& reader, auto value, LabelSelectorSpec& selector) {
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "matchLabels") return ReadMatchLabels(reader, field, selector.match_labels);
    if (key == "matchExpressions") {
      return ReadRequirements(reader, field, selector.match_expressions);
    }
    return true;
  });
}

bool ReadOptionalLabelSelector(FieldReader auto& reader, auto value,
                               std::optional<LabelSelectorSpec>& selector) {
  return reader.Optional(value, selector, [&](auto object, LabelSelectorSpec& spec) {
    return ReadLabelSelector(reader, object, spec);
  });
}

bool ReadStatus(FieldReader auto& reader, auto value, ApiError& error) {
  error = ApiError();
  return reader.Object(value, [&](std::string_view key, auto field) {
    if (key == "code") return reader.Int32(field, error.code);
    if (key == "reason") return reader.String(field, error.reason);
    if (key == "message") return reader.String(field, error.message);
    if (key != "details") return true;
    return reader.Object(field, [&](std::string_view detail, auto item) {
      if (detail == "retryAfterSeconds") {
        const bool ok = reader.Int32(item, error.retry_after_seconds);
        if (error.retry_after_seconds <= 0) error.retry_after_seconds = -1;
        return ok;
      }
      if (detail != "causes") return true;
      return reader.List(item, error.causes, [&](auto element, StatusCause& cause) {
        return ReadCause(reader, element, cause);
      });
    });
  });
}

bool ReadCompiledSelector(FieldReader auto& reader, auto value, LabelSelector& selector) {
  std::optional<LabelSelectorSpec> spec;
  if (!ReadOptionalLabelSelector(reader, value, spec)) return false;
  Result<LabelSelector> compiled = LabelSelector::Compile(spec);
  selector = compiled.ok() ? std::move(compiled).value() : LabelSelector();
  return true;
}

KS_FOR_EACH_READER(ReadOptional, std::optional<Symbol>&)
KS_FOR_EACH_READER(ReadOptional, std::optional<std::string>&)
KS_FOR_EACH_READER(ReadOptional, std::optional<bool>&)
KS_FOR_EACH_READER(ReadOptional, std::optional<int64_t>&)
KS_FOR_EACH_READER(ReadOptional, std::optional<Quantity>&)
KS_FOR_EACH_READER(ReadMeta, ObjectMeta&, KeepAnnotations)
template bool ReadMetaField(JsonReader&, std::string_view, JsonReader::Value, ObjectMeta&);
template bool ReadMetaField(ProtoReader&, std::string_view, ProtoReader::Value, ObjectMeta&);
KS_FOR_EACH_READER(ReadCondition, Condition&)
KS_FOR_EACH_READER(ReadStatus, ApiError&)
KS_FOR_EACH_READER(ReadRequirements, std::vector<SelectorRequirement>&)
KS_FOR_EACH_READER(ReadLabelSelector, LabelSelectorSpec&)
KS_FOR_EACH_READER(ReadOptionalLabelSelector, std::optional<LabelSelectorSpec>&)
KS_FOR_EACH_READER(ReadCompiledSelector, LabelSelector&)

}  // namespace ks::api
