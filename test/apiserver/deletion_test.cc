// SPDX-License-Identifier: Apache-2.0
// Grace periods, finalizers, namespaces: docs/spec/api.md 9.4 and what the real server answers.
#include <gtest/gtest.h>

#include "apiserver/registry/registry.h"
#include "apiserver/service_harness.h"

namespace ks::apiserver {
namespace {

using std::string_literals::operator""s;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kMerge = "application/merge-patch+json";
constexpr const char* kPod = "/api/v1/namespaces/default/pods/p";

Json BoundPod(const std::string& name) {
  Json pod = ServiceHarness::Pod(name);
  pod["spec"]["nodeName"] = "n";
  return pod;
}

struct Step {
  std::string target;
  std::string body{};
  int64_t want_period = -1;     // of the answer; -1: none
  std::string want_deletion{};  // deletionTimestamp of the answer
  std::string want_frames{};    // all that a watch saw, joined
};

std::string Joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

void RunSteps(ServiceHarness& server, const std::vector<Step>& steps) {
  const auto watch = server.Watch(kPods + "?watch=1&resourceVersion="s +
                                  std::to_string(server.service_.store().version()));
  for (const Step& step : steps) {
    const Answered answer = server.Ask("DELETE", step.target, step.body);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const Json& metadata = answer.body["metadata"];
    EXPECT_EQ(metadata.value("deletionGracePeriodSeconds", -1), step.want_period);
    EXPECT_EQ(metadata.value("deletionTimestamp", ""), step.want_deletion);
    std::vector<std::string> types;
    for (const Json& frame : ServiceHarness::Frames(*watch)) types.push_back(frame["type"]);
    EXPECT_EQ(Joined(types), step.want_frames);
  }
}

// The clock stands at 03:04:05.
TEST(Deletion, ABoundPodTakesItsGracePeriod) {
  ServiceHarness server;
  ASSERT_EQ(server.Ask("POST", kPods, BoundPod("p")).status, 201);
  RunSteps(server,
           {{kPod, "", 30, "2026-01-02T03:04:35Z", "MODIFIED"},
            {kPod, "", 30, "2026-01-02T03:04:35Z", ""},
            {kPod, R"({"gracePeriodSeconds":60})", 30, "2026-01-02T03:04:35Z", ""},
            {kPod, R"({"gracePeriodSeconds":5})", 5, "2026-01-02T03:04:10Z", "MODIFIED"},
            {kPod, R"({"gracePeriodSeconds":0})", 0, "2026-01-02T03:04:05Z", "MODIFIED, DELETED"}});
  EXPECT_EQ(server.Ask("GET", kPod).status, 404);
}

TEST(Deletion, AnUnboundPodGoesAtOnceAndIsSeenTerminating) {
  ServiceHarness server;
  ASSERT_EQ(server.Ask("POST", kPods, ServiceHarness::Pod("p")).status, 201);
  RunSteps(server, {{kPod, "", 0, "2026-01-02T03:04:05Z", "MODIFIED, DELETED"}});
}

TEST(Deletion, AFinishedPodGoesAtOnce) {
  ServiceHarness server;
  ASSERT_EQ(server.Ask("POST", kPods, BoundPod("p")).status, 201);
  ASSERT_EQ(
      server.Ask("PATCH", kPod + "/status"s, R"({"status":{"phase":"Succeeded"}})", kMerge).status,
      200);
  RunSteps(server, {{kPod, "", 0, "2026-01-02T03:04:05Z", "MODIFIED, DELETED"}});
}

TEST(Deletion, GenerationCountsItOnce) {
  ServiceHarness server;
  ASSERT_EQ(server.Ask("POST", kPods, BoundPod("p")).status, 201);
  EXPECT_EQ(server.Ask("DELETE", kPod).body["metadata"]["generation"], 2);
  EXPECT_EQ(
      server.Ask("DELETE", kPod, R"({"gracePeriodSeconds":5})").body["metadata"]["generation"], 2);
}

TEST(Deletion, FinalizersHoldAPod) {
  ServiceHarness server;
  Json pod = ServiceHarness::Pod("p");
  pod["metadata"]["finalizers"] = {"a.b/c"};
  ASSERT_EQ(server.Ask("POST", kPods, pod).status, 201);
  RunSteps(server, {{kPod, "", 0, "2026-01-02T03:04:05Z", "MODIFIED"},
                    {kPod, "", 0, "2026-01-02T03:04:05Z", ""},
                    {kPod + "?gracePeriodSeconds=0"s, "", 0, "2026-01-02T03:04:05Z", ""}});
  const Answered more =
      server.Ask("PATCH", kPod, R"({"metadata":{"finalizers":["a.b/c","d.e/f"]}})", kMerge);
  EXPECT_EQ(more.status, 422);
  EXPECT_EQ(more.body["message"],
            "Pod \"p\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added "
            "if the object is being deleted, found new finalizers []string{\"d.e/f\"}");
  const std::string before = server.Ask("GET", kPod).body["metadata"]["resourceVersion"];
  const Answered last = server.Ask("PATCH", kPod, R"({"metadata":{"finalizers":null}})", kMerge);
  EXPECT_EQ(last.status, 200);
  EXPECT_EQ(last.body["metadata"]["resourceVersion"], before);
  EXPECT_EQ(server.Ask("GET", kPod).status, 404);
}

TEST(Deletion, FinalizersGoneAPodStillHasItsGracePeriod) {
  ServiceHarness server;
  Json pod = BoundPod("p");
  pod["metadata"]["finalizers"] = {"a.b/c"};
  ASSERT_EQ(server.Ask("POST", kPods, pod).status, 201);
  RunSteps(server, {{kPod, "", 30, "2026-01-02T03:04:35Z", "MODIFIED"}});
  ASSERT_EQ(server.Ask("PATCH", kPod, R"({"metadata":{"finalizers":null}})", kMerge).status, 200);
  EXPECT_EQ(server.Ask("GET", kPod).status, 200);
  EXPECT_EQ(server.Ask("DELETE", kPod + "?gracePeriodSeconds=0"s).status, 200);
  EXPECT_EQ(server.Ask("GET", kPod).status, 404);
}

TEST(Deletion, OtherKindsGoAtOnceUnlessHeld) {
  ServiceHarness server;
  ASSERT_EQ(server.Ask("POST", kMaps, R"({"metadata":{"name":"m"}})").status, 201);
  const Json gone = server.Ask("DELETE", kMaps + "/m"s).body;
  EXPECT_EQ(gone["kind"], "Status");
  EXPECT_EQ(gone["status"], "Success");
  EXPECT_EQ(gone["details"]["name"], "m");
  EXPECT_EQ(gone["details"]["kind"], "configmaps");
  ASSERT_EQ(server.Ask("POST", kMaps, R"({"metadata":{"name":"m","finalizers":["a.b/c"]}})").status,
            201);
  EXPECT_EQ(server.Ask("DELETE", kMaps + "/m"s).body["metadata"]["deletionGracePeriodSeconds"], 0);
  const Answered again = server.Ask("POST", kMaps, R"({"metadata":{"name":"m"}})");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.body["message"], "object is being deleted: configmaps \"m\" already exists");
  EXPECT_EQ(server.Ask("PUT", kMaps + "/m"s, R"({"metadata":{"name":"m"}})").status, 200);
  EXPECT_EQ(server.Ask("GET", kMaps + "/m"s).status, 404);
}

TEST(Deletion, AUidThatDiffersIsAConflict) {
  ServiceHarness server;
  const Json made = server.Ask("POST", kPods, ServiceHarness::Pod("p")).body;
  const Answered answer = server.Ask("DELETE", kPod, R"({"preconditions":{"uid":"x"}})");
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.body["message"],
            "Operation cannot be fulfilled on Pod \"p\": the UID in the precondition (x) does not "
            "match the UID in record (" +
                made["metadata"]["uid"].get<std::string>() +
                "). The object might have been deleted and then recreated");
}

