// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/demo_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "kubeschedctl/cluster/pod_manifest.h"

namespace ks::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

size_t Unplaceable(const std::vector<PlannedPod>& pods) {
  return static_cast<size_t>(
      std::count_if(pods.begin(), pods.end(), [](const auto& pod) { return !pod.placeable; }));
}

TEST(MakeMixTest, HasEveryKindAndAFewImpossiblePods) {
  const auto pods = MakeMix({.owner = "me", .pods = 5000, .nodes = 500});
  ASSERT_EQ(pods.size(), 5000U);
  EXPECT_EQ(Unplaceable(pods), 10U);
  std::set<std::string> names;
  std::map<std::string, int> kinds;
  for (const PlannedPod& pod : pods) {
    names.insert(pod.name);
    ++kinds[pod.name.substr(0, pod.name.find('-'))];
    const Json body = Json::parse(pod.body);
    EXPECT_EQ(body["metadata"]["labels"][kOwnerLabel], "me");
  }
  EXPECT_EQ(names.size(), 5000U);
  EXPECT_EQ(kinds, (std::map<std::string, int>{{"apart", 500},
                                               {"balanced", 250},
                                               {"batch", 500},
                                               {"impossible", 10},
                                               {"near", 200},
                                               {"plain", 1690},
                                               {"spread", 750},
                                               {"together", 300},
                                               {"urgent", 300},
                                               {"zonal", 500}}));
}

TEST(MakeMixTest, TheSeedDecidesTheOrder) {
  const auto names = [](uint64_t seed) {
    std::vector<std::string> all;
    for (const PlannedPod& pod : MakeMix({.owner = "me", .pods = 100, .seed = seed})) {
      all.push_back(pod.name);
    }
    return all;
  };
  EXPECT_EQ(names(3), names(3));
  EXPECT_NE(names(3), names(4));
}

TEST(MakeMixTest, WithoutZonesNoPodNeedsOne) {
  for (const PlannedPod& pod : MakeMix({.owner = "me", .pods = 500, .zones = 0})) {
    if (!pod.placeable) continue;
    EXPECT_THAT(pod.body, Not(HasSubstr(kZoneLabel))) << pod.name;
  }
}

TEST(MakeMixTest, PodsThatKeepApartNeverNeedMoreThanHalfTheNodes) {
  std::map<std::string, int> apps;
  for (const PlannedPod& pod : MakeMix({.owner = "me", .pods = 1000, .nodes = 6})) {
    if (pod.name.starts_with("apart")) ++apps[Json::parse(pod.body)["metadata"]["labels"]["app"]];
  }
  ASSERT_FALSE(apps.empty());
  for (const auto& [app, pods] : apps) EXPECT_LE(pods, 3) << app;
}

TEST(FittingNodeTest, TwoThirdsAreTaken) {
  const auto pods = MakeMix({.owner = "me", .pods = 5000, .nodes = 500});
  const NodeTemplate node = FittingNode(pods, 500);
  int64_t cpu = 0;
  for (const PlannedPod& pod : pods) cpu += pod.placeable ? pod.amount.cpu_milli : 0;
  const double fill = static_cast<double>(cpu) / (500.0 * static_cast<double>(node.cpu) * 1000);
  EXPECT_GT(fill, 0.5);
  EXPECT_LT(fill, 0.66);
}

