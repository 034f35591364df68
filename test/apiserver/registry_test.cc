// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "apiserver/service_harness.h"

namespace ks::apiserver {
namespace {

using std::string_literals::operator""s;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
constexpr const char* kMerge = "application/merge-patch+json";

Json Named(const std::string& name) { return {{"metadata", {{"name", name}}}}; }

std::string VersionOf(const Answered& answer) {
  EXPECT_EQ(answer.body.value("message", ""), "");
  return answer.body.at("metadata").value("resourceVersion", "");
}

// What is refused, and how. The object m (a ConfigMap) and the pod p exist.
struct Refused {
  std::string name;
  std::string method;
  std::string target;
  std::string body{};
  std::string type = "application/json";
  int want_code = 0;
  std::string want_message{};
};

class Refusals : public ::testing::TestWithParam<Refused> {};

TEST_P(Refusals, HaveUpstreamsWords) {
  ServiceHarness server;
  ASSERT_EQ(server.Ask("POST", kMaps, Named("m")).status, 201);
  ASSERT_EQ(server.Ask("POST", kPods, ServiceHarness::Pod("p")).status, 201);
  ASSERT_EQ(server.Ask("POST", kLeases, Named("l")).status, 201);
  const uint64_t before = server.service_.store().version();
  const Refused& row = GetParam();
  const Answered answer = server.Ask(row.method, row.target, row.body, row.type);
  EXPECT_EQ(answer.status, row.want_code);
  EXPECT_EQ(answer.body.value("message", ""), row.want_message);
  EXPECT_EQ(answer.body.value("code", 0), row.want_code);
  EXPECT_EQ(answer.body.value("status", ""), "Failure");
  EXPECT_EQ(server.service_.store().version(), before);
}

INSTANTIATE_TEST_SUITE_P(
    Upstream, Refusals,
    ::testing::Values(
        Refused{.name = "Exists",
                .method = "POST",
                .target = kMaps,
                .body = R"({"metadata":{"name":"m"}})",
                .want_code = 409,
                .want_message = R"(configmaps "m" already exists)"},
        Refused{.name = "ExistsGenerated",
                .method = "POST",
                .target = kMaps,
                .body = R"({"metadata":{"name":"m","generateName":"y-"}})",
                .want_code = 409,
                .want_message = "configmaps \"m\" already exists, the server was not able to "
                                "generate a unique name for the object"},
        Refused{.name = "OtherNamespace",
                .method = "POST",
                .target = kMaps,
                .body = R"({"metadata":{"name":"x","namespace":"y"}})",
                .want_code = 400,
                .want_message = "the namespace of the provided object does not match the namespace "
                                "sent on the request"},
        Refused{.name = "NoSuchNamespace",
                .method = "POST",
                .target = "/api/v1/namespaces/nope/configmaps",
                .body = R"({"metadata":{"name":"x"}})",
                .want_code = 404,
                .want_message = R"(namespaces "nope" not found)"},
        Refused{.name = "NoNamespace",
                .method = "POST",
                .target = "/api/v1/configmaps",
                .body = R"({"metadata":{"name":"x"}})",
                .want_code = 405,
                .want_message = "the server does not allow this method on the requested resource"},
        Refused{.name = "OtherVersion",
                .method = "POST",
                .target = kMaps,
                .body = R"({"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"x"}})",
                .want_code = 400,
                .want_message = "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no "
                                "kind \"ConfigMap\" is registered for version \"v2\" in scheme "
                                "\"pkg/runtime/scheme.go:111\""},
        Refused{.name = "VersionOnCreation",
                .method = "POST",
                .target = kMaps,
                .body = R"({"metadata":{"name":"x","resourceVersion":"5"}})",
                .want_code = 500,
                .want_message = "resourceVersion should not be set on objects to be created"},
        Refused{.name = "NoName",
                .method = "POST",
                .target = kMaps,
                .body = R"({"metadata":{}})",
                .want_code = 422,
                .want_message = "ConfigMap \"\" is invalid: metadata.name: Required value: name or "
                                "generateName is required"},
        Refused{
            .name = "PutOtherName",
            .method = "PUT",
            .target = kMaps + "/m"s,
            .body = R"({"metadata":{"name":"b"}})",
            .want_code = 400,
            .want_message = "the name of the object (b) does not match the name on the URL (m)"},
        Refused{.name = "PutNoName",
                .method = "PUT",
                .target = kMaps + "/m"s,
                .body = R"({"metadata":{}})",
                .want_code = 400,
                .want_message = "the name of the object (m based on URL) was undeterminable: name "
                                "must be provided"},
        Refused{.name = "PutMissing",
                .method = "PUT",
                .target = kMaps + "/zz"s,
                .body = R"({"metadata":{"name":"zz"}})",
                .want_code = 404,
                .want_message = R"(configmaps "zz" not found)"},
        Refused{
            .name = "PutOutdated",
            .method = "PUT",
            .target = kMaps + "/m"s,
            .body = R"({"metadata":{"name":"m","resourceVersion":"1"}})",
            .want_code = 409,
            .want_message = "Operation cannot be fulfilled on configmaps \"m\": the object has "
                            "been modified; please apply your changes to the latest version and "
                            "try again"},
        Refused{.name = "PutBadVersion",
                .method = "PUT",
                .target = kMaps + "/m"s,
                .body = R"({"metadata":{"name":"m","resourceVersion":"x"}})",
                .want_code = 500,
                .want_message = R"(strconv.ParseUint: parsing "x": invalid syntax)"},
        Refused{.name = "PutNeedsVersion",
                .method = "PUT",
                .target = kLeases + "/l"s,
                .body = R"({"metadata":{"name":"l"}})",
                .want_code = 422,
                .want_message = "leases.coordination.k8s.io \"l\" is invalid: "
                                "metadata.resourceVersion: Invalid value: 0: must be specified for "
                                "an update"},
        Refused{.name = "PutDeletion",
                .method = "PUT",
                .target = kMaps + "/m"s,
                .body = R"({"metadata":{"name":"m","deletionTimestamp":"2020-01-01T00:00:00Z"}})",
                .want_code = 422,
                .want_message = "ConfigMap \"m\" is invalid: metadata.deletionTimestamp: Invalid "
                                "value: \"2020-01-01T00:00:00Z\": field is immutable"},
        Refused{.name = "PatchUid",
                .method = "PATCH",
                .target = kMaps + "/m"s,
                .body = R"({"metadata":{"uid":"1"}})",
                .type = kMerge,
                .want_code = 422,
                .want_message = "ConfigMap \"m\" is invalid: metadata.uid: Invalid value: \"1\": "
                                "field is immutable"},
        Refused{
            .name = "PatchName",
            .method = "PATCH",
            .target = kMaps + "/m"s,
            .body = R"({"metadata":{"name":"zz"}})",
            .type = kMerge,
            .want_code = 400,
            .want_message = "the name of the object (zz) does not match the name on the URL (m)"},
        Refused{
            .name = "PatchOutdated",
            .method = "PATCH",
            .target = kMaps + "/m"s,
            .body = R"({"metadata":{"resourceVersion":"1"}})",
            .type = kMerge,
            .want_code = 409,
            .want_message = "Operation cannot be fulfilled on configmaps \"m\": the object has "
                            "been modified; please apply your changes to the latest version and "
                            "try again"},
        Refused{.name = "PatchMissing",
                .method = "PATCH",
                .target = kMaps + "/zz"s,
                .body = "{}",
                .type = kMerge,
                .want_code = 404,
                .want_message = R"(configmaps "zz" not found)"},
        Refused{.name = "DeleteMissing",
                .method = "DELETE",
                .target = kPods + "/zz"s,
                .want_code = 404,
                .want_message = R"(pods "zz" not found)"},
        Refused{.name = "DeleteOtherVersion",
                .method = "DELETE",
                .target = kMaps + "/m"s,
                .body = R"({"preconditions":{"resourceVersion":"1"}})",
                .want_code = 409,
                .want_message = "Operation cannot be fulfilled on ConfigMap \"m\": the "
                                "ResourceVersion in the precondition (1) does not match the "
                                "ResourceVersion in record (8). The object might have been "
                                "modified"},
        Refused{.name = "DeleteBadPolicy",
                .method = "DELETE",
                .target = kMaps + "/m?propagationPolicy=x"s,
                .want_code = 422,
                .want_message = "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: "
                                "Unsupported value: \"x\": supported values: \"Foreground\", "
                                "\"Background\", \"Orphan\", \"nil\""},
        Refused{.name = "DeleteBadDryRun",
                .method = "DELETE",
                .target = kMaps + "/m"s,
                .body = R"({"dryRun":["x"]})",
                .want_code = 422,
                .want_message = "DeleteOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported "
                                "value: [\"x\"]: supported values: \"All\""},
        Refused{.name = "DeleteBadGrace",
                .method = "DELETE",
                .target = kPods + "/p?gracePeriodSeconds=x"s,
                .want_code = 400,
                .want_message = R"(strconv.ParseInt: parsing "x": invalid syntax)"},
        Refused{.name = "DeleteImmortal",
                .method = "DELETE",
                .target = "/api/v1/namespaces/default",
                .want_code = 403,
                .want_message =
                    R"(namespaces "default" is forbidden: this namespace may not be deleted)"},
        Refused{.name = "BadDryRun",
                .method = "POST",
                .target = kMaps + "?dryRun=foo"s,
                .body = R"({"metadata":{"name":"x"}})",
                .want_code = 422,
                .want_message = "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported "
                                "value: [\"foo\"]: supported values: \"All\""},
        Refused{.name = "BadFieldValidation",
                .method = "POST",
                .target = kMaps + "?fieldValidation=foo"s,
                .body = R"({"metadata":{"name":"x"}})",
                .want_code = 422,
                .want_message = "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: "
                                "Unsupported value: \"foo\": supported values: \"\", \"Ignore\", "
                                "\"Strict\", \"Warn\""},
        Refused{
            .name = "LongFieldManager",
            .method = "POST",
            .target = kMaps + "?fieldManager="s + std::string(129, 'x'),
            .body = R"({"metadata":{"name":"x"}})",
            .want_code = 422,
            .want_message = "CreateOptions.meta.k8s.io \"\" is invalid: fieldManager: Too long: "
                            "may not be more than 128 bytes"}),
    [](const auto& row) { return row.param.name; });

