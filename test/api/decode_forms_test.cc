// SPDX-License-Identifier: Apache-2.0
// Objects, lists and watch events read alike from JSON and from protobuf.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "api/decoding.h"
#include "api/kinds.h"
#include "testing/protobuf.h"

namespace ks::api {
namespace {

using ks::testing::ProtoBody;
using ks::testing::ProtoEvent;
using ks::testing::ProtoField;
using ks::testing::ProtoMeta;
using ks::testing::ProtoNumber;
using ::testing::HasSubstr;
using Json = nlohmann::json;

bool Same(const DeviceNodeSelector& a, const DeviceNodeSelector& b);
bool Same(const CapacityRequestPolicy& a, const CapacityRequestPolicy& b);
bool Same(const ClaimAllocation& a, const ClaimAllocation& b);
bool Same(const DeviceCapacity& a, const DeviceCapacity& b);
bool Same(const Device& a, const Device& b);

template <class T>
bool SameTarget(const std::shared_ptr<T>& a, const std::shared_ptr<T>& b) {
  return a == b || (a != nullptr && b != nullptr && Same(*a, *b));
}
template <class T>
bool SameEach(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b, [](const T& one, const T& other) { return Same(one, other); });
}

// Fingerprints are those of one form: they are never compared with the other's.
template <class T>
bool Same(const T& a, const T& b) {
  return a == b;
}
bool Same(const DeviceNodeSelector& a, const DeviceNodeSelector& b) { return a.spec == b.spec; }
bool Same(const CapacityRequestPolicy& a, const CapacityRequestPolicy& b) { return a == b; }
bool Same(const DeviceNodes& a, const DeviceNodes& b) {
  return a.node_name == b.node_name && a.all_nodes == b.all_nodes &&
         SameTarget(a.selector, b.selector);
}
bool Same(const DeviceCapacity& a, const DeviceCapacity& b) {
  return a.name == b.name && a.value == b.value && SameTarget(a.policy, b.policy);
}
bool Same(const Device& a, const Device& b) {
  return a.name == b.name && a.allow_multiple_allocations == b.allow_multiple_allocations &&
         a.binds_to_node == b.binds_to_node && a.attributes == b.attributes &&
         SameEach(a.capacity, b.capacity) && a.taints == b.taints &&
         a.consumes_counters == b.consumes_counters && Same(a.nodes, b.nodes) &&
         a.binding_conditions == b.binding_conditions &&
         a.binding_failure_conditions == b.binding_failure_conditions;
}
bool Same(const ResourceSlice& a, const ResourceSlice& b) {
  return a.meta == b.meta && a.driver == b.driver && a.pool == b.pool &&
         a.pool_generation == b.pool_generation && a.pool_slice_count == b.pool_slice_count &&
         Same(a.nodes, b.nodes) && a.per_device_node_selection == b.per_device_node_selection &&
         a.skip_node_operations == b.skip_node_operations && SameEach(a.devices, b.devices) &&
         a.shared_counters == b.shared_counters;
}
bool Same(const ClaimAllocation& a, const ClaimAllocation& b) {
  return a.results == b.results && SameTarget(a.node_selector, b.node_selector) &&
         a.timestamp == b.timestamp;
}
bool Same(const ResourceClaim& a, const ResourceClaim& b) {
  return a.meta == b.meta && a.finalizers == b.finalizers &&
         a.for_extended_resources == b.for_extended_resources && a.requests == b.requests &&
         a.constraints == b.constraints && a.config == b.config &&
         SameTarget(a.allocation, b.allocation) && a.reserved_for == b.reserved_for &&
         a.devices == b.devices && (a.status_fingerprint == 0) == (b.status_fingerprint == 0);
}
bool Same(const DeviceClass& a, const DeviceClass& b) {
  return a.meta == b.meta && a.selectors == b.selectors && a.config == b.config &&
         a.extended_resource_name == b.extended_resource_name;
}
bool Same(const DeviceTaintRule& a, const DeviceTaintRule& b) {
  return a.meta == b.meta && a.taint == b.taint && a.selector == b.selector;
}
bool Same(const PersistentVolume& a, const PersistentVolume& b) {
  return a.meta == b.meta && a.storage_class_name == b.storage_class_name &&
         a.class_annotation == b.class_annotation &&
         a.bound_by_controller == b.bound_by_controller && a.capacity == b.capacity &&
         a.access_modes == b.access_modes && a.volume_mode == b.volume_mode &&
         a.attributes_class == b.attributes_class && a.claim_ref == b.claim_ref &&
         a.phase == b.phase && a.source == b.source && a.source_id == b.source_id &&
         a.azure_kind == b.azure_kind && a.volume_handle == b.volume_handle &&
         a.node_affinity_spec == b.node_affinity_spec;
}
PodSpec WithoutFingerprints(PodSpec spec) {
  for (Volume& volume : spec.volumes) volume.fingerprint = 0;
  return spec;
}
bool Same(const Pod& a, const Pod& b) {
  return a.meta == b.meta && a.node_name == b.node_name && a.status == b.status &&
         WithoutFingerprints(*a.spec) == WithoutFingerprints(*b.spec);
}

template <class T>
void ExpectAlike(const std::string& protobuf, const std::string& json) {
  Decoder decoder;
  const auto from_json = decoder.Object<T>(Padded(json));
  const auto from_protobuf = decoder.Object<T>(protobuf);
  ASSERT_TRUE(from_json.ok()) << from_json.error().message << json;
  ASSERT_TRUE(from_protobuf.ok()) << from_protobuf.error().message << json;
  ASSERT_TRUE(*from_json != nullptr && *from_protobuf != nullptr);
  EXPECT_TRUE(Same(**from_json, **from_protobuf)) << json;
  // Never a crash, and never more than there is.
  for (size_t size = 0; size < protobuf.size(); size += 1 + protobuf.size() / 64) {
    (void)decoder.Object<T>(std::string_view(protobuf).substr(0, size));
  }
}

// Random objects as upstream's serializer writes them, with their JSON.
TEST(DecodeForms, RandomObjectsAreAlike) {
  std::ifstream file(KS_API_FORMS);
  std::set<std::string> kinds;
  for (std::string line; std::getline(file, line);) {
    const Json row = Json::parse(line);
    const std::string kind = row["want"]["kind"];
    const std::string protobuf = FromHex(row["hex"].get<std::string>());
#define KS_EXPECT_ALIKE(type, name, group, version, plural, scope) \
  if (kind == (name)) {                                            \
    kinds.insert(kind);                                            \
    ExpectAlike<type>(protobuf, row["want"].dump());               \
  }
    KS_ALL_KINDS(KS_EXPECT_ALIKE)
#undef KS_EXPECT_ALIKE
  }
  size_t known = 0;
#define KS_COUNT(type, name, group, version, plural, scope) ++known;
  KS_ALL_KINDS(KS_COUNT)
#undef KS_COUNT
  EXPECT_EQ(kinds.size(), known);
}

// -- made by hand --

TEST(DecodeForms, WatchEvents) {
  Decoder decoder;
  const auto added =
      decoder.Event<Namespace>(ProtoEvent("ADDED", ProtoBody("Namespace", ProtoMeta("a", "7"))));
  ASSERT_TRUE(added.ok()) << added.error().message;
  EXPECT_EQ(added->type, WatchEventType::kAdded);
  EXPECT_EQ(added->object->meta.name, "a");
  EXPECT_EQ(added->resource_version, "7");

  const auto other =
      decoder.Event<Namespace>(ProtoEvent("MODIFIED", ProtoBody("Node", ProtoMeta("a", "7"))));
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->object, nullptr);

