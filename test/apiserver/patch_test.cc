// SPDX-License-Identifier: Apache-2.0
#include "apiserver/body/patch.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "apiserver/schema/schema.h"

namespace ks::apiserver {
namespace {

const KindInfo& KindNamed(std::string_view kind) {
  const KindInfo* found = FindKind(kind == "ResourceClaim" ? "resource.k8s.io/v1" : "v1", kind);
  KS_CHECK(found != nullptr, "no such kind");
  return *found;
}

struct StatusCase {
  const char* name;
  const char* status;  // before
  const char* patch;
  const char* want_status;
};

class SchedulersPatches : public ::testing::TestWithParam<StatusCase> {};

// docs/spec/api.md sections 9.2 and 9.4, on a pod.
TEST_P(SchedulersPatches, AreAppliedToPods) {
  const StatusCase& row = GetParam();
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p"}}}};
  pod["status"] = Json::parse(row.status);
  const auto result = ApplyPatch(KindNamed("Pod"), PatchType::kStrategic, pod, row.patch);
  ASSERT_TRUE(result.ok()) << result.failure().message;
  EXPECT_EQ((*result)["status"], Json::parse(row.want_status)) << result->dump();
}

INSTANTIATE_TEST_SUITE_P(
    Spec, SchedulersPatches,
    ::testing::ValuesIn(std::vector<StatusCase>{
        {"FirstFailure", "{}",
         R"({"status":{"conditions":[{"lastProbeTime":null,
             "lastTransitionTime":"2026-01-02T03:04:05Z","message":"m","observedGeneration":3,
             "reason":"Unschedulable","status":"False","type":"PodScheduled"}]}})",
         R"({"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z",
             "message":"m","observedGeneration":3,"reason":"Unschedulable","status":"False",
             "type":"PodScheduled"}]})"},
        {"MessageChanged",
         R"({"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z",
             "message":"m","status":"False","type":"PodScheduled"}]})",
         R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],
             "conditions":[{"message":"new","type":"PodScheduled"}]}})",
         R"({"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z",
             "message":"new","status":"False","type":"PodScheduled"}]})"},
        {"OtherConditionsPresent",
         R"({"conditions":[
             {"lastProbeTime":null,"lastTransitionTime":null,"status":"True","type":"Ready"},
             {"lastProbeTime":null,"lastTransitionTime":null,"status":"True","type":"Other"}]})",
         R"({"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"Other"},
             {"type":"PodScheduled"}],"conditions":[{"lastProbeTime":null,
             "status":"False","type":"PodScheduled"}]}})",
         R"({"conditions":[
             {"lastProbeTime":null,"lastTransitionTime":null,"status":"True","type":"Ready"},
             {"lastProbeTime":null,"lastTransitionTime":null,"status":"True","type":"Other"},
             {"lastProbeTime":null,"lastTransitionTime":null,"status":"False",
              "type":"PodScheduled"}]})"},
        {"NewConditionsComeFirstWithoutAnOrder",
         R"({"conditions":[
             {"lastProbeTime":null,"lastTransitionTime":null,"status":"True","type":"Ready"}]})",
         R"({"status":{"conditions":[{"status":"False","type":"PodScheduled"}]}})",
         R"({"conditions":[
             {"lastProbeTime":null,"lastTransitionTime":null,"status":"False",
              "type":"PodScheduled"},
             {"lastProbeTime":null,"lastTransitionTime":null,"status":"True","type":"Ready"}]})"},
        {"NominationSet", R"({"phase":"Pending"})", R"({"status":{"nominatedNodeName":"node-1"}})",
         R"({"nominatedNodeName":"node-1","phase":"Pending"})"},
        {"NominationCleared", R"({"nominatedNodeName":"node-1","phase":"Pending"})",
         R"({"status":{"nominatedNodeName":null}})", R"({"phase":"Pending"})"},
    }),
    [](const auto& row) { return row.param.name; });

// 9.6: the reservation is undone by uid.
TEST(StrategicMerge, TakesAReservationBack) {
  const Json claim = Json::parse(R"({"status":{"reservedFor":[
      {"name":"a","resource":"pods","uid":"1"},{"name":"b","resource":"pods","uid":"2"}]}})");
  const auto result = ApplyPatch(KindNamed("ResourceClaim"), PatchType::kStrategic, claim,
                                 R"({"metadata":{"uid":"u"},"status":{"reservedFor":[
                     {"$patch":"delete","uid":"1"}]}})");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)["metadata"]["uid"], "u");
  EXPECT_EQ((*result)["status"]["reservedFor"],
            Json::parse(R"([{"name":"b","resource":"pods","uid":"2"}])"));
}

