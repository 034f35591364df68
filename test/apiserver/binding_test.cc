// SPDX-License-Identifier: Apache-2.0
// docs/spec/api.md section 9.1; every text is one that the real server gave.
#include <gtest/gtest.h>

#include <string>

#include "apiserver/service/subresources.h"
#include "testing/fake_clock.h"

namespace ks::apiserver {
namespace {

class Binding : public ::testing::Test {
 protected:
  const KindInfo& pods() const { return *FindResource("", "v1", "pods"); }

  Json Create(const std::string& name, Json pod = Json::object()) {
    pod["metadata"]["name"] = name;
    if (!pod.contains("spec")) pod["spec"] = Json::object();
    pod["spec"]["containers"] = Json::parse(R"([{"name":"a","image":"i"}])");
    return Put("pods", "default", pod);
  }
  Json Put(const char* plural, const char* ns, const Json& object) {
    const auto created = registry_.Create(*FindResource("", "v1", plural), ns, object);
    if (!created.ok()) {
      ADD_FAILURE() << created.failure().message;
      return {};
    }
    return (*created)->Parse();
  }
  Json Pod(const std::string& name) {
    const auto pod = registry_.Get(pods(), "default", name);
    return pod.ok() ? (*pod)->Parse() : Json();
  }
  // The Binding of a pod to n1, changed by `patch`.
  static Json To(const std::string& pod, const std::string& patch = "{}") {
    Json binding = {{"kind", "Binding"},
                    {"apiVersion", "v1"},
                    {"metadata", {{"name", pod}}},
                    {"target", {{"kind", "Node"}, {"name", "n1"}}}};
    binding.merge_patch(Json::parse(patch));
    return binding;
  }
  Outcome<Json> Bind(const std::string& pod, const Json& binding, bool dry_run = false) {
    return BindPod(registry_, "default", pod, binding, dry_run);
  }
  void ExpectRefused(const std::string& pod, const Json& binding, int code,
                     const std::string& reason, const std::string& message) {
    const uint64_t version = store_.version();
    const auto answer = Bind(pod, binding);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.failure().code, code);
    EXPECT_EQ(answer.failure().reason, reason);
    EXPECT_EQ(answer.failure().message, message);
    EXPECT_EQ(store_.version(), version) << "something was written";
  }

  testing::FakeClock clock_;
  Store store_;
  Registry registry_{store_, clock_, 1};
};

TEST_F(Binding, SetsTheNodeAndTheCondition) {
  const Json before = Create("p");
  const auto answer = Bind("p", To("p"));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(*answer, Json::parse(R"({"kind":"Status","apiVersion":"v1","metadata":{},
                                     "status":"Success","code":201})"));
  const Json pod = Pod("p");
  EXPECT_EQ(pod["spec"]["nodeName"], "n1");
  EXPECT_EQ(pod["status"]["conditions"], Json::parse(R"([{"type":"PodScheduled","status":"True",
    "lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z"}])"));
  EXPECT_EQ(pod["metadata"]["generation"], before["metadata"]["generation"]);
  EXPECT_NE(pod["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
  EXPECT_FALSE(pod["metadata"].contains("labels"));
}

TEST_F(Binding, ReplacesTheFailureAndClearsTheNomination) {
  Create("p");
  const auto set = registry_.Modify(pods(), "default", "p", Part::kStatus,
                                    [](Json& pod) -> std::optional<Failure> {
                                      pod["status"]["nominatedNodeName"] = "n9";
                                      pod["status"]["conditions"] = Json::parse(R"([
        {"type":"X","status":"True"},
        {"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"m",
         "observedGeneration":1,"lastTransitionTime":"2020-01-01T00:00:00Z"}])");
                                      return {};
                                    });
  ASSERT_TRUE(set.ok());
  ASSERT_TRUE(Bind("p", To("p")).ok());
  const Json status = Pod("p")["status"];
  EXPECT_FALSE(status.contains("nominatedNodeName"));
  ASSERT_EQ(status["conditions"].size(), 2U);
  EXPECT_EQ(status["conditions"][0]["type"], "X");
  EXPECT_EQ(status["conditions"][1], Json::parse(R"({"type":"PodScheduled","status":"True",
    "lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z"})"));
}

TEST_F(Binding, LabelsOfTheBindingAndTopologyOfTheNode) {
  Put("nodes", "", Json::parse(R"({"metadata":{"name":"n1","labels":{
    "topology.kubernetes.io/zone":"z1","topology.kubernetes.io/region":"r1",
    "topology.kubernetes.io/rack":"k","sub.topology.kubernetes.io/zone":"s"}}})"));
  Create("p", Json::parse(R"({"metadata":{"labels":{"app":"x","topology.kubernetes.io/zone":"own"},
                              "annotations":{"a":"old"}}})"));
  ASSERT_TRUE(
      Bind("p", To("p", R"({"metadata":{"labels":{"l":"1"},"annotations":{"a":"new"}}})")).ok());
  EXPECT_EQ(Pod("p")["metadata"]["labels"],
            Json::parse(R"({"app":"x","l":"1","topology.kubernetes.io/zone":"z1",
                            "topology.kubernetes.io/region":"r1"})"));
  EXPECT_EQ(Pod("p")["metadata"]["annotations"], Json::parse(R"({"a":"new"})"));
  // The index of labels follows.
  const ObjectPtr stored = store_.Find(pods(), "default", "p");
  EXPECT_EQ(stored->labels.size(), 4U);
}

