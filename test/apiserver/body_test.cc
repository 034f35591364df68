// SPDX-License-Identifier: Apache-2.0
#include "apiserver/body/body.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "testing/hex.h"

namespace ks::apiserver {
namespace {

using testing::FromHex;

constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";

Outcome<Json> DecodePod(std::string_view content_type, std::string_view body,
                        FieldValidation validation = FieldValidation::kWarn,
                        std::vector<std::string>* warnings = nullptr) {
  return DecodeObject(content_type, body, "v1", "Pod", validation, warnings);
}

TEST(Protobuf, ReadsTheSpecsExamples) {
  const auto options = DecodeBody(
      kProtobuf, FromHex("6b3873000a130a027631120d44656c6574654f7074696f6e7312001a002200"));
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(*options, Json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions"})"));
}

// Random objects of many kinds, as upstream's serializer writes them, with their JSON.
TEST(Protobuf, AgreesWithUpstreamsJson) {
  std::ifstream file(KS_TEST_DATA "/protobuf.jsonl");
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    const Json row = Json::parse(line);
    const Json& want = row["want"];
    const auto object = DecodeBody(kProtobuf, FromHex(row["hex"].get<std::string>()));
    ASSERT_TRUE(object.ok()) << object.failure().message << want;
    EXPECT_EQ(*object, want);
    // The JSON is already in the form of its type.
    const auto again =
        DecodeObject("application/json", want.dump(), want["apiVersion"].get<std::string>(),
                     want["kind"].get<std::string>(), FieldValidation::kStrict, nullptr);
    ASSERT_TRUE(again.ok()) << again.failure().message << want;
    EXPECT_EQ(*again, want);
  }
  EXPECT_EQ(cases, 120);
}

TEST(Protobuf, RefusesOthers) {
  const auto plain = DecodePod(kProtobuf, "x");
  ASSERT_FALSE(plain.ok());
  EXPECT_EQ(plain.failure().code, 400);
  EXPECT_EQ(plain.failure().message,
            "the object provided is unrecognized (must be of type Pod): provided data does not "
            "appear to be a protobuf message, expected prefix [107 56 115 0] (78)");
  // {apiVersion: apps/v1, kind: Deployment}
  const auto unknown = DecodeBody(
      kProtobuf, FromHex("6b3873000a150a07617070732f7631120a4465706c6f796d656e7412001a002200"));
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.failure().code, 415);
  EXPECT_EQ(unknown.failure().message,
            "this server cannot read protobuf of kind \"Deployment\" in version \"apps/v1\"; send "
            "application/json (clientConnection.contentType: application/json)");
  EXPECT_FALSE(DecodeBody(kProtobuf, FromHex("6b3873000aff")).ok());
}

struct YamlCase {
  const char* name;
  const char* yaml;
  const char* want;
};

class YamlBodies : public ::testing::TestWithParam<YamlCase> {};

// docs/spec/config.md section 2.3.
TEST_P(YamlBodies, AreTypedAsUpstreamDoes) {
  const YamlCase& row = GetParam();
  const auto value = DecodeBody("application/yaml", row.yaml);
  ASSERT_TRUE(value.ok()) << value.failure().message;
  EXPECT_EQ(*value, Json::parse(row.want));
}

INSTANTIATE_TEST_SUITE_P(
    Spec, YamlBodies,
    ::testing::ValuesIn(std::vector<YamlCase>{
        {"Nulls", "[~, null, '~', ]", R"([null,null,"~"])"},
        {"Bools", "[yes, No, ON, y, 'yes', tRue]", R"([true,false,true,true,"yes","tRue"])"},
        {"Integers", "[12, +12, -12, 1_000, 0x10, 0b101, 020, 0o20]",
         "[12,12,-12,1000,16,5,16,16]"},
        {"Floats", "[1.5, .5, 1e3, 1.0, 09]", "[1.5,0.5,1000,1,9]"},
        {"Strings", "[2026-01-02, '1:30', 1.2.3, \"5\", -]",
         R"(["2026-01-02","1:30","1.2.3","5","-"])"},
        {"Anchors", "a: &x {b: 1}\nc: {<<: *x, d: 2}", R"({"a":{"b":1},"c":{"b":1,"d":2}})"},
        {"FirstDocumentOnly", "a: 1\n---\nb: 2\n", R"({"a":1})"},
        {"Keys", "{5: a, true: b}", R"({"5":"a","true":"b"})"},
    }),
    [](const auto& row) { return row.param.name; });

