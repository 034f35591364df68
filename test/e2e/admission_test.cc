// SPDX-License-Identifier: Apache-2.0
// The frozen answers that test/apiserver holds the in-memory API server to are
// those of the real kube-apiserver, and its strategic merge is the real one on random patches.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "apiserver/body/patch.h"
#include "base/random.h"
#include "e2e/cluster.h"

namespace ks::e2e {
namespace {

using apiserver::Json;

const testing::ServerNeed kAnswers{37, "the answers that were frozen"};

client::RestReply Send(Cluster& cluster, const std::string& method, const std::string& target,
                       const Json& body, const std::string& type) {
  return cluster.admin().SendAndWait(
      {.method = method, .target = target, .body = body.dump(), .content_type = type});
}

// The difference of Go structs behind the first line names addresses of the moment.
std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

void Remove(Cluster& cluster, const std::string& path) {
  Send(cluster, "DELETE", path + "?gracePeriodSeconds=0", Json::object(), "application/json");
  Send(cluster, "PATCH", path, {{"metadata", {{"finalizers", nullptr}}}},
       "application/merge-patch+json");
}

// Sends the request of a frozen answer, without effect. `comparable`: the part of a message that
// must be equal. What admission looks up, such as priority classes, the server knows by a watch: it
// may be asked before it has seen the setup.
void ExpectAnswer(Cluster& cluster, const Json& row,
                  std::string (*comparable)(const std::string&)) {
  const bool good = row["code"].get<int>() < 300;
  const std::string want = good ? "" : comparable(row["status"]["message"].get<std::string>());
  std::string got;
  const auto is_wanted = [&] {
    const auto reply = Send(cluster, row["method"].get<std::string>(),
                            row["path"].get<std::string>() + "?dryRun=All", row["body"],
                            row.value("type", "application/json"));
    got = reply.ok() ? "" : comparable(reply.error->message);
    return reply.ok() == good && got == want;
  };
  if (!cluster.WaitUntil(is_wanted, std::chrono::seconds(5))) {
    EXPECT_EQ(got, want) << "without a message: accepted";
  }
}

TEST(AdmissionParity, TheFrozenAnswersAreTheServers) {
  std::string why;
  if (!testing::ControlPlane::Available(&why, kAnswers)) GTEST_SKIP() << why;
  const auto cluster = Cluster::Start();
  ASSERT_NE(cluster, nullptr);
  std::ifstream file(KS_APISERVER_TEST_DATA "/admission.jsonl");
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    const Json row = Json::parse(line);
    SCOPED_TRACE(row["name"].get<std::string>());
    std::string made;
    if (row.contains("setup")) {
      const std::string path = row["setup"]["path"].get<std::string>();
      cluster->Create(path, row["setup"]["body"]);
      made = path + "/" + row["setup"]["body"]["metadata"]["name"].get<std::string>();
    }
    ExpectAnswer(*cluster, row, FirstLine);
    if (!made.empty()) Remove(*cluster, made);
  }
  EXPECT_GT(cases, 300);
}

// Without the list of what CEL's parser expected, which the frozen texts do not have.
std::string Comparable(const std::string& message) {
  const std::string line = FirstLine(message);
  return line.substr(0, line.find(" expecting {"));
}

// The rows of `file`, each after its setup.
void ExpectAnswers(Cluster& cluster, const std::string& file_name) {
  std::ifstream file(KS_APISERVER_TEST_DATA "/" + file_name);
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    const Json row = Json::parse(line);
    SCOPED_TRACE(row["name"].get<std::string>());
    std::vector<std::string> made;
    for (const Json& step : row.value("setup", Json::array())) {
      const std::string path = step["path"].get<std::string>();
      const auto reply = Send(cluster, step["method"].get<std::string>(), path, step["body"],
                              step.value("type", "application/json"));
      ASSERT_TRUE(reply.ok()) << reply.error->message;
      if (step["method"] != "POST") continue;
      made.push_back(path + "/" + step["body"]["metadata"]["name"].get<std::string>());
    }
    ExpectAnswer(cluster, row, Comparable);
    for (const std::string& path : made) Remove(cluster, path);
  }
  EXPECT_GT(cases, 300);
}

