// SPDX-License-Identifier: Apache-2.0
#include "api/decode/decoder.h"

#include <algorithm>
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/decoding.h"
#include "api/json/encode.h"

namespace ks::api {
namespace {

using ::testing::HasSubstr;

std::string Text(const ResourceList& list) {
  std::vector<std::string> parts;
  for (const auto& [name, quantity] : list) parts.push_back(name.str() + "=" + quantity.ToString());
  std::sort(parts.begin(), parts.end());
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

std::string LabelText(const LabelMap& labels) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : labels) parts.push_back(key.str() + "=" + value.str());
  std::sort(parts.begin(), parts.end());
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text;
}

TEST(DecodePodTest, Metadata) {
  const PodPtr pod = Decode<Pod>(R"({"kind":"Pod","apiVersion":"v1","metadata":{
    "name":"p","namespace":"ns","uid":"u1","resourceVersion":"42","generation":3,
    "labels":{"app":"web","empty":""},"annotations":{"dropped":"x"},
    "creationTimestamp":"2026-01-02T03:04:05Z","deletionTimestamp":"2026-01-02T04:04:05+01:00",
    "managedFields":[{"manager":"kubelet","fieldsV1":{"f:metadata":{}}}],
    "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"u2","controller":true,"blockOwnerDeletion":true},
                       {"kind":"Other","name":"o","uid":"u3"}]}})");
  ASSERT_TRUE(pod);
  const ObjectMeta& meta = pod->meta;
  EXPECT_EQ(meta.Key(), "ns/p");
  EXPECT_EQ(meta.uid, "u1");
  EXPECT_EQ(meta.resource_version, "42");
  EXPECT_EQ(meta.generation, 3);
  EXPECT_EQ(LabelText(meta.labels), "app=web,empty=");
  EXPECT_TRUE(meta.annotations.empty());
  ASSERT_TRUE(meta.creation_timestamp && meta.deletion_timestamp);
  EXPECT_EQ(FormatTime(*meta.creation_timestamp), "2026-01-02T03:04:05Z");
  EXPECT_EQ(meta.creation_timestamp, meta.deletion_timestamp);
  EXPECT_EQ(
      *meta.owner_references,
      (std::vector<OwnerReference>{
          {.api_version = "apps/v1",
           .kind = "ReplicaSet",
           .name = "rs",
           .uid = "u2",
           .controller = true},
          {.api_version = "", .kind = "Other", .name = "o", .uid = "u3", .controller = false}}));
  ASSERT_TRUE(pod->spec);
  EXPECT_EQ(*pod->spec, PodSpec());
}

