// SPDX-License-Identifier: Apache-2.0
#include "apiserver/registry/snapshot.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "apiserver/body/body.h"
#include "apiserver/controllers/node_agents.h"
#include "controlled_service.h"

namespace ks::apiserver {
namespace {

const KindInfo& Pods() { return Core("pods"); }

// The objects of a snapshot without what a load makes anew, in the form of their types.
Json Comparable(const Store& store) {
  Json list = Json::parse(SnapshotText(store));
  for (Json& item : list["items"]) {
    item["metadata"].erase("resourceVersion");
    const std::string version = Text(item, "apiVersion");
    EXPECT_FALSE(FitObject(version, Text(item, "kind"), item, FieldValidation::kIgnore, nullptr));
  }
  return list;
}

Result<Loaded> Load(ControlledService& cluster, const std::string& text) {
  return LoadSnapshot(cluster.service.registry(), text);
}

TEST(SnapshotTest, RoundTrip) {
  ControlledService cluster;
  cluster.Create(Core("nodes"), R"({"metadata":{"name":"n1"}})");
  cluster.Create(Core("namespaces"), R"({"metadata":{"name":"other"}})");
  cluster.Create(Pods(), R"({"metadata":{"name":"p","annotations":{"a":"ü \" \\"}},
      "spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m"}}}]}})");
  cluster.Create(Pods(), R"({"metadata":{"name":"leaving","finalizers":["example.com/f"]},
      "spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]}})");
  cluster.Edit(Pods(), "leaving", R"({"status":{"phase":"Running","podIP":"10.0.0.1"}})");
  cluster.Delete(Pods(), "leaving");
  NodeAgentOptions options;
  cluster.service.AddController(NewNodeAgents(cluster.service, options));
  cluster.Create(Pods(), R"({"metadata":{"name":"runs"},
      "spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]}})");
  cluster.Run(std::chrono::seconds(20));
  EXPECT_EQ(cluster.Get(Pods(), "runs")["status"]["phase"], "Running");
  cluster.Create(StorageClasses(), R"({"metadata":{"name":"sc"},"provisioner":"x"})");
  cluster.clock.Advance(std::chrono::hours(5));

  ControlledService copy({.seed = 99});
  copy.clock.Advance(std::chrono::hours(9));
  const auto loaded = Load(copy, SnapshotText(cluster.service.store()));
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->left_out, "");
  EXPECT_EQ(Comparable(copy.service.store()), Comparable(cluster.service.store()));
  const Json leaving = copy.Get(Pods(), "leaving");
  EXPECT_EQ(leaving["spec"]["nodeName"], "n1");
  EXPECT_EQ(leaving["status"]["phase"], "Succeeded");
  EXPECT_EQ(leaving["metadata"]["deletionTimestamp"],
            cluster.Get(Pods(), "leaving")["metadata"]["deletionTimestamp"]);
}

struct FormCase {
  std::string name;
  std::string text;
  size_t want_objects = 2;
  std::string want_left_out{};
};
class SnapshotFormTest : public ::testing::TestWithParam<FormCase> {};

TEST_P(SnapshotFormTest, Loads) {
  ControlledService cluster;
  const auto loaded = Load(cluster, GetParam().text);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->objects, GetParam().want_objects);
  EXPECT_EQ(loaded->left_out, GetParam().want_left_out);
  if (loaded->objects == 0) return;
  const Json pod = cluster.Get(Pods(), "p", "team");
  ASSERT_FALSE(pod.is_null());
  EXPECT_EQ(pod["apiVersion"], "v1");
  EXPECT_EQ(pod["kind"], "Pod");
  EXPECT_FALSE(pod["metadata"]["uid"].get<std::string>().empty());
  EXPECT_EQ(pod["metadata"]["creationTimestamp"], "2026-01-02T03:04:05Z");
  EXPECT_EQ(pod["metadata"]["labels"]["number"], "7") << "a quoted scalar stays a string";
  EXPECT_FALSE(cluster.Get(Core("namespaces"), "team").is_null()) << "a missing namespace is made";
  EXPECT_FALSE(cluster.Get(Core("nodes"), "n1").is_null());
}