TEST(FittingNodeTest, TheLargestPodFitsAndImpossibleOnesDoNotCount) {
  const std::vector<PlannedPod> pods = {
      {.name = "a", .amount = {.cpu_milli = 64000, .memory_bytes = int64_t{300} << 30, .pods = 1}},
      {.name = "b", .placeable = false, .amount = {.cpu_milli = 1'000'000'000, .pods = 1}}};
  const NodeTemplate node = FittingNode(pods, 100);
  EXPECT_EQ(node.cpu, 65);
  EXPECT_EQ(node.memory_gi, 301);
  EXPECT_EQ(node.pods, 110);
}

TEST(FittingNodeTest, FewNodesTakeMorePods) {
  const NodeTemplate node = FittingNode(MakeMix({.owner = "me", .pods = 3000, .nodes = 10}), 10);
  EXPECT_GT(node.pods, 400);
}

PlannedWorkload ParseAll(std::string_view text) {
  auto workload = ParseWorkload("w.yaml", text, {.owner = "me"});
  EXPECT_TRUE(workload.ok()) << workload.error().message;
  return workload.ok() ? std::move(workload).value() : PlannedWorkload();
}

std::vector<PlannedPod> Parse(std::string_view text) { return ParseAll(text).pods; }

std::vector<std::string> Names(const std::vector<PlannedPod>& pods) {
  std::vector<std::string> names;
  for (const PlannedPod& pod : pods) names.push_back(pod.name);
  return names;
}

constexpr const char* kPod =
    "{kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i, resources: "
    "{requests: {cpu: 100m}}}]}}";

TEST(ParseWorkloadTest, EntriesWithCounts) {
  const auto pods = Parse(
      "- count: 2\n"
      "  name: web\n"
      "  pod: {metadata: {labels: {x: \"y\"}}, spec: {containers: [{name: c, image: i, resources: "
      "{requests: {cpu: 100m, memory: 1Ki}}}]}}\n"
      "- expect: pending\n"
      "  pod: {metadata: {name: huge}, spec: {containers: [{name: c, image: i}]}}\n");
  EXPECT_THAT(Names(pods), ElementsAre("web-00000", "web-00001", "huge"));
  EXPECT_EQ(pods[0].amount, (Amount{100, 1024, 1}));
  EXPECT_TRUE(pods[1].placeable);
  EXPECT_FALSE(pods[2].placeable);
  const Json body = Json::parse(pods[1].body);
  EXPECT_EQ(body["kind"], "Pod");
  EXPECT_EQ(body["apiVersion"], "v1");
  EXPECT_EQ(body["metadata"]["name"], "web-00001");
  EXPECT_EQ(body["metadata"]["labels"], (Json{{"x", "y"}, {kOwnerLabel, "me"}}));
}

TEST(ParseWorkloadTest, FormsOfManifests) {
  const std::string pod = kPod;
  const std::string json =
      R"({"kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}})";
  EXPECT_THAT(Names(Parse("# YAML\n" + pod)), ElementsAre("a"));
  EXPECT_THAT(Names(Parse("---\n" + pod + "\n---\n- name: b\n  pod: " + pod + "\n")),
              ElementsAre("a", "b"));
  EXPECT_THAT(Names(Parse(json)), ElementsAre("a"));
  EXPECT_THAT(Names(Parse("[" + json + "]")), ElementsAre("a"));
  EXPECT_THAT(Names(Parse(R"({"kind":"List","items":[)" + json + "]}")), ElementsAre("a"));
  EXPECT_THAT(Names(Parse("kind: PodList\nitems:\n- " + pod + "\n")), ElementsAre("a"));
}

TEST(ParseWorkloadTest, ClaimsAndTemplatesComeBeforeThePods) {
  const PlannedWorkload workload = ParseAll(
      "kind: ResourceClaimTemplate\n"
      "metadata: {name: t, labels: {x: \"y\"}}\n"
      "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}\n"
      "---\n"
      "- kind: ResourceClaim\n"
      "  apiVersion: resource.k8s.io/v1\n"
      "  metadata: {name: c, namespace: default}\n"
      "- pod: " +
      std::string(kPod) + "\n");
  EXPECT_THAT(Names(workload.pods), ElementsAre("a"));
  ASSERT_EQ(workload.objects.size(), 2U);
  EXPECT_EQ(workload.objects[0].name, "t");
  EXPECT_EQ(workload.objects[0].path,
            "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates");
  const Json made = Json::parse(workload.objects[0].body);
  EXPECT_EQ(made["apiVersion"], "resource.k8s.io/v1");
  EXPECT_EQ(made["metadata"]["labels"], (Json{{"x", "y"}, {kOwnerLabel, "me"}}));
  EXPECT_EQ(made["spec"]["spec"]["devices"]["requests"][0]["name"], "r");
  EXPECT_EQ(workload.objects[1].path, "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims");
}