TEST(Registry, EveryClusterHasThese) {
  ServiceHarness server;
  for (const char* ns : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    EXPECT_EQ(server.Ask("GET", "/api/v1/namespaces/"s + ns).status, 200) << ns;
  }
  const std::string classes = "/apis/scheduling.k8s.io/v1/priorityclasses/";
  EXPECT_EQ(server.Ask("GET", classes + "system-node-critical").body["value"], 2000001000);
  EXPECT_EQ(server.Ask("GET", classes + "system-cluster-critical").body["value"], 2000000000);
}

TEST(Registry, ClientsCannotSetWhatTheServerOwns) {
  ServiceHarness server;
  const Json sent = Json::parse(
      R"({"metadata":{"name":"m","uid":"mine","generation":7,"selfLink":"x",
          "creationTimestamp":"2020-01-01T00:00:00Z","deletionTimestamp":"2020-01-01T00:00:00Z",
          "deletionGracePeriodSeconds":5,"managedFields":[{"manager":"me"}]}})");
  const Json made = server.Ask("POST", kMaps, sent).body["metadata"];
  EXPECT_NE(made["uid"], "mine");
  EXPECT_EQ(made["creationTimestamp"], "2026-01-02T03:04:05Z");
  for (const char* key : {"deletionTimestamp", "deletionGracePeriodSeconds", "generation",
                          "managedFields", "selfLink"}) {
    EXPECT_FALSE(made.contains(key)) << key;
  }
}