TEST(DecodePodTest, Spec) {
  const PodPtr pod = Decode<Pod>(R"({"spec":{
    "schedulerName":"default-scheduler","nodeName":"n1","priority":-5,"preemptionPolicy":"Never",
    "schedulingGates":[{"name":"g1"},{"name":"g2"}],"schedulingGroup":{"podGroupName":"pg"},
    "nodeSelector":{"disk":"ssd"},"hostNetwork":true,"hostUsers":false,
    "tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"x","value":"v"}],
    "topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule",
      "labelSelector":{"matchLabels":{"b":"2","a":"1"}},"minDomains":3,"nodeAffinityPolicy":"Honor",
      "nodeTaintsPolicy":"Ignore","matchLabelKeys":["h"]},{"maxSkew":1,"topologyKey":"host"}],
    "overhead":{"cpu":"10m"},"resources":{"requests":{"cpu":"2"},"limits":{"cpu":"3"}},
    "resourceClaims":[{"name":"c","resourceClaimName":"rc"},{"name":"d","resourceClaimTemplateName":"t"}],
    "ephemeralContainers":[{"name":"e","volumeMounts":[{"name":"v","bindMountOptions":["noexec"]}]}],
    "os":{"name":"linux"},"terminationGracePeriodSeconds":30}})");
  ASSERT_TRUE(pod);
  const PodSpec& spec = *pod->spec;
  EXPECT_EQ(spec.scheduler_name.view(), "default-scheduler");
  EXPECT_EQ(pod->node_name, "n1");
  EXPECT_EQ(pod->Priority(), -5);
  EXPECT_EQ(spec.preemption_policy.view(), "Never");
  EXPECT_EQ(spec.scheduling_gates, (std::vector<std::string>{"g1", "g2"}));
  EXPECT_EQ(spec.scheduling_group, "pg");
  EXPECT_EQ(LabelText(spec.node_selector), "disk=ssd");
  EXPECT_TRUE(spec.node_selector_present);
  EXPECT_TRUE(spec.host_network);
  EXPECT_EQ(spec.host_users, false);
  EXPECT_EQ(
      spec.tolerations,
      (std::vector<Toleration>{
          {.key = Symbol("k"), .op = "Exists", .value = Symbol(), .effect = Symbol("NoExecute")},
          {.key = Symbol("x"), .op = "", .value = Symbol("v"), .effect = Symbol()}}));
  ASSERT_EQ(spec.topology_spread_constraints.size(), 2u);
  EXPECT_EQ(spec.topology_spread_constraints[0],
            (TopologySpreadConstraint{
                .max_skew = 2,
                .topology_key = Symbol("zone"),
                .when_unsatisfiable = "DoNotSchedule",
                .label_selector = LabelSelectorSpec{.match_labels = {{"a", "1"}, {"b", "2"}},
                                                    .match_expressions = {}},
                .min_domains = 3,
                .node_affinity_policy = "Honor",
                .node_taints_policy = "Ignore",
                .match_label_keys = {"h"}}));
  EXPECT_FALSE(spec.topology_spread_constraints[1].label_selector);
  EXPECT_FALSE(spec.topology_spread_constraints[1].min_domains);
  EXPECT_EQ(Text(spec.overhead), "cpu=10m");
  ASSERT_TRUE(spec.resource_requests);
  EXPECT_EQ(Text(*spec.resource_requests), "cpu=2");
  EXPECT_EQ(spec.resource_claims,
            (std::vector<PodResourceClaim>{
                {.name = "c", .resource_claim_name = "rc", .resource_claim_template_name = ""},
                {.name = "d", .resource_claim_name = "", .resource_claim_template_name = "t"}}));
  EXPECT_TRUE(spec.ephemeral_bind_mount_options);
}

TEST(DecodePodTest, Containers) {
  const PodPtr pod = Decode<Pod>(R"({"spec":{"containers":[
    {"name":"c","image":"i:1","env":[{"name":"X","value":"y"}],
     "resources":{"requests":{"cpu":"100m","memory":1e3,"example.com/x":" 2 "},"limits":{"cpu":0.5},"claims":[{"name":"cl","request":"r"}]},
     "ports":[{"containerPort":80},{"containerPort":81,"hostPort":8081,"hostIP":"10.0.0.1","protocol":"UDP"},{"hostPort":-1},{"hostPort":8082}],
     "restartPolicyRules":[{"action":"Restart"},{"action":"RestartAllContainers"}],
     "volumeMounts":[{"name":"v"},{"name":"w","bindMountOptions":["x"]}]},
    {"name":"d","volumeMounts":[{"name":"v","bindMountOptions":[]}],"resources":{"requests":{"cpu":null}}}],
    "initContainers":[{"name":"s","restartPolicy":"Always"},{"name":"i","restartPolicy":"OnFailure"}]}})");
  ASSERT_TRUE(pod);
  ASSERT_EQ(pod->spec->containers.size(), 2u);
  const Container& c = pod->spec->containers[0];
  EXPECT_EQ(c.name, "c");
  EXPECT_EQ(c.image, "i:1");
  EXPECT_EQ(Text(c.requests), "cpu=100m,example.com/x=2,memory=1e3");
  EXPECT_EQ(Text(c.limits), "cpu=500m");
  EXPECT_EQ(c.claims, (std::vector<ContainerClaim>{{.name = "cl", .request = "r"}}));
  EXPECT_EQ(c.ports, (std::vector<ContainerPort>{
                         {.host_ip = "10.0.0.1", .protocol = "UDP", .host_port = 8081},
                         {.host_ip = "", .protocol = "", .host_port = 8082}}));
  EXPECT_TRUE(c.restarts_all_containers);
  EXPECT_TRUE(c.has_bind_mount_options);
  EXPECT_FALSE(c.restart_always);
  const Container& d = pod->spec->containers[1];
  EXPECT_FALSE(d.has_bind_mount_options);
  EXPECT_FALSE(d.restarts_all_containers);
  EXPECT_EQ(Text(d.requests), "cpu=0");
  ASSERT_EQ(pod->spec->init_containers.size(), 2u);
  EXPECT_TRUE(pod->spec->init_containers[0].restart_always);
  EXPECT_FALSE(pod->spec->init_containers[1].restart_always);
  EXPECT_FALSE(pod->spec->ephemeral_bind_mount_options);
}

