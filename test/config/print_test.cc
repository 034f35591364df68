// SPDX-License-Identifier: Apache-2.0
// Expected texts are what kube-scheduler prints: docs/spec/config.md 7.
#include "config/print/print.h"

#include <gtest/gtest.h>

#include <string>

#include "config/read/defaults.h"

namespace ks::config {
namespace {

Configuration Defaults() {
  Configuration configuration;
  SetDefaults(&configuration, {});
  return configuration;
}

constexpr char kDefaultYaml[] = R"(apiVersion: kubescheduler.config.k8s.io/v1
clientConnection:
  acceptContentTypes: ""
  burst: 100
  contentType: application/vnd.kubernetes.protobuf
  kubeconfig: ""
  qps: 50
enableContentionProfiling: true
enableProfiling: true
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  leaseDuration: 15s
  renewDeadline: 10s
  resourceLock: leases
  resourceName: kube-scheduler
  resourceNamespace: kube-system
  retryPeriod: 2s
parallelism: 16
percentageOfNodesToScore: 0
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 10
profiles:
- pluginConfig:
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: DefaultPreemptionArgs
      minCandidateNodesAbsolute: 100
      minCandidateNodesPercentage: 10
    name: DefaultPreemption
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      bindingTimeout: 10m0s
      filterTimeout: 10s
      kind: DynamicResourcesArgs
    name: DynamicResources
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      hardPodAffinityWeight: 1
      ignorePreferredTermsOfExistingPods: false
      kind: InterPodAffinityArgs
    name: InterPodAffinity
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeAffinityArgs
    name: NodeAffinity
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesBalancedAllocationArgs
      resources:
      - name: cpu
        weight: 1
      - name: memory
        weight: 1
    name: NodeResourcesBalancedAllocation
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      scoringStrategy:
        resources:
        - name: cpu
          weight: 1
        - name: memory
          weight: 1
        type: LeastAllocated
    name: NodeResourcesFit
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      defaultingType: System
      kind: PodTopologySpreadArgs
    name: PodTopologySpread
  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      bindTimeoutSeconds: 600
      kind: VolumeBindingArgs
      shape:
      - score: 10
        utilization: 0
      - score: 0
        utilization: 100
    name: VolumeBinding
  plugins:
    bind: {}
    filter: {}
    multiPoint:
      enabled:
      - name: SchedulingGates
        weight: 0
      - name: PrioritySort
        weight: 0
      - name: NodeName
        weight: 0
      - name: NodeUnschedulable
        weight: 0
      - name: TaintToleration
        weight: 3
      - name: NodeAffinity
        weight: 2
      - name: NodePorts
        weight: 0
      - name: NodeResourcesFit
        weight: 1
      - name: VolumeRestrictions
        weight: 0
      - name: NodeVolumeLimits
        weight: 0
      - name: VolumeBinding
        weight: 0
      - name: VolumeZone
        weight: 0
      - name: PodTopologySpread
        weight: 2
      - name: InterPodAffinity
        weight: 2
      - name: DynamicResources
        weight: 2
      - name: DefaultPreemption
        weight: 0
      - name: NodeResourcesBalancedAllocation
        weight: 1
      - name: ImageLocality
        weight: 1
      - name: DefaultBinder
        weight: 0
      - name: NodeDeclaredFeatures
        weight: 0
    permit: {}
    placementGenerate: {}
    placementScore: {}
    podGroupPostFilter: {}
    postBind: {}
    postFilter: {}
    preBind: {}
    preEnqueue: {}
    preFilter: {}
    preScore: {}
    queueSort: {}
    reserve: {}
    score: {}
  schedulerName: default-scheduler
)";

TEST(WriteYaml, DefaultConfiguration) { EXPECT_EQ(WriteYaml(Defaults()), kDefaultYaml); }

// From the line `key:` at the start of a line to the next line at the same column.
std::string Section(const std::string& yaml, const std::string& key) {
  const size_t begin = ("\n" + yaml).find("\n" + key + ":");
  if (begin == std::string::npos) return "no " + key;
  size_t end = yaml.find('\n', begin);
  while (end + 1 < yaml.size() && (yaml[end + 1] == ' ' || yaml[end + 1] == '-')) {
    end = yaml.find('\n', end + 1);
  }
  return yaml.substr(begin, end + 1 - begin);
}

TEST(WriteYaml, TopLevelFieldsThatAreOmitted) {
  Configuration configuration = Defaults();
  EXPECT_EQ(Section(WriteYaml(configuration), "delayCacheUntilActive"), "no delayCacheUntilActive");
  EXPECT_EQ(Section(WriteYaml(configuration), "extenders"), "no extenders");
  configuration.delay_cache_until_active = true;
  EXPECT_EQ(Section(WriteYaml(configuration), "delayCacheUntilActive"),
            "delayCacheUntilActive: true\n");
}

TEST(WriteYaml, Extenders) {
  Configuration configuration = Defaults();
  configuration.extenders = {
      {.url_prefix = "http://x",
       .filter_verb = "f",
       .preempt_verb = "p",
       .prioritize_verb = "q",
       .bind_verb = "b",
       .weight = 3,
       .enable_https = true,
       .tls_config = ExtenderTls{.server_name = "s", .cert_file = "/c", .ca_data = "hello!"},
       .http_timeout = std::chrono::milliseconds(1500),
       .node_cache_capable = true,
       .managed_resources = {{"example.com/a", true}, {"example.com/b", false}},
       .ignorable = true},
      {.tls_config = ExtenderTls{}},
  };
  EXPECT_EQ(Section(WriteYaml(configuration), "extenders"), R"(extenders:
- bindVerb: b
  enableHTTPS: true
  filterVerb: f
  httpTimeout: 1.5s
  ignorable: true
  managedResources:
  - ignoredByScheduler: true
    name: example.com/a
  - name: example.com/b
  nodeCacheCapable: true
  preemptVerb: p
  prioritizeVerb: q
  tlsConfig:
    caData: aGVsbG8h
    certFile: /c
    serverName: s
  urlPrefix: http://x
  weight: 3
- httpTimeout: 5s
  tlsConfig: {}
  urlPrefix: ""
)");
}

struct QpsRow {
  float qps;
  const char* yaml;
  const char* json;
};

class Qps : public ::testing::TestWithParam<QpsRow> {};

TEST_P(Qps, IsPrintedShortest) {
  Configuration configuration = Defaults();
  configuration.client_connection.qps = GetParam().qps;
  const std::string yaml = Section(WriteYaml(configuration), "clientConnection");
  EXPECT_NE(yaml.find("  qps: " + std::string(GetParam().yaml) + "\n"), std::string::npos) << yaml;
  const std::string json = WriteConfigz(configuration);
  EXPECT_NE(json.find("\"qps\":" + std::string(GetParam().json) + ","), std::string::npos) << json;
}

const QpsRow kQpsRows[] = {
    {50, "50", "50"},
    {-1, "-1", "-1"},
    {12.5F, "12.5", "12.5"},
    {0.1F, "0.1", "0.1"},
    {1e-7F, "1e-07", "1e-7"},
    {1e30F, "1e+30", "1e+30"},
    {1234567.5F, "1.2345675e+06", "1234567.5"},
    {123456789.0F, "123456790", "123456790"},
    {1e20F, "1e+20", "100000000000000000000"},
    {1e21F, "1e+21", "1e+21"},
};

INSTANTIATE_TEST_SUITE_P(Spec, Qps, ::testing::ValuesIn(kQpsRows));

struct ArgsRow {
  const char* name;
  PluginConfig entry;
  const char* json;
  const char* yaml;
};

class PrintedArgs : public ::testing::TestWithParam<ArgsRow> {
 protected:
  static Configuration With(const PluginConfig& entry) {
    Configuration configuration;
    configuration.profiles = {{.scheduler_name = "a"}};
    configuration.profiles[0].plugin_config = {entry};
    return configuration;
  }
};

TEST_P(PrintedArgs, InYamlAndConfigz) {
  const Configuration configuration = With(GetParam().entry);
  const std::string yaml = Section(WriteYaml(configuration), "profiles");
  const std::string head = "profiles:\n- pluginConfig:\n";
  ASSERT_EQ(yaml.substr(0, head.size()), head);
  EXPECT_EQ(yaml.substr(head.size(), yaml.find("  plugins:\n") - head.size()), GetParam().yaml);
  const std::string json = WriteConfigz(configuration);
  const std::string list =
      "\"pluginConfig\":[{\"name\":\"" + GetParam().entry.name + "\",\"args\":";
  const size_t begin = json.find(list);
  ASSERT_NE(begin, std::string::npos) << json;
  const size_t from = begin + list.size();
  EXPECT_EQ(json.substr(from, json.rfind("}]}]}}") - from), GetParam().json);
}

const ArgsRow kArgsRows[] = {
    {"None", {"Bar", {}}, "null", "  - args: null\n    name: Bar\n"},
    {"Raw",
     {"ImageLocality", RawArgs{R"({"a":null,"z":[1.0,1e3,"<x>"]})"}},
     R"({"a":null,"z":[1.0,1e3,"\u003cx\u003e"]})",
     "  - args:\n      a: null\n      z:\n      - 1\n      - 1000\n      - <x>\n"
     "    name: ImageLocality\n"},
    {"AbsentFilterTimeout",
     {"DynamicResources", DynamicResourcesArgs{}},
     R"({"kind":"DynamicResourcesArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
     R"("filterTimeout":null})",
     R"(  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      filterTimeout: null
      kind: DynamicResourcesArgs
    name: DynamicResources
)"},
    {"Fit",
     {"NodeResourcesFit",
      NodeResourcesFitArgs{
          .ignored_resources = {"example.com/a"},
          .ignored_resource_groups = {"g"},
          .scoring_strategy = ScoringStrategy{.type = "RequestedToCapacityRatio",
                                              .resources = {{"cpu", 1}},
                                              .ratio_shape = {{{0, 1}, {10, 0}}}}}},
     R"({"kind":"NodeResourcesFitArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
     R"("ignoredResources":["example.com/a"],"ignoredResourceGroups":["g"],"scoringStrategy":)"
     R"({"type":"RequestedToCapacityRatio","resources":[{"name":"cpu","weight":1}],)"
     R"("requestedToCapacityRatio":{"shape":[{"utilization":0,"score":1},)"
     R"({"utilization":10,"score":0}]}}})",
     R"(  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      ignoredResourceGroups:
      - g
      ignoredResources:
      - example.com/a
      kind: NodeResourcesFitArgs
      scoringStrategy:
        requestedToCapacityRatio:
          shape:
          - score: 1
            utilization: 0
          - score: 0
            utilization: 10
        resources:
        - name: cpu
          weight: 1
        type: RequestedToCapacityRatio
    name: NodeResourcesFit
)"},
    {"Affinity",
     {"NodeAffinity",
      NodeAffinityArgs{NodeAffinity{
          .required =
              NodeSelector{{{NodeSelectorTerm{.match_expressions = {{"a", "In", {{"x"}}},
                                                                    {"b", "Exists", std::nullopt}},
                                              .match_fields = {{"metadata.name", "In", {{"x"}}}}},
                             NodeSelectorTerm{}}}},
          .preferred = {{2, {.match_expressions = {{"a", "Gt", {{"5"}}}}}}, {}}}}},
     R"({"kind":"NodeAffinityArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
     R"("addedAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)"
     R"([{"matchExpressions":[{"key":"a","operator":"In","values":["x"]},)"
     R"({"key":"b","operator":"Exists"}],"matchFields":[{"key":"metadata.name","operator":"In",)"
     R"("values":["x"]}]},{}]},"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":2,)"
     R"("preference":{"matchExpressions":[{"key":"a","operator":"Gt","values":["5"]}]}},)"
     R"({"weight":0,"preference":{}}]}})",
     R"(  - args:
      addedAffinity:
        preferredDuringSchedulingIgnoredDuringExecution:
        - preference:
            matchExpressions:
            - key: a
              operator: Gt
              values:
              - "5"
          weight: 2
        - preference: {}
          weight: 0
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms:
          - matchExpressions:
            - key: a
              operator: In
              values:
              - x
            - key: b
              operator: Exists
            matchFields:
            - key: metadata.name
              operator: In
              values:
              - x
          - {}
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeAffinityArgs
    name: NodeAffinity
)"},
    {"AbsentTerms",
     {"NodeAffinity", NodeAffinityArgs{NodeAffinity{.required = NodeSelector{}, .preferred = {}}}},
     R"({"kind":"NodeAffinityArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
     R"("addedAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
     R"({"nodeSelectorTerms":null}}})",
     R"(  - args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: null
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeAffinityArgs
    name: NodeAffinity
)"},
    {"Spread",
     {"PodTopologySpread",
      PodTopologySpreadArgs{.default_constraints = {{.max_skew = 1,
                                                     .topology_key = "z",
                                                     .when_unsatisfiable = "ScheduleAnyway",
                                                     .min_domains = 2,
                                                     .node_affinity_policy = "Honor",
                                                     .node_taints_policy = "Ignore",
                                                     .match_label_keys = {"a", "b"}},
                                                    {.max_skew = 1,
                                                     .topology_key = "q",
                                                     .when_unsatisfiable = "DoNotSchedule"}},
                            .defaulting_type = "List"}},
     R"({"kind":"PodTopologySpreadArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
     R"("defaultConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":)"
     R"("ScheduleAnyway","minDomains":2,"nodeAffinityPolicy":"Honor","nodeTaintsPolicy":)"
     R"("Ignore","matchLabelKeys":["a","b"]},{"maxSkew":1,"topologyKey":"q",)"
     R"("whenUnsatisfiable":"DoNotSchedule"}],"defaultingType":"List"})",
     R"(  - args:
      apiVersion: kubescheduler.config.k8s.io/v1
      defaultConstraints:
      - matchLabelKeys:
        - a
        - b
        maxSkew: 1
        minDomains: 2
        nodeAffinityPolicy: Honor
        nodeTaintsPolicy: Ignore
        topologyKey: z
        whenUnsatisfiable: ScheduleAnyway
      - maxSkew: 1
        topologyKey: q
        whenUnsatisfiable: DoNotSchedule
      defaultingType: List
      kind: PodTopologySpreadArgs
    name: PodTopologySpread
)"},
};

