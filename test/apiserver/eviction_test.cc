// SPDX-License-Identifier: Apache-2.0
// Numbers and texts are those of the real disruption controller and eviction API.
#include <gtest/gtest.h>

#include <string>

#include "apiserver/service/disruption_budgets.h"
#include "apiserver/service/subresources.h"
#include "testing/fake_clock.h"

namespace ks::apiserver {
namespace {

class Eviction : public ::testing::Test {
 protected:
  static const KindInfo& Pods() { return *FindResource("", "v1", "pods"); }
  static const KindInfo& Budgets() { return *FindResource("policy", "v1", "poddisruptionbudgets"); }

  Json Put(const KindInfo& kind, const Json& object) {
    const auto created = registry_.Create(kind, "default", object);
    if (!created.ok()) {
      ADD_FAILURE() << created.failure().message;
      return {};
    }
    return (*created)->Parse();
  }
  void SetStatus(const std::string& pod, const std::string& phase, bool ready) {
    const auto set = registry_.Modify(
        Pods(), "default", pod, Part::kStatus, [&](Json& object) -> std::optional<Failure> {
          object["status"]["phase"] = phase;
          object["status"]["conditions"] =
              Json::array({{{"type", "Ready"}, {"status", ready ? "True" : "False"}}});
          return {};
        });
    EXPECT_TRUE(set.ok());
  }
  // A running pod with label app, on a node, so that its deletion takes grace.
  void CreatePod(const std::string& name, const std::string& app, bool ready,
                 const Json& owner = {}) {
    Json pod = {
        {"metadata", {{"name", name}, {"labels", {{"app", app}}}}},
        {"spec",
         {{"nodeName", "n1"}, {"containers", Json::parse(R"([{"name":"a","image":"i"}])")}}}};
    if (!owner.is_null()) pod["metadata"]["ownerReferences"] = Json::array({owner});
    Put(Pods(), pod);
    SetStatus(name, "Running", ready);
  }
  // A ReplicaSet that wants `replicas`; returns the reference that its pods carry.
  Json CreateReplicaSet(const std::string& name, int replicas, const Json& owner = {}) {
    Json set = {{"metadata", {{"name", name}}},
                {"spec",
                 {{"replicas", replicas},
                  {"selector", {{"matchLabels", {{"app", name}}}}},
                  {"template",
                   {{"metadata", {{"labels", {{"app", name}}}}},
                    {"spec", {{"containers", Json::parse(R"([{"name":"a","image":"i"}])")}}}}}}}};
    if (!owner.is_null()) set["metadata"]["ownerReferences"] = Json::array({owner});
    const Json created = Put(*FindResource("apps", "v1", "replicasets"), set);
    return {{"apiVersion", "apps/v1"},
            {"kind", "ReplicaSet"},
            {"name", name},
            {"uid", created["metadata"]["uid"]},
            {"controller", true}};
  }
  void CreateBudget(const std::string& name, const std::string& app, const std::string& more) {
    Json spec = Json::parse("{" + more + "}");
    spec["selector"] = {{"matchLabels", {{"app", app}}}};
    Put(Budgets(), {{"metadata", {{"name", name}}}, {"spec", spec}});
    UpdateDisruptionBudgets(registry_, "default");
  }
  Json Status(const std::string& budget) {
    const auto found = registry_.Get(Budgets(), "default", budget);
    if (!found.ok()) return {};
    return (*found)->Parse()["status"];
  }
  // [expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed]
  Json Numbers(const std::string& budget) {
    const Json status = Status(budget);
    return Json::array({status["expectedPods"], status["desiredHealthy"], status["currentHealthy"],
                        status["disruptionsAllowed"]});
  }
  Outcome<Json> Evict(const std::string& pod, const std::string& patch = "{}") {
    Json eviction = {
        {"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", pod}}}};
    eviction.merge_patch(Json::parse(patch));
    return EvictPod(registry_, "default", pod, eviction);
  }
  void ExpectRefused(const Outcome<Json>& answer, const std::string& cause) {
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.failure().code, 429);
    EXPECT_EQ(answer.failure().reason, "TooManyRequests");
    EXPECT_EQ(answer.failure().message,
              "Cannot evict pod as it would violate the pod's disruption budget.");
    ASSERT_EQ(answer.failure().causes.size(), 1U);
    EXPECT_EQ(answer.failure().causes[0].reason, "DisruptionBudget");
    EXPECT_EQ(answer.failure().causes[0].message, cause);
  }
  Json Pod(const std::string& name) {
    const auto pod = registry_.Get(Pods(), "default", name);
    return pod.ok() ? (*pod)->Parse() : Json();
  }

  testing::FakeClock clock_;
  Store store_;
  Registry registry_{store_, clock_, 1};
};

