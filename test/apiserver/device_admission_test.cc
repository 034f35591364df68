// SPDX-License-Identifier: Apache-2.0
// The kinds of resource.k8s.io: what the real kube-apiserver v1.37.1 made of good and bad objects,
// patches and statuses. The cases: data/devices.jsonl; NOW stands for the time of the request, and
// syntax errors of CEL are without the list of what was expected instead.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "apiserver/service_harness.h"

namespace ks::apiserver {
namespace {

constexpr const char* kMergePatch = "application/merge-patch+json";
constexpr const char* kClaims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";

Answered Send(ServiceHarness& harness, const Json& step, const std::string& query = "") {
  return harness.Ask(step["method"].get<std::string>(), step["path"].get<std::string>() + query,
                     step["body"].dump(), step.value("type", "application/json"));
}

// Without what differs from server to server.
Json Comparable(Json object, const std::string& now) {
  for (const char* key :
       {"uid", "creationTimestamp", "managedFields", "resourceVersion", "generation"}) {
    object["metadata"].erase(key);
  }
  std::string text = object.dump();
  for (size_t at = text.find(now); at != std::string::npos; at = text.find(now, at)) {
    text.replace(at, now.size(), "NOW");
  }
  return Json::parse(text);
}

// Of pods only what concerns claims.
Json ClaimsOfStatus(const Json& pod) {
  Json status = Json::object();
  for (const char* key : {"resourceClaimStatuses", "extendedResourceClaimStatus"}) {
    if (pod["status"].contains(key)) status[key] = pod["status"][key];
  }
  return {{"status", status}};
}

void CheckRow(const Json& row) {
  ServiceHarness harness;
  for (const Json& step : row.value("setup", Json::array())) {
    const Answered made = Send(harness, step);
    ASSERT_LT(made.status, 300) << made.body;
  }
  const Answered answer = Send(harness, row, "?dryRun=All");
  ASSERT_EQ(answer.status, row["code"].get<int>()) << answer.body;
  if (row.contains("want")) {
    const bool pod = answer.body["kind"] == "Pod";
    EXPECT_EQ(pod ? ClaimsOfStatus(answer.body)
                  : Comparable(answer.body, harness.service_.registry().Now()),
              row["want"]);
    return;
  }
  EXPECT_EQ(answer.body["message"], row["status"]["message"]);
  EXPECT_EQ(answer.body["reason"], row["status"]["reason"]);
  EXPECT_EQ(answer.body.value("details", Json()), row["status"].value("details", Json()));
}

TEST(DeviceAdmission, IsUpstreams) {
  std::ifstream file(KS_TEST_DATA "/devices.jsonl");
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    const Json row = Json::parse(line);
    SCOPED_TRACE(row["name"].get<std::string>());
    CheckRow(row);
  }
  EXPECT_EQ(cases, 317);
}

TEST(DeviceAdmission, ALabelOfTheNamespaceAllowsAdminAccess) {
  const Json claim = Json::parse(R"({"metadata":{"name":"q"},"spec":{"devices":{"requests":[
      {"name":"r","exactly":{"deviceClassName":"c","adminAccess":true}}]}}})");
  ServiceHarness harness;
  EXPECT_EQ(harness.Ask("POST", kClaims, claim).status, 422);
  const Answered labeled = harness.Ask(
      "PATCH", "/api/v1/namespaces/default",
      R"({"metadata":{"labels":{"resource.kubernetes.io/admin-access":"true"}}})", kMergePatch);
  ASSERT_EQ(labeled.status, 200) << labeled.body;
  EXPECT_EQ(harness.Ask("POST", kClaims, claim).status, 201);
}

class ClaimStatus : public ::testing::Test {
 protected:
  void SetUp() override {
    const Answered made = harness_.Ask("POST", kClaims, Json::parse(R"({"metadata":{"name":"q"},
        "spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}})"));
    ASSERT_EQ(made.status, 201) << made.body;
    claim_ = made.body;
  }

  Answered Patch(const Json& patch, const char* type = kMergePatch) {
    return harness_.Ask("PATCH", std::string(kClaims) + "/q/status", patch.dump(), type);
  }
  static Json Allocation(const std::string& version) {
    return {{"metadata", {{"resourceVersion", version}}},
            {"status",
             {{"allocation",
               {{"devices",
                 {{"results",
                   {{{"request", "r"}, {"driver", "d"}, {"pool", "p"}, {"device", "x"}}}}}}}},
              {"reservedFor",
               {{{"resource", "pods"}, {"name", "a"}, {"uid", "1"}},
                {{"resource", "pods"}, {"name", "b"}, {"uid", "2"}}}}}}};
  }

  ServiceHarness harness_;
  Json claim_;
};

TEST_F(ClaimStatus, AMergePatchWithAnOldVersionIsAConflict) {
  const std::string version = claim_["metadata"]["resourceVersion"];
  const Answered labeled = harness_.Ask("PATCH", std::string(kClaims) + "/q",
                                        R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch);
  ASSERT_EQ(labeled.status, 200);
  const Answered late = Patch(Allocation(version));
  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(late.body["reason"], "Conflict");
  EXPECT_EQ(Patch(Allocation(labeled.body["metadata"]["resourceVersion"])).status, 200);
}

TEST_F(ClaimStatus, AReservationIsTakenBackByUid) {
  ASSERT_EQ(Patch(Allocation(claim_["metadata"]["resourceVersion"])).status, 200);
  const Json patch{{"metadata", {{"uid", claim_["metadata"]["uid"]}}},
                   {"status", {{"reservedFor", {{{"$patch", "delete"}, {"uid", "1"}}}}}}};
  const Answered patched = Patch(patch, "application/strategic-merge-patch+json");
  ASSERT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(patched.body["status"]["reservedFor"],
            Json::parse(R"([{"resource":"pods","name":"b","uid":"2"}])"));
  EXPECT_TRUE(patched.body["status"]["allocation"].is_object());
}

TEST(DeviceKinds, SlicesAreSelectedByNodeAndDriver) {
  ServiceHarness harness;
  const std::string slices = "/apis/resource.k8s.io/v1/resourceslices";
  const auto make = [&](const std::string& name, const std::string& driver, const Json& place) {
    Json spec{{"driver", driver}, {"pool", {{"name", "p"}, {"resourceSliceCount", 1}}}};
    spec.update(place);
    const Answered made =
        harness.Ask("POST", slices, Json{{"metadata", {{"name", name}}}, {"spec", spec}});
    ASSERT_EQ(made.status, 201) << made.body;
  };
  make("a", "d.x", {{"nodeName", "n"}});
  make("b", "d.x", {{"allNodes", true}});
  make("c", "e.x", {{"nodeName", "n"}});
  const auto names = [&](const std::string& selector) {
    std::vector<std::string> found;
    const Answered list = harness.Ask("GET", slices + "?fieldSelector=" + selector);
    for (const Json& item : list.body["items"]) found.push_back(item["metadata"]["name"]);
    return found;
  };
  EXPECT_EQ(names("spec.nodeName%3Dn"), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(names("spec.driver%3Dd.x"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(names("spec.nodeName%3D,spec.driver%3Dd.x"), (std::vector<std::string>{"b"}));
}

}  // namespace
}  // namespace ks::apiserver
