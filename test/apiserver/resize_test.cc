// SPDX-License-Identifier: Apache-2.0
// pods/resize: what the real kube-apiserver v1.37.1 said.
#include <gtest/gtest.h>

#include <string>

#include "apiserver/service_harness.h"

namespace ks::apiserver {
namespace {

constexpr const char* kPod = "/api/v1/namespaces/default/pods/p";
constexpr const char* kResize = "/api/v1/namespaces/default/pods/p/resize";
constexpr const char* kStrategicPatch = "application/strategic-merge-patch+json";

struct RefusedResize {
  const char* name;
  const char* resources;  // of the container as it was
  const char* patch;      // of the pod's spec
  const char* field;
  const char* message;
};

class ResizeHarness {
 public:
  explicit ResizeHarness(const std::string& spec) {
    const Answered made = harness_.Ask(
        "POST", kPods, Json{{"metadata", {{"name", "p"}}}, {"spec", Json::parse(spec)}});
    EXPECT_EQ(made.status, 201) << made.body;
  }
  static std::string SpecOf(const std::string& resources) {
    return R"({"containers":[{"name":"c","image":"i","resources":)" + resources + R"(}],
               "initContainers":[{"name":"init","image":"i",
                                  "resources":{"requests":{"cpu":"1"}}}]})";
  }
  Answered Patch(const std::string& spec) {
    return harness_.Ask("PATCH", kResize, R"({"spec":)" + spec + "}", kStrategicPatch);
  }
  Answered Resize(const std::string& resources) {
    return Patch(R"({"containers":[{"name":"c","resources":)" + resources + "}]}");
  }
  Json Get() { return harness_.Ask("GET", kPod).body; }
  void BindTo(const std::string& node) {
    const Json binding = {{"metadata", {{"name", "p"}}},
                          {"target", {{"kind", "Node"}, {"name", node}}}};
    EXPECT_EQ(harness_.Ask("POST", std::string(kPod) + "/binding", binding).status, 201);
  }

  ServiceHarness harness_;
};

TEST(Resize, ChangesWhatAContainerAsksForAndCountsIt) {
  ResizeHarness pod(ResizeHarness::SpecOf(R"({"requests":{"cpu":"1"}})"));
  const Answered answer = pod.Resize(R"({"requests":{"cpu":"500m"}})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json stored = pod.Get();
  EXPECT_EQ(stored["spec"]["containers"][0]["resources"]["requests"]["cpu"], "500m");
  EXPECT_EQ(stored["metadata"]["generation"], 2);
  EXPECT_EQ(pod.harness_.Ask("GET", kResize).body, stored);
}

TEST(Resize, LeavesEverythingElseAsItWas) {
  ResizeHarness pod(ResizeHarness::SpecOf(R"({"requests":{"cpu":"1"}})"));
  const Json before = pod.Get();
  Json sent = before;
  sent["metadata"].erase("resourceVersion");
  sent["metadata"]["labels"] = {{"a", "b"}};
  sent["spec"]["containers"][0]["image"] = "other";
  sent["spec"]["tolerations"] = Json::array();
  sent["status"]["phase"] = "Running";
  const Answered answer = pod.harness_.Ask("PUT", kResize, sent);
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(pod.Get(), before);
}

TEST(Resize, OfInitContainersAndOfTheWholePod) {
  ResizeHarness pod(ResizeHarness::SpecOf(R"({"requests":{"cpu":"1"}})"));
  const Answered answer = pod.Patch(
      R"({"initContainers":[{"name":"init","resources":{"requests":{"cpu":"2"}}}],
          "resources":{"requests":{"cpu":"5"}}})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json spec = pod.Get()["spec"];
  EXPECT_EQ(spec["initContainers"][0]["resources"]["requests"]["cpu"], "2");
  EXPECT_EQ(spec["resources"]["requests"]["cpu"], "5");
}

TEST(Resize, ARequestThatIsTakenAwayComesBackAsTheLimit) {
  ResizeHarness pod(ResizeHarness::SpecOf(R"({"requests":{"cpu":"4"},"limits":{"cpu":"8"}})"));
  const Answered answer = pod.Resize(R"({"requests":{"cpu":null}})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(pod.Get()["spec"]["containers"][0]["resources"]["requests"]["cpu"], "8");
}

TEST(Resize, OldVersionsAndOtherMethodsAreRefused) {
  ResizeHarness pod(ResizeHarness::SpecOf(R"({"requests":{"cpu":"1"}})"));
  Json sent = pod.Get();
  sent["metadata"]["resourceVersion"] = "1";
  EXPECT_EQ(pod.harness_.Ask("PUT", kResize, sent).status, 409);
  EXPECT_EQ(pod.harness_.Ask("DELETE", kResize).status, 405);
  EXPECT_EQ(pod.harness_.Ask("POST", kResize, sent).status, 405);
  EXPECT_EQ(pod.harness_.Ask("PUT", "/api/v1/nodes/n/resize", sent).status, 404);
}

TEST(Resize, OnlyThereMayResourcesChange) {
  ResizeHarness pod(ResizeHarness::SpecOf(R"({"requests":{"cpu":"1"}})"));
  Json sent = pod.Get();
  sent["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "2";
  EXPECT_EQ(pod.harness_.Ask("PUT", kPod, sent).status, 422);
}

TEST(Resize, StaticAndWindowsPodsHaveNone) {
  ResizeHarness windows(
      R"({"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}],
          "os":{"name":"windows"}})");
  const Answered answer = windows.Resize(R"({"requests":{"cpu":"2"}})");
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.body["message"],
            "Pod \"p\" is invalid: []: Forbidden: windows pods cannot be resized");
}