struct RefusedCase {
  const char* name;
  const char* content_type;
  const char* body;
  int want_code;
  const char* want_message;
  FieldValidation validation = FieldValidation::kWarn;
};

class RefusedPods : public ::testing::TestWithParam<RefusedCase> {};

// Answers of the real kube-apiserver.
TEST_P(RefusedPods, GetUpstreamsText) {
  const RefusedCase& row = GetParam();
  const auto value = DecodePod(row.content_type, row.body, row.validation);
  ASSERT_FALSE(value.ok()) << *value;
  EXPECT_EQ(value.failure().code, row.want_code);
  EXPECT_EQ(value.failure().message, row.want_message);
}

#define KS_AS_POD "Pod in version \"v1\" cannot be handled as a Pod: "
#define KS_UNRECOGNIZED "the object provided is unrecognized (must be of type Pod): "
#define KS_NO_KIND KS_UNRECOGNIZED "couldn't get version/kind; json parse error: "

constexpr const char* kJson = "application/json";

INSTANTIATE_TEST_SUITE_P(
    Upstream, RefusedPods,
    ::testing::ValuesIn(std::vector<RefusedCase>{
        {"Empty", kJson, "", 400, KS_NO_KIND "unexpected end of JSON input (<empty>)"},
        {"Open", kJson, "{", 400, KS_NO_KIND "unexpected end of JSON input ({)"},
        {"Garbage", kJson, "garbage", 400,
         KS_NO_KIND "invalid character 'g' looking for beginning of value (67617262616765)"},
        {"Array", kJson, "[]", 400,
         KS_NO_KIND
         "json: cannot unmarshal array into Go value of type struct { APIVersion string "
         "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" } "
         "(5b5d)"},
        {"VersionIsANumber", kJson, R"({"apiVersion":1,"kind":"Pod"})", 400,
         KS_NO_KIND "json: cannot unmarshal number into Go struct field .apiVersion of type string "
                    "({\"apiVersion\":1,\"kind\":\"Pod\"})"},
        {"OtherVersion", kJson, R"({"apiVersion":"v2","kind":"Pod"})", 400,
         "Pod in version \"v2\" cannot be handled as a Pod: no kind \"Pod\" is registered for "
         "version \"v2\" in scheme \"pkg/runtime/scheme.go:111\""},
        {"Bool", kJson, R"({"spec":{"hostNetwork":"x"}})", 400,
         KS_AS_POD
         "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type "
         "bool"},
        {"Fraction", kJson, R"({"spec":{"priority":1.0}})", 400,
         KS_AS_POD
         "json: cannot unmarshal number 1.0 into Go struct field PodSpec.spec.priority of type "
         "int32"},
        {"TooLarge", kJson, R"({"spec":{"priority":5000000000}})", 400,
         KS_AS_POD
         "json: cannot unmarshal number 5000000000 into Go struct field PodSpec.spec.priority of "
         "type int32"},
        {"MapValue", kJson, R"({"spec":{"nodeSelector":{"a":1}}})", 400,
         KS_AS_POD
         "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeSelector of type "
         "string"},
        {"ListForMap", kJson, R"({"spec":{"nodeSelector":[]}})", 400,
         KS_AS_POD
         "json: cannot unmarshal array into Go struct field PodSpec.spec.nodeSelector of type "
         "map[string]string"},
        {"MapForList", kJson, R"({"spec":{"containers":{}}})", 400,
         KS_AS_POD
         "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
         "[]v1.Container"},
        {"Element", kJson, R"({"spec":{"containers":["x"]}})", 400,
         KS_AS_POD
         "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type "
         "v1.Container"},
        {"InsideOfElements", kJson, R"({"spec":{"containers":[{"name":1}]}})", 400,
         KS_AS_POD
         "json: cannot unmarshal number into Go struct field Container.spec.containers.name of "
         "type string"},
        {"NamedType", kJson, R"({"spec":{"restartPolicy":5}})", 400,
         KS_AS_POD
         "json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type "
         "v1.RestartPolicy"},
        {"Pointer", kJson, R"({"spec":{"affinity":"x"}})", 400,
         KS_AS_POD
         "json: cannot unmarshal string into Go struct field PodSpec.spec.affinity of type "
         "v1.Affinity"},
        {"Quantity", kJson,
         R"({"spec":{"containers":[{"resources":{"requests":{"memory":"1.5x"}}}]}})", 400,
         KS_AS_POD "quantities must match the regular expression "
                   "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
        {"Inlined", kJson,
         R"({"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":true}}}]}})", 400,
         KS_AS_POD
         "json: cannot unmarshal bool into Go struct field "
         "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32"},
        {"Time", kJson, R"({"metadata":{"creationTimestamp":"x"}})", 400,
         KS_AS_POD "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as "
                   "\"2006\""},
        {"TimeIsANumber", kJson, R"({"metadata":{"creationTimestamp":5}})", 400,
         KS_AS_POD
         "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp "
         "of type string"},
        {"Labels", kJson, R"({"metadata":{"labels":"x"}})", 400,
         KS_AS_POD
         "json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type "
         "map[string]string"},
        {"Metadata", kJson, R"({"metadata":5})", 400,
         KS_AS_POD
         "json: cannot unmarshal number into Go struct field Pod.metadata of type v1.ObjectMeta"},
        {"StrictUnknown", kJson, R"({"spec":{"zzz":1,"aaa":1}})", 400,
         KS_AS_POD "strict decoding error: unknown field \"spec.aaa\", unknown field \"spec.zzz\"",
         FieldValidation::kStrict},
        {"StrictDuplicates", kJson,
         R"({"kind":"Pod","kind":"Pod","metadata":{"name":"x","name":"y"}})", 400,
         KS_AS_POD
         "strict decoding error: duplicate field \"kind\", duplicate field \"metadata.name\"",
         FieldValidation::kStrict},
        {"YamlBoolAsLabel", "application/yaml", "metadata: {labels: {a: yes}}", 400,
         KS_AS_POD
         "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type "
         "string"},
        {"OtherMediaType", "text/plain", "x", 415,
         "the body of the request was in an unknown format - accepted media types include: "
         "application/json, application/yaml, application/vnd.kubernetes.protobuf"},
    }),
    [](const auto& row) { return row.param.name; });

