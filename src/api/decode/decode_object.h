// SPDX-License-Identifier: Apache-2.0
#pragma once
// The field readers behind Decoder, one set per kind. For the decode_*.cc files only.
//
// Upstream: docs/spec/api.md section 2.

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/decode/json_reader.h"
#include "api/decode/proto_reader.h"
#include "api/kinds.h"
#include "api/status.h"

namespace ks::api {

// JsonReader and ProtoReader: the decoders are templates over it, instantiated for both in the file
// that has them (KS_FOR_EACH_READER).
template <class Reader>
concept FieldReader = std::derived_from<Reader, ReaderKit<Reader>>;
// An object whose fields are still to be read.
template <class Reader>
using MembersOf = typename std::remove_reference_t<Reader>::Members;

#define KS_FOR_EACH_READER(read, ...)                              \
  template bool read(JsonReader&, JsonReader::Value, __VA_ARGS__); \
  template bool read(ProtoReader&, ProtoReader::Value, __VA_ARGS__);
#define KS_READ_FIELD_FOR_EACH_READER(type)                                                \
  template bool ReadField(JsonReader&, std::string_view, JsonReader::Value, Draft<type>&); \
  template bool ReadField(ProtoReader&, std::string_view, ProtoReader::Value, Draft<type>&);

// Absent when null.
bool ReadOptional(FieldReader auto& reader, auto value, std::optional<Symbol>& out);
bool ReadOptional(FieldReader auto& reader, auto value, std::optional<std::string>& out);
bool ReadOptional(FieldReader auto& reader, auto value, std::optional<bool>& out);
bool ReadOptional(FieldReader auto& reader, auto value, std::optional<int64_t>& out);
bool ReadOptional(FieldReader auto& reader, auto value, std::optional<Quantity>& out);

// The member `name` of an object, read by `read(Value)`; the others are skipped.
template <class Read>
bool ReadMember(FieldReader auto& reader, auto value, std::string_view name, Read&& read) {
  return reader.Object(
      value, [&](std::string_view key, auto field) { return key != name || read(field); });
}

// A hash of texts, each mixed into what the ones before gave. The API server writes equal objects
// alike.
uint64_t MixFingerprint(uint64_t fingerprint, std::string_view text);
inline constexpr uint64_t kFingerprintSeed = 0xcbf29ce484222325;

// Which annotations are worth their memory.
enum class KeepAnnotations : bool { kNo, kYes };

bool ReadMeta(FieldReader auto& reader, auto value, ObjectMeta& meta, KeepAnnotations keep);
// One field of the metadata; annotations are skipped.
bool ReadMetaField(FieldReader auto& reader, std::string_view key, auto value, ObjectMeta& meta);
bool ReadCondition(FieldReader auto& reader, auto value, Condition& condition);
bool ReadStatus(FieldReader auto& reader, auto value, ApiError& error);

bool ReadRequirements(FieldReader auto& reader, auto value, std::vector<SelectorRequirement>& out);
bool ReadLabelSelector(FieldReader auto& reader, auto value, LabelSelectorSpec& selector);
// null: stays absent.
bool ReadOptionalLabelSelector(FieldReader auto& reader, auto value,
                               std::optional<LabelSelectorSpec>& selector);
// A selector that matches nothing when it is null or invalid.
bool ReadCompiledSelector(FieldReader auto& reader, auto value, LabelSelector& selector);
bool ReadNodeSelector(FieldReader auto& reader, auto value, NodeSelectorSpec& selector);
// spec.affinity, into three fields of the spec.
bool ReadAffinity(FieldReader auto& reader, auto value, PodSpec& spec);
bool ReadContainer(FieldReader auto& reader, auto value, Container& container);
// containers[] of which only bindMountOptions matter.
bool ReadBindMountOptions(FieldReader auto& reader, auto containers, bool& any);
bool ReadVolume(FieldReader auto& reader, auto value, Volume& volume);
// Entries of resourceClaims and resourceClaimStatuses, of a pod or of a group.
bool ReadPodClaims(FieldReader auto& reader, auto value, std::vector<PodResourceClaim>& claims);
bool ReadPodClaimStatuses(FieldReader auto& reader, auto value,
                          std::vector<PodResourceClaimStatus>& statuses);

// An object under construction.
template <class T>
struct Draft {
  T object;
};
template <>
struct Draft<Pod> {
  Pod object;
  PodSpec spec;
  PodResourceStatus resources;
  PodConditions conditions;
};

// One field of the root object; unknown ones are skipped.
#define KS_READ_FIELD(type, kind, group, version, plural, scope) \
  bool ReadField(FieldReader auto& reader, std::string_view key, auto value, Draft<type>& draft);
KS_ALL_KINDS(KS_READ_FIELD)
#undef KS_READ_FIELD

}  // namespace ks::api
