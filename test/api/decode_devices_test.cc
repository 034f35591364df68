// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "api/decoding.h"

namespace ks::api {
namespace {

using Strings = std::vector<std::string>;

LabelMap Zone(const char* value) { return {{Symbol("zone"), Symbol(value)}}; }

// A slice with one device, whose fields besides the name are these.
ResourceSlicePtr WithDevice(std::string_view fields) {
  return Decode<ResourceSlice>(R"({"metadata":{"name":"s"},"spec":{"devices":[{"name":"d0",)" +
                               std::string(fields) + "}]}}");
}

TEST(DecodeDevicesTest, ResourceSlice) {
  const auto slice = Decode<ResourceSlice>(R"({"metadata":{"name":"s1","uid":"u",
      "resourceVersion":"7","annotations":{"a":"b"}},
    "spec":{"driver":"drv.example","pool":{"name":"p","generation":3,"resourceSliceCount":2},
      "nodeName":"n1","allNodes":true,"perDeviceNodeSelection":false,
      "skipNodeOperations":["NodePrepareResources"],
      "nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[
        {"key":"zone","operator":"In","values":["z1"]}]}]},
      "sharedCounters":[{"name":"set","counters":{"mem":{"value":"40Gi"},"cpu":{"value":"4"}}}],
      "devices":[{"name":"d1"},{"name":"d0"}]}})");
  EXPECT_EQ(slice->meta.Key(), "s1");
  EXPECT_EQ(slice->meta.resource_version, "7");
  EXPECT_TRUE(slice->meta.annotations.empty());
  EXPECT_EQ(slice->driver, Symbol("drv.example"));
  EXPECT_EQ(slice->pool, Symbol("p"));
  EXPECT_EQ(slice->pool_generation, 3);
  EXPECT_EQ(slice->pool_slice_count, 2);
  EXPECT_EQ(slice->nodes.node_name, Symbol("n1"));
  EXPECT_TRUE(slice->nodes.all_nodes);
  ASSERT_NE(slice->nodes.selector, nullptr);
  EXPECT_EQ(slice->nodes.selector->spec.terms.size(), 1u);
  EXPECT_TRUE(slice->nodes.selector->compiled.Matches(Zone("z1"), "n"));
  EXPECT_FALSE(slice->nodes.selector->compiled.Matches(Zone("z2"), "n"));
  EXPECT_EQ(slice->per_device_node_selection, false) << "set, although to false";
  EXPECT_EQ(slice->skip_node_operations, Strings{"NodePrepareResources"});
  EXPECT_EQ(slice->shared_counters,
            (std::vector<CounterSet>{{Symbol("set"),
                                      {{Symbol("mem"), *Quantity::Parse("40Gi")},
                                       {Symbol("cpu"), *Quantity::Parse("4")}}}}));
  ASSERT_EQ(slice->devices.size(), 2u);
  EXPECT_EQ(slice->devices[0].name, Symbol("d1")) << "the order of the list stays";
  EXPECT_EQ(slice->devices[1].name, Symbol("d0"));
}

TEST(DecodeDevicesTest, SliceWithoutAnything) {
  const auto slice = Decode<ResourceSlice>(R"({"metadata":{"name":"s"},"spec":{
    "nodeName":null,"nodeSelector":null,"devices":null,"skipNodeOperations":[]}})");
  EXPECT_TRUE(slice->nodes.node_name.empty());
  EXPECT_EQ(slice->nodes.selector, nullptr);
  EXPECT_FALSE(slice->per_device_node_selection.has_value());
  EXPECT_TRUE(slice->skip_node_operations.empty());
  EXPECT_TRUE(slice->devices.empty());
}