TEST(DecodedObjects, HaveTheFormOfTheirType) {
  std::vector<std::string> warnings;
  const auto pod = DecodePod("application/json; charset=utf-8", R"({
      "metadata":{"labels":{},"name":"p","annotations":null},"zz":1,
      "spec":{"containers":[{"name":"c","yy":2,"image":"","resources":{"requests":{"cpu":0.5,
      "memory":"1024Mi"}}}],"hostNetwork":false,"priority":0}})",
                             FieldValidation::kWarn, &warnings);
  ASSERT_TRUE(pod.ok()) << pod.failure().message;
  EXPECT_EQ(*pod, Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
      "spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"500m",
      "memory":"1Gi"}}}],"priority":0},"status":{}})"));
  EXPECT_EQ(warnings, (std::vector<std::string>{"unknown field \"spec.containers[0].yy\"",
                                                "unknown field \"zz\""}));
}

TEST(DecodedObjects, MayBeEmpty) {
  EXPECT_TRUE(DecodeBody(kJson, "")->is_null());
  EXPECT_EQ(*DecodePod(kJson, "null"), Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{},
      "spec":{"containers":null},"status":{}})"));
}

// Writing them again would need as much stack as they are deep.
TEST(DecodedObjects, AreNotNestedWithoutEnd) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_FALSE(DecodeBody(kJson, deep).ok());
  EXPECT_FALSE(DecodeBody("application/yaml", deep).ok());
}

TEST(FieldValidations, HaveTexts) {
  EXPECT_EQ(FieldValidationOf(""), FieldValidation::kWarn);
  EXPECT_EQ(FieldValidationOf("Strict"), FieldValidation::kStrict);
  EXPECT_EQ(FieldValidationOf("Ignore"), FieldValidation::kIgnore);
  EXPECT_EQ(FieldValidationOf("Bad"), std::nullopt);
}

}  // namespace
}  // namespace ks::apiserver