TEST(DecodePodTest, Affinity) {
  const PodPtr pod = Decode<Pod>(R"({"spec":{"affinity":{
    "nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"a","operator":"In","values":["1","2"]}],"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]},{}]},
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"preference":{"matchExpressions":[{"key":"b","operator":"Exists"}]}}]},
    "podAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{},"topologyKey":"zone","namespaces":["x","y"],"namespaceSelector":{"matchLabels":{"t":"1"}}}],
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":9,"podAffinityTerm":{"topologyKey":"host","labelSelector":null}}]},
    "podAntiAffinity":{}}}})");
  ASSERT_TRUE(pod);
  const PodSpec& spec = *pod->spec;
  ASSERT_TRUE(spec.node_affinity && spec.node_affinity->required);
  EXPECT_EQ(spec.node_affinity->required->terms,
            (std::vector<NodeSelectorTerm>{{.match_expressions = {{"a", "In", {"1", "2"}}},
                                            .match_fields = {{"metadata.name", "In", {"n1"}}}},
                                           NodeSelectorTerm()}));
  EXPECT_TRUE(spec.node_affinity->preferred_present);
  ASSERT_EQ(spec.node_affinity->preferred.size(), 1u);
  EXPECT_EQ(spec.node_affinity->preferred[0].weight, 7);
  EXPECT_EQ(spec.node_affinity->preferred[0].preference.match_expressions,
            (std::vector<SelectorRequirement>{{"b", "Exists", {}}}));
  ASSERT_TRUE(spec.pod_affinity);
  ASSERT_EQ(spec.pod_affinity->required.size(), 1u);
  const PodAffinityTerm& term = spec.pod_affinity->required[0];
  EXPECT_EQ(term.label_selector, LabelSelectorSpec());
  EXPECT_EQ(term.topology_key.view(), "zone");
  EXPECT_EQ(term.namespaces, (std::vector<Symbol>{Symbol("x"), Symbol("y")}));
  ASSERT_TRUE(term.namespace_selector);
  EXPECT_EQ(term.namespace_selector->match_labels.size(), 1u);
  ASSERT_EQ(spec.pod_affinity->preferred.size(), 1u);
  EXPECT_EQ(spec.pod_affinity->preferred[0].weight, 9);
  EXPECT_EQ(spec.pod_affinity->preferred[0].term.topology_key.view(), "host");
  EXPECT_FALSE(spec.pod_affinity->preferred[0].term.label_selector);
  EXPECT_FALSE(spec.pod_affinity->preferred[0].term.namespace_selector);
  ASSERT_TRUE(spec.pod_anti_affinity);
  EXPECT_EQ(*spec.pod_anti_affinity, PodAffinity());
}