TEST(Registry, UidsAreRandomOfVersionFour) {
  ServiceHarness server;
  const std::string uid = server.service_.registry().NewUid();
  ASSERT_EQ(uid.size(), 36U);
  EXPECT_EQ(uid[14], '4');
  EXPECT_NE(std::string("89ab").find(uid[19]), std::string::npos);
  for (const size_t dash : {8U, 13U, 18U, 23U}) EXPECT_EQ(uid[dash], '-');
  ServiceHarness same;
  EXPECT_EQ(same.service_.registry().NewUid(), uid);
  ServiceHarness other({.seed = 2});
  EXPECT_NE(other.service_.registry().NewUid(), uid);
}

TEST(Registry, GeneratedNames) {
  ServiceHarness server;
  std::set<std::string> names;
  for (int i = 0; i < 50; ++i) {
    const Json made = server.Ask("POST", kMaps, Json{{"metadata", {{"generateName", "y-"}}}}).body;
    const std::string name = made["metadata"]["name"];
    ASSERT_EQ(name.size(), 7U);
    EXPECT_EQ(name.substr(0, 2), "y-");
    EXPECT_EQ(name.find_first_not_of("bcdfghjklmnpqrstvwxz2456789", 2), std::string::npos);
    names.insert(name);
  }
  EXPECT_EQ(names.size(), 50U);
  EXPECT_EQ(server.service_.registry().NewName(std::string(80, 'y')).size(), 63U);
}

TEST(Registry, WhatChangesNothingIsNotWritten) {
  ServiceHarness server;
  Answered made =
      server.Ask("POST", kMaps, Json{{"metadata", {{"name", "m"}}}, {"data", {{"a", "b"}}}});
  const std::string version = VersionOf(made);
  const auto watch = server.Watch(kMaps + "?watch=1&resourceVersion="s + version);
  EXPECT_EQ(VersionOf(server.Ask("PUT", kMaps + "/m"s, made.body)), version);
  made.body["metadata"].erase("resourceVersion");
  made.body["metadata"]["creationTimestamp"] = "2020-01-01T00:00:00Z";  // the server's stays
  EXPECT_EQ(VersionOf(server.Ask("PUT", kMaps + "/m"s, made.body)), version);
  EXPECT_EQ(VersionOf(server.Ask("PATCH", kMaps + "/m"s, R"({"data":{"a":"b"}})", kMerge)),
            version);
  EXPECT_TRUE(ServiceHarness::Frames(*watch).empty());
}

