// SPDX-License-Identifier: Apache-2.0
#include "inspect/cluster_dump.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "inspect/explain.h"
#include "inspect/offline_cluster.h"
#include "plugins/registry.h"

namespace ks::scheduler {
namespace {

// One object a word: "Kind namespace/name uid", pods also with "@node".
std::string Summary(const inspect::ClusterDump& dump) {
  std::string text;
  const auto add = [&text](std::string_view kind, const api::ObjectMeta& meta) {
    text += std::string(text.empty() ? "" : ", ") + std::string(kind) + " " + meta.Key() + " " +
            meta.uid;
  };
  for (const auto& node : dump.nodes) add("Node", node->meta);
  for (const auto& pod : dump.pods) {
    add("Pod", pod->meta);
    if (!pod->node_name.empty()) text += "@" + pod->node_name.str();
  }
  for (const auto& ns : dump.Of<api::Namespace>()) add("Namespace", ns->meta);
  for (const auto& service : dump.Of<api::Service>()) add("Service", service->meta);
  for (const auto& rc : dump.Of<api::ReplicationController>())
    add("ReplicationController", rc->meta);
  for (const auto& rs : dump.Of<api::ReplicaSet>()) add("ReplicaSet", rs->meta);
  for (const auto& sts : dump.Of<api::StatefulSet>()) add("StatefulSet", sts->meta);
  return text;
}

// What the texts hold, named f1, f2 …, or the error.
std::string Read(const std::vector<std::string>& texts) {
  inspect::ClusterDumpReader reader;
  for (size_t i = 0; i < texts.size(); ++i) {
    const Result<void> read = reader.Read("f" + std::to_string(i + 1), texts[i]);
    if (!read.ok()) return read.error().message;
  }
  return Summary(reader.Take());
}

inspect::ClusterDump MustRead(const std::string& text) {
  inspect::ClusterDumpReader reader;
  const Result<void> read = reader.Read("f", text);
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
  return reader.Take();
}

struct Case {
  std::string name;
  std::vector<std::string> texts;
  std::string want;
};

class ClusterDumpTest : public ::testing::TestWithParam<Case> {};

TEST_P(ClusterDumpTest, Reads) { EXPECT_EQ(Read(GetParam().texts), GetParam().want); }

const Case kForms[] = {
    {"AListAsKubectlPrintsIt",
     {R"({"apiVersion": "v1", "items": [
          {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "1"}},
          {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": "p", "namespace": "a", "uid": "2"}, "spec": {"nodeName": "n"}}],
          "kind": "List", "metadata": {"resourceVersion": ""}})"},
     "Node n 1, Pod a/p 2@n"},
    {"EveryKind",
     {R"({"kind": "Node", "metadata": {"name": "x", "uid": "1"}}
         {"kind": "Pod", "metadata": {"name": "x", "uid": "2"}}
         {"kind": "Namespace", "metadata": {"name": "x", "uid": "3"}}
         {"kind": "Service", "metadata": {"name": "x", "uid": "4"}}
         {"kind": "ReplicationController", "metadata": {"name": "x", "uid": "5"}}
         {"kind": "ReplicaSet", "metadata": {"name": "x", "uid": "6"}}
         {"kind": "StatefulSet", "metadata": {"name": "x", "uid": "7"}})"},
     "Node x 1, Pod default/x 2, Namespace x 3, Service default/x 4, "
     "ReplicationController default/x 5, ReplicaSet default/x 6, StatefulSet default/x 7"},
    {"AnAnswerOfTheServerWhoseItemsHaveNoKind",
     {R"({"kind": "ReplicaSetList", "apiVersion": "apps/v1", "metadata": {},
          "items": [{"metadata": {"name": "r", "namespace": "a", "uid": "1"}}]})"},
     "ReplicaSet a/r 1"},
    {"ASingleObject", {R"({"kind": "Node", "metadata": {"name": "n"}})"}, "Node n n"},
    {"AnEmptyList", {R"({"kind": "List", "apiVersion": "v1", "items": []})"}, ""},
    {"AListOfNull", {R"({"kind": "List", "apiVersion": "v1", "items": null})"}, ""},
    {"ListsInLists",
     {R"({"kind": "List", "items": [{"kind": "NodeList", "items": [{"metadata":
          {"name": "n"}}]}]})"},
     "Node n n"},
    {"JsonLines",
     {"{\"kind\":\"Node\",\"metadata\":{\"name\":\"b\"}}\n"
      "{\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}\n"},
     "Node b b, Node a a"},
    {"SeveralFiles",
     {R"({"kind": "Node", "metadata": {"name": "n"}})", "kind: Pod\nmetadata: {name: p}\n"},
     "Node n n, Pod default/p default/p"},
    {"AByteOrderMark",
     {"\xEF\xBB\xBF{\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}}"},
     "Node n n"},
    {"AYamlListWithABoundPod",
     {"apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: p, namespace: a}\n"
      "  spec: {nodeName: n1}\nkind: List\n"},
     "Pod a/p a/p@n1"},
    {"AYamlStream",
     {"# nothing yet\n---\nkind: Node\nmetadata: {name: \"1\"}\n---\n---\nkind: Node\nmetadata:\n"
      "  name: n2\n"},
     "Node 1 1, Node n2 n2"},
    {"YamlAliases",
     {"kind: List\nitems:\n- kind: Node\n  metadata: &m {name: x}\n- kind: Pod\n  metadata: *m\n"},
     "Node x x, Pod default/x default/x"},
    {"OtherKindsAreIgnored",
     {R"({"kind": "List", "items": [
          {"apiVersion": "v1", "kind": "ConfigMap", "data": 5},
          {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "metadata": {"name": "s"}},
          {"apiVersion": "extensions/v1beta1", "kind": "ReplicaSet", "metadata": {"name": "r"}},
          {"apiVersion": "example.com/v1", "kind": "AllowList", "items": [1, 2]},
          {"kind": "Node", "metadata": {"name": "n"}}]})"},
     "Node n n"},
    {"FinishedPodsAreNotThere",
     {R"({"kind": "PodList", "items": [
          {"metadata": {"name": "a"}, "status": {"phase": "Succeeded"}},
          {"metadata": {"name": "b"}, "spec": {"nodeName": "n"}, "status": {"phase": "Failed"}},
          {"metadata": {"name": "c"}, "status": {"phase": "Running"}},
          {"metadata": {"name": "d"}, "status": {"phase": "Unknown"}}]})"},
     "Pod default/c default/c, Pod default/d default/d"},
    {"NodesHaveNoNamespace",
     {R"({"kind": "Node", "metadata": {"name": "n", "namespace": "a"}})"},
     "Node n n"},
};