TEST_F(Eviction, WithoutBudgetIsADeletionWithAReason) {
  CreatePod("p", "x", true);
  const auto answer = Evict("p");
  ASSERT_TRUE(answer.ok()) << answer.failure().message;
  EXPECT_EQ((*answer)["code"], 201);
  const Json pod = Pod("p");
  EXPECT_EQ(pod["metadata"]["deletionGracePeriodSeconds"], 30);
  EXPECT_EQ(pod["status"]["conditions"][1], Json::parse(R"({"type":"DisruptionTarget",
    "status":"True","reason":"EvictionByEvictionAPI","message":"Eviction API: evicting",
    "lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z"})"));
}

TEST_F(Eviction, BudgetsOfPodsWithoutOwner) {
  CreatePod("a1", "a", true);
  CreatePod("a2", "a", true);
  CreatePod("a3", "a", false);
  CreatePod("a4", "a", false);
  CreateBudget("min1", "a", R"("minAvailable":1)");
  CreateBudget("min9", "a", R"("minAvailable":9)");
  CreateBudget("percent", "a", R"("minAvailable":"50%")");
  CreateBudget("max", "a", R"("maxUnavailable":1)");
  EXPECT_EQ(Numbers("min1"), Json::parse("[4,1,2,1]"));
  EXPECT_EQ(Numbers("min9"), Json::parse("[4,9,2,0]"));
  EXPECT_EQ(Numbers("percent"), Json::parse("[0,0,2,0]"));
  EXPECT_EQ(Numbers("max"), Json::parse("[0,0,2,0]"));
  EXPECT_EQ(Status("min1")["observedGeneration"], 1);
  EXPECT_EQ(Status("min1")["conditions"], Json::parse(R"([{"type":"DisruptionAllowed",
    "status":"True","reason":"SufficientPods","message":"","observedGeneration":1,
    "lastTransitionTime":"2026-01-02T03:04:05Z"}])"));
  EXPECT_EQ(Status("min9")["conditions"][0]["reason"], "InsufficientPods");
}

TEST_F(Eviction, BudgetsOfAReplicaSetRoundUp) {
  const Json owner = CreateReplicaSet("r", 7);
  for (int i = 0; i < 7; ++i) CreatePod("r" + std::to_string(i), "r", i < 6, owner);
  CreateBudget("min50", "r", R"("minAvailable":"50%")");
  CreateBudget("max30", "r", R"("maxUnavailable":"30%")");
  CreateBudget("max1", "r", R"("maxUnavailable":1)");
  CreateBudget("max9", "r", R"("maxUnavailable":9)");
  CreateBudget("min6", "r", R"("minAvailable":6)");
  EXPECT_EQ(Numbers("min50"), Json::parse("[7,4,6,2]"));
  EXPECT_EQ(Numbers("max30"), Json::parse("[7,4,6,2]"));
  EXPECT_EQ(Numbers("max1"), Json::parse("[7,6,6,0]"));
  EXPECT_EQ(Numbers("max9"), Json::parse("[7,0,6,6]"));
  EXPECT_EQ(Numbers("min6"), Json::parse("[7,6,6,0]"));
}