#define POD \
  R"("metadata":{"name":"p","namespace":"team","labels":{"number":"7"}},"spec":{"containers":[{"name":"c","image":"i"}]})"
#define TYPED_POD R"({"apiVersion":"v1","kind":"Pod",)" POD "}"
#define NODE R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}})"

constexpr const char* kYaml = R"(# a comment
---
apiVersion: v1
kind: Node
metadata: {name: n1}
--- # another
apiVersion: v1
kind: Pod
metadata:
  name: p
  namespace: team
  labels:
    number: "7"
  annotations:
    text: |
      ---
      not a document
spec:
  containers: [{name: c, image: i}]
...
---
)";

constexpr const char* kYamlList = R"(apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: p, namespace: team, labels: {number: "7"}}
  spec:
    containers: [{name: c, image: i}]
- apiVersion: v1
  kind: Node
  metadata: {name: n1}
kind: List
)";

INSTANTIATE_TEST_SUITE_P(
    Forms, SnapshotFormTest,
    ::testing::Values(
        FormCase{"List", R"({"apiVersion":"v1","kind":"List","items":[)" TYPED_POD "," NODE "]}"},
        FormCase{"ItemsBeforeKind",
                 R"({"items":[)" TYPED_POD "," NODE R"(],"kind":"List","apiVersion":"v1"})"},
        FormCase{"ListsOfOneKind", R"({"apiVersion":"v1","kind":"PodList","items":[{)" POD
                                   R"(}]}{"apiVersion":"v1","kind":"NodeList","items":[)"
                                   R"({"metadata":{"name":"n1"}}]})"},
        FormCase{"JsonLines", TYPED_POD "\n" NODE "\n"},
        FormCase{"ListInAList", R"({"apiVersion":"v1","kind":"List","items":[)" NODE
                                R"(,{"apiVersion":"v1","kind":"List","items":[)" TYPED_POD "]}]}"},
        FormCase{"ByteOrderMark", "\xEF\xBB\xBF" TYPED_POD NODE}, FormCase{"YamlDocuments", kYaml},
        FormCase{"YamlList", kYamlList},
        FormCase{"OtherKinds",
                 R"({"apiVersion":"v1","kind":"List","items":[)" TYPED_POD "," NODE
                 R"(,{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"}}
                 ,{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"e"}}
                 ,{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"e"}}]})",
                 2, "2 apps/v1 Deployment, 1 v1 Endpoints"},
        FormCase{"UnknownField", TYPED_POD R"({"apiVersion":"v1","kind":"Node","zz":1,
                 "metadata":{"name":"n1"},"spec":{"taint":[]}})",
                 2, R"(2 unknown fields, the first one: unknown field "spec.taint" of Node n1)"},
        FormCase{"NothingInIt", R"({"apiVersion":"v1","kind":"PodList","items":[]})", 0},
        FormCase{"NullItems", R"({"apiVersion":"v1","kind":"List","items":null})", 0}),
    [](const auto& row) { return row.param.name; });

// `kubectl get pods,nodes,… -A -o json` of a real control plane v1.37.1 with its controllers.
TEST(SnapshotTest, ARealClusterIsServedAsItWas) {
  std::ifstream file(std::string(KS_TEST_DATA) + "/real_cluster.json");
  std::stringstream text;
  text << file.rdbuf();
  ControlledService cluster;
  const auto loaded = Load(cluster, text.str());
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->objects, 11U);
  EXPECT_EQ(loaded->left_out, "1 apps/v1 Deployment");
  Json dump = Json::parse(text.str());
  for (Json& object : dump["items"]) {
    if (object["kind"] == "Deployment") continue;
    const KindInfo* kind = FindKind(Text(object, "apiVersion"), Text(object, "kind"));
    ASSERT_NE(kind, nullptr);
    const Json& metadata = object["metadata"];
    Json served = cluster.Get(*kind, Text(metadata, "name"), Text(metadata, "namespace"));
    ASSERT_FALSE(served.is_null()) << metadata;
    served["metadata"].erase("resourceVersion");
    object["metadata"].erase("resourceVersion");
    EXPECT_EQ(served, object);
  }
}