TEST(DecodePodTest, Volumes) {
  struct Case {
    const char* json;
    Volume volume;
  };
  using Source = Volume::Source;
  const Case cases[] = {
      {R"({"name":"kube-api-access-x7k2p","projected":{"sources":[]}})",
       {.name = "", .source = Source::kOther, .id = {}, .pool = {}, .monitors = {}}},
      {R"({"name":"v","emptyDir":{}})",
       {.name = "", .source = Source::kOther, .id = {}, .pool = {}, .monitors = {}}},
      {R"({"name":"v","configMap":{"name":"c"}})",
       {.name = "", .source = Source::kConfigMapOrSecret, .id = {}, .pool = {}, .monitors = {}}},
      {R"({"name":"v","secret":{}})",
       {.name = "", .source = Source::kConfigMapOrSecret, .id = {}, .pool = {}, .monitors = {}}},
      {R"({"name":"v","persistentVolumeClaim":{"claimName":"c","readOnly":true}})",
       {.name = "v",
        .source = Source::kPersistentVolumeClaim,
        .read_only = true,
        .id = "c",
        .pool = {},
        .monitors = {}}},
      {R"({"name":"v","ephemeral":{"volumeClaimTemplate":{}}})",
       {.name = "v", .source = Source::kEphemeral, .id = {}, .pool = {}, .monitors = {}}},
      {R"({"name":"v","gcePersistentDisk":{"pdName":"d","readOnly":true}})",
       {.name = "v",
        .source = Source::kGcePersistentDisk,
        .read_only = true,
        .id = "d",
        .pool = {},
        .monitors = {}}},
      {R"({"name":"v","awsElasticBlockStore":{"volumeID":"d"}})",
       {.name = "v",
        .source = Source::kAwsElasticBlockStore,
        .id = "d",
        .pool = {},
        .monitors = {}}},
      {R"({"name":"v","iscsi":{"iqn":"q","targetPortal":"t"}})",
       {.name = "v", .source = Source::kIscsi, .id = "q", .pool = {}, .monitors = {}}},
      {R"({"name":"v","rbd":{"monitors":["a","b"],"pool":"p","image":"i","readOnly":false}})",
       {.name = "v", .source = Source::kRbd, .id = "i", .pool = "p", .monitors = {"a", "b"}}},
      {R"({"name":"v","csi":{"driver":"d"}})",
       {.name = "v", .source = Source::kCsi, .id = "d", .pool = {}, .monitors = {}}},
      {R"({"name":"v","image":{"reference":"r"}})",
       {.name = "v", .source = Source::kImage, .id = "r", .pool = {}, .monitors = {}}},
      {R"({"name":"v","azureDisk":{"diskURI":"u","diskName":"n","kind":"Managed"}})",
       {.name = "v", .source = Source::kAzureDisk, .id = "u", .pool = "Managed", .monitors = {}}},
      {R"({"name":"v","cinder":{"volumeID":"i"}})",
       {.name = "v", .source = Source::kCinder, .id = "i", .pool = {}, .monitors = {}}},
      {R"({"name":"v","vsphereVolume":{"volumePath":"p"}})",
       {.name = "v", .source = Source::kVsphere, .id = "p", .pool = {}, .monitors = {}}},
      {R"({"name":"v","portworxVolume":{"volumeID":"i"}})",
       {.name = "v", .source = Source::kPortworx, .id = "i", .pool = {}, .monitors = {}}},
      {R"({"name":"v","azureFile":{"shareName":"s"}})",
       {.name = "v", .source = Source::kAzureFile, .id = "s", .pool = {}, .monitors = {}}},
      {R"({"name":"v","hostPath":{"path":"/"},"csi":null})",
       {.name = "", .source = Source::kOther, .id = {}, .pool = {}, .monitors = {}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.json);
    const PodPtr pod = Decode<Pod>(std::string(R"({"spec":{"volumes":[)") + c.json + "]}}");
    ASSERT_TRUE(pod);
    ASSERT_EQ(pod->spec->volumes.size(), 1U);
    Volume volume = pod->spec->volumes[0];
    EXPECT_EQ(volume.fingerprint == 0, volume.source == Source::kConfigMapOrSecret);
    volume.fingerprint = 0;
    EXPECT_EQ(volume, c.volume);
  }
}

TEST(DecodePodTest, FingerprintsTellSourcesApartAndNotNames) {
  const auto fingerprint = [](const std::string& json) {
    const PodPtr pod = Decode<Pod>(R"({"spec":{"volumes":[)" + json + "]}}");
    return pod == nullptr ? 0 : pod->spec->volumes.at(0).fingerprint;
  };
  const uint64_t token = fingerprint(R"({"name":"kube-api-access-1","projected":{"sources":[1]}})");
  EXPECT_EQ(token, fingerprint(R"({"projected":{"sources":[1]},"name":"kube-api-access-2"})"));
  EXPECT_NE(token, fingerprint(R"({"name":"kube-api-access-1","projected":{"sources":[2]}})"));
  EXPECT_NE(fingerprint(R"({"name":"v","emptyDir":{}})"),
            fingerprint(R"({"name":"v","downwardAPI":{}})"));
  const uint64_t disk = fingerprint(R"({"name":"v","csi":{"driver":"d","fsType":"ext4"}})");
  EXPECT_NE(disk, 0U);
  EXPECT_NE(disk, fingerprint(R"({"name":"v","csi":{"driver":"d","fsType":"xfs"}})"));
}

TEST(DecodePodTest, Status) {
  const PodPtr pod = Decode<Pod>(
      R"({"status":{"phase":"Pending","nominatedNodeName":"n2","startTime":"2026-01-02T03:04:05Z",
    "conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"m \u00e9","lastProbeTime":null,
                   "lastTransitionTime":"2026-01-02T03:04:06Z","observedGeneration":4}],
    "containerStatuses":[{"name":"plain","ready":true},{"name":"c","allocatedResources":{"cpu":"1"},"resources":{"requests":{"cpu":"2"},"limits":{}}},
                         {"name":"limits-only","resources":{"limits":{"cpu":"1"}}}],
    "initContainerStatuses":[{"name":"i","resources":{"requests":{}}}],
    "allocatedResources":{"cpu":"3"},"resources":{"requests":{"cpu":"4"}},
    "resourceClaimStatuses":[{"name":"a","resourceClaimName":"b"},{"name":"c","resourceClaimName":null}],
    "extendedResourceClaimStatus":{"resourceClaimName":"x","requestMappings":[]},"hostIP":"10.0.0.1"}})");
  ASSERT_TRUE(pod);
  const PodStatus& status = pod->status;
  EXPECT_EQ(status.phase, Symbol("Pending"));
  EXPECT_EQ(status.nominated_node_name, "n2");
  ASSERT_TRUE(status.start_time);
  EXPECT_EQ(FormatTime(*status.start_time), "2026-01-02T03:04:05Z");
  const Condition* const condition = pod->FindCondition("PodScheduled");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(*condition,
            (Condition{.type = "PodScheduled",
                       .status = "False",
                       .reason = "Unschedulable",
                       .message = "m é",
                       .last_probe_time = {},
                       .last_transition_time = *status.start_time + std::chrono::seconds(1),
                       .observed_generation = 4}));
  ASSERT_EQ(status.resources->containers.size(), 1u);
  EXPECT_EQ(status.resources->containers[0].name, "c");
  EXPECT_EQ(Text(*status.resources->containers[0].allocated_resources), "cpu=1");
  EXPECT_EQ(Text(*status.resources->containers[0].resources_requests), "cpu=2");
  ASSERT_EQ(status.resources->init_containers.size(), 1u);
  EXPECT_FALSE(status.resources->init_containers[0].allocated_resources);
  EXPECT_TRUE(status.resources->init_containers[0].resources_requests->empty());
  EXPECT_EQ(Text(*status.resources->allocated), "cpu=3");
  EXPECT_TRUE(status.resources->present);
  EXPECT_EQ(Text(*status.resources->requests), "cpu=4");
  EXPECT_EQ(
      status.claims->resource_claims,
      (std::vector<PodResourceClaimStatus>{{.name = "a", .resource_claim_name = "b"},
                                           {.name = "c", .resource_claim_name = std::nullopt}}));
  EXPECT_EQ(status.claims->extended_resource_claim_name, "x");
}

