// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the API's types look like: field names, types, protobuf numbers, merge keys. One table read
// by the strategic merge (patch.h), by the protobuf decoder (body.h) and by Fit below, which gives
// objects the form that upstream's typed server would give them. No rules about values: strategy.h.
//
// Upstream: the types of k8s.io/api v1.37.1; made by tools/apischema, see schema.cc for the format.
// Threads: everything here is immutable after the first call. Lifetime: static.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store/object.h"

namespace ks::apiserver {

struct SchemaType;

struct SchemaField {
  enum class Kind : uint8_t {
    kString,
    kInt32,
    kInt64,
    kFloat,
    kBool,
    kBytes,        // base64 in JSON
    kQuantity,     // JSON: string, or a number that becomes one
    kIntOrString,  // JSON: number or string
    kTime,         // JSON: RFC 3339, seconds
    kMicroTime,    // JSON: RFC 3339, microseconds
    kRaw,          // any JSON (runtime.RawExtension)
    kFields,       // any JSON (metav1.FieldsV1)
    kStrings,      // a list of strings, as the value of a map (v1.ExtraValue)
    kStruct,
  };
  enum class Shape : uint8_t { kOne, kList, kMap };

  std::string name{};   // in JSON; empty for inlined structs
  uint32_t number = 0;  // in protobuf
  Kind kind = Kind::kString;
  Shape shape = Shape::kOne;
  const SchemaType* type = nullptr;  // kStruct
  std::string go_type{};             // as errors name it: "int32", "v1.RestartPolicy"
  bool inlined = false;              // its fields stand in the JSON of the outer struct
  bool always = false;               // written even when zero
  bool pointer = false;              // a zero value differs from an absent one
  bool merged = false;               // strategic merge: lists are merged, by merge_key or as sets
  std::string merge_key{};
  bool retain_keys = false;  // strategic merge: elements may carry $retainKeys
  bool replaced = false;     // strategic merge: the struct is replaced as a whole
};

struct SchemaType {
  std::string name{};
  bool has_type_meta = false;  // apiVersion and kind
  std::vector<SchemaField> fields{};
  // By JSON name, inlined structs included.
  std::map<std::string, const SchemaField*, std::less<>> by_name{};

  const SchemaField* Find(std::string_view field) const {
    const auto it = by_name.find(field);
    return it == by_name.end() ? nullptr : it->second;
  }
};

// The schema for an object's apiVersion and kind; also for kinds that are only sent (Binding,
// DeleteOptions, Eviction, TokenReview, …). Null: unknown.
const SchemaType* FindSchema(std::string_view api_version, std::string_view kind);
const SchemaType& SchemaOf(const KindInfo& kind);

// Brings `object` into the form of its type: null and empty optional fields go, unknown fields go
// (their paths are appended to `unknown` unless null: `metadata.zz`), fields that are always
// written appear, numbers for quantities become strings. Absent: done. A value of a wrong type
// gives Go's words for it, and `object` is half done:
// "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool".
std::optional<std::string> Fit(const SchemaType& type, Json& object,
                               std::vector<std::string>* unknown);

}  // namespace ks::apiserver