const Case kErrors[] = {
    {"Nothing", {""}, "f1: holds no Kubernetes objects"},
    {"OnlyComments", {"# a\n---\n"}, "f1: holds no Kubernetes objects"},
    {"NoObject", {"[1]"}, "f1: must be an object"},
    {"NoKind", {R"({"metadata": {"name": "n"}})"}, "f1: kind: is missing: no Kubernetes object"},
    {"AnItemWithoutKind",
     {R"({"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "n"}}, {}]})"},
     "f1: items[1]: kind: is missing: no Kubernetes object"},
    {"AnItemThatIsNoObject",
     {R"({"kind": "PodList", "items": [null]})"},
     "f1: items[0]: must be an object"},
    {"NoName", {R"({"kind": "Node", "metadata": {}})"}, "f1: Node: metadata.name: is missing"},
    {"AFieldInAnItem",
     {R"({"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "n"}},
          {"kind": "Pod", "metadata": {"namespace": "a", "name": "p"},
           "spec": {"containers": [{"resources": {"requests": {"cpu": "1x"}}}]}}]})"},
     "f1: items[1]: Pod a/p: spec.containers[0].resources.requests.cpu: quantities must match the "
     "regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
    {"AFieldInALaterDocument",
     {"kind: Node\nmetadata: {name: n1}\n---\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: "
      "5}\n"},
     "f1: document 2: Pod p: spec.nodeName: must be a string, not a number"},
    {"AFieldInANestedList",
     {R"({"kind": "List", "items": [{"kind": "List", "items": [
          {"kind": "Node", "metadata": {"name": "n", "labels": 5}}]}]})"},
     "f1: items[0].items[0]: Node n: metadata.labels: must be an object, not a number"},
    {"TheSecondFile",
     {R"({"kind": "Node", "metadata": {"name": "n"}})", R"({"kind": "Node", "metadata": 5})"},
     "f2: Node: metadata: must be an object, not a number"},
    {"BadJson",
     {"{\"kind\": \"Node\",\n \"metadata\": {\"name\" \"n\"}}"},
     "f1: line 2, column 22: invalid JSON: a ':' is missing"},
    {"CutOff", {"{\"kind\": \"Node\""}, "f1: line 1, column 1: invalid JSON: '{' is not closed"},
    {"BadYaml", {"kind: [\n"}, "f1:2:1: yaml: line 1: did not find expected node content"},
    {"AKeyTwice",
     {"kind: Node\nmetadata:\n  name: n\n  name: m\n"},
     "f1:4:3: metadata.name: is there twice"},
    {"AnObjectTwice",
     {R"({"kind": "List", "items": [{"kind": "Pod", "metadata": {"name": "p"}}]})",
      R"({"kind": "Pod", "metadata": {"name": "p", "namespace": "default", "uid": "9"}})"},
     "f2: Pod default/p: is there twice; the first one: f1: items[0]"},
    {"AFinishedPodTwice",
     {R"({"kind": "Pod", "metadata": {"name": "p"}, "status": {"phase": "Failed"}}
         {"kind": "Pod", "metadata": {"name": "p", "uid": "9"}})"},
     "f1: document 2: Pod default/p: is there twice; the first one: f1"},
    {"TwoPodsOfOneUid",
     {R"({"kind": "Pod", "metadata": {"name": "p", "uid": "9"}}
         {"kind": "Pod", "metadata": {"name": "q", "uid": "9"}})"},
     "f1: document 2: Pod q: metadata.uid: is also that of Pod default/p"},
    {"TwoKinds",
     {R"({"kind": "Pod", "metadata": {"name": "p"}, "kind": "Node"})"},
     "f1: kind: is there twice"},
};