TEST(AdmissionParity, TheFrozenAnswersAboutDevicesAreTheServers) {
  std::string why;
  if (!testing::ControlPlane::Available(&why, kAnswers)) GTEST_SKIP() << why;
  const auto cluster = Cluster::Start();
  ASSERT_NE(cluster, nullptr);
  ExpectAnswers(*cluster, "devices.jsonl");
}

TEST(AdmissionParity, TheFrozenAnswersAboutGroupsAreTheServers) {
  std::string why;
  if (!testing::ControlPlane::Available(&why, kAnswers)) GTEST_SKIP() << why;
  const auto cluster = Cluster::Start(
      {.apiserver_args = {"--feature-gates=GenericWorkload=true,CompositePodGroup=true,"
                          "TopologyAwareWorkloadScheduling=true,PodGroupPreemptionPolicy=true,"
                          "DRAWorkloadResourceClaims=true",
                          "--runtime-config=scheduling.k8s.io/v1beta1=true,"
                          "scheduling.k8s.io/v1alpha3=true"}});
  ASSERT_NE(cluster, nullptr);
  ExpectAnswers(*cluster, "pod_groups.jsonl");
}

Json RandomConditions(Random& random, bool patch) {
  Json list = Json::array();
  for (const char* type : {"a", "b", "c", "d"}) {
    if (random.Below(2) == 0) continue;
    if (patch && random.Below(5) == 0) {
      list.push_back({{"$patch", "delete"}, {"type", type}});
      continue;
    }
    list.push_back({{"type", type}, {"status", random.Below(2) == 0 ? "True" : "False"}});
    if (random.Below(3) == 0) list.back()["message"] = "m";
    if (patch && random.Below(5) == 0) list.back()["message"] = nullptr;
  }
  return list;
}

Json RandomStatusPatch(Random& random) {
  Json status = Json::object();
  if (random.Below(4) != 0) status["conditions"] = RandomConditions(random, true);
  if (random.Below(3) == 0) status["nominatedNodeName"] = random.Below(2) == 0 ? Json("n") : Json();
  if (random.Below(4) == 0) {
    Json order = Json::array();
    for (const char* type : {"d", "c", "b", "a"}) {
      if (random.Below(2) == 0) order.push_back({{"type", type}});
    }
    status["$setElementOrder/conditions"] = std::move(order);
  }
  return {{"status", std::move(status)}};
}

TEST(AdmissionParity, StrategicMergeOfPodStatus) {
  std::string why;
  if (!testing::ControlPlane::Available(&why)) GTEST_SKIP() << why;
  const auto cluster = Cluster::Start();
  ASSERT_NE(cluster, nullptr);
  cluster->CreatePod(Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},
      "spec":{"containers":[{"name":"c","image":"i"}]}})"));
  const std::string path = "/api/v1/namespaces/default/pods/p";
  const apiserver::KindInfo& pods = *apiserver::FindKind("v1", "Pod");
  Random random(20261);
  int accepted = 0;
  for (int i = 0; i < 150; ++i) {
    const Json before = cluster->Get(path);
    const Json patch = RandomStatusPatch(random);
    SCOPED_TRACE("seed 20261, patch " + std::to_string(i) + ": " + patch.dump() + " on " +
                 before["status"].dump());
    const auto ours =
        apiserver::ApplyPatch(pods, apiserver::PatchType::kStrategic, before, patch.dump());
    const auto reply = cluster->admin().Patch(path + "/status", patch.dump());
    ASSERT_EQ(reply.ok(), ours.ok()) << (reply.ok() ? reply.body : reply.error->message);
    if (!reply.ok()) {
      EXPECT_EQ(ours.failure().message, reply.error->message);
      continue;
    }
    ++accepted;
    EXPECT_EQ((*ours)["status"], Json::parse(reply.body)["status"]);
  }
  EXPECT_GT(accepted, 75);
}

}  // namespace
}  // namespace ks::e2e