// Random objects and patches with what upstream makes of them.
TEST(StrategicMerge, IsUpstreamsOnRandomPatches) {
  std::ifstream file(KS_TEST_DATA "/strategic_merge.jsonl");
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    const Json row = Json::parse(line);
    const KindInfo& kind = KindNamed(row["kind"].get<std::string>());
    const auto result =
        ApplyPatch(kind, PatchType::kStrategic, row["original"], row["patch"].dump());
    if (row.contains("error")) {
      ASSERT_FALSE(result.ok()) << line;
      EXPECT_EQ(result.failure().message, row["error"]) << line;
      continue;
    }
    Json want = row["want"];
    ASSERT_FALSE(Fit(SchemaOf(kind), want, nullptr)) << line;
    ASSERT_TRUE(result.ok()) << line << result.failure().message;
    EXPECT_EQ(*result, want) << line;
  }
  EXPECT_EQ(cases, 200);
}

struct ErrorCase {
  const char* name;
  PatchType type;
  const char* patch;
  int want_code;
  const char* want_reason;
  const char* want_message;
};

constexpr const char* kPod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
    "spec":{"containers":[{"name":"c","image":"i","resources":{}}]}})";
constexpr const char* kRejected = "the server rejected our request due to an error in our request";

class BadPatches : public ::testing::TestWithParam<ErrorCase> {};

// Answers of the real kube-apiserver.
TEST_P(BadPatches, AreRefusedAsUpstreamDoes) {
  const ErrorCase& row = GetParam();
  const auto result = ApplyPatch(KindNamed("Pod"), row.type, Json::parse(kPod), row.patch);
  ASSERT_FALSE(result.ok()) << result->dump();
  EXPECT_EQ(result.failure().code, row.want_code);
  EXPECT_EQ(result.failure().reason, row.want_reason);
  EXPECT_EQ(result.failure().message, row.want_message);
}

constexpr PatchType kJ = PatchType::kJson;
constexpr PatchType kM = PatchType::kMerge;
constexpr PatchType kS = PatchType::kStrategic;

INSTANTIATE_TEST_SUITE_P(
    Upstream, BadPatches,
    ::testing::ValuesIn(std::vector<ErrorCase>{
        {"EmptyJson", kJ, "", 400, "BadRequest", "invalid JSON patch"},
        {"GarbageMerge", kM, "garbage", 400, "BadRequest", "invalid JSON patch"},
        {"OpenStrategic", kS, "{", 400, "BadRequest", "invalid JSON patch"},
        {"JsonObject", kJ, "{}", 400, "BadRequest",
         "error decoding patch: json: cannot unmarshal object into Go value of type "
         "[]handlers.jsonPatchOp"},
        {"JsonNumbers", kJ, "[1]", 400, "BadRequest",
         "error decoding patch: json: cannot unmarshal number into Go value of type "
         "handlers.jsonPatchOp"},
        {"MergeArray", kM, "[]", 400, "BadRequest",
         "error decoding patch: json: cannot unmarshal array into Go value of type "
         "map[string]interface {}"},
        {"MergeNull", kM, "null", 400, "BadRequest", "Invalid JSON Patch"},
        {"StrategicString", kS, R"("x")", 400, "BadRequest",
         "json: cannot unmarshal string into Go value of type map[string]interface {}"},
        {"UnknownOperation", kJ, R"([{"op":"x"}])", 422, "Invalid", kRejected},
        {"FailedTest", kJ, R"([{"op":"test","path":"/metadata/name","value":"x"}])", 422, "Invalid",
         kRejected},
        {"RemoveMissing", kJ, R"([{"op":"remove","path":"/metadata/zz"}])", 422, "Invalid",
         kRejected},
        {"AddBelowMissing", kJ, R"([{"op":"add","path":"/a/b/c","value":1}])", 422, "Invalid",
         kRejected},
        {"AddBeyondTheEnd", kJ, R"([{"op":"add","path":"/spec/containers/7","value":{}}])", 422,
         "Invalid", kRejected},
        {"MoveMissing", kJ, R"([{"op":"move","from":"/a","path":"/b"}])", 422, "Invalid",
         kRejected},
        {"NoMergeKey", kS, R"({"spec":{"containers":[{"image":"x"}]}})", 500, "",
         "map: map[image:x] does not contain declared merge key: name"},
        {"UnknownDirective", kS, R"({"spec":{"$patch":"zap"}})", 500, "",
         "unknown patch type: zap in map: map[$patch:zap]"},
        {"DirectiveMergeInAList", kS, R"({"spec":{"containers":[{"$patch":"merge"}]}})", 500, "",
         "merging lists cannot yet be specified in the patch"},
        {"RetainKeysForgetsOne", kS, R"({"spec":{"$retainKeys":["x"],"y":1}})", 400, "BadRequest",
         "invalid patch format of retainKeys"},
        {"OrderContradicts", kS,
         R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],
             "containers":[{"name":"c","image":"z"}]}})",
         500, "",
         "The order in patch list:\n[map[image:z name:c]]\n doesn't match $setElementOrder list:\n"
         "[map[name:a]]\n"},
        {"OrderOfAnUnknownField", kS, R"({"spec":{"$setElementOrder/zz":[]}})", 500, "",
         "unable to find api field in struct PodSpec for the json field \"zz\""},
        {"MapForList", kS, R"({"spec":{"containers":{"a":1}}})", 422, "Invalid",
         " \"\" is invalid: patch: Invalid value: \"map[spec:map[containers:map[a:1]]]\": cannot "
         "restore slice from map"},
        {"ListForMap", kS, R"({"metadata":{"labels":["a"]}})", 422, "Invalid",
         " \"\" is invalid: patch: Invalid value: \"map[metadata:map[labels:[a]]]\": cannot "
         "restore "
         "map from slice"},
    }),
    [](const auto& row) { return row.param.name; });