INSTANTIATE_TEST_SUITE_P(Forms, ClusterDumpTest, ::testing::ValuesIn(kForms),
                         [](const auto& row) { return row.param.name; });
INSTANTIATE_TEST_SUITE_P(Errors, ClusterDumpTest, ::testing::ValuesIn(kErrors),
                         [](const auto& row) { return row.param.name; });

// A Workload is nothing that scheduling reads.
TEST(ClusterDumpGroupsTest, OfBothVersions) {
  const inspect::ClusterDump dump = MustRead(R"({"kind":"List","apiVersion":"v1","items":[
    {"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1beta1","metadata":{"name":"g"},
     "spec":{"schedulingPolicy":{"gang":{"minCount":2}}}},
    {"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1alpha3",
     "metadata":{"name":"h","namespace":"ns"},"spec":{"schedulingPolicy":{"basic":{}}}},
    {"kind":"PodGroup","apiVersion":"scheduling.sigs.k8s.io/v1","metadata":{"name":"other"}},
    {"kind":"CompositePodGroup","apiVersion":"scheduling.k8s.io/v1alpha3","metadata":{"name":"c"}},
    {"kind":"Workload","apiVersion":"scheduling.k8s.io/v1beta1","metadata":{"name":"w"}}]})");
  const auto& groups = dump.Of<api::PodGroup>();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0]->meta.Key(), "default/g");
  EXPECT_EQ(groups[0]->min_count, 2);
  EXPECT_EQ(groups[1]->meta.Key(), "ns/h");
  EXPECT_EQ(dump.Of<api::CompositePodGroup>().size(), 1u);
}

TEST(ClusterDumpErrorsTest, ListsAreNotNestedWithoutEnd) {
  std::string text = R"({"kind": "Node", "metadata": {"name": "n"}})";
  for (int i = 0; i < 8; ++i) text = R"({"kind": "List", "items": [)" + text + "]}";
  EXPECT_EQ(Read({text}), "Node n n");
  const std::string error = Read({R"({"kind": "List", "items": [)" + text + "]}"});
  EXPECT_TRUE(error.ends_with(".items[0]: lists are nested too deeply")) << error;
}

TEST(ClusterDumpCompletionTest, PodsWithoutSchedulerNameGetTheDefaultAndStillShareSpecs) {
  const inspect::ClusterDump dump = MustRead(R"({"kind": "PodList", "items": [
      {"metadata": {"name": "a"}, "spec": {"hostNetwork": true}},
      {"metadata": {"name": "b"}, "spec": {"hostNetwork": true}},
      {"metadata": {"name": "c"}, "spec": {"schedulerName": "mine"}}]})");
  EXPECT_EQ(dump.pods.at(0)->spec->scheduler_name.view(), "default-scheduler");
  EXPECT_TRUE(dump.pods.at(0)->spec->host_network);
  EXPECT_EQ(dump.pods.at(0)->spec, dump.pods.at(1)->spec);
  EXPECT_EQ(dump.pods.at(2)->spec->scheduler_name.view(), "mine");
}

std::unique_ptr<inspect::OfflineCluster> Load(const std::string& text,
                                              config::Configuration configuration) {
  static const framework::Registry registry = plugins::InTreeRegistry();
  auto made =
      inspect::OfflineCluster::Make(MustRead(text), std::move(configuration), registry, nullptr);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
  return made.ok() ? std::move(made).value() : nullptr;
}

// One that is written by hand has no version, and the scheduler's own store knows none without.
TEST(OfflineClusterTest, ClaimsWithoutAVersionAreThere) {
  const auto cluster = Load(
      R"({"kind": "Pod", "metadata": {"name": "p"},
          "spec": {"resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}}
         {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
          "metadata": {"name": "c"}, "spec": {}})",
      config::DefaultConfiguration());
  const auto profile = cluster->ProfileFor(*cluster->pending().at(0));
  EXPECT_NE(profile->handle().devices().FindClaim("default/c"), nullptr);
}