TEST_F(Binding, WithoutTargetKindNothingIsCopied) {
  Put("nodes", "",
      Json::parse(R"({"metadata":{"name":"n1","labels":{"topology.kubernetes.io/zone":"z1"}}})"));
  Create("p");
  ASSERT_TRUE(Bind("p", To("p", R"({"target":{"kind":null}})")).ok());
  EXPECT_EQ(Pod("p")["spec"]["nodeName"], "n1");
  EXPECT_FALSE(Pod("p")["metadata"].contains("labels"));
}

TEST_F(Binding, TheNodeNeedNotExist) {
  Create("p");
  EXPECT_TRUE(Bind("p", To("p", R"({"target":{"name":"nowhere"}})")).ok());
  EXPECT_EQ(Pod("p")["spec"]["nodeName"], "nowhere");
}

TEST_F(Binding, DryRunChecksAndWritesNothing) {
  Create("p");
  const uint64_t version = store_.version();
  EXPECT_TRUE(Bind("p", To("p"), true).ok());
  EXPECT_EQ(store_.version(), version);
  EXPECT_FALSE(Bind("p", To("p", R"({"metadata":{"uid":"other"}})"), true).ok());
  EXPECT_FALSE(Bind("q", To("q"), true).ok());
}

TEST_F(Binding, PostedToTheNamespace) {
  Put("nodes", "",
      Json::parse(R"({"metadata":{"name":"n1","labels":{"topology.kubernetes.io/zone":"z1"}}})"));
  Create("p");
  EXPECT_TRUE(BindPod(registry_, "default", "", To("p"), false).ok());
  EXPECT_EQ(Pod("p")["spec"]["nodeName"], "n1");
  EXPECT_FALSE(Pod("p")["metadata"].contains("labels"));  // admission sees pods/binding only
  const auto nameless =
      BindPod(registry_, "default", "", To("p", R"({"metadata":{"name":null}})"), false);
  ASSERT_FALSE(nameless.ok());
  EXPECT_EQ(nameless.failure().message, "Name parameter required.");
}

TEST_F(Binding, ConflictsInTheOrderOfTheRealServer) {
  const std::string uid = Create("p")["metadata"]["uid"];
  ExpectRefused("p", To("p", R"({"metadata":{"uid":"u1"}})"), 409, "Conflict",
                "Operation cannot be fulfilled on pods \"p\": StorageError: invalid object, Code: "
                "4, Key: /registry/pods/default/p, ResourceVersion: 0, AdditionalErrorMsg: "
                "Precondition failed: UID in precondition: u1, UID in object meta: " +
                    uid);
  ASSERT_TRUE(Bind("p", To("p", R"({"metadata":{"uid":")" + uid + "\"}}")).ok());
  ExpectRefused("p", To("p"), 409, "Conflict",
                "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to "
                "node \"n1\"");

  Create("gated", Json::parse(R"({"spec":{"schedulingGates":[{"name":"g"}]}})"));
  ExpectRefused("gated", To("gated"), 409, "Conflict",
                "Operation cannot be fulfilled on pods/binding \"gated\": pod gated has non-empty "
                ".spec.schedulingGates");

  Create("going", Json::parse(R"({"metadata":{"finalizers":["ex.io/f"]}})"));
  ASSERT_TRUE(Bind("going", To("going")).ok());
  ASSERT_TRUE(registry_.Delete(pods(), "default", "going").ok());
  ExpectRefused("going", To("going"), 409, "Conflict",
                "Operation cannot be fulfilled on pods/binding \"going\": pod going is being "
                "deleted, cannot be assigned to a host");

  ExpectRefused("none", To("none"), 404, "NotFound", "pods \"none\" not found");
}

TEST_F(Binding, BadBindings) {
  Create("p");
  ExpectRefused("p", To("q"), 400, "BadRequest",
                "name in URL does not match name in Binding object");
  ExpectRefused("p", To("p", R"({"metadata":{"namespace":"other"}})"), 400, "BadRequest",
                "the namespace of the provided object does not match the namespace sent on the "
                "request");
  ExpectRefused("p", To("p", R"({"kind":"Pod"})"), 400, "BadRequest",
                "Pod in version \"v1\" cannot be handled as a Binding: converting (v1.Pod) to "
                "(core.Binding): unknown conversion");
  ExpectRefused("p", To("p", R"({"target":{"kind":"Minion"}})"), 500, "",
                "target.kind: Unsupported value: \"Minion\": supported values: \"Node\", "
                "\"<empty>\"");
  ExpectRefused("p", To("p", R"({"target":{"name":""}})"), 500, "", "target.name: Required value");
  ExpectRefused("p", To("p", R"({"target":null})"), 500, "", "target.name: Required value");
  for (const char* name : {"A/b", "a_b", "-a", "a-", "a..b", "a.-b", "a-.b"}) {
    const auto answer = Bind("p", To("p", std::string(R"({"target":{"name":")") + name + "\"}}"));
    ASSERT_FALSE(answer.ok()) << name;
    EXPECT_EQ(answer.failure().code, 500);
    EXPECT_EQ(answer.failure().message.find("target.name: Invalid value: \"" + std::string(name) +
                                            "\": a lowercase RFC 1123 subdomain must consist of"),
              0U)
        << answer.failure().message;
  }
  for (const char* odd : {"null", "[]", "3", R"({"metadata":[],"target":[]})"}) {
    EXPECT_FALSE(Bind("p", Json::parse(odd)).ok()) << odd;
  }
}

}  // namespace
}  // namespace ks::apiserver
