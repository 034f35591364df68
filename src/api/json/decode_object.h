// SPDX-License-Identifier: Apache-2.0
#pragma once
// The field readers behind Decoder, one set per kind. For the decode_*.cc files only.
//
// Upstream: docs/spec/api.md section 2.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json_reader.h"
#include "api/kinds.h"
#include "api/status.h"

namespace ks::api {

// Absent when null.
bool ReadOptional(JsonReader& reader, JsonReader::Value value, std::optional<Symbol>& out);
bool ReadOptional(JsonReader& reader, JsonReader::Value value, std::optional<std::string>& out);
bool ReadOptional(JsonReader& reader, JsonReader::Value value, std::optional<bool>& out);
bool ReadOptional(JsonReader& reader, JsonReader::Value value, std::optional<int64_t>& out);
bool ReadOptional(JsonReader& reader, JsonReader::Value value, std::optional<Quantity>& out);

// The member `name` of an object, read by `read(Value)`; the others are skipped.
template <class Read>
bool ReadMember(JsonReader& reader, JsonReader::Value value, std::string_view name, Read&& read) {
  return reader.Object(value, [&](std::string_view key, JsonReader::Value field) {
    return key != name || read(field);
  });
}

// An object, its fields still to be read, and its text as written. Requires: not null.
bool ReadObjectText(JsonReader& reader, JsonReader::Value value, simdjson::ondemand::object& object,
                    std::string_view& text);
// A hash of texts, each mixed into what the ones before gave. The API server writes equal objects
// alike.
uint64_t MixFingerprint(uint64_t fingerprint, std::string_view text);
inline constexpr uint64_t kFingerprintSeed = 0xcbf29ce484222325;

// Which annotations are worth their memory.
enum class KeepAnnotations : bool { kNo, kYes };

bool ReadMeta(JsonReader& reader, JsonReader::Value value, ObjectMeta& meta, KeepAnnotations keep);
// One field of the metadata; annotations are skipped.
bool ReadMetaField(JsonReader& reader, std::string_view key, JsonReader::Value value,
                   ObjectMeta& meta);
bool ReadCondition(JsonReader& reader, JsonReader::Value value, Condition& condition);
bool ReadStatus(JsonReader& reader, JsonReader::Value value, ApiError& error);

bool ReadRequirements(JsonReader& reader, JsonReader::Value value,
                      std::vector<SelectorRequirement>& out);
bool ReadLabelSelector(JsonReader& reader, JsonReader::Value value, LabelSelectorSpec& selector);
// null: stays absent.
bool ReadOptionalLabelSelector(JsonReader& reader, JsonReader::Value value,
                               std::optional<LabelSelectorSpec>& selector);
// A selector that matches nothing when it is null or invalid.
bool ReadCompiledSelector(JsonReader& reader, JsonReader::Value value, LabelSelector& selector);
bool ReadNodeSelector(JsonReader& reader, JsonReader::Value value, NodeSelectorSpec& selector);
// spec.affinity, into three fields of the spec.
bool ReadAffinity(JsonReader& reader, JsonReader::Value value, PodSpec& spec);
bool ReadContainer(JsonReader& reader, JsonReader::Value value, Container& container);
// containers[] of which only bindMountOptions matter.
bool ReadBindMountOptions(JsonReader& reader, JsonReader::Value containers, bool& any);
bool ReadVolume(JsonReader& reader, JsonReader::Value value, Volume& volume);
// Entries of resourceClaims and resourceClaimStatuses, of a pod or of a group.
bool ReadPodClaims(JsonReader& reader, JsonReader::Value value,
                   std::vector<PodResourceClaim>& claims);
bool ReadPodClaimStatuses(JsonReader& reader, JsonReader::Value value,
                          std::vector<PodResourceClaimStatus>& statuses);
bool ReadPodSpec(JsonReader& reader, JsonReader::Value value, PodSpec& spec,
                 std::string& node_name);
bool ReadPodStatus(JsonReader& reader, JsonReader::Value value, PodStatus& status);

// Specs that were decoded lately, so that pods of one template share one spec. Remembers, but does
// not keep them alive. Threads: one at a time.
class SpecCache {
 public:
  // An equal spec decoded earlier, or `spec` as a new one.
  std::shared_ptr<const PodSpec> Share(PodSpec&& spec);

 private:
  static constexpr size_t kSlots = 4096;
  std::vector<std::weak_ptr<const PodSpec>> slots_;
};

// An object under construction.
template <class T>
struct Draft {
  T object;
};
template <>
struct Draft<Pod> {
  Pod object;
  PodSpec spec;
};

// One field of the root object; unknown ones are skipped.
#define KS_READ_FIELD(type, kind, group, version, plural, scope)                    \
  bool ReadField(JsonReader& reader, std::string_view key, JsonReader::Value value, \
                 Draft<type>& draft);
KS_ALL_KINDS(KS_READ_FIELD)
#undef KS_READ_FIELD

}  // namespace ks::api