TEST(DecodeDevicesTest, Device) {
  const auto slice = WithDevice(R"("nodeName":"n2","bindsToNode":true,
    "allowMultipleAllocations":true,"bindingConditions":["ready"],
    "bindingFailureConditions":["bad","worse"],
    "taints":[{"key":"k","value":"v","effect":"NoSchedule","timeAdded":"2026-01-02T03:04:05Z"}],
    "consumesCounters":[{"counterSet":"a","counters":{"mem":{"value":"1"}}},
      {"counterSet":"b","counters":{},"compatibilityGroups":["g","h"]}])");
  const Device& device = slice->devices.at(0);
  EXPECT_EQ(device.nodes.node_name, Symbol("n2"));
  EXPECT_TRUE(device.binds_to_node);
  EXPECT_TRUE(device.allow_multiple_allocations);
  EXPECT_EQ(device.binding_conditions, Strings{"ready"});
  EXPECT_EQ(device.binding_failure_conditions, (Strings{"bad", "worse"}));
  EXPECT_EQ(device.taints,
            (std::vector<DeviceTaint>{{Symbol("k"), Symbol("v"), Symbol("NoSchedule")}}));
  EXPECT_EQ(device.consumes_counters,
            (std::vector<CounterSet>{{Symbol("a"), {{Symbol("mem"), Quantity::FromUnits(1)}}},
                                     {Symbol("b"), {}, {Symbol("g"), Symbol("h")}}}));
}

TEST(DecodeDevicesTest, Attributes) {
  struct Case {
    const char* json;
    DeviceAttributeValue wanted;
  };
  const Case cases[] = {
      {R"({"int":-3})", int64_t{-3}},
      {R"({"bool":false})", false},
      {R"({"string":"a100"})", std::string("a100")},
      {R"({"version":"1.2.3"})", DeviceVersion{"1.2.3"}},
      {R"({"ints":[1,2]})", std::vector<int64_t>{1, 2}},
      {R"({"bools":[true,false]})", std::vector<bool>{true, false}},
      {R"({"strings":["a"]})", Strings{"a"}},
      {R"({"versions":["1.0.0"]})", std::vector<DeviceVersion>{{"1.0.0"}}},
      {R"({"string":"a","int":null})", std::string("a")},
      {R"({"later":"x"})", std::monostate()},
      {R"({})", std::monostate()},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.json);
    const auto slice = WithDevice(R"("attributes":{"dom.example/x":)" + std::string(c.json) + "}");
    ASSERT_EQ(slice->devices[0].attributes.size(), 1u);
    EXPECT_EQ(slice->devices[0].attributes[0].name, Symbol("dom.example/x"));
    EXPECT_EQ(slice->devices[0].attributes[0].value, c.wanted);
  }
}

TEST(DecodeDevicesTest, CapacityAndItsPolicy) {
  const auto slice = WithDevice(R"("capacity":{"plain":{"value":"10Gi"},
    "range":{"value":"4","requestPolicy":{"default":"1","validRange":{"min":"500m","step":"1"}}},
    "values":{"value":"4","requestPolicy":{"validValues":["1","2"]}}})");
  const std::vector<DeviceCapacity>& capacity = slice->devices.at(0).capacity;
  ASSERT_EQ(capacity.size(), 3u);
  EXPECT_EQ(capacity[0].name, Symbol("plain"));
  EXPECT_EQ(capacity[0].value, *Quantity::Parse("10Gi"));
  EXPECT_EQ(capacity[0].policy, nullptr);
  ASSERT_NE(capacity[1].policy, nullptr);
  EXPECT_EQ(capacity[1].policy->default_amount, Quantity::FromUnits(1));
  ASSERT_TRUE(capacity[1].policy->valid_range.has_value());
  EXPECT_EQ(capacity[1].policy->valid_range->min, Quantity::FromMilli(500));
  EXPECT_EQ(capacity[1].policy->valid_range->step, Quantity::FromUnits(1));
  EXPECT_FALSE(capacity[1].policy->valid_range->max.has_value());
  ASSERT_NE(capacity[2].policy, nullptr);
  EXPECT_FALSE(capacity[2].policy->default_amount.has_value());
  EXPECT_EQ(capacity[2].policy->valid_values,
            (std::vector<Quantity>{Quantity::FromUnits(1), Quantity::FromUnits(2)}));
}

TEST(DecodeDevicesTest, NodeSelectorThatDoesNotParse) {
  const auto slice = WithDevice(R"("nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[
    {"key":"zone","operator":"Foo"}]}]})");
  const DeviceNodeSelectorPtr& selector = slice->devices.at(0).nodes.selector;
  ASSERT_NE(selector, nullptr);
  EXPECT_TRUE(selector->compiled.HasErrors());
}