TEST(OfflineClusterTest, PendingPodsAreThoseThatAProfileWouldSchedule) {
  const auto cluster = Load(R"({"kind": "PodList", "items": [
      {"metadata": {"name": "b", "namespace": "z"}},
      {"metadata": {"name": "b", "namespace": "a-b"}},
      {"metadata": {"name": "c", "namespace": "a"}},
      {"metadata": {"name": "b", "namespace": "a"}},
      {"metadata": {"name": "bound"}, "spec": {"nodeName": "n"}},
      {"metadata": {"name": "leaving", "deletionTimestamp": "2025-01-01T00:00:00Z"}},
      {"metadata": {"name": "other"}, "spec": {"schedulerName": "other"}},
      {"metadata": {"name": "done"}, "status": {"phase": "Succeeded"}}]})",
                            config::DefaultConfiguration());
  ASSERT_NE(cluster, nullptr);
  std::string names;
  for (const api::PodPtr& pod : cluster->pending()) names += pod->meta.Key() + " ";
  EXPECT_EQ(names, "a/b a/c a-b/b z/b ");
  EXPECT_NE(cluster->FindPod("default/leaving"), nullptr);
  EXPECT_EQ(cluster->FindPod("default/done"), nullptr);
  EXPECT_EQ(cluster->ProfileFor(*cluster->FindPod("default/other")), nullptr);
}

// As a scheduler that saw them in its watches would have it.
TEST(OfflineClusterTest, BoundAndNominatedPodsCount) {
  const auto cluster = Load(R"({"kind": "Node", "metadata": {"name": "n"},
       "status": {"allocatable": {"pods": "3"}}}
      {"kind": "PodList", "items": [
      {"metadata": {"name": "bound"}, "spec": {"nodeName": "n"}},
      {"metadata": {"name": "leaving", "deletionTimestamp": "2025-01-01T00:00:00Z"},
       "spec": {"nodeName": "n", "schedulerName": "other"}},
      {"metadata": {"name": "lost"}, "spec": {"nodeName": "unknown"}},
      {"metadata": {"name": "waits"}},
      {"metadata": {"name": "hopes"}, "status": {"nominatedNodeName": "n"}}]})",
                            config::DefaultConfiguration());
  ASSERT_NE(cluster, nullptr);
  ASSERT_EQ(cluster->snapshot().nodes().size(), 1u);
  EXPECT_EQ(cluster->snapshot().nodes()[0]->pods().size(), 2u);
  // One more fits, and that is promised to the nominated pod.
  const api::PodPtr pod = cluster->FindPod("default/waits");
  EXPECT_EQ(inspect::Explain(*cluster->ProfileFor(*pod), pod).message,
            "0/1 nodes are available: 1 Too many pods.");
  const api::PodPtr nominated = cluster->FindPod("default/hopes");
  EXPECT_EQ(inspect::Explain(*cluster->ProfileFor(*nominated), nominated).result,
            inspect::Verdict::kSchedulable);
}

TEST(OfflineClusterTest, PluginsSeeTheKindsThatTheyAskFor) {
  config::Configuration configuration = config::DefaultConfiguration();
  config::Profile& profile = configuration.profiles.front();
  // The plugin of the default profile that asks for them.
  std::erase_if(profile.plugins.multi_point.enabled,
                [](const config::PluginRef& plugin) { return plugin.name == "PodTopologySpread"; });
  const std::string text = R"({"kind": "Service", "metadata": {"name": "s"}})";
  const Symbol ns("default");
  const auto without = Load(R"({"kind": "Pod", "metadata": {"name": "p"}})" + text, configuration);
  EXPECT_TRUE(without->ProfileFor(*without->pending().at(0))
                  ->handle()
                  .owner_listers()
                  .Services(ns)
                  .empty());
  profile.plugins.multi_point.enabled.push_back({.name = "ServiceAffinity", .weight = 1});
  profile.plugin_config.push_back(
      {.name = "ServiceAffinity", .args = config::RawArgs{R"({"affinityLabels":["region"]})"}});
  const auto with = Load(R"({"kind": "Pod", "metadata": {"name": "p"}})" + text, configuration);
  EXPECT_EQ(with->ProfileFor(*with->pending().at(0))->handle().owner_listers().Services(ns).size(),
            1u);
}

TEST(OfflineClusterTest, AProfileThatCannotBeBuiltIsAnError) {
  config::Configuration configuration = config::DefaultConfiguration();
  configuration.profiles.front().plugins.filter.enabled.push_back({.name = "Nobody"});
  const framework::Registry registry = plugins::InTreeRegistry();
  const auto made = inspect::OfflineCluster::Make({}, configuration, registry, nullptr);
  ASSERT_FALSE(made.ok());
  EXPECT_TRUE(made.error().message.starts_with("initializing profiles: ")) << made.error().message;
}

}  // namespace
}  // namespace ks::scheduler