TEST_F(Eviction, ReplicaSetsOfOneDeploymentCountTogether) {
  const Json deployment = {{"apiVersion", "apps/v1"},
                           {"kind", "Deployment"},
                           {"name", "d"},
                           {"uid", "u-d"},
                           {"controller", true}};
  const Json older = CreateReplicaSet("d-1", 1, deployment);
  CreateReplicaSet("d-2", 3, deployment);
  CreatePod("p", "d", true, older);
  CreateBudget("b", "d", R"("maxUnavailable":1)");
  EXPECT_EQ(Numbers("b"), Json::parse("[4,3,1,0]"));
}

TEST_F(Eviction, UnknownOwnersAllowNothing) {
  CreatePod("orphan", "o", true,
            Json::parse(R"({"apiVersion":"apps/v1","kind":"ReplicaSet","name":"none","uid":"u-1",
                            "controller":true})"));
  CreatePod("job", "j", true,
            Json::parse(R"({"apiVersion":"batch/v1","kind":"Job","name":"none","uid":"u-2",
                            "controller":true})"));
  CreateBudget("o", "o", R"("maxUnavailable":1)");
  CreateBudget("j", "j", R"("maxUnavailable":1)");
  CreateBudget("j-min", "j", R"("minAvailable":0)");
  EXPECT_EQ(Status("o")["conditions"][0]["reason"], "SyncFailed");
  EXPECT_EQ(Status("o")["conditions"][0]["message"], "found no controllers for pod \"orphan\"");
  EXPECT_EQ(Status("o")["disruptionsAllowed"], 0);
  EXPECT_EQ(Status("j")["conditions"][0]["message"],
            "jobs.batch does not implement the scale subresource");
  EXPECT_EQ(Numbers("j-min"), Json::parse("[1,0,1,1]"));
}

TEST_F(Eviction, SelectorsThatMatchAllAndNone) {
  CreatePod("p", "x", true);
  Put(Budgets(),
      Json::parse(R"({"metadata":{"name":"all"},"spec":{"selector":{},"minAvailable":0}})"));
  Put(Budgets(), Json::parse(R"({"metadata":{"name":"none"},"spec":{"minAvailable":0}})"));
  UpdateDisruptionBudgets(registry_, "default");
  EXPECT_EQ(Numbers("all"), Json::parse("[1,0,1,1]"));
  EXPECT_EQ(Numbers("none"), Json::parse("[0,0,0,0]"));
  const auto matching = BudgetsOf(store_, "default", *store_.Find(Pods(), "default", "p"));
  ASSERT_EQ(matching.size(), 1U);
  EXPECT_EQ(matching[0]->name, "all");
}

TEST_F(Eviction, TheBudgetIsSpentAndComesBack) {
  CreatePod("p1", "x", true);
  CreatePod("p2", "x", true);
  CreatePod("p3", "x", true);
  CreateBudget("b", "x", R"("minAvailable":2)");
  EXPECT_EQ(Numbers("b"), Json::parse("[3,2,3,1]"));
  ASSERT_TRUE(Evict("p1").ok());
  EXPECT_EQ(Status("b")["disruptionsAllowed"], 0);
  EXPECT_EQ(Status("b")["disruptedPods"], Json::parse(R"({"p1":"2026-01-02T03:04:05Z"})"));
  ExpectRefused(Evict("p2"), "The disruption budget b needs 2 healthy pods and has 3 currently");
  UpdateDisruptionBudgets(registry_, "default");
  EXPECT_EQ(Numbers("b"), Json::parse("[3,2,2,0]"));
  EXPECT_FALSE(Status("b").contains("disruptedPods"));  // the pod is seen to terminate
  ExpectRefused(Evict("p2"), "The disruption budget b needs 2 healthy pods and has 2 currently");
  EXPECT_TRUE(Evict("p1").ok());  // again: it goes anyway
  CreatePod("p4", "x", true);
  UpdateDisruptionBudgets(registry_, "default");
  EXPECT_TRUE(Evict("p2").ok());
}