TEST(MergePatch, TypesAreChecked) {
  const auto result = ApplyPatch(KindNamed("Pod"), kM, Json::parse(R"({"kind":"Pod"})"),
                                 R"({"spec":{"priority":1.5}})");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().code, 422);
  EXPECT_EQ(result.failure().causes.at(0).field, "patch");
  EXPECT_EQ(result.failure().message,
            R"( "" is invalid: patch: Invalid value: )"
            R"("{\"kind\":\"Pod\",\"spec\":{\"priority\":1.5}}": )"
            "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type "
            "int32");
}

TEST(JsonPatch, DoesEveryOperation) {
  const auto result = ApplyPatch(KindNamed("Pod"), kJ, Json::parse(kPod), R"([
      {"op":"test","path":"/metadata/name","value":"p"},
      {"op":"test","path":"/metadata/labels","value":null},
      {"op":"add","path":"/metadata/labels","value":{"a/b":"1","c~":"2"}},
      {"op":"replace","path":"/metadata/labels/a~1b","value":"3"},
      {"op":"remove","path":"/metadata/labels/c~0"},
      {"op":"copy","from":"/metadata/labels/a~1b","path":"/metadata/labels/d"},
      {"op":"move","from":"/metadata/labels/d","path":"/metadata/labels/e"},
      {"op":"add","path":"/spec/containers/-","value":{"name":"d"}},
      {"op":"add","path":"/spec/containers/0","value":{"name":"b"}},
      {"op":"remove","path":"/spec/containers/-1"},
      {"op":"replace","path":"/spec/priority","value":4}])");
  ASSERT_TRUE(result.ok()) << result.failure().message;
  EXPECT_EQ((*result)["metadata"]["labels"], Json::parse(R"({"a/b":"3","e":"3"})"));
  EXPECT_EQ((*result)["spec"]["containers"].size(), 2U);
  EXPECT_EQ((*result)["spec"]["containers"][0]["name"], "b");
  EXPECT_EQ((*result)["spec"]["priority"], 4);
}

TEST(PatchTypes, AreToldByTheContentType) {
  EXPECT_EQ(*PatchTypeOf("application/json-patch+json"), kJ);
  EXPECT_EQ(*PatchTypeOf("application/merge-patch+json; charset=utf-8"), kM);
  EXPECT_EQ(*PatchTypeOf("application/strategic-merge-patch+json"), kS);
  const std::string accepted =
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json-patch+json, application/merge-patch+json, "
      "application/strategic-merge-patch+json";
  EXPECT_EQ(PatchTypeOf("application/json").failure().message, accepted);
  const Failure apply = PatchTypeOf("application/apply-patch+yaml").failure();
  EXPECT_EQ(apply.code, 415);
  EXPECT_EQ(apply.reason, "UnsupportedMediaType");
  EXPECT_EQ(apply.message,
            "this server has no server-side apply; apply without --server-side (" + accepted + ")");
}

}  // namespace
}  // namespace ks::apiserver
