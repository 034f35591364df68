// SPDX-License-Identifier: Apache-2.0
#include "config/read/load.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ks::config {
namespace {

using std::chrono::seconds;

constexpr std::string_view kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

// A body that starts with = is the whole file, others follow the two lines above.
LoadResult Parse(const std::string& body, const LoadOptions& options = {}) {
  return ParseConfiguration(body.starts_with('=') ? body.substr(1) : std::string(kHead) + body,
                            options);
}

Loaded Accepted(const std::string& body, const LoadOptions& options = {}) {
  LoadResult result = Parse(body, options);
  if (const Faults* faults = std::get_if<Faults>(&result)) {
    ADD_FAILURE() << body << "\n" << faults->text;
    return {};
  }
  return std::get<Loaded>(std::move(result));
}

std::string TextOf(const LoadResult& result) {
  const Faults* faults = std::get_if<Faults>(&result);
  return faults == nullptr ? "" : faults->text;
}

// All findings or warnings, one per line.
std::string Rendered(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += Render(finding, "ks.yaml") + "\n";
  return text;
}

std::string FindingsOf(const std::string& body) {
  const LoadResult result = Parse(body);
  const Faults* faults = std::get_if<Faults>(&result);
  return faults == nullptr ? "accepted" : Rendered(faults->findings);
}

// docs/spec/config.md section 13. What only the building of profiles refuses is accepted here.
struct Example {
  std::string name;
  std::string body;
  std::string want;  // upstream's text; empty: accepted
};

void PrintTo(const Example& row, std::ostream* out) { *out << row.body; }

class ExampleTest : public ::testing::TestWithParam<Example> {};

TEST_P(ExampleTest, HasUpstreamsVerdictAndText) {
  EXPECT_EQ(TextOf(Parse(GetParam().body)), GetParam().want);
}

const Example kExamples[] = {
    {"E1", "", ""},
    {"E2", "=", "Object 'Kind' is missing in ''"},
    {"E3", "=~\n", "Object 'Kind' is missing in '~\n'"},
    {"E4", "=kind: KubeSchedulerConfiguration\n",
     "Object 'apiVersion' is missing in 'kind: KubeSchedulerConfiguration\n'"},
    {"E5", "=apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n",
     R"(no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3" in scheme "pkg/runtime/scheme.go:111")"},
    {"E6", "=apiVersion: v1\nkind: Policy\npredicates: []\n",
     R"(no kind "Policy" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111")"},
    {"E7", "=apiVersion: kubescheduler.config.k8s.io/v1\nkind: DefaultPreemptionArgs\n",
     "couldn't decode as KubeSchedulerConfiguration, got kubescheduler.config.k8s.io/v1, "
     "Kind=DefaultPreemptionArgs: "},
    {"E8", "=APIVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n",
     R"(strict decoding error: unknown field "APIVersion")"},
    {"E9", "apiversion: foo\n",
     R"(no kind "KubeSchedulerConfiguration" is registered for version "foo" in scheme "pkg/runtime/scheme.go:111")"},
    {"E10", "={apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}",
     "couldn't get version/kind; json parse error: invalid character 'a' looking for beginning of "
     "object key string"},
    {"E11", "=# c\n{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}",
     ""},
    {"E12", "foo: bar\n", R"(strict decoding error: unknown field "foo")"},
    {"E13",
     "foo: 1\nleaderElection: {bar: 2}\nprofiles: [{baz: 3},{schedulerName: x, plugins: "
     "{prefilter: {}}}]\n",
     R"(strict decoding error: unknown field "foo", unknown field "leaderElection.bar", unknown field "profiles[0].baz", unknown field "profiles[1].plugins.prefilter")"},
    {"E14", "Parallelism: 5\n", R"(strict decoding error: unknown field "Parallelism")"},
    {"E15", "parallelism: 5\nparallelism: 6\n",
     "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"parallelism\" already set in "
     "map"},
    {"E16", "parallelism: \"5\"\n",
     "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of "
     "type int32"},
    {"E17", "parallelism: 5.5\n",
     "json: cannot unmarshal number 5.5 into Go struct field "
     "KubeSchedulerConfiguration.parallelism of type int32"},
    {"E18", "parallelism: 5.0\n", ""},
    {"E19", "percentageOfNodesToScore: x\nparallelism: y\nfoo: z\n",
     "json: cannot unmarshal bool into Go struct field KubeSchedulerConfiguration.parallelism of "
     "type int32"},
    {"E20", "leaderElection: {leaderElect: no}\n", ""},
    {"E21", "leaderElection: {leaderElect: \"no\"}\n",
     "json: cannot unmarshal string into Go struct field "
     "LeaderElectionConfiguration.leaderElection.leaderElect of type bool"},
    {"E22", "leaderElection: {leaseDuration: null}\n", R"(time: invalid duration "")"},
    {"E23", "leaderElection: {leaseDuration: 5s}\n",
     R"(leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`)"},
    {"E24", "leaderElection: {renewDeadline: 2s, retryPeriod: 5s}\n", ""},
    {"E25", "profiles: [{schedulerName: \"\"}]\n", "profiles[0].schedulerName: Required value"},
    {"E26", "profiles: [{},{}]\n",
     "[profiles[0].schedulerName: Required value, profiles[1].schedulerName: Required value, "
     "profiles[1].schedulerName: Duplicate value: {}]"},
    {"E27", "profiles: [{schedulerName: a},{schedulerName: a}]\n",
     "profiles[1].schedulerName: Duplicate value: {}"},
    {"E28", "profiles: [{schedulerName: 123}]\n",
     "json: cannot unmarshal number into Go struct field "
     "KubeSchedulerProfile.profiles.schedulerName of type string"},
    {"E29", "profiles: [{schedulerName: 2020-01-01}]\n", ""},
    {"E30", "podInitialBackoffSeconds: 20\n",
     "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to "
     "PodInitialBackoffSeconds"},
    {"E31", "profiles: [{plugins: {filter: {enabled: [{name: Foo}]}}}]\n", ""},
    {"E32", "profiles: [{plugins: {multiPoint: {enabled: [{name: Foo}]}}}]\n", ""},
    {"E33", "profiles: [{plugins: {score: {enabled: [{name: NodeName}]}}}]\n", ""},
    {"E34",
     "profiles: [{plugins: {score: {enabled: [{name: ImageLocality},{name: ImageLocality}]}}}]\n",
     ""},
    {"E35", "profiles: [{plugins: {multiPoint: {enabled: [{name: EBSLimits}]}}}]\n", ""},
    {"E36", "profiles: [{plugins: {queueSort: {disabled: [{name: \"*\"}]}}}]\n", ""},
    {"E37", "profiles: [{plugins: {bind: {disabled: [{name: \"*\"}]}}}]\n", ""},
    {"E38",
     "profiles: [{schedulerName: a},{schedulerName: b, plugins: {queueSort: {enabled: [{name: "
     "PrioritySort}]}}}]\n",
     R"(profiles[1].plugins.queueSort: Invalid value: {"Enabled":[{"Name":"PrioritySort","Weight":0}],"Disabled":null}: must be the same for all profiles)"},
    {"E39", "profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: -5}]}}}]\n", ""},
    {"E40", "profiles: [{plugins: {multiPoint: {enabled: [{name: ImageLocality, weight: -5}]}}}]\n",
     ""},
    {"E41", "profiles: [{pluginConfig: [{name: Foo, args: {a: 1}}]}]\n", ""},
    {"E42", "profiles: [{pluginConfig: [{name: DefaultPreemption, args: {foo: 1}}]}]\n",
     R"(strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin DefaultPreemption: strict decoding error: unknown field "foo")"},
    {"E43",
     "profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: "
     "\"5\"}}]}]\n",
     "decoding .profiles[0].pluginConfig[0]: decoding args for plugin DefaultPreemption: json: "
     "cannot unmarshal string into Go struct field "
     "DefaultPreemptionArgs.minCandidateNodesPercentage of type int32"},
    {"E44",
     "profiles: [{pluginConfig: [{name: DefaultPreemption, args: {kind: "
     "InterPodAffinityArgs}}]}]\n",
     "decoding .profiles[0].pluginConfig[0]: args for plugin DefaultPreemption were not of type "
     "DefaultPreemptionArgs.kubescheduler.config.k8s.io, got "
     "InterPodAffinityArgs.kubescheduler.config.k8s.io"},
    {"E45",
     "profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: -1, "
     "minCandidateNodesAbsolute: -1}}]}]\n",
     "[profiles[0].pluginConfig[0].args.minCandidateNodesPercentage: Invalid value: -1: not in "
     "valid range [0, 100], profiles[0].pluginConfig[0].args.minCandidateNodesAbsolute: Invalid "
     "value: -1: not in valid range [0, inf)]"},
    {"E46",
     "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
     "Foo}}}]}]\n",
     ""},
    {"E47",
     "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {resources: "
     "[{name: cpu, weight: 2}]}}}]}]\n",
     ""},
    {"E48",
     "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
     "RequestedToCapacityRatio}}}]}]\n",
     ""},
    {"E49",
     "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: [{maxSkew: "
     "1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}}]}]\n",
     R"(profiles[0].pluginConfig[0].args.defaultingType: Invalid value: "System": when .defaultConstraints are not empty)"},
    {"E50",
     "profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: "
     "[{key: foo, operator: In}]}]}}}}]}]\n",
     "profiles[0].pluginConfig[0].args.addedAffinity."
     "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]."
     "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"},
    {"E51",
     "profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: "
     "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: "
     "{matchExpressions: [{key: foo, operator: Foo}]}}]}}}]}]\n",
     ""},
    {"E52", "extenders: [{}]\n", ""},
    {"E53", "extenders: [{prioritizeVerb: p}]\n",
     "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it"},
    {"E54", "extenders: [{bindVerb: a},{bindVerb: b}]\n",
     R"(extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind)"},
    {"E55",
     "extenders: [{managedResources: [{name: cpu},{name: example.com/a},{name: example.com/a}]}]\n",
     R"([extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name, extenders[0].managedResources[2].name: Invalid value: "example.com/a": duplicate extender managed resource name])"},
    {"E56", "extenders: [{enableHttps: true}]\n",
     R"(strict decoding error: unknown field "extenders[0].enableHttps")"},
    {"E57",
     "parallelism: 0\npercentageOfNodesToScore: 200\nleaderElection: {resourceLock: x}\nprofiles: "
     "[{schedulerName: \"\"}]\n",
     R"([leaderElection.resourceLock: Invalid value: "x": resourceLock value must be "leases", parallelism: Invalid value: 0: should be an integer value greater than zero, profiles[0].schedulerName: Required value, percentageOfNodesToScore: Invalid value: 200: not in valid range [0-100]])"},
};

INSTANTIATE_TEST_SUITE_P(Spec, ExampleTest, ::testing::ValuesIn(kExamples),
                         [](const ::testing::TestParamInfo<Example>& row) {
                           return row.param.name;
                         });

TEST(LoadConfiguration, ReadsEveryTopLevelField) {
  const Configuration c = Accepted(R"(
parallelism: 4
leaderElection: {leaderElect: no, leaseDuration: 1m, renewDeadline: 40s, retryPeriod: 1500ms,
  resourceLock: leases, resourceName: name, resourceNamespace: s}
clientConnection: {kubeconfig: /k, acceptContentTypes: a, contentType: application/json, qps: -1.5,
  burst: 7}
enableProfiling: false
enableContentionProfiling: true
percentageOfNodesToScore: 30
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 0x20
delayCacheUntilActive: on
)")
                              .configuration;
  EXPECT_EQ(c.parallelism, 4);
  EXPECT_EQ(c.leader_election, (LeaderElection{.leader_elect = false,
                                               .lease_duration = seconds(60),
                                               .renew_deadline = seconds(40),
                                               .retry_period = std::chrono::milliseconds(1500),
                                               .resource_lock = "leases",
                                               .resource_name = "name",
                                               .resource_namespace = "s"}));
  EXPECT_EQ(c.client_connection, (ClientConnection{.kubeconfig = "/k",
                                                   .accept_content_types = "a",
                                                   .content_type = "application/json",
                                                   .qps = -1.5F,
                                                   .burst = 7}));
  EXPECT_FALSE(c.enable_profiling);
  EXPECT_EQ(c.enable_contention_profiling, true);
  EXPECT_EQ(c.percentage_of_nodes_to_score, 30);
  EXPECT_EQ(c.pod_initial_backoff_seconds, 2);
  EXPECT_EQ(c.pod_max_backoff_seconds, 32);
  EXPECT_TRUE(c.delay_cache_until_active);
}

TEST(LoadConfiguration, ReadsProfiles) {
  const Configuration c = Accepted(R"(
profiles:
- schedulerName: a
  percentageOfNodesToScore: 0
  plugins:
    score: {enabled: [{name: ImageLocality, weight: 5}], disabled: [{name: NodeAffinity, weight: 9}]}
    podGroupPostFilter: {enabled: [{name: X}]}
  pluginConfig:
  - {name: Foo, args: {b: [1, 2.50, yes], a: "<"}}
  - {name: Bar}
- schedulerName: 2020-01-01
)")
                              .configuration;
  ASSERT_EQ(c.profiles.size(), 2U);
  const Profile& profile = c.profiles[0];
  EXPECT_EQ(profile.name(), "a");
  EXPECT_EQ(profile.percentage_of_nodes_to_score, 0);
  EXPECT_EQ(profile.plugins.score.enabled, (std::vector<PluginRef>{{"ImageLocality", 5}}));
  EXPECT_EQ(profile.plugins.score.disabled, (std::vector<PluginRef>{{"NodeAffinity", 0}}));
  EXPECT_EQ(profile.plugins.pod_group_post_filter.enabled, (std::vector<PluginRef>{{"X", 0}}));
  ASSERT_GE(profile.plugin_config.size(), 2U);
  EXPECT_EQ(profile.plugin_config[0].args,
            PluginArgs(RawArgs{R"({"a":"\u003c","b":[1,2.5,true]})"}));
  EXPECT_EQ(profile.plugin_config[1].args, PluginArgs());
  EXPECT_EQ(c.profiles[1].name(), "2020-01-01");
  EXPECT_FALSE(c.profiles[1].percentage_of_nodes_to_score.has_value());
}

TEST(LoadConfiguration, ReadsExtenders) {
  const Configuration c = Accepted(R"(
extenders:
- {urlPrefix: u, filterVerb: f, preemptVerb: e, prioritizeVerb: p, bindVerb: b, weight: 3,
   enableHTTPS: true, httpTimeout: 1s, nodeCacheCapable: true, ignorable: true,
   managedResources: [{name: example.com/a, ignoredByScheduler: true}],
   tlsConfig: {insecure: true, serverName: host, certFile: c, keyFile: k, caFile: a, certData: QQ==,
     keyData: [66, null], caData: QUJD}}
- null
)")
                              .configuration;
  ASSERT_EQ(c.extenders.size(), 2U);
  EXPECT_EQ(c.extenders[0], (Extender{.url_prefix = "u",
                                      .filter_verb = "f",
                                      .preempt_verb = "e",
                                      .prioritize_verb = "p",
                                      .bind_verb = "b",
                                      .weight = 3,
                                      .enable_https = true,
                                      .tls_config = ExtenderTls{.insecure = true,
                                                                .server_name = "host",
                                                                .cert_file = "c",
                                                                .key_file = "k",
                                                                .ca_file = "a",
                                                                .cert_data = "A",
                                                                .key_data = std::string("B\0", 2),
                                                                .ca_data = "ABC"},
                                      .http_timeout = seconds(1),
                                      .node_cache_capable = true,
                                      .managed_resources = {{"example.com/a", true}},
                                      .ignorable = true}));
  EXPECT_EQ(c.extenders[1], Extender());
}

// The arguments of `plugin` in the first entry.
PluginArgs ArgsOf(const std::string& plugin, const std::string& args) {
  const Loaded loaded =
      Accepted("profiles: [{pluginConfig: [{name: " + plugin + ", args: " + args + "}]}]\n");
  if (loaded.configuration.profiles.empty()) return {};
  return loaded.configuration.profiles[0].plugin_config.at(0).args;
}

TEST(LoadConfiguration, ReadsArguments) {
  EXPECT_EQ(ArgsOf("DefaultPreemption", "{minCandidateNodesPercentage: 0}"),
            PluginArgs(DefaultPreemptionArgs{0, 100}));
  EXPECT_EQ(ArgsOf("InterPodAffinity",
                   "{hardPodAffinityWeight: 7, ignorePreferredTermsOfExistingPods: true}"),
            PluginArgs(InterPodAffinityArgs{7, true}));
  EXPECT_EQ(
      ArgsOf("NodeResourcesFit",
             "{ignoredResources: [a], ignoredResourceGroups: [b], scoringStrategy: {type: "
             "RequestedToCapacityRatio, resources: [{name: cpu, weight: 3}], "
             "requestedToCapacityRatio: {shape: [{utilization: 10, score: 5}]}}}"),
      PluginArgs(NodeResourcesFitArgs{
          {"a"}, {"b"}, ScoringStrategy{"RequestedToCapacityRatio", {{"cpu", 3}}, {{{10, 5}}}}}));
  EXPECT_EQ(ArgsOf("NodeResourcesBalancedAllocation", "{resources: [{name: x}]}"),
            PluginArgs(NodeResourcesBalancedAllocationArgs{{{"x", 1}}}));
  EXPECT_EQ(ArgsOf("VolumeBinding", "{bindTimeoutSeconds: 0, shape: [{utilization: 1, score: 2}]}"),
            PluginArgs(VolumeBindingArgs{0, {{{1, 2}}}}));
  EXPECT_EQ(ArgsOf("DynamicResources", "{filterTimeout: 5s, kind: DynamicResourcesArgs}"),
            PluginArgs(DynamicResourcesArgs{seconds(5), std::chrono::minutes(10)}));
  EXPECT_EQ(ArgsOf("PodTopologySpread",
                   "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: z, "
                   "whenUnsatisfiable: DoNotSchedule, minDomains: 2, nodeAffinityPolicy: Honor, "
                   "nodeTaintsPolicy: Ignore, matchLabelKeys: [k]}]}"),
            PluginArgs(PodTopologySpreadArgs{
                {{1, "z", "DoNotSchedule", false, 2, "Honor", "Ignore", {"k"}}}, "List"}));
  const NodeSelectorTerm term = {{{"k", "Exists", std::nullopt}},
                                 {{"metadata.name", "In", {{"host"}}}}};
  EXPECT_EQ(ArgsOf("NodeAffinity",
                   "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                   "{nodeSelectorTerms: [&t {matchExpressions: [{key: k, operator: Exists}], "
                   "matchFields: [{key: metadata.name, operator: In, values: [host]}]}]}, "
                   "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 4, preference: "
                   "*t}]}}"),
            PluginArgs(NodeAffinityArgs{NodeAffinity{NodeSelector{{{term}}}, {{4, term}}}}));
}

TEST(LoadConfiguration, AppliesTheOverlayBeforeItValidates) {
  const LoadOptions options = {
      .overlay = [](Configuration& c) { c.leader_election.resource_lock = "endpoints"; }};
  EXPECT_EQ(TextOf(Parse("", options)),
            "leaderElection.resourceLock: Invalid value: \"endpoints\": resourceLock value must be "
            "\"leases\"");
}

TEST(LoadConfiguration, FindsTheGatesItIsGiven) {
  FeatureGates gates;
  gates.Set(Gate::kStorageCapacityScoring, false);
  const std::string body =
      "profiles: [{pluginConfig: [{name: VolumeBinding, args: {shape: [{utilization: 1}]}}]}]\n";
  EXPECT_EQ(TextOf(Parse(body)), "");
  EXPECT_NE(TextOf(Parse(body, {.gates = &gates})).find("unexpected field `shape`"),
            std::string::npos);
}

TEST(LoadConfiguration, OperatingSystemErrors) {
  EXPECT_EQ(TextOf(LoadConfiguration("/nonexistent.yaml")),
            "open /nonexistent.yaml: no such file or directory");
  EXPECT_EQ(TextOf(LoadConfiguration("/etc")), "read /etc: is a directory");
}

TEST(LoadConfiguration, ReadsAFile) {
  const std::string file = testing::TempDir() + "ks_load_test.txt";
  std::ofstream(file) << kHead << "parallelism: 3\n";
  const LoadResult result = LoadConfiguration(file);
  ASSERT_TRUE(std::holds_alternative<Loaded>(result));
  EXPECT_EQ(std::get<Loaded>(result).configuration.parallelism, 3);
}

struct FindingsRow {
  std::string body;
  std::string want;
};

TEST(LoadFindings, ListEveryTypeAndStrictnessFaultWithPlaceAndHint) {
  const std::string want =
      R"(ks.yaml:4:1: Parallelism: unknown field "Parallelism" (field names are case sensitive: "parallelism")
ks.yaml:6:18: profiles[0].schedulerName: json: cannot unmarshal bool into Go struct field KubeSchedulerProfile.profiles.schedulerName of type string (put it into quotes: "y"; without them y is a boolean in YAML 1.1)
ks.yaml:7:13: profiles[0].plugins.prefilter: unknown field "profiles[0].plugins.prefilter" (field names are case sensitive: "preFilter")
ks.yaml:9:38: profiles[0].pluginConfig[0].args.minCandidateNodesAbs: unknown field "minCandidateNodesAbs" (did you mean "minCandidateNodesAbsolute"?)
ks.yaml:10:32: profiles[0].pluginConfig[1].args: couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" } (a mapping of fields is needed here)
ks.yaml:11:1: parallelism: key "parallelism" already set in map (keep one of them)
ks.yaml:11:14: parallelism: json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of type int32 (an integer is needed here, without quotes)
)";
  const std::string body = R"(parallelism: "5"
Parallelism: 5
profiles:
- schedulerName: y
  plugins: {prefilter: {}}
  pluginConfig:
  - {name: DefaultPreemption, args: {minCandidateNodesAbs: 5}}
  - {name: NodeAffinity, args: [1]}
parallelism: "6"
)";
  EXPECT_EQ(FindingsOf(body), want);
}

TEST(LoadFindings, NameTheCure) {
  const FindingsRow rows[] = {
      {"=apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n",
       "kubeschedctl convert"},
      {"=apiVersion: v1\nkind: Policy\n", "scheduler policies are no longer read"},
      {"=kind: KubeSchedulerConfiguration\n", "apiVersion: kubescheduler.config.k8s.io/v1)"},
      {"algorithmSource: {}\n", "profiles[].plugins; \"kubeschedctl convert FILE\""},
      {"healthzBindAddress: x\n", "--bind-address"},
      {"hardPodAffinitySymmetricWeight: 1\n", "hardPodAffinityWeight"},
      {"leaderElection: {lockObjectName: x}\n", "now called resourceName"},
      {"disablePreemption: true\n", "disable DefaultPreemption"},
      {"leaderElection: {retryPeriod: 5}\n", "a duration such as 15s"},
      {"leaderElection: {retryPeriod: ~}\n", "remove the field"},
      {"profiles: {}\n", "a list is needed here"},
      {"profiles: [x]\n", "a mapping of fields is needed here"},
      {"profiles: [{plugins: {score: {enabled: [ImageLocality]}}}]\n",
       "write {name: \"ImageLocality\"}"},
      {"profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: X}}]}]\n",
       "write {type: \"X\"}"},
      {"profiles: [{pluginConfig: [{name: NodeAffinity, args: {apiVersion: v1beta3}}]}]\n",
       "apiVersion and kind may be left out of args"},
      {"profiles: [{plugins: {scoring: {}}}]\n", "known here: preEnqueue, queueSort"},
      {"parallelism: 5.5\n", "without fraction"},
      {"parallelism: 5000000000\n", "beyond the range of 32-bit integers"},
      {"extenders: [{enableHttps: true}]\n", "case sensitive: \"enableHTTPS\""},
      {"leaderElection: {zzz: 1}\n", "known here: leaderElect, leaseDuration"},
      {"={\"kind\" 1}", "put a comment line before it"},
      {"=%YAML 1.2\n---\na: b\n", "remove the %YAML line"},
  };
  for (const FindingsRow& row : rows) {
    EXPECT_NE(FindingsOf(row.body).find(row.want), std::string::npos)
        << row.body << FindingsOf(row.body);
  }
}

TEST(LoadFindings, OfTheChecksHaveTheirPlaces) {
  EXPECT_EQ(
      FindingsOf("parallelism: 0\nprofiles:\n- {schedulerName: a}\n- {}\n"),
      "ks.yaml:3:1: parallelism: Invalid value: 0: should be an integer value greater than "
      "zero\nks.yaml:6:3: profiles[1].schedulerName: Required value (with several profiles each "
      "needs a name)\n");
}

TEST(LoadWarnings, TellWhatIsIgnored) {
  EXPECT_EQ(Rendered(Accepted("").warnings), "");
  const std::string want =
      R"(ks.yaml:3:20: clientConnection.contentType: "application/yaml" is not used: kubesched speaks JSON with the API server unless this is application/vnd.kubernetes.protobuf
ks.yaml:5:32: profiles[0].plugins.score.disabled[0]: there is no plugin "ImageLocalty" to disable here (did you mean "ImageLocality"?)
ks.yaml:5:75: profiles[0].plugins.score.disabled[1].weight: a disabled plugin has no weight (remove it)
ks.yaml:6:18: profiles[0].pluginConfig[0]: the arguments of plugin "Foo" are not used, because the profile does not enable it
)";
  EXPECT_EQ(Rendered(Accepted(R"(clientConnection: {contentType: application/yaml}
profiles:
- plugins: {score: {disabled: [{name: ImageLocalty}, {name: NodeAffinity, weight: 5}, {name: "*"}]}}
  pluginConfig: [{name: Foo, args: {}}, {name: NodeAffinity}]
)")
                         .warnings),
            want);
}

TEST(LoadWarnings, TellWhatHasNoEffectYet) {
  EXPECT_EQ(Rendered(Accepted("enableProfiling: false\ndelayCacheUntilActive: false\n").warnings),
            "");
  EXPECT_EQ(Rendered(Accepted("enableProfiling: true\ndelayCacheUntilActive: true\n").warnings),
            "ks.yaml:4:1: delayCacheUntilActive: has no effect without leader election, which this "
            "version of kubesched does not have\n");
}

}  // namespace
}  // namespace ks::config