TEST(Resize, TheNodeMustHaveSoMuch) {
  ResizeHarness pod(ResizeHarness::SpecOf(R"({"requests":{"cpu":"1","memory":"1Gi"}})"));
  pod.BindTo("n");
  EXPECT_EQ(pod.Resize(R"({"requests":{"cpu":"2"}})").body["message"],
            "pods \"p\" is forbidden: node \"n\" not found");
  pod.harness_.Ask("POST", kNodes, Json::parse(R"({"metadata":{"name":"n"},
                                   "status":{"allocatable":{"cpu":"4","memory":"4Gi"}}})"));
  EXPECT_EQ(pod.Resize(R"({"requests":{"cpu":"4"}})").status, 200);
  const Answered answer = pod.Resize(R"({"requests":{"cpu":"5","memory":"5Gi"}})");
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.body["message"],
            "pods \"p\" is forbidden: node didn't have enough allocatable resources: cpu, "
            "requested: 5000, allocatable: 4000; memory, requested: 5368709120, allocatable: "
            "4294967296");
  EXPECT_EQ(answer.body["details"]["causes"], Json::parse(R"([{"reason":"NodeCapacity"}])"));
  EXPECT_EQ(pod.Get()["spec"]["containers"][0]["resources"]["requests"]["cpu"], "4");
}

class RefusedResizes : public ::testing::TestWithParam<RefusedResize> {};

TEST_P(RefusedResizes, SayWhy) {
  ResizeHarness pod(ResizeHarness::SpecOf(GetParam().resources));
  const Json before = pod.Get();
  const Answered answer = pod.Patch(GetParam().patch);
  ASSERT_EQ(answer.status, 422) << answer.body;
  const Json& cause = answer.body["details"]["causes"][0];
  EXPECT_EQ(cause["field"], GetParam().field);
  EXPECT_EQ(cause["message"], GetParam().message);
  EXPECT_EQ(pod.Get(), before);
}

constexpr const char* kBurstable =
    R"({"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"8"}})";
constexpr const char* kOnly = "Forbidden: only cpu and memory resources are mutable";

INSTANTIATE_TEST_SUITE_P(
    All, RefusedResizes,
    ::testing::Values(
        RefusedResize{"QosClass", "{}",
                      R"({"initContainers":[{"name":"init","resources":{"limits":{"cpu":"1",
                          "memory":"1"},"requests":{"memory":"1"}}}],
                          "containers":[{"name":"c","resources":{"limits":{"cpu":"1",
                          "memory":"1"}}}]})",
                      "spec",
                      "Invalid value: \"Burstable\": Pod QOS Class may not change as a result of "
                      "resizing"},
        RefusedResize{"RequestRemoved", kBurstable,
                      R"({"containers":[{"name":"c","resources":{"requests":{"memory":null}}}]})",
                      "spec.containers[0].resources.requests",
                      "Forbidden: resource requests cannot be removed"},
        RefusedResize{"LimitRemoved", kBurstable,
                      R"({"containers":[{"name":"c","resources":{"limits":{"cpu":null}}}]})",
                      "spec.containers[0].resources.limits",
                      "Forbidden: resource limits cannot be removed"},
        RefusedResize{"OtherResource", kBurstable,
                      R"({"containers":[{"name":"c",
                          "resources":{"requests":{"ephemeral-storage":"1Gi"}}}]})",
                      "spec", kOnly},
        RefusedResize{"ResizePolicy", kBurstable,
                      R"({"containers":[{"name":"c","resizePolicy":[{"resourceName":"cpu",
                          "restartPolicy":"RestartContainer"}]}]})",
                      "spec", kOnly},
        RefusedResize{"OtherResourceOfInit", kBurstable,
                      R"({"initContainers":[{"name":"init",
                          "resources":{"requests":{"ephemeral-storage":"1"}}}]})",
                      "spec.initContainers[0]",
                      "Forbidden: only cpu and memory resources for init or sidecar containers are "
                      "mutable"},
        RefusedResize{"OtherResourceOfPod", kBurstable,
                      R"({"resources":{"requests":{"cpu":"2","hugepages-2Mi":"2Mi"},
                                       "limits":{"hugepages-2Mi":"2Mi"}}})",
                      "spec", "Forbidden: only cpu and memory resources are mutable at pod-level"},
        RefusedResize{"RequestOverLimit", kBurstable,
                      R"({"containers":[{"name":"c","resources":{"requests":{"cpu":"9"}}}]})",
                      "spec.containers[0].resources.requests",
                      "Invalid value: \"9\": must be less than or equal to cpu limit of 8"},
        RefusedResize{"Container", kBurstable, R"({"containers":[{"name":"d","image":"i"}]})",
                      "spec.containers",
                      "Forbidden: containers may not be added or removed on resize"},
        RefusedResize{"InitContainer", kBurstable, R"({"initContainers":null})",
                      "spec.initContainers",
                      "Forbidden: initContainers may not be added or removed on resize"},
        RefusedResize{"Renamed", kBurstable,
                      R"({"containers":[{"name":"c","$patch":"delete"},{"name":"d","image":"i"}]})",
                      "spec.containers[0].name",
                      "Forbidden: containers may not be renamed or reordered on resize"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace ks::apiserver