TEST(DecodePodTest, NullIsAbsent) {
  const PodPtr pod = Decode<Pod>(
      R"({"metadata":{"name":null,"labels":null,"ownerReferences":null,"creationTimestamp":null,"generation":null},
    "spec":{"priority":null,"nodeSelector":null,"affinity":null,"tolerations":null,"containers":null,"hostUsers":null,"hostNetwork":null,
            "schedulingGroup":null,"resources":null,"overhead":null,"volumes":null,"schedulerName":null,"ephemeralContainers":null},
    "status":{"conditions":null,"resources":null,"allocatedResources":null,"extendedResourceClaimStatus":null,"startTime":null}})");
  ASSERT_TRUE(pod);
  EXPECT_EQ(*pod->spec, PodSpec());
  EXPECT_FALSE(pod->status.resources->present);
  EXPECT_FALSE(pod->status.resources->allocated);
  EXPECT_EQ(pod->meta.name, "");
  const PodPtr nothing = Decode<Pod>(R"({"metadata":null,"spec":null,"status":null})");
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->spec);
}

TEST(DecodePodTest, EmptyIsNotNull) {
  const PodPtr pod = Decode<Pod>(
      R"({"spec":{"nodeSelector":{},"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[],
          "requiredDuringSchedulingIgnoredDuringExecution":{}}},"resources":{"requests":{}}},"status":{"resources":{}}})");
  ASSERT_TRUE(pod);
  EXPECT_TRUE(pod->spec->node_selector_present);
  ASSERT_TRUE(pod->spec->node_affinity);
  EXPECT_TRUE(pod->spec->node_affinity->preferred_present);
  EXPECT_TRUE(pod->spec->node_affinity->required);
  EXPECT_TRUE(pod->spec->resource_requests);
  EXPECT_TRUE(pod->status.resources->present);
  EXPECT_FALSE(pod->status.resources->requests);
}