struct RefusedCase {
  std::string name;
  std::string text;
  std::string want;
};

class RefusedWorkloadTest : public ::testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedWorkloadTest, NamesPlaceAndCure) {
  const auto pods = ParseWorkload("w.yaml", GetParam().text, {.owner = "me"});
  ASSERT_FALSE(pods.ok());
  EXPECT_EQ(pods.error().message, GetParam().want);
}

const std::string kSpec = "spec: {containers: [{name: c, image: i}]}";

INSTANTIATE_TEST_SUITE_P(
    Files, RefusedWorkloadTest,
    ::testing::Values(
        RefusedCase{"empty", "", "w.yaml: no pods"},
        RefusedCase{"number", "7\n",
                    "w.yaml:1:1: is of type number (a Pod, or an entry with pod, count, name and "
                    "expect)"},
        RefusedCase{
            "other_kind", "kind: Deployment\n",
            "w.yaml:1:1: kind \"Deployment\" instead of \"Pod\" (only pods, ResourceClaims, "
            "ResourceClaimTemplates, PodGroups, CompositePodGroups and Jobs can be listed; create "
            "other objects beforehand)"},
        RefusedCase{"claim_without_name", "kind: ResourceClaim\n",
                    "w.yaml:1:1: the ResourceClaim has no name (add metadata.name)"},
        RefusedCase{"claim_of_old", "kind: ResourceClaim\napiVersion: resource.k8s.io/v1beta1\n",
                    "w.yaml:1:1: apiVersion \"resource.k8s.io/v1beta1\" instead of "
                    "\"resource.k8s.io/v1\""},
        RefusedCase{"job_without_template",
                    "kind: Job\nmetadata: {name: a}\nspec: {parallelism: 2}\n",
                    "w.yaml:1:1: the Job has no template (add spec.template)"},
        RefusedCase{
            "job_of_no_pods",
            "kind: Job\nmetadata: {name: a}\nspec: {suspend: true, template: {" + kSpec + "}}\n",
            "w.yaml:1:1: the Job makes no pods, or too many"},
        RefusedCase{"slip", "- counts: 3\n  pod: {" + kSpec + "}\n",
                    "w.yaml:1:3: [0].counts: unknown field (did you mean \"count\"?)"},
        RefusedCase{"foreign_field", "- replicas: 3\n",
                    "w.yaml:1:3: [0].replicas: unknown field (an entry has pod, count, name and "
                    "expect; a Pod has a kind)"},
        RefusedCase{"zero", "- count: 0\n",
                    "w.yaml:1:10: [0].count: is not a whole number from 1 to 1000000"},
        RefusedCase{"text_count", "- count: many\n",
                    "w.yaml:1:10: [0].count: is not a whole number from 1 to 1000000"},
        RefusedCase{"expect", "- expect: maybe\n",
                    "w.yaml:1:11: [0].expect: is neither bound nor pending"},
        RefusedCase{"no_pod", "- count: 3\n",
                    "w.yaml:1:3: [0]: no pod (add pod: with its spec, or kind: Pod)"},
        RefusedCase{"no_name", "- pod: {" + kSpec + "}\n",
                    "w.yaml:1:8: [0].pod: the pod has no name (add metadata.name)"},
        RefusedCase{"no_containers", "- name: a\n  pod: {spec: {}}\n",
                    "w.yaml:2:8: [0].pod.spec.containers: a pod needs a container"},
        RefusedCase{"namespace", "- pod: {metadata: {name: a, namespace: b}, " + kSpec + "}\n",
                    "w.yaml:1:8: [0].pod.metadata.namespace: \"b\" instead of \"default\" (leave "
                    "it out or give --namespace)"},
        RefusedCase{"bound",
                    "- pod: {metadata: {name: a}, spec: {nodeName: n1, containers: [{name: c}]}}\n",
                    "w.yaml:1:8: [0].pod.spec.nodeName: the pod has a node already (leave nodeName "
                    "out: placing it is what is shown)"},
        RefusedCase{"twice", std::string("- ") + kPod + "\n- " + kPod + "\n",
                    "w.yaml:2:3: [1]: a pod a is there already (each needs a name of its own)"},
        RefusedCase{"list_without_items", "kind: List\n", "w.yaml:1:1: a List without items"}),
    [](const auto& row) { return row.param.name; });