TEST(DecodeDevicesTest, DeviceClass) {
  const auto device_class = Decode<DeviceClass>(R"({"metadata":{"name":"gpu",
      "creationTimestamp":"2026-01-02T03:04:05Z"},
    "spec":{"selectors":[{"cel":{"expression":"true"}},{},{"cel":null},{"cel":{}}],
      "config":[{"opaque":{"driver":"d","parameters":{"x": [1]}}},{"other":{}}],
      "extendedResourceName":"example.com/gpu"}})");
  EXPECT_TRUE(device_class->meta.creation_timestamp.has_value());
  EXPECT_EQ(device_class->selectors, (std::vector<DeviceSelector>{"true", {}, {}, ""}))
      << "one of a type that is not known differs from an empty expression";
  EXPECT_EQ(
      device_class->config,
      (std::vector<DeviceConfig>{
          {.source = "", .requests = {}, .opaque = R"({"driver":"d","parameters":{"x": [1]}})"},
          {}}));
  EXPECT_EQ(device_class->extended_resource_name, "example.com/gpu");
}

TEST(DecodeDevicesTest, DeviceTaintRule) {
  using Selector = DeviceTaintRule::Selector;
  const auto rule = Decode<DeviceTaintRule>(R"({"metadata":{"name":"r"},"spec":{
    "deviceSelector":{"driver":"drv","device":"d0"},
    "taint":{"key":"k","effect":"NoExecute"}}})");
  EXPECT_EQ(rule->selector, (Selector{Symbol("drv"), {}, Symbol("d0")}));
  EXPECT_EQ(rule->taint, (DeviceTaint{Symbol("k"), {}, Symbol("NoExecute")}));
  const char* const everything = R"({"metadata":{"name":"r"},"spec":{"deviceSelector":{}}})";
  EXPECT_EQ(Decode<DeviceTaintRule>(everything)->selector, Selector());
  const char* const nothing = R"({"metadata":{"name":"r"},"spec":{"deviceSelector":null}})";
  EXPECT_FALSE(Decode<DeviceTaintRule>(nothing)->selector.has_value());
}

TEST(DecodeDevicesTest, ClaimAsAskedFor) {
  const auto claim = Decode<ResourceClaim>(R"({"metadata":{"name":"c","namespace":"ns","uid":"u",
      "resourceVersion":"4","finalizers":["a","resource.kubernetes.io/delete-protection"],
      "annotations":{"resource.kubernetes.io/extended-resource-claim":"true","x":"y"},
      "ownerReferences":[{"uid":"pod-uid","name":"p","kind":"Pod","controller":true}]},
    "spec":{"devices":{
      "requests":[
        {"name":"a","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":2,
          "adminAccess":false,"selectors":[{"cel":{"expression":"e"}}],
          "tolerations":[{"key":"k","operator":"Equal","value":"v","effect":"NoExecute",
            "tolerationSeconds":5},{"operator":"Exists"}],
          "capacity":{"requests":{"mem":"6G"}}}},
        {"name":"b","firstAvailable":[{"name":"s0","deviceClassName":"big","count":4},
          {"name":"s1","allocationMode":"All","derivedAttributes":[{"name":"d/a","expression":"1"},{}]}]},
        {"name":"c"}],
      "constraints":[{"requests":["a","b/s0"],"matchAttribute":"d/numa"},
        {"distinctAttribute":"d/x"},{}],
      "config":[{"requests":["a"],"opaque":{"driver":"d","parameters":1}}]}}})");
  EXPECT_EQ(claim->meta.Key(), "ns/c");
  EXPECT_TRUE(claim->meta.annotations.empty());
  EXPECT_TRUE(claim->for_extended_resources);
  EXPECT_EQ(claim->finalizers, (Strings{"a", std::string(kClaimDeleteProtection)}));
  ASSERT_NE(claim->meta.Controller(), nullptr);
  ASSERT_EQ(claim->requests.size(), 3u);
  EXPECT_EQ(claim->requests[0].name, "a");
  ASSERT_TRUE(claim->requests[0].exactly.has_value());
  const ExactDeviceRequest& exactly = *claim->requests[0].exactly;
  EXPECT_EQ(exactly.device_class_name, Symbol("gpu"));
  EXPECT_EQ(exactly.allocation_mode, kExactCountMode);
  EXPECT_EQ(exactly.count, 2);
  EXPECT_EQ(exactly.admin_access, false);
  EXPECT_EQ(exactly.selectors, (std::vector<DeviceSelector>{"e"}));
  EXPECT_EQ(exactly.tolerations, (std::vector<DeviceToleration>{
                                     {Symbol("k"), "Equal", Symbol("v"), Symbol("NoExecute"), 5},
                                     {Symbol(), "Exists", Symbol(), Symbol(), {}}}));
  EXPECT_TRUE(exactly.has_capacity);
  EXPECT_EQ(exactly.capacity,
            (std::vector<NamedQuantity>{{Symbol("mem"), *Quantity::Parse("6G")}}));
  EXPECT_TRUE(claim->requests[0].first_available.empty());
  ASSERT_EQ(claim->requests[1].first_available.size(), 2u);
  EXPECT_FALSE(claim->requests[1].exactly.has_value());
  EXPECT_EQ(claim->requests[1].first_available[0].name, "s0");
  EXPECT_FALSE(claim->requests[1].first_available[0].admin_access.has_value());
  EXPECT_FALSE(claim->requests[1].first_available[0].has_capacity);
  EXPECT_EQ(claim->requests[1].first_available[1].allocation_mode, kAllMode);
  EXPECT_EQ(claim->requests[1].first_available[1].derived_attributes,
            (std::vector<DerivedAttribute>{{"d/a", "1"}, {}}));
  EXPECT_FALSE(claim->requests[2].exactly.has_value());
  EXPECT_EQ(claim->constraints,
            (std::vector<DeviceConstraint>{
                {{"a", "b/s0"}, "d/numa", {}}, {{}, {}, "d/x"}, DeviceConstraint()}));
  EXPECT_EQ(claim->config,
            (std::vector<DeviceConfig>{{"", {"a"}, R"({"driver":"d","parameters":1})"}}));
  EXPECT_EQ(claim->allocation, nullptr);
  EXPECT_EQ(claim->status_fingerprint, 0u);
}