  const std::string end =
      ProtoField(12, ProtoField(1, "k8s.io/initial-events-end") + ProtoField(2, "true"));
  const auto bookmark = decoder.Event<Namespace>(
      ProtoEvent("BOOKMARK", ProtoBody("Namespace", ProtoField(1, ProtoField(6, "9") + end))));
  ASSERT_TRUE(bookmark.ok());
  EXPECT_EQ(bookmark->resource_version, "9");
  EXPECT_TRUE(bookmark->initial_events_end);

  const auto error = decoder.Event<Namespace>(
      ProtoEvent("ERROR", ProtoBody("Status", ProtoField(3, "too old") + ProtoField(4, "Expired") +
                                                  std::string("\x30\x9a\x03"))));  // code: 410
  ASSERT_TRUE(error.ok());
  EXPECT_EQ(error->type, WatchEventType::kError);
  EXPECT_EQ(error->error.code, 410);
  EXPECT_EQ(error->error.reason, "Expired");
  EXPECT_EQ(error->error.message, "too old");
}

TEST(DecodeForms, Lists) {
  Decoder decoder;
  const auto page = decoder.List<Namespace>(
      ProtoBody("NamespaceList", ProtoField(1, ProtoField(2, "12") + ProtoField(3, "more")) +
                                     ProtoField(2, ProtoMeta("a", "7")) +
                                     ProtoField(2, ProtoMeta("b", "7"))));
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(page->resource_version, "12");
  EXPECT_EQ(page->continue_token, "more");
  ASSERT_EQ(page->items.size(), 2);
  EXPECT_EQ(page->items[1]->meta.name, "b");
}