TEST(ParseWorkloadTest, PodsOfAJobAreCountedAndMadeByOthers) {
  const auto read = ParseWorkload(
      "w.yaml",
      "kind: Job\nmetadata: {name: a}\nspec: {parallelism: 3, completions: 2, template: {" + kSpec +
          "}}\n",
      {.owner = "me"});
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->pods.size(), 2U);
  EXPECT_TRUE(read->pods[0].body.empty());
  ASSERT_EQ(read->objects.size(), 1U);
  EXPECT_THAT(read->objects[0].body, HasSubstr("\"me\""));
}

TEST(ParseWorkloadTest, BadQuantitiesAreNamed) {
  const auto pods = ParseWorkload(
      "w.yaml",
      "- name: a\n  pod: {spec: {containers: [{name: c, resources: {requests: {cpu: lots}}}]}}\n",
      {.owner = "me"});
  ASSERT_FALSE(pods.ok());
  EXPECT_THAT(pods.error().message, HasSubstr("w.yaml:2:8: [0].pod: "));
  EXPECT_THAT(pods.error().message, HasSubstr("spec.containers[0].resources.requests"));
}

TEST(ReadWorkloadTest, TheExampleWithDevices) {
  const auto read = ReadWorkload(KS_EXAMPLES "/devices.yaml", {.owner = "me"});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->pods.size(), 38U);
  EXPECT_EQ(Unplaceable(read->pods), 1U);
  std::set<std::string> names;
  for (const PlannedObject& object : read->objects) names.insert(object.name);
  for (const PlannedPod& pod : read->pods) {
    const Json body = Json::parse(pod.body);
    for (const Json& claim : body["spec"]["resourceClaims"]) {
      const std::string name =
          claim.value("resourceClaimTemplateName", claim.value("resourceClaimName", ""));
      EXPECT_TRUE(names.contains(name)) << pod.name << ": " << name;
    }
  }
}

TEST(ReadWorkloadTest, TheExampleWithGangs) {
  const auto read = ReadWorkload(KS_EXAMPLES "/gang.yaml", {.owner = "me"});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->pods.size(), 34U);
  EXPECT_EQ(Unplaceable(read->pods), 4U);
  EXPECT_THAT(read->gates, ElementsAre("GenericWorkload", "TopologyAwareWorkloadScheduling"));
  std::set<std::string> names;
  for (const PlannedObject& object : read->objects) {
    names.insert(object.name);
    EXPECT_EQ(object.path, "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups");
  }
  for (const PlannedPod& pod : read->pods) {
    const Json group = Json::parse(pod.body)["spec"]["schedulingGroup"]["podGroupName"];
    EXPECT_TRUE(names.contains(group)) << pod.name;
  }
}

TEST(ParseWorkloadTest, GroupsNameTheGatesThatTheyNeed) {
  const auto gates = [](const std::string& groups) {
    return ParseAll(groups + "---\n" + kPod + "\n").gates;
  };
  const std::string plain = "kind: PodGroup\nmetadata: {name: g}\nspec: {}\n";
  EXPECT_THAT(gates(plain), ElementsAre("GenericWorkload"));
  EXPECT_THAT(
      gates("kind: CompositePodGroup\nmetadata: {name: c}\nspec: {}\n"),
      ElementsAre("CompositePodGroup", "GenericWorkload", "TopologyAwareWorkloadScheduling"));
  EXPECT_TRUE(ParseAll(std::string("- ") + kPod).gates.empty());
}

TEST(ReadWorkloadTest, AMissingFileIsNamed) {
  const auto pods = ReadWorkload("/does/not/exist.yaml", {.owner = "me"});
  ASSERT_FALSE(pods.ok());
  EXPECT_EQ(pods.error().message, "open /does/not/exist.yaml: no such file or directory");
}

}  // namespace
}  // namespace ks::ctl
