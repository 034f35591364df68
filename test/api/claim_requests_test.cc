// SPDX-License-Identifier: Apache-2.0
// The bodies of requests about ResourceClaims (docs/spec/plugins-dra.md 4.4, 4.7, 4.9, 10.4, 10.5).
#include "api/json/claim_requests.h"

#include <array>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/decoding.h"
#include "api/json/encode_claim.h"
#include "base/random.h"

namespace ks::api {
namespace {

using Verb = ClaimRequest::Verb;
using Strings = std::vector<std::string>;

constexpr TimePoint kMoment{std::chrono::seconds(1767323106) + std::chrono::milliseconds(789)};

ResourceClaim KnownClaim() {
  ResourceClaim claim;
  claim.meta.ns = Symbol("ns");
  claim.meta.name = "c";
  claim.meta.uid = "u-c";
  claim.meta.resource_version = "7";
  return claim;
}

ClaimConsumer Consumer(const char* name) { return {"", "pods", name, std::string("u-") + name}; }

// "verb[ strategic] ns/name body"
std::string TextOf(const ClaimRequest& request) {
  static constexpr std::array<const char*, 5> kVerbs = {"get", "create", "patch", "patch status",
                                                        "delete"};
  return std::string(kVerbs.at(static_cast<size_t>(request.verb))) +
         (request.strategic ? " strategic " : " ") + request.ns + "/" + request.name + " " +
         request.body;
}

TEST(ClaimRequestsTest, WithoutFields) {
  const ResourceClaim claim = KnownClaim();
  EXPECT_EQ(TextOf(GetClaimRequest(claim)), "get ns/c ");
  EXPECT_EQ(TextOf(DeleteClaimRequest(claim)),
            R"(delete ns/c {"kind":"DeleteOptions","apiVersion":"v1"})");
  EXPECT_EQ(TextOf(DeallocateRequest(claim)),
            R"(patch status ns/c {"metadata":{"uid":"u-c","resourceVersion":"7"},)"
            R"("status":{"allocation":null,"reservedFor":null,"devices":null}})");
  EXPECT_EQ(TextOf(RemoveConsumerRequest(claim, "u-\"p")),
            R"(patch status strategic ns/c {"metadata": {"uid": "u-c"}, )"
            R"("status": { "reservedFor": [ {"$patch": "delete", "uid": "u-\"p"} ] }})");
}

TEST(ClaimRequestsTest, Finalizers) {
  struct Case {
    Strings known;
    const char* added;
    const char* removed;
  };
  const Case cases[] = {
      {{}, R"(["resource.kubernetes.io/delete-protection"])", "[]"},
      {{"a.example/x"},
       R"(["a.example/x","resource.kubernetes.io/delete-protection"])",
       R"(["a.example/x"])"},
      {{"resource.kubernetes.io/delete-protection", "a.example/x"},
       R"(["resource.kubernetes.io/delete-protection","a.example/x"])",
       R"(["a.example/x"])"},
  };
  const std::string head =
      R"(patch ns/c {"metadata":{"uid":"u-c","resourceVersion":"7","finalizers":)";
  for (const Case& c : cases) {
    SCOPED_TRACE(c.added);
    ResourceClaim claim = KnownClaim();
    claim.finalizers = c.known;
    EXPECT_EQ(TextOf(AddFinalizerRequest(claim)), head + c.added + "}}");
    EXPECT_EQ(TextOf(RemoveFinalizerRequest(claim)), head + c.removed + "}}");
  }
}

// One device, and nothing that may be absent.
ClaimAllocationPtr Least() {
  ClaimAllocation allocation;
  allocation.results = {{.request = "r",
                         .driver = Symbol("drv.example"),
                         .pool = Symbol("p"),
                         .device = Symbol("d")}};
  return std::make_shared<const ClaimAllocation>(std::move(allocation));
}

// Everything there is.
ClaimAllocationPtr Most() {
  ClaimAllocation allocation;
  DeviceResult& result = allocation.results.emplace_back();
  result.request = "r/sub";
  result.driver = Symbol("drv.example");
  result.pool = Symbol("p");
  result.device = Symbol("d");
  result.admin_access = true;
  result.tolerations = {{Symbol("k"), "Equal", Symbol("v"), Symbol("NoExecute"), 30},
                        {Symbol(), "Exists", Symbol(), Symbol()}};
  result.binding_conditions = {"ready"};
  result.binding_failure_conditions = {"bad", "worse"};
  result.share_id = "share-1";
  result.consumed_capacity = {{Symbol("drv.example/mem"), *Quantity::Parse("1536Mi")},
                              {Symbol("n"), Quantity::FromMilli(500)}};
  allocation.config = {
      {"FromClass", {"r/sub"}, R"({"driver":"drv.example","parameters":{"a":[1]}})"},
      {"FromClaim", {}, ""}};
  auto selector = std::make_shared<DeviceNodeSelector>();
  selector->spec.terms = {{{{"zone", "In", {"z1", "z2"}}, {"gpu", "Exists", {}}}, {}},
                          {{}, {{"metadata.name", "In", {"n1"}}}}};
  allocation.node_selector = std::move(selector);
  allocation.timestamp = kMoment;
  return std::make_shared<const ClaimAllocation>(std::move(allocation));
}