TEST(Deletion, ANamespaceGoesWithItsContent) {
  ServiceHarness server;
  const std::string ns = "/api/v1/namespaces/work";
  ASSERT_EQ(server.Ask("POST", "/api/v1/namespaces", R"({"metadata":{"name":"work"}})").status,
            201);
  ASSERT_EQ(server.Ask("POST", ns + "/configmaps", R"({"metadata":{"name":"m"}})").status, 201);
  ASSERT_EQ(server.Ask("POST", ns + "/pods", ServiceHarness::Pod("free")).status, 201);
  ASSERT_EQ(server.Ask("POST", ns + "/pods", BoundPod("bound")).status, 201);
  const Answered deleted = server.Ask("DELETE", ns);
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.body["status"]["phase"], "Terminating");

  // The bound pod terminates; until it is gone the namespace stays and takes nothing new.
  EXPECT_EQ(server.Ask("GET", ns + "/configmaps/m").status, 404);
  EXPECT_EQ(server.Ask("GET", ns + "/pods/free").status, 404);
  EXPECT_TRUE(server.Ask("GET", ns + "/pods/bound").body["metadata"].contains("deletionTimestamp"));
  const Answered refused = server.Ask("POST", ns + "/configmaps", R"({"metadata":{"name":"f"}})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body["message"],
            "configmaps \"f\" is forbidden: unable to create new content in namespace work because "
            "it is being terminated");
  EXPECT_EQ(refused.body["details"]["causes"][0]["reason"], "NamespaceTerminating");

  EXPECT_EQ(server.Ask("DELETE", ns + "/pods/bound?gracePeriodSeconds=0").status, 200);
  EXPECT_EQ(server.Ask("GET", ns).status, 404);
}

TEST(Deletion, AnEmptyNamespaceIsGoneAtOnce) {
  ServiceHarness server;
  ASSERT_EQ(server.Ask("POST", "/api/v1/namespaces", R"({"metadata":{"name":"work"}})").status,
            201);
  EXPECT_EQ(server.Ask("DELETE", "/api/v1/namespaces/work").body["status"]["phase"], "Terminating");
  EXPECT_EQ(server.Ask("GET", "/api/v1/namespaces/work").status, 404);
}

TEST(Deletion, ACollectionBySelector) {
  ServiceHarness server;
  for (const char* name : {"a", "b", "c"}) {
    Json map{{"metadata", {{"name", name}, {"labels", {{"x", name[0] == 'c' ? "2" : "1"}}}}}};
    ASSERT_EQ(server.Ask("POST", kMaps, map).status, 201);
  }
  const Json answer = server.Ask("DELETE", kMaps + "?labelSelector=x%3D1"s).body;
  EXPECT_EQ(answer["kind"], "ConfigMapList");
  EXPECT_EQ(answer["items"].size(), 2U);
  const Json left = server.Ask("GET", kMaps).body["items"];
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0]["metadata"]["name"], "c");
  EXPECT_EQ(server.Ask("DELETE", "/api/v1/namespaces").status, 405);
  EXPECT_EQ(server.Ask("DELETE", "/api/v1/configmaps").status, 405);
}

}  // namespace
}  // namespace ks::apiserver
