// SPDX-License-Identifier: Apache-2.0
// Groups of pods and Workloads: what the real kube-apiserver v1.37.1, with all gates of groups on,
// made of good and bad objects, patches and statuses. The cases: data/pod_groups.jsonl; of pods
// only what concerns their group is compared.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "apiserver/service_harness.h"

namespace ks::apiserver {
namespace {

constexpr const char* kMergePatch = "application/merge-patch+json";
constexpr const char* kGroups = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";
constexpr const char* kAlphaGroups =
    "/apis/scheduling.k8s.io/v1alpha3/namespaces/default/podgroups";

Answered Send(ServiceHarness& harness, const Json& step, const std::string& query = "") {
  return harness.Ask(step["method"].get<std::string>(), step["path"].get<std::string>() + query,
                     step["body"].dump(), step.value("type", "application/json"));
}

// Without what differs from server to server.
Json Comparable(Json object) {
  if (object["kind"] == "Pod") {
    return {{"spec", {{"schedulingGroup", object["spec"].value("schedulingGroup", Json())}}}};
  }
  for (const char* key : {"uid", "creationTimestamp", "managedFields", "resourceVersion"}) {
    object["metadata"].erase(key);
  }
  return object;
}

// The differences of Go structs stand behind the first line.
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

void CheckRow(const Json& row) {
  ServiceHarness harness;
  for (const Json& step : row.value("setup", Json::array())) {
    const Answered made = Send(harness, step);
    ASSERT_LT(made.status, 300) << made.body;
  }
  const Answered answer = Send(harness, row, "?dryRun=All");
  ASSERT_EQ(answer.status, row["code"].get<int>()) << answer.body;
  if (row.contains("want")) {
    EXPECT_EQ(Comparable(answer.body), row["want"]);
    return;
  }
  const std::string want = row["status"]["message"];
  EXPECT_EQ(FirstLine(answer.body["message"]), FirstLine(want));
  EXPECT_EQ(answer.body["reason"], row["status"]["reason"]);
  if (FirstLine(want) != want) return;
  EXPECT_EQ(answer.body.value("details", Json()), row["status"].value("details", Json()));
}

TEST(GroupAdmission, IsUpstreams) {
  std::ifstream file(KS_TEST_DATA "/pod_groups.jsonl");
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    const Json row = Json::parse(line);
    SCOPED_TRACE(row["name"].get<std::string>());
    CheckRow(row);
  }
  EXPECT_EQ(cases, 398);
}

// What upstream's text shows of it is the Go structure of everything below.
TEST(GroupAdmission, TreesOfTemplatesHaveFourLevels) {
  ServiceHarness harness;
  const Json basic = Json::parse(R"({"basic":{}})");
  Json composite = {{"name", "c1"},
                    {"schedulingPolicy", basic},
                    {"podGroupTemplates", {{{"name", "t"}, {"schedulingPolicy", basic}}}}};
  for (const char* name : {"c2", "c3", "c4"}) {
    composite = {{"name", name},
                 {"schedulingPolicy", basic},
                 {"compositePodGroupTemplates", Json::array({composite})}};
  }
  const Answered answer =
      harness.Ask("POST", "/apis/scheduling.k8s.io/v1alpha3/namespaces/default/workloads",
                  Json{{"metadata", {{"name", "w"}}},
                       {"spec", {{"compositePodGroupTemplates", Json::array({composite})}}}});
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.body["details"]["causes"][0]["field"], "spec.compositePodGroupTemplates[0]");
  EXPECT_EQ(answer.body["details"]["causes"][0]["message"],
            "Invalid value: \"c4\": maximum template hierarchy depth is 4");
}

// One object, read and written in both versions.
class GroupVersions : public ::testing::Test {
 protected:
  void SetUp() override {
    const Answered made =
        harness_.Ask("POST", kAlphaGroups, Json::parse(R"({"metadata":{"name":"g"},
            "apiVersion":"scheduling.k8s.io/v1alpha3","kind":"PodGroup",
            "spec":{"schedulingPolicy":{"gang":{"minCount":3}}}})"));
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(made.body["apiVersion"], "scheduling.k8s.io/v1alpha3");
  }
  ServiceHarness harness_;
};

TEST_F(GroupVersions, AreReadAsAskedFor) {
  EXPECT_EQ(harness_.Ask("GET", std::string(kGroups) + "/g").body["apiVersion"],
            "scheduling.k8s.io/v1beta1");
  EXPECT_EQ(harness_.Ask("GET", std::string(kAlphaGroups) + "/g").body["apiVersion"],
            "scheduling.k8s.io/v1alpha3");
  const Json list = harness_.Ask("GET", kAlphaGroups).body;
  EXPECT_EQ(list["apiVersion"], "scheduling.k8s.io/v1alpha3");
  ASSERT_EQ(list["items"].size(), 1u);
  EXPECT_EQ(list["items"][0]["apiVersion"], "scheduling.k8s.io/v1alpha3");
}

TEST_F(GroupVersions, AreWrittenAsSent) {
  Json group = harness_.Ask("GET", std::string(kAlphaGroups) + "/g").body;
  group["spec"]["schedulingPolicy"]["gang"]["minCount"] = 2;
  const Answered put = harness_.Ask("PUT", std::string(kAlphaGroups) + "/g", group);
  ASSERT_EQ(put.status, 200) << put.body;
  const Answered patched =
      harness_.Ask("PATCH", std::string(kAlphaGroups) + "/g",
                   R"({"apiVersion":"scheduling.k8s.io/v1alpha3","metadata":{"labels":{"a":"b"}}})",
                   kMergePatch);
  ASSERT_EQ(patched.status, 200) << patched.body;
  const Json stored = harness_.Ask("GET", std::string(kGroups) + "/g").body;
  EXPECT_EQ(stored["spec"]["schedulingPolicy"]["gang"]["minCount"], 2);
  EXPECT_EQ(stored["metadata"]["labels"]["a"], "b");
  EXPECT_FALSE(stored["metadata"].contains("generation"));
}

}  // namespace
}  // namespace ks::apiserver