TEST(DecodeDevicesTest, ClaimAsAllocated) {
  const auto claim = Decode<ResourceClaim>(R"({"metadata":{"name":"c","namespace":"ns"},
    "status":{"allocation":{"allocationTimestamp":"2026-01-02T03:04:05Z",
        "nodeSelector":{"nodeSelectorTerms":[{"matchFields":[
          {"key":"metadata.name","operator":"In","values":["n1"]}]}]},
        "devices":{"config":[{"source":"FromClass"}],"results":[
          {"request":"r/s","driver":"drv","pool":"p","device":"d0","adminAccess":true,
            "shareID":"id","consumedCapacity":{"mem":"1Gi"},"tolerations":[{"key":"k"}],
            "bindingConditions":["ready"],"bindingFailureConditions":["bad"],
            "skipNodeOperations":["x"]},
          {"request":"r","driver":"drv","pool":"p","device":"d1","adminAccess":null}]}},
      "reservedFor":[{"resource":"pods","name":"p","uid":"pu"},
        {"apiGroup":"g","resource":"podgroups","name":"x","uid":"gu"}],
      "devices":[{"driver":"drv","pool":"p","device":"d0","data":{"x":1},"conditions":[
        {"type":"ready","status":"True","reason":"R","message":"M"}]}]}})");
  ASSERT_NE(claim->allocation, nullptr);
  EXPECT_TRUE(claim->allocation->timestamp.has_value());
  ASSERT_NE(claim->allocation->node_selector, nullptr);
  EXPECT_TRUE(claim->allocation->node_selector->compiled.Matches({}, "n1"));
  EXPECT_FALSE(claim->allocation->node_selector->compiled.Matches({}, "n2"));
  EXPECT_TRUE(claim->allocation->config.empty()) << "nobody reads it back";
  ASSERT_EQ(claim->allocation->results.size(), 2u);
  const DeviceResult& shared = claim->allocation->results[0];
  EXPECT_EQ(shared.request, "r/s");
  EXPECT_EQ(shared.driver, Symbol("drv"));
  EXPECT_EQ(shared.pool, Symbol("p"));
  EXPECT_EQ(shared.device, Symbol("d0"));
  EXPECT_TRUE(shared.admin_access);
  EXPECT_EQ(shared.skip_node_operations, Strings{"x"});
  EXPECT_EQ(shared.share_id, "id");
  EXPECT_EQ(shared.consumed_capacity,
            (std::vector<NamedQuantity>{{Symbol("mem"), *Quantity::Parse("1Gi")}}));
  EXPECT_EQ(shared.tolerations.size(), 1u);
  EXPECT_EQ(shared.binding_conditions, Strings{"ready"});
  EXPECT_EQ(shared.binding_failure_conditions, Strings{"bad"});
  EXPECT_FALSE(claim->allocation->results[1].admin_access);
  EXPECT_TRUE(claim->allocation->results[1].share_id.empty());
  EXPECT_EQ(claim->reserved_for,
            (std::vector<ClaimConsumer>{{"", "pods", "p", "pu"}, {"g", "podgroups", "x", "gu"}}));
  EXPECT_TRUE(claim->IsReservedFor("pu"));
  EXPECT_FALSE(claim->IsReservedFor("p"));
  ASSERT_EQ(claim->devices.size(), 1u);
  EXPECT_EQ(claim->devices[0].device, Symbol("d0"));
  ASSERT_EQ(claim->devices[0].conditions.size(), 1u);
  EXPECT_EQ(claim->devices[0].conditions[0].message, "M");
}