const char* const kLeastJson =
    R"("devices":{"results":[{"request":"r","driver":"drv.example","pool":"p","device":"d"}]})";
const char* const kMostJson =
    R"("devices":{"results":[{"request":"r/sub","driver":"drv.example","pool":"p","device":"d",)"
    R"("adminAccess":true,"tolerations":[{"key":"k","operator":"Equal","value":"v",)"
    R"("effect":"NoExecute","tolerationSeconds":30},{"operator":"Exists"}],)"
    R"("bindingConditions":["ready"],"bindingFailureConditions":["bad","worse"],)"
    R"("shareID":"share-1","consumedCapacity":{"drv.example/mem":"1536Mi","n":"500m"}}],)"
    R"("config":[{"source":"FromClass","requests":["r/sub"],)"
    R"("opaque":{"driver":"drv.example","parameters":{"a":[1]}}},{"source":"FromClaim"}]},)"
    R"("nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[)"
    R"({"key":"zone","operator":"In","values":["z1","z2"]},{"key":"gpu","operator":"Exists"}]},)"
    R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]})";
const std::string kTimestampJson = R"("allocationTimestamp":"2026-01-02T03:05:06Z")";
const std::string kPodJson = R"({"resource":"pods","name":"p","uid":"u-p"})";

TEST(ClaimRequestsTest, Binding) {
  struct Case {
    const char* name;
    ClaimBinding binding;
    std::vector<ClaimConsumer> known;
    std::string status;
  };
  const Case cases[] = {
      {"reservation", {.consumer = Consumer("p")}, {}, R"("reservedFor":[)" + kPodJson + "]"},
      {"another consumer",
       {.consumer = Consumer("p")},
       {{"g.example", "things", "t", "u-t"}, Consumer("q")},
       R"("reservedFor":[{"apiGroup":"g.example","resource":"things","name":"t","uid":"u-t"},)"
       R"({"resource":"pods","name":"q","uid":"u-q"},)" +
           kPodJson + "]"},
      {"timestamp alone",
       {.allocated_at = kMoment, .consumer = Consumer("p")},
       {},
       R"("allocation":{)" + kTimestampJson + R"(},"reservedFor":[)" + kPodJson + "]"},
      {"least",
       {.allocation = Least(), .consumer = Consumer("p")},
       {},
       R"("allocation":{)" + std::string(kLeastJson) + R"(},"reservedFor":[)" + kPodJson + "]"},
      {"allocation and timestamp",
       {.allocation = Least(), .allocated_at = kMoment, .consumer = Consumer("p")},
       {},
       R"("allocation":{)" + std::string(kLeastJson) + "," + kTimestampJson +
           R"(},"reservedFor":[)" + kPodJson + "]"},
      {"most",
       {.allocation = Most(), .consumer = Consumer("p")},
       {},
       R"("allocation":{)" + std::string(kMostJson) + "," + kTimestampJson +
           R"(},"reservedFor":[)" + kPodJson + "]"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ResourceClaim claim = KnownClaim();
    claim.reserved_for = c.known;
    const ClaimRequest request = BindClaimRequest(claim, c.binding);
    EXPECT_EQ(TextOf(request),
              R"(patch status ns/c {"metadata":{"uid":"u-c","resourceVersion":"7"},"status":{)" +
                  c.status + "}}");
    EXPECT_TRUE(nlohmann::json::accept(request.body)) << request.body;
  }
}

TEST(ClaimRequestsTest, ExtendedResources) {
  ResourceClaim claim = KnownClaim();
  claim.meta.name = "p-extended-resources-x2b4c";
  claim.meta.owner_references.Mutable() = {{"v1", "Pod", "p", "u-p", true}};
  claim.requests.resize(2);
  claim.requests[0].name = "container-0-request-0";
  claim.requests[0].exactly = {.device_class_name = Symbol("gpu.example"),
                               .allocation_mode = std::string(kExactCountMode),
                               .count = 2};
  claim.requests[1].name = "container-1-request-3";
  claim.requests[1].exactly = {.device_class_name = Symbol("nic.example"),
                               .allocation_mode = std::string(kExactCountMode),
                               .count = 1};
  EXPECT_EQ(
      TextOf(CreateExtendedClaimRequest(claim, "p-extended-resources-")),
      R"(create ns/ {"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{)"
      R"("name":"p-extended-resources-x2b4c","generateName":"p-extended-resources-","namespace":"ns",)"
      R"("annotations":{"resource.kubernetes.io/extended-resource-claim":"true"},)"
      R"("ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u-p","controller":true}]},)"
      R"("spec":{"devices":{"requests":[)"
      R"({"name":"container-0-request-0","exactly":{"deviceClassName":"gpu.example",)"
      R"("allocationMode":"ExactCount","count":2}},)"
      R"({"name":"container-1-request-3","exactly":{"deviceClassName":"nic.example",)"
      R"("allocationMode":"ExactCount","count":1}}]}}})");
}

// ---- what is written is read back ----

class AllocationMaker {
 public:
  explicit AllocationMaker(uint64_t seed) : random_(seed) {}

  ClaimAllocationPtr Make() {
    ClaimAllocation allocation;
    allocation.results.resize(random_.Below(4));
    for (DeviceResult& result : allocation.results) result = Result();
    if (Maybe()) allocation.node_selector = Selector();
    // The API keeps whole seconds.
    if (Maybe()) allocation.timestamp = TimePoint(std::chrono::seconds(random_.Below(1U << 31)));
    return std::make_shared<const ClaimAllocation>(std::move(allocation));
  }
  ClaimConsumer Consumer() { return {Maybe() ? Text() : "", Text(), Text(), Text()}; }
  size_t Below(size_t bound) { return random_.Below(bound); }

 private:
  bool Maybe() { return random_.Below(2) == 0; }
  std::string Text() {
    static const Strings texts = {"a", "b-0", "r/sub", "drv.example/x", "\"\\", "ä<&>", "\n"};
    return texts[random_.Below(texts.size())];
  }
  Strings Texts() {
    Strings texts(random_.Below(3));
    for (std::string& text : texts) text = Text();
    return texts;
  }
  Quantity Amount() {
    static const Strings amounts = {"0", "1", "500m", "1.5Gi", "12e6", "100Ti", "3n", "9Ei"};
    return *Quantity::Parse(amounts[random_.Below(amounts.size())]);
  }
  DeviceResult Result() {
    DeviceResult result{Text(), Symbol(Text()), Symbol(Text()), Symbol(Text())};
    result.admin_access = Maybe();
    if (Maybe()) result.share_id = Text();
    result.consumed_capacity.resize(random_.Below(3));
    for (size_t i = 0; i < result.consumed_capacity.size(); ++i) {
      result.consumed_capacity[i] = {Symbol("c" + std::to_string(i)), Amount()};
    }
    result.tolerations.resize(random_.Below(3));
    for (DeviceToleration& toleration : result.tolerations) {
      toleration = {Symbol(Text()), Maybe() ? "Exists" : "", Symbol(Maybe() ? Text() : ""),
                    Symbol(Text())};
      if (Maybe()) toleration.seconds = static_cast<int64_t>(random_.Next());
    }
    result.binding_conditions = Texts();
    result.binding_failure_conditions = Texts();
    return result;
  }
  std::vector<SelectorRequirement> Requirements() {
    std::vector<SelectorRequirement> requirements(random_.Below(3));
    for (SelectorRequirement& requirement : requirements) {
      requirement = {Text(), Maybe() ? "In" : "Exists", Texts()};
    }
    return requirements;
  }
  DeviceNodeSelectorPtr Selector() {
    auto selector = std::make_shared<DeviceNodeSelector>();
    selector->spec.terms.resize(random_.Below(3));
    for (NodeSelectorTerm& term : selector->spec.terms) term = {Requirements(), Requirements()};
    return selector;
  }

  Random random_;
};

void ExpectSameResult(const DeviceResult& got, const DeviceResult& want) {
  EXPECT_EQ(got.request, want.request);
  EXPECT_EQ(got.driver, want.driver);
  EXPECT_EQ(got.pool, want.pool);
  EXPECT_EQ(got.device, want.device);
  EXPECT_EQ(got.admin_access, want.admin_access);
  EXPECT_EQ(got.share_id, want.share_id);
  EXPECT_EQ(got.consumed_capacity, want.consumed_capacity);
  EXPECT_EQ(got.tolerations, want.tolerations);
  EXPECT_EQ(got.binding_conditions, want.binding_conditions);
  EXPECT_EQ(got.binding_failure_conditions, want.binding_failure_conditions);
}

void ExpectSame(const ClaimAllocation& got, const ClaimAllocation& want) {
  ASSERT_EQ(got.results.size(), want.results.size());
  for (size_t i = 0; i < got.results.size(); ++i) {
    ExpectSameResult(got.results[i], want.results[i]);
  }
  EXPECT_EQ(got.timestamp, want.timestamp);
  ASSERT_EQ(got.node_selector == nullptr, want.node_selector == nullptr);
  if (got.node_selector) EXPECT_EQ(got.node_selector->spec, want.node_selector->spec);
}

TEST(ClaimRequestsTest, WhatIsWrittenIsReadBack) {
  AllocationMaker maker(1);
  for (int i = 0; i < 500; ++i) {
    SCOPED_TRACE(i);
    ResourceClaim claim = KnownClaim();
    claim.reserved_for.resize(maker.Below(3));
    for (ClaimConsumer& consumer : claim.reserved_for) consumer = maker.Consumer();
    const ClaimBinding binding{.allocation = maker.Make(), .consumer = maker.Consumer()};
    const ClaimRequest request = BindClaimRequest(claim, binding);
    const ResourceClaimPtr read = Decode<ResourceClaim>(request.body);
    ASSERT_NE(read->allocation, nullptr) << request.body;
    ExpectSame(*read->allocation, *binding.allocation);
    std::vector<ClaimConsumer> consumers = claim.reserved_for;
    consumers.push_back(binding.consumer);
    EXPECT_EQ(read->reserved_for, consumers);
    EXPECT_EQ(read->meta.uid, claim.meta.uid);
    EXPECT_EQ(read->meta.resource_version, claim.meta.resource_version);
    if (HasFailure()) FAIL() << request.body;
  }
}

TEST(ClaimJsonTest, WhatIsKeptIsReadBack) {
  const char* const cases[] = {
      R"({"metadata":{"name":"c","namespace":"ns","uid":"u","resourceVersion":"7"},"spec":{}})",
      R"({"metadata":{"name":"c","namespace":"ns","uid":"u","resourceVersion":"7","generation":3,
        "labels":{"a":"b","c":"d"},"creationTimestamp":"2026-01-02T03:04:05Z",
        "deletionTimestamp":"2026-01-02T03:04:06Z","finalizers":["f","g"],
        "annotations":{"resource.kubernetes.io/extended-resource-claim":"true"},
        "ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u-p","controller":true},
          {"apiVersion":"v1","kind":"Pod","name":"q","uid":"u-q"}]},
      "spec":{"devices":{
        "requests":[{"name":"a","exactly":{"deviceClassName":"k","allocationMode":"All",
            "selectors":[{"cel":{"expression":"x < \"y\""}},{}],"adminAccess":false,
            "tolerations":[{"operator":"Exists"}],"capacity":{"requests":{"z":"1Gi","b":"5"}},
            "derivedAttributes":[{"name":"n","expression":"1"}]}},
          {"name":"b","firstAvailable":[{"name":"s","deviceClassName":"k","count":2,
            "adminAccess":true,"capacity":{}},{"name":"t"}]},{"name":"c"}],
        "constraints":[{"requests":["a"],"matchAttribute":"d/x"},{"distinctAttribute":""},{}],
        "config":[{"requests":["a"],"opaque":{"driver":"d","parameters":{"k":null}}},{}]}},
      "status":{"allocation":{"devices":{"results":[{"request":"b/s","driver":"d","pool":"p",
            "device":"x","skipNodeOperations":["NodePrepareResources"]}]},
          "allocationTimestamp":"2026-01-02T03:04:05Z"},
        "reservedFor":[{"apiGroup":"g","resource":"r","name":"n","uid":"u"}],
        "devices":[{"driver":"d","pool":"p","device":"x","conditions":[{"type":"Ready",
          "status":"False","reason":"R","message":"M","lastTransitionTime":"2026-01-02T03:04:05Z",
          "observedGeneration":2}]},{"driver":"e","pool":"p","device":"x"}]}})"};
  for (const char* const text : cases) {
    const ResourceClaimPtr claim = Decode<ResourceClaim>(text);
    const std::string json = ClaimJson(*claim);
    ASSERT_TRUE(nlohmann::json::accept(json)) << json;
    const ResourceClaimPtr read = Decode<ResourceClaim>(json);
    EXPECT_EQ(ClaimJson(*read), json);
    // As written, but for fields of which it is only kept that they are there.
    nlohmann::json patch =
        nlohmann::json::diff(nlohmann::json::parse(text), nlohmann::json::parse(json));
    for (const nlohmann::json& step : patch) {
      static const std::set<std::string> kMadeUp = {
          "/metadata/generation",
          "/spec/devices",
          "/status",
          "/spec/devices/requests/0/exactly/count",
          "/spec/devices/requests/1/firstAvailable/1/count",
          "/spec/devices/requests/1/firstAvailable/0/capacity/requests",
          "/status/devices/1/conditions"};
      EXPECT_TRUE(kMadeUp.contains(step["path"].get<std::string>())) << step;
    }
  }
}

}  // namespace
}  // namespace ks::api