TEST(Registry, DryRunsWriteNothing) {
  ServiceHarness server;
  ASSERT_EQ(server.Ask("POST", kMaps, Named("m")).status, 201);
  const uint64_t version = server.service_.store().version();
  const Answered created = server.Ask("POST", kMaps + "?dryRun=All"s, Named("x"));
  EXPECT_EQ(created.status, 201);
  EXPECT_TRUE(created.body["metadata"].contains("uid"));
  EXPECT_FALSE(created.body["metadata"].contains("resourceVersion"));
  const Answered patched =
      server.Ask("PATCH", kMaps + "/m?dryRun=All"s, R"({"data":{"a":"b"}})", kMerge);
  EXPECT_EQ(patched.body["data"]["a"], "b");
  EXPECT_EQ(server.Ask("DELETE", kMaps + "/m"s, R"({"dryRun":["All"]})").status, 200);
  EXPECT_EQ(server.service_.store().version(), version);
}

TEST(Registry, GenerationCountsTheSpec) {
  ServiceHarness server;
  const std::string pod = kPods + "/p"s;
  EXPECT_EQ(server.Ask("POST", kPods, ServiceHarness::Pod("p")).body["metadata"]["generation"], 1);
  const auto patch = [&](const std::string& target, const std::string& body) {
    const Answered answer = server.Ask("PATCH", target, body, kMerge);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body["metadata"].value("generation", 0);
  };
  EXPECT_EQ(patch(pod, R"({"metadata":{"labels":{"a":"b"}}})"), 1);
  EXPECT_EQ(patch(pod + "/status", R"({"status":{"phase":"Running"}})"), 1);
  EXPECT_EQ(patch(pod, R"({"spec":{"activeDeadlineSeconds":5}})"), 2);
  ASSERT_EQ(server.Ask("POST", kNodes, ServiceHarness::Node("n")).status, 201);
  EXPECT_EQ(patch(kNodes + "/n"s, R"({"spec":{"unschedulable":true}})"), 0);
}

TEST(Registry, StatusAndTheRestAreWrittenApart) {
  ServiceHarness server;
  ASSERT_EQ(server.Ask("POST", kPods, ServiceHarness::Pod("p")).status, 201);
  const std::string body = R"({"metadata":{"labels":{"a":"b"}},"spec":{"priority":7},
                               "status":{"message":"x"}})";
  const Json main =
      server.Ask("PATCH", kPods + "/p"s, R"({"status":{"message":"x"}})", kMerge).body;
  EXPECT_FALSE(main["status"].contains("message"));
  const Json status = server.Ask("PATCH", kPods + "/p/status"s, body, kMerge).body;
  EXPECT_EQ(status["status"]["message"], "x");
  EXPECT_EQ(status["metadata"]["labels"]["a"], "b");
  EXPECT_EQ(status["spec"], main["spec"]);
  EXPECT_EQ(server.Ask("GET", kPods + "/p/status"s).body, status);
  EXPECT_EQ(server.Ask("GET", kMaps + "/p/status"s).status, 404);
}

TEST(Registry, SomeKindsAreCreatedByPut) {
  ServiceHarness server;
  Json lease = Named("l");
  lease["metadata"]["resourceVersion"] = "5";
  EXPECT_EQ(server.Ask("PUT", kLeases + "/l"s, lease).status, 201);
  EXPECT_EQ(server.Ask("GET", kLeases + "/l"s).status, 200);
}

TEST(Registry, PutWithAnotherUidIsAConflict) {
  ServiceHarness server;
  const Json made = server.Ask("POST", kPods, ServiceHarness::Pod("p")).body;
  Json sent = made;
  sent["metadata"]["uid"] = "x";
  const Answered answer = server.Ask("PUT", kPods + "/p"s, sent);
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.body["message"],
            "Operation cannot be fulfilled on pods \"p\": StorageError: invalid object, Code: 4, "
            "Key: /registry/pods/default/p, ResourceVersion: 0, AdditionalErrorMsg: Precondition "
            "failed: UID in precondition: x, UID in object meta: " +
                made["metadata"]["uid"].get<std::string>());
}

}  // namespace
}  // namespace ks::apiserver