TEST_F(Eviction, ADisruptionThatDidNotHappenIsForgottenAfterTwoMinutes) {
  CreatePod("p1", "x", true);
  CreatePod("p2", "x", true);
  CreateBudget("b", "x", R"("minAvailable":1)");
  const auto stale = Evict("p1", R"({"deleteOptions":{"preconditions":{"uid":"other"}}})");
  ASSERT_FALSE(stale.ok());
  EXPECT_EQ(stale.failure().code, 409);
  UpdateDisruptionBudgets(registry_, "default");
  EXPECT_EQ(Numbers("b"), Json::parse("[2,1,1,0]"));
  clock_.Advance(std::chrono::minutes(3));
  UpdateDisruptionBudgets(registry_, "default");
  EXPECT_EQ(Numbers("b"), Json::parse("[2,1,2,1]"));
}

TEST_F(Eviction, PodsThatAreNotReady) {
  CreatePod("ready", "x", true);
  CreatePod("sick", "x", false);
  CreateBudget("b", "x", R"("minAvailable":2)");
  ExpectRefused(Evict("sick"), "The disruption budget b needs 2 healthy pods and has 1 currently");
  ASSERT_TRUE(registry_.Delete(Budgets(), "default", "b").ok());
  CreateBudget("b", "x", R"("minAvailable":2,"unhealthyPodEvictionPolicy":"AlwaysAllow")");
  EXPECT_TRUE(Evict("sick").ok());
  ExpectRefused(Evict("ready"), "The disruption budget b needs 2 healthy pods and has 1 currently");
  ASSERT_TRUE(registry_.Delete(Budgets(), "default", "b").ok());
  CreatePod("sick2", "x", false);
  CreateBudget("b", "x", R"("minAvailable":1)");
  EXPECT_TRUE(Evict("sick2").ok());  // enough healthy ones remain
}

TEST_F(Eviction, NobodyCountsOnPodsThatDoNotRun) {
  CreatePod("p", "x", true);
  CreatePod("done", "x", true);
  CreateBudget("b", "x", R"("minAvailable":2)");
  SetStatus("done", "Succeeded", false);
  EXPECT_TRUE(Evict("done").ok());
  SetStatus("p", "Pending", false);
  EXPECT_TRUE(Evict("p").ok());
}

TEST_F(Eviction, SeveralBudgetsAreTooMany) {
  CreatePod("p", "x", true);
  CreateBudget("b1", "x", R"("minAvailable":0)");
  CreateBudget("b2", "x", R"("minAvailable":0)");
  const auto answer = Evict("p");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.failure().code, 500);
  EXPECT_EQ(answer.failure().reason, "");
  EXPECT_EQ(answer.failure().message,
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support.");
}

TEST_F(Eviction, ABudgetThatIsNotComputedYet) {
  CreatePod("p", "x", true);
  Put(Budgets(), Json::parse(R"({"metadata":{"name":"b"},"spec":{
    "selector":{"matchLabels":{"app":"x"}},"minAvailable":0}})"));
  const auto answer = Evict("p");
  ExpectRefused(answer, "The disruption budget b is still being processed by the server.");
  EXPECT_EQ(answer.failure().retry_after_seconds, 10);
}

TEST_F(Eviction, DryRunChecksAndChangesNothing) {
  CreatePod("p", "x", true);
  CreateBudget("b", "x", R"("minAvailable":0)");
  const uint64_t version = store_.version();
  EXPECT_TRUE(Evict("p", R"({"deleteOptions":{"dryRun":["All"]}})").ok());
  EXPECT_EQ(store_.version(), version);
}

TEST_F(Eviction, BadBodies) {
  CreatePod("p", "x", true);
  const auto message = [this](const std::string& patch) {
    const auto answer = Evict("p", patch);
    return answer.ok() ? std::string("taken") : answer.failure().message;
  };
  EXPECT_EQ(message(R"({"metadata":{"name":"q"}})"),
            "name in URL does not match name in Eviction object");
  EXPECT_EQ(message(R"({"metadata":{"namespace":"x"}})"),
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
  EXPECT_EQ(Evict("none").failure().message, "pods \"none\" not found");
}

}  // namespace
}  // namespace ks::apiserver