TEST(SnapshotTest, OrderOfKindsDoesNotMatter) {
  ControlledService cluster;
  const auto loaded = Load(cluster, R"({"apiVersion":"v1","kind":"List","items":[
      {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"team"},
       "spec":{"priorityClassName":"high","containers":[{"name":"c","image":"i"}]}},
      {"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},
       "value":77},
      {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team","labels":{"a":"b"}}}]})");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(cluster.Get(Pods(), "p", "team")["spec"]["priority"], 77);
  EXPECT_EQ(cluster.Get(Core("namespaces"), "team")["metadata"]["labels"]["a"], "b");
}

TEST(SnapshotTest, EventsOfBothForms) {
  ControlledService cluster;
  const auto loaded = Load(cluster, R"({"apiVersion":"events.k8s.io/v1","kind":"Event",
      "metadata":{"name":"e","namespace":"default"},"note":"text","reason":"R","type":"Normal",
      "regarding":{"kind":"Pod","name":"p","namespace":"default"}})");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Json event = cluster.Get(Core("events"), "e");
  EXPECT_EQ(event["apiVersion"], "v1");
  EXPECT_EQ(event["message"], "text");
  EXPECT_EQ(event["involvedObject"]["name"], "p");
}

struct FaultCase {
  std::string name;
  std::string text;
  std::string want;
};
class SnapshotFaultTest : public ::testing::TestWithParam<FaultCase> {};

TEST_P(SnapshotFaultTest, IsNamed) {
  ControlledService cluster;
  const auto loaded = Load(cluster, GetParam().text);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, SnapshotFaultTest,
    ::testing::Values(
        FaultCase{"Empty", "", "holds no Kubernetes objects"},
        FaultCase{"OnlyComments", "# nothing\n---\n", "holds no Kubernetes objects"},
        FaultCase{"Array", "[1]", "must be an object"},
        FaultCase{"NoKind", "{}", "kind: is missing: no Kubernetes object"},
        FaultCase{"NoVersion", R"({"kind":"Pod"})", "apiVersion: is missing: no Kubernetes object"},
        FaultCase{"NoName",
                  R"({"apiVersion":"v1","kind":"List","items":[)" NODE
                  R"(,{"apiVersion":"v1","kind":"Node","metadata":{}}]})",
                  "items[1]: Node: metadata.name: is missing"},
        FaultCase{"Twice", NODE "\n" NODE,
                  "document 2: Node n1: is there twice; the first one: document 1"},
        FaultCase{"TwiceInAList",
                  R"({"apiVersion":"v1","kind":"List","items":[)" TYPED_POD "," TYPED_POD "]}",
                  "items[1]: Pod team/p: is there twice; the first one: items[0]"},
        FaultCase{"BrokenJson", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"})",
                  "line 1, column 1: invalid JSON: '{' is not closed"},
        FaultCase{"InvalidUtf8",
                  "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\xff\"}}",
                  "invalid JSON"},
        FaultCase{"WrongType",
                  R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"a":1}}})",
                  "Node n: Node in version \"v1\" cannot be handled as a Node: json: cannot "
                  "unmarshal number into Go struct field "
                  "ObjectMeta.metadata.labels of type string"},
        FaultCase{"InYaml", "kind: Node\n---\nkind: Pod\n",
                  "apiVersion: is missing: no Kubernetes object"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ks::apiserver