TEST(DecodePodTest, PodLevelResources) {
  const PodPtr pod = Decode<Pod>(
      R"({"spec":{"resources":{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"1"}}}})");
  ASSERT_TRUE(pod);
  ASSERT_TRUE(pod->spec->resource_requests);
  EXPECT_EQ(pod->spec->resource_requests->size(), 1U);
  EXPECT_EQ(pod->spec->resource_limits.size(), 2U);
  EXPECT_EQ(pod->spec->resource_limits.Find(Symbol("cpu"))->Value(), 2);
}

TEST(DecodePodTest, LastDuplicateWins) {
  const PodPtr pod = Decode<Pod>(
      R"({"metadata":{"name":"a","labels":{"x":"1","x":"2"},"name":"b"},
          "spec":{"nodeSelector":{"a":"1"},"nodeSelector":null,"priority":1,"priority":2,"containers":[{"name":"1"},{"name":"2"}],
                  "containers":[{"name":"3","resources":{"requests":{"cpu":"1"}},"resources":{"limits":{"cpu":"1"}}}],
                  "topologySpreadConstraints":[{"labelSelector":{"matchLabels":{"k":"1","k":"2"}}}]}})");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->meta.name, "b");
  EXPECT_EQ(LabelText(pod->meta.labels), "x=2");
  EXPECT_FALSE(pod->spec->node_selector_present);
  EXPECT_EQ(pod->Priority(), 2);
  ASSERT_EQ(pod->spec->containers.size(), 1u);
  EXPECT_EQ(pod->spec->containers[0].name, "3");
  EXPECT_TRUE(pod->spec->containers[0].requests.empty());
  const auto& selector = pod->spec->topology_spread_constraints[0].label_selector;
  ASSERT_TRUE(selector);
  EXPECT_EQ(selector->match_labels, (std::vector<std::pair<std::string, std::string>>{{"k", "2"}}));
}

TEST(DecodePodTest, EscapedKeysAndUnknownFields) {
  const PodPtr pod = Decode<Pod>(
      R"({"new":{"a":[1,{"b":[]}]},"metad\u0061ta":{"n\u0061me":"p","labels":{"k\"":"v\\"}},"spec":{"weird":[[[{}]]],"priority":1}})");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->meta.name, "p");
  EXPECT_EQ(LabelText(pod->meta.labels), "k\"=v\\");
  EXPECT_EQ(pod->Priority(), 1);
}

TEST(DecodePodTest, PodsOfOneTemplateShareTheirSpec) {
  const auto json = [](const std::string& name, const std::string& cpu) {
    return R"({"metadata":{"name":")" + name + R"("},"spec":{"nodeName":"node-)" + name +
           R"(","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")" + cpu +
           R"("}}}],"volumes":[{"name":"kube-api-access-)" + name + R"(","projected":{}}]}})";
  };
  Decoder decoder;
  const PodPtr a = *decoder.Object<Pod>(Padded(json("a", "1")));
  const PodPtr b = *decoder.Object<Pod>(Padded(json("b", "1")));
  const PodPtr c = *decoder.Object<Pod>(Padded(json("c", "2")));
  EXPECT_EQ(a->spec, b->spec);
  EXPECT_NE(a->spec, c->spec);
  EXPECT_EQ(a->node_name, "node-a");
  EXPECT_EQ(b->node_name, "node-b");
}

// Which object holds what may be common.
struct Parts {
  const void* owners;
  const void* resources;
  const void* conditions;

  explicit Parts(const Pod& pod)
      : owners(pod.meta.owner_references.ptr().get()),
        resources(pod.status.resources.ptr().get()),
        conditions(pod.status.conditions.ptr().get()) {}
};