INSTANTIATE_TEST_SUITE_P(Spec, PrintedArgs, ::testing::ValuesIn(kArgsRows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(WriteConfigz, FieldsInDeclarationOrder) {
  Configuration configuration;
  configuration.enable_contention_profiling = true;
  configuration.client_connection.kubeconfig = "<a&b>\xE2\x80\xA8\x01\t\n\"\\\xFF";
  configuration.profiles = {{.scheduler_name = "a", .percentage_of_nodes_to_score = 0}};
  configuration.profiles[0].plugins.score = {.enabled = {{"ImageLocality", 2}},
                                             .disabled = {{"Foo"}}};
  configuration.extenders = {
      {.url_prefix = "http://x",
       .filter_verb = "f",
       .preempt_verb = "p",
       .prioritize_verb = "q",
       .bind_verb = "b",
       .weight = 3,
       .enable_https = true,
       .tls_config = ExtenderTls{true, "s", "/c", "/k", "/ca", "c", "k", "ca"},
       .http_timeout = std::chrono::milliseconds(1500),
       .node_cache_capable = true,
       .managed_resources = {{"example.com/a", true}, {"example.com/b", false}},
       .ignorable = true},
      {},
  };
  configuration.delay_cache_until_active = true;
  EXPECT_EQ(
      WriteConfigz(configuration),
      R"({"componentconfig":{"kind":"KubeSchedulerConfiguration",)"
      R"("apiVersion":"kubescheduler.config.k8s.io/v1","parallelism":16,"leaderElection":)"
      R"({"leaderElect":true,"leaseDuration":"15s","renewDeadline":"10s","retryPeriod":"2s",)"
      R"("resourceLock":"leases","resourceName":"kube-scheduler",)"
      R"("resourceNamespace":"kube-system"},"clientConnection":{"kubeconfig":)"
      R"("\u003ca\u0026b\u003e\u2028\u0001\t\n\"\\\ufffd","acceptContentTypes":"",)"
      R"("contentType":"application/vnd.kubernetes.protobuf","qps":50,"burst":100},)"
      R"("enableProfiling":true,"enableContentionProfiling":true,"percentageOfNodesToScore":0,)"
      R"("podInitialBackoffSeconds":1,"podMaxBackoffSeconds":10,"profiles":[{"schedulerName":"a",)"
      R"("percentageOfNodesToScore":0,"plugins":{"preEnqueue":{},"queueSort":{},"preFilter":{},)"
      R"("filter":{},"postFilter":{},"preScore":{},"score":{"enabled":[{"name":"ImageLocality",)"
      R"("weight":2}],"disabled":[{"name":"Foo","weight":0}]},"reserve":{},"permit":{},)"
      R"("preBind":{},"bind":{},"postBind":{},"multiPoint":{},"placementGenerate":{},)"
      R"("placementScore":{},"podGroupPostFilter":{}}}],"extenders":[{"urlPrefix":"http://x",)"
      R"("filterVerb":"f","preemptVerb":"p","prioritizeVerb":"q","weight":3,"bindVerb":"b",)"
      R"("enableHTTPS":true,"tlsConfig":{"insecure":true,"serverName":"s","certFile":"/c",)"
      R"("keyFile":"/k","caFile":"/ca","certData":"Yw==","keyData":"aw==","caData":"Y2E="},)"
      R"("httpTimeout":"1.5s","nodeCacheCapable":true,"managedResources":[{"name":)"
      R"("example.com/a","ignoredByScheduler":true},{"name":"example.com/b"}],"ignorable":true},)"
      R"({"urlPrefix":"","httpTimeout":"5s"}],"delayCacheUntilActive":true}})");
}

TEST(ExpandedPlugins, InDeclarationOrderWithCapitals) {
  Plugins plugins;
  plugins.filter.enabled = {{"NodeName"}, {"NodePorts"}};
  plugins.score.enabled = {{"ImageLocality", 2}};
  const std::string none = R"({"Enabled":null,"Disabled":null})";
  EXPECT_EQ(ExpandedPluginsJson(plugins),
            "{\"PreEnqueue\":" + none + ",\"QueueSort\":" + none + ",\"PreFilter\":" + none +
                R"(,"Filter":{"Enabled":[{"Name":"NodeName","Weight":0},)"
                R"({"Name":"NodePorts","Weight":0}],"Disabled":null},"PostFilter":)" +
                none + ",\"PreScore\":" + none +
                R"(,"Score":{"Enabled":[{"Name":"ImageLocality","Weight":2}],"Disabled":null})" +
                ",\"Reserve\":" + none + ",\"Permit\":" + none + ",\"PreBind\":" + none +
                ",\"Bind\":" + none + ",\"PostBind\":" + none + ",\"MultiPoint\":" + none +
                ",\"PlacementGenerate\":" + none + ",\"PlacementScore\":" + none +
                ",\"PodGroupPostFilter\":" + none + "}");
}

}  // namespace
}  // namespace ks::config