TEST(DecodeDevicesTest, StatusesAreEqualAsWritten) {
  const auto fingerprint = [](std::string_view status) {
    return Decode<ResourceClaim>(R"({"metadata":{"name":"c","namespace":"ns"},"status":)" +
                                 std::string(status) + "}")
        ->status_fingerprint;
  };
  EXPECT_EQ(fingerprint("null"), 0u);
  EXPECT_EQ(fingerprint("{}"), 0u);
  const uint64_t with_data = fingerprint(R"({"devices":[{"data":{"x":1}}]})");
  EXPECT_NE(with_data, 0u);
  EXPECT_EQ(with_data, fingerprint(R"({"devices":[{"data":{"x":1}}]} )"));
  EXPECT_NE(with_data, fingerprint(R"({"devices":[{"data":{"x":2}}]})"))
      << "fields that are not kept count, too";
}

TEST(DecodeDevicesTest, ErrorsNameThePlace) {
  struct Case {
    std::string error;
    const char* path;
  };
  const Case cases[] = {
      {ErrorOf<ResourceSlice>(R"({"spec":{"pool":{"generation":"x"}}})"), "spec.pool.generation: "},
      {ErrorOf<ResourceSlice>(R"({"spec":{"devices":[{},{"capacity":{"mem":{"value":"1x"}}}]}})"),
       "spec.devices[1].capacity.mem.value: "},
      {ErrorOf<ResourceSlice>(R"({"spec":{"devices":[{"attributes":{"a":{"int":"1"}}}]}})"),
       "spec.devices[0].attributes.a.int: "},
      {ErrorOf<ResourceSlice>(R"({"spec":{"devices":[{"attributes":{"a":{"bools":[true,1]}}}]}})"),
       "spec.devices[0].attributes.a.bools[1]: "},
      {ErrorOf<DeviceClass>(R"({"spec":{"selectors":[{"cel":"true"}]}})"),
       "spec.selectors[0].cel: "},
      {ErrorOf<DeviceClass>(R"({"spec":{"config":[{"opaque":1}]}})"), "spec.config[0].opaque: "},
      {ErrorOf<DeviceTaintRule>(R"({"spec":{"taint":[]}})"), "spec.taint: "},
      {ErrorOf<ResourceClaim>(R"({"spec":{"devices":{"requests":[{"exactly":{"count":"2"}}]}}})"),
       "spec.devices.requests[0].exactly.count: "},
      {ErrorOf<ResourceClaim>(
           R"({"status":{"allocation":{"devices":{"results":[{"consumedCapacity":{"m":"x"}}]}}}})"),
       "status.allocation.devices.results[0].consumedCapacity.m: "},
      {ErrorOf<ResourceClaim>(R"({"status":[]})"), "status: "},
  };
  for (const Case& c : cases) EXPECT_EQ(c.error.rfind(c.path, 0), 0u) << c.error;
}

}  // namespace
}  // namespace ks::api