struct BadCase {
  const char* name;
  std::string bytes;
  const char* error;  // part of it
};

TEST(DecodeForms, BadBytesAreRefused) {
  const std::string metadata = ProtoField(1, ProtoField(1, "a"));
  const BadCase cases[] = {
      {"CutEnvelope", ProtoBody("NamespaceList", metadata).substr(0, 12),
       "not an object in the envelope"},
      {"EncodedContent", ProtoBody("NamespaceList", metadata) + ProtoField(3, "gzip"),
       "not an object in the envelope"},
      {"OtherKind", ProtoBody("PodList", ""), "must be NamespaceList, not PodList"},
      {"CutField", ProtoBody("NamespaceList", "\x12\x7f"), "ends too early"},
      {"TooEarlyATime",
       ProtoBody("NamespaceList",
                 ProtoField(2, ProtoField(1, ProtoField(8,
                                                        "\x08\x80\x80\x80\x80\x80\x80\x80\x80"
                                                        "\x80\x01")))),
       "items[0].metadata.creationTimestamp: is no time that can be represented"},
      {"TooManyNanoseconds",
       ProtoBody("NamespaceList",
                 ProtoField(2, ProtoField(1, ProtoField(8,
                                                        "\x10\xff\xff\xff\xff\xff\xff\xff\xff"
                                                        "\x7f")))),
       "items[0].metadata.creationTimestamp: is no time that can be represented"},
      {"NumberForText", ProtoBody("NamespaceList", ProtoField(2, ProtoField(1, ProtoNumber(1, 3)))),
       "items[0].metadata: invalid protobuf: a field has not the type of its number"},
      {"NumberForMessage", ProtoBody("NamespaceList", ProtoNumber(1, 3)),
       "a field has not the type of its number"},
      // Annotations are entries of a map.
      {"EntriesApart",
       ProtoBody("NamespaceList",
                 ProtoField(2, ProtoField(1, ProtoField(12, ProtoField(1, "a")) +
                                                 ProtoField(3, "") + ProtoField(12, "")))),
       "items[0].metadata: invalid protobuf: the elements of a field are not in a row"},
  };
  Decoder decoder;
  for (const BadCase& row : cases) {
    SCOPED_TRACE(row.name);
    const auto page = decoder.List<Namespace>(row.bytes);
    ASSERT_FALSE(page.ok());
    EXPECT_THAT(page.error().message, HasSubstr(row.error));
  }
  const auto event = decoder.Event<Namespace>(ProtoEvent("GONE", ""));
  ASSERT_FALSE(event.ok());
  EXPECT_EQ(event.error().message, "\"GONE\" is no type of watch event");
}

}  // namespace
}  // namespace ks::api