TEST(DecodePodTest, PodsOfOneTemplateShareOwnersAndStatus) {
  const auto json = [](int i, const std::string& owner, const std::string& cpu,
                       const std::string& ready) {
    const std::string time = R"(","lastTransitionTime":"2026-01-02T03:04:0)" + std::to_string(i);
    return R"({"metadata":{"ownerReferences":[{"kind":"ReplicaSet","uid":")" + owner +
           R"(","controller":true}]},"spec":{"nodeName":"n"},"status":{"conditions":[)"
           R"({"type":"PodScheduled)" +
           time + R"(Z"},{"type":"Ready","status":")" + ready + time +
           R"(Z"}],"containerStatuses":[{"name":"c","allocatedResources":{"cpu":")" + cpu +
           R"("}}]}})";
  };
  Decoder decoder;
  const PodPtr pod = *decoder.Object<Pod>(Padded(json(1, "u", "1", "True")));
  const PodPtr like_it = *decoder.Object<Pod>(Padded(json(2, "u", "1", "False")));
  const PodPtr other = *decoder.Object<Pod>(Padded(json(1, "v", "2", "True")));
  const PodPtr plain = *decoder.Object<Pod>(Padded(R"({"spec":{"nodeName":"n"}})"));
  const Parts a(*pod);
  const Parts b(*like_it);
  const Parts c(*other);
  const Parts d(*plain);
  EXPECT_EQ(a.owners, b.owners);
  EXPECT_EQ(a.resources, b.resources);
  EXPECT_EQ(a.conditions, b.conditions);
  EXPECT_NE(a.owners, c.owners);
  EXPECT_NE(a.resources, c.resources);
  EXPECT_EQ(pod->meta.Controller()->uid, "u");
  EXPECT_EQ(other->meta.Controller()->uid, "v");
  EXPECT_EQ(Text(*other->status.resources->containers[0].allocated_resources), "cpu=2");
  for (const void* const part : {d.owners, d.resources, d.conditions}) EXPECT_EQ(part, nullptr);
}

// Patches name the types of all conditions; of their contents only those of three are read, and
// that of PodScheduled no more once the pod has a node.
TEST(DecodePodTest, ConditionsThatNobodyReadsAreTypesOnly) {
  const auto json = [](const std::string& spec) {
    return R"({"spec":)" + spec +
           R"(,"status":{"conditions":[{"type":"Ready","status":"True"},)"
           R"({"type":"PodScheduled","status":"True"},{"type":"DisruptionTarget"},)"
           R"({"type":"PodResizePending","reason":"Deferred"},)"
           R"({"type":"PodResizePending","reason":"Infeasible"}]}})";
  };
  const std::vector<std::string> types = {"Ready", "PodScheduled", "DisruptionTarget",
                                          "PodResizePending", "PodResizePending"};
  for (const bool bound : {false, true}) {
    const PodPtr pod = Decode<Pod>(json(bound ? R"({"nodeName":"n"})" : "{}"));
    ASSERT_TRUE(pod);
    EXPECT_EQ(pod->status.conditions->types(), types);
    EXPECT_EQ(pod->FindCondition("Ready"), nullptr);
    EXPECT_EQ(pod->FindCondition(kPodScheduled) == nullptr, bound);
    EXPECT_NE(pod->FindCondition(kDisruptionTarget), nullptr);
    ASSERT_NE(pod->FindCondition(kPodResizePending), nullptr);
    EXPECT_EQ(pod->FindCondition(kPodResizePending)->reason, "Deferred");
  }
}

// The list of types is one whatever the contents are.
TEST(DecodePodTest, APatchOfABoundPodNamesEachTypeOnce) {
  const PodPtr pod = Decode<Pod>(
      R"({"spec":{"nodeName":"n"},"status":{"conditions":[{"type":"PodScheduled"},{"type":"Ready"}]}})");
  ASSERT_TRUE(pod);
  EXPECT_THAT(PodStatusPatch(*pod, {.condition = Condition{.type = "PodScheduled"}}),
              HasSubstr(R"("$setElementOrder/conditions":[{"type":"PodScheduled"},)"
                        R"({"type":"Ready"}])"));
}

TEST(DecodePodTest, Errors) {
  struct Case {
    const char* name;
    const char* json;
    std::string error;
  };
  const std::string regex =
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const std::string cpu = "spec.containers[0].resources.requests.cpu: ";
  const Case cases[] = {
      {"quantity_suffix", R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1K"}}}]}})",
       cpu + "unable to parse quantity's suffix"},
      {"quantity_escape", R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1\n"}}}]}})",
       cpu + regex},
      {"quantity_true", R"({"spec":{"containers":[{"resources":{"requests":{"cpu":true}}}]}})",
       cpu + regex},
      {"quantity_object", R"({"spec":{"containers":[{"resources":{"requests":{"cpu":{}}}}]}})",
       cpu + regex},
      {"quantity_empty", R"({"spec":{"containers":[{"resources":{"requests":{"cpu":""}}}]}})",
       cpu + regex},
      {"quantity_null_text",
       R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"null"}}}]}})", cpu + regex},
      {"second_container", R"({"spec":{"containers":[{},{"name":5}]}})",
       "spec.containers[1].name: must be a string, not a number"},
      {"priority_range", R"({"spec":{"priority":2147483648}})",
       "spec.priority: must be an integer within the range of its type"},
      {"priority_fraction", R"({"spec":{"priority":1.5}})",
       "spec.priority: must be an integer within the range of its type"},
      {"priority_exponent", R"({"spec":{"priority":1e3}})",
       "spec.priority: must be an integer within the range of its type"},
      {"priority_text", R"({"spec":{"priority":"1"}})",
       "spec.priority: must be an integer, not a string"},
      {"generation_range", R"({"metadata":{"generation":9223372036854775808}})",
       "metadata.generation: must be an integer within the range of its type"},
      {"bool_text", R"({"spec":{"hostNetwork":"true"}})",
       "spec.hostNetwork: must be a boolean, not a string"},
      {"labels_array", R"({"metadata":{"labels":[]}})",
       "metadata.labels: must be an object, not an array"},
      {"label_number", R"({"metadata":{"labels":{"a/b":1}}})",
       "metadata.labels.a/b: must be a string, not a number"},
      {"list_object", R"({"spec":{"tolerations":{}}})",
       "spec.tolerations: must be an array, not an object"},
      {"spec_text", R"({"spec":"x"})", "spec: must be an object, not a string"},
      {"time", R"({"metadata":{"creationTimestamp":""}})",
       "metadata.creationTimestamp: \"\" is no time: RFC 3339 is wanted, as in "
       "2026-01-02T03:04:05Z"},
      {"affinity",
       R"({"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"values":[1]}]}]}}}}})",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
       "nodeSelectorTerms[0].matchExpressions[0].values[0]: must be a string, not a number"},
      {"root_array", "[]", "must be an object"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(ErrorOf<Pod>(c.json), c.error);
  }
}

TEST(DecodePodTest, BrokenJson) {
  const char* const cases[] = {
      "",
      " ",
      "{",
      "}",
      "nul",
      "5",
      R"("text")",
      R"({"metadata":{"name":"p")",
      R"({"metadata":{"name":"p"})",
      R"({"metadata":{"name":"p}})",
      R"({"metadata":{"name":"\ud800"}})",
      R"({"metadata":{"name":"\udc00x"}})",
      R"({"metadata":{"name":"\x"}})",
      R"({"metadata":{"name":nul}})",
      R"({"spec":{"priority":01}})",
      R"({"spec":{"hostNetwork":tru}})",
      "{\"metadata\":{\"name\":\"\xff\"}}",
      "{\"metadata\":{\"name\":\"a\nb\"}}",
      R"({"metadata":{}} x)",
      R"({"metadata":{}}{})",
      R"({"metadata" {}})",
      R"({"metadata":{},})",
      R"({"spec":{"tolerations":[}]}})",
      R"({"spec":{"tolerations":[{]}})",
  };
  for (const char* const json : cases) {
    SCOPED_TRACE(json);
    EXPECT_NE(ErrorOf<Pod>(json), "no error");
  }
}

// Every prefix of a good text is an error, never a crash; afterwards the decoder still works.
TEST(DecodePodTest, TruncatedInput) {
  const std::string json =
      R"({"kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}],"priority":3}})";
  Decoder decoder;
  for (size_t length = 0; length < json.size(); ++length) {
    SCOPED_TRACE(length);
    EXPECT_FALSE(decoder.Object<Pod>(Padded(json.substr(0, length))).ok());
  }
  EXPECT_TRUE(decoder.Object<Pod>(Padded(json)).ok());
}

}  // namespace
}  // namespace ks::api
