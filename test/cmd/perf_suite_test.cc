// SPDX-License-Identifier: Apache-2.0
// The parts of ksdev perf that need no cluster: case files, templates, windows of throughput.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "ksdev/perf/case_file.h"
#include "ksdev/perf/node_objects.h"
#include "ksdev/perf/operations.h"
#include "ksdev/perf/perf.h"
#include "ksdev/perf/perf_report.h"
#include "ksdev/perf/pod_objects.h"
#include "ksdev/perf/text_template.h"
#include "ksdev/perf/throughput.h"
#include "ksdev/perf/yaml_file.h"

namespace ks::ctl::dev::perf {
namespace {

using ::testing::AllOf;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Json = nlohmann::json;

std::vector<Operation> Read(const std::string& yaml, const std::string& params = "{}") {
  const Result<Json> item = ParseYaml(yaml, "item");
  const Result<Json> values = ParseYaml(params, "params");
  EXPECT_TRUE(item.ok() && values.ok());
  Parameters parameters(*values);
  auto read = ReadOperation(*item, "/suite/misc", &parameters);
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
  return read.ok() ? *read : std::vector<Operation>();
}

std::string FaultOf(const std::string& yaml, const std::string& params = "{}") {
  const Result<Json> item = ParseYaml(yaml, "item");
  const Result<Json> values = ParseYaml(params, "params");
  EXPECT_TRUE(item.ok() && values.ok());
  Parameters parameters(*values);
  const auto read = ReadOperation(*item, "/suite/misc", &parameters);
  return read.ok() ? "" : read.error().message;
}

TEST(PerfOperationsTest, FillsInParameters) {
  const auto read = Read(
      "{opcode: createPods, countParam: $groups, countMultiplierParam: $size, namespace: a, "
      "podTemplatePath: t.yaml, collectMetrics: true, "
      "templateParams: {cpu: $cpu, gpus: '$gpus|4', plain: 1}}",
      "{groups: 3, size: 4, cpu: 100m}");
  ASSERT_THAT(read, SizeIs(1));
  const auto& pods = std::get<CreatePods>(read[0]);
  EXPECT_EQ(pods.count, 12U);
  EXPECT_EQ(pods.ns, "a");
  EXPECT_EQ(pods.template_path, "/suite/misc/t.yaml");
  EXPECT_TRUE(pods.collect_metrics);
  EXPECT_EQ(pods.signature_batch, 1U);
  EXPECT_EQ(pods.template_params, (Json{{"cpu", "100m"}, {"gpus", 4}, {"plain", 1}}));
}

TEST(PerfOperationsTest, PodSetsBecomeOneOperationForEachNamespace) {
  const auto read = Read(
      "{opcode: createPodSets, countParam: $sets, namespacePrefix: ns, "
      "createPodsOp: {opcode: createPods, count: 5}}",
      "{sets: 2}");
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(std::get<CreatePods>(read[1]).ns, "ns-1");
  EXPECT_EQ(std::get<CreatePods>(read[1]).count, 5U);
}

TEST(PerfOperationsTest, ChurnHasADefaultInterval) {
  const auto read = Read("{opcode: churn, mode: create, templatePaths: [a.yaml]}");
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(std::get<Churn>(read[0]).interval, std::chrono::milliseconds(500));
}

TEST(PerfOperationsTest, FormIsCheckedWithoutParameters) {
  const Json item = {{"opcode", "createNodes"}, {"countParam", "$n"}};
  EXPECT_TRUE(ReadOperation(item, "/suite", nullptr).ok());
}

struct FaultCase {
  const char* name;
  const char* yaml;
  const char* want;
};

class PerfFaultTest : public ::testing::TestWithParam<FaultCase> {};

TEST_P(PerfFaultTest, IsNamed) { EXPECT_EQ(FaultOf(GetParam().yaml), GetParam().want); }

INSTANTIATE_TEST_SUITE_P(
    Faults, PerfFaultTest,
    ::testing::Values(
        FaultCase{"Opcode", "{opcode: createMoons}", "unknown opcode \"createMoons\""},
        FaultCase{"NoOpcode", "{count: 1}", "opcode: must be set"},
        FaultCase{"Field", "{opcode: createNodes, count: 1, color: red}",
                  "createNodes: unknown field \"color\""},
        FaultCase{"InnerField",
                  "{opcode: createNodes, uniqueNodeLabelStrategy: {labelKey: a, b: c}}",
                  "createNodes: uniqueNodeLabelStrategy: unknown field \"b\""},
        FaultCase{"Parameter", "{opcode: createNodes, countParam: $n}",
                  "createNodes: countParam: parameter n is undefined"},
        FaultCase{"NoReference", "{opcode: createNodes, countParam: nodes}",
                  "createNodes: countParam: is no reference to a parameter ($name): \"nodes\""},
        FaultCase{"Number", "{opcode: createNodes, count: many}",
                  "createNodes: count: is no whole number that is not negative: \"many\""},
        FaultCase{"Negative", "{opcode: createNodes, count: -1}",
                  "createNodes: count: is no whole number that is not negative: -1"},
        FaultCase{"Mode", "{opcode: churn, mode: shake, templatePaths: [a]}",
                  "churn: mode: must be recreate or create"},
        FaultCase{"Stage", "{opcode: barrier, stageRequirement: Done}",
                  "barrier: stageRequirement: must be Scheduled or Attempted"},
        FaultCase{"Duration", "{opcode: sleep, duration: 5}", "sleep: duration: is no duration: 5"},
        FaultCase{"Exclusive",
                  "{opcode: createPods, collectMetrics: true, skipWaitToCompletion: true}",
                  "createPods: collectMetrics and skipWaitToCompletion exclude each other"},
        FaultCase{"Steady", "{opcode: createPods, steadyState: true}",
                  "createPods: duration: must be positive in a steady state"}),
    [](const auto& fault) { return fault.param.name; });

// A suite of one file.
class PerfCaseFileTest : public ::testing::Test {
 protected:
  PerfCaseFileTest() : suite_(::testing::TempDir() + "perf_suite_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(suite_ + "/dra/sub");
  }
  ~PerfCaseFileTest() override { std::filesystem::remove_all(suite_); }

  Result<std::vector<PerfCase>> ReadText(const std::string& text) {
    std::ofstream(suite_ + "/dra/sub/performance-config.yaml") << text;
    return ReadCaseFile(suite_, "dra/sub");
  }

  const std::string suite_;
};

constexpr const char* kFile = R"(
- name: Case
  labels: [all]
  featureGates: {A: true, B: true}
  schedulerConfigPath: config.yaml
  metricsCollectorConfig:
    metrics:
      some_metric:
      - label: event
        values: [x]
  workloadTemplate:
  - opcode: createNodes
    countParam: $nodes
  workloads:
  - name: small
    labels: [short]
    featureGates: {B: false}
    threshold: 7.5
    params: {nodes: 5}
  - name: large
    threshold: {dra_sub: 9, dra: 8}
    params: {nodes: 5, moons: 6}
  - name: odd
    params: {}
)";

TEST_F(PerfCaseFileTest, WorkloadsHaveWhatTheirCaseHas) {
  const auto cases = ReadText(kFile);
  ASSERT_TRUE(cases.ok()) << cases.error().message;
  ASSERT_THAT(*cases, SizeIs(3));
  const PerfCase& small = (*cases)[0];
  EXPECT_EQ(small.name, "Case/small");
  EXPECT_THAT(small.labels, ElementsAre("all", "short"));
  EXPECT_EQ(small.gates, (std::map<std::string, bool>{{"A", true}, {"B", false}}));
  EXPECT_EQ(small.scheduler_config, suite_ + "/dra/sub/config.yaml");
  EXPECT_THAT(small.metrics, ElementsAre("some_metric"));
  EXPECT_EQ(small.threshold, 7.5);
  EXPECT_EQ((*cases)[1].threshold, 9);
  const auto operations = OperationsOf(small);
  ASSERT_TRUE(operations.ok());
  EXPECT_EQ(std::get<CreateNodes>(operations->at(0)).count, 5U);
}

TEST_F(PerfCaseFileTest, ErrorsNameFileCaseAndOperation) {
  const auto cases = ReadText(kFile);
  ASSERT_TRUE(cases.ok());
  const auto unused = OperationsOf((*cases)[1]);
  ASSERT_FALSE(unused.ok());
  EXPECT_EQ(unused.error().message, suite_ +
                                        "/dra/sub/performance-config.yaml: Case/large: no "
                                        "operation names the parameter moons");
  const auto missing = OperationsOf((*cases)[2]);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message,
              HasSubstr("Case/odd: op 0: createNodes: countParam: parameter nodes is undefined"));
}

TEST_F(PerfCaseFileTest, UnknownFieldsAndOperationsAreErrors) {
  const auto operation = ReadText(
      "- {name: C, workloadTemplate: [{opcode: barrier}, {opcode: dance}], workloads: [{name: "
      "w}]}");
  ASSERT_FALSE(operation.ok());
  EXPECT_THAT(operation.error().message,
              AllOf(HasSubstr("performance-config.yaml"), HasSubstr("C: op 1: unknown opcode")));
  const auto field =
      ReadText("- {name: C, workloadTemplate: [{opcode: barrier}], workloads: [{name: w, x: 1}]}");
  ASSERT_FALSE(field.ok());
  EXPECT_THAT(field.error().message, HasSubstr("C/w: unknown field \"x\""));
}

TEST_F(PerfCaseFileTest, TopicsAreFound) {
  ASSERT_TRUE(ReadText(kFile).ok());
  const auto topics = Topics(suite_);
  ASSERT_TRUE(topics.ok());
  EXPECT_THAT(*topics, ElementsAre("dra/sub"));
  EXPECT_FALSE(Topics(suite_ + "/nowhere").ok());
}

TEST(PerfLabelsTest, FilterOfLabels) {
  const std::set<std::string> labels = {"integration-test", "short"};
  EXPECT_TRUE(LabelsMatch(labels, ""));
  EXPECT_TRUE(LabelsMatch(labels, "integration-test,+short,-performance"));
  EXPECT_FALSE(LabelsMatch(labels, "performance"));
  EXPECT_FALSE(LabelsMatch(labels, "integration-test,-short"));
}

TEST(PerfLabelsTest, DeclaredFeaturesOnlyWithTheirGate) {
  PerfCase with;
  with.params = Json{{"numNodeDeclaredFeatures", 5U}};
  EXPECT_EQ(DeclaredFeatures(with), 0U);
  with.gates["NodeDeclaredFeatures"] = true;
  EXPECT_EQ(DeclaredFeatures(with), 5U);
}

std::string Rendered(const std::string& text, const Json& fields = Json::object()) {
  const Result<TextTemplate> parsed = TextTemplate::Parse(text);
  if (!parsed.ok()) return "parse: " + parsed.error().message;
  const Result<std::string> rendered = parsed->Render(fields);
  return rendered.ok() ? *rendered : "render: " + rendered.error().message;
}

TEST(PerfTemplateTest, Values) {
  const Json fields = {{"Index", 25}, {"cpu", "1"}, {"half", 0.5}, {"list", {{{"a", 1}}}}};
  EXPECT_EQ(Rendered("n-{{.Index}} {{ .cpu }} {{.half}}", fields), "n-25 1 0.5");
  EXPECT_EQ(Rendered("{{DivideInt .Index 10}} {{Mod .Index 10}} {{AddInt 0 .Index .cpu}}", fields),
            "2 5 26");
  EXPECT_EQ(Rendered("{{AddInt 8000 (Mod .Index (DivideInt .Index 2))}}", fields), "8001");
  EXPECT_EQ(Rendered("{{(or .list nil) | JSON}} {{(or .none nil) | JSON}}", fields),
            R"([{"a":1}] null)");
}

TEST(PerfTemplateTest, Blocks) {
  EXPECT_EQ(Rendered("{{if .a}}yes{{else}}no{{end}}", {{"a", 0}}), "no");
  EXPECT_EQ(Rendered("{{if eq .a \"x\"}}yes{{end}}.", {{"a", "x"}}), "yes.");
  EXPECT_EQ(Rendered("{{$n := or .n 3}}{{range ($n | Int)}}{{.}}{{Mod . $n}} {{end}}"),
            "00 11 22 ");
  EXPECT_EQ(
      Rendered("{{range $i := (2 | Int)}}{{range $j := (2 | Int)}}{{$i}}{{$j}} {{end}}{{end}}"),
      "00 01 10 11 ");
  EXPECT_EQ(Rendered("{{range $i := (3 | Int)}}{{if ge $i (2 | Int)}}{{$i}}{{end}}{{end}}"), "2");
}

TEST(PerfTemplateTest, WhatItDoesNotKnowIsAnError) {
  EXPECT_EQ(Rendered("{{with .a}}{{end}}"), "parse: {{with .a}}: is not understood");
  EXPECT_EQ(Rendered("{{printf .a}}"), "parse: {{printf .a}}: unknown function printf");
  EXPECT_EQ(Rendered("{{.a.b}}"), "parse: {{.a.b}}: a field of a field");
  EXPECT_EQ(Rendered("{{if .a}}"), "parse: {{if .a}}: has no end");
  EXPECT_EQ(Rendered("{{end}}"), "parse: {{end}}: has no beginning");
  EXPECT_EQ(Rendered("{{.a"), "parse: a {{ without }}");
  EXPECT_EQ(Rendered("{{Mod .a}}"), "parse: {{Mod .a}}: Mod does not take 1 arguments");
  EXPECT_EQ(Rendered("{{(1 | Int}}"), "parse: {{(1 | Int}}: a ) is missing");
  EXPECT_EQ(Rendered("{{.a}}"), "render: {{.a}}: has no value");
  EXPECT_EQ(Rendered("{{$a}}"), "render: {{$a}}: unknown variable $a");
  EXPECT_EQ(Rendered("{{Mod 1 0}}"), "render: {{Mod 1 0}}: Mod: division by zero");
  EXPECT_EQ(Rendered("{{range .a}}{{end}}", {{"a", "x"}}),
            "render: {{range .a}}: is no range over a whole number");
}

// Times in milliseconds after the beginning.
std::vector<double> Windows(const std::vector<int>& bound_ms, int end_ms) {
  const SteadyTime begin{};
  std::vector<SteadyTime> times;
  for (const int ms : bound_ms) times.push_back(begin + std::chrono::milliseconds(ms));
  return ThroughputWindows(times, begin, begin + std::chrono::milliseconds(end_ms));
}

TEST(PerfThroughputTest, TheFirstTickWithAPodOnlyOpens) {
  EXPECT_THAT(Windows({100, 200}, 900), IsEmpty());
  EXPECT_THAT(Windows({100, 200}, 2000), IsEmpty());
  EXPECT_THAT(Windows({100, 1500, 1600, 2500}, 3000), ElementsAre(2, 1));
  EXPECT_THAT(Windows({2500, 3500}, 4000), ElementsAre(1));
}

TEST(PerfThroughputTest, SecondsWithoutAPodShareTheNextOnesRate) {
  EXPECT_THAT(Windows({100, 3500, 3600, 3700}, 4000), ElementsAre(1, 1, 1));
}

TEST(PerfThroughputTest, WhatComesAfterTheLastTickIsNotCounted) {
  EXPECT_THAT(Windows({100, 1500, 2100, 2200}, 2900), ElementsAre(1));
}

TEST(PerfThroughputTest, Percentiles) {
  const Throughput none = Summarize({});
  EXPECT_FALSE(none.measured);
  std::vector<double> windows;
  for (int i = 100; i >= 1; --i) windows.push_back(i);
  const Throughput all = Summarize(windows);
  EXPECT_TRUE(all.measured);
  EXPECT_THAT(all.average, DoubleEq(50.5));
  EXPECT_EQ(all.p50, 50);
  EXPECT_EQ(all.p90, 90);
  EXPECT_EQ(all.p99, 99);
  EXPECT_EQ(Summarize({4}).p50, 4);
}

TEST(PerfObjectsTest, NodesHaveWhatTheirStrategySays) {
  CreateNodes nodes{.count = 3,
                    .template_path = {},
                    .template_params = {},
                    .allocatable = NodeAllocatable{.allocatable = {{"x", "39"}},
                                                   .drivers = Json{{"d", {{"count", 39}}}},
                                                   .migrated_plugins = {"p", "q"}},
                    .label_key = "zone",
                    .label_values = {"a", "b"},
                    .unique_label_key = {}};
  const auto objects = NodeObjects::Make(nodes, 4, 10, 2);
  ASSERT_TRUE(objects.ok());
  const Result<Json> node = objects->Node(1);
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->at("metadata").at("name"), "node-4-00011");
  EXPECT_EQ(node->at("metadata").at("labels"),
            (Json{{"zone", "b"}, {"kubernetes.io/hostname", "node-4-00011"}}));
  EXPECT_EQ(node->at("status").at("allocatable").at("x"), "39");
  EXPECT_EQ(node->at("status").at("declaredFeatures"), (Json{"Feature1", "Feature2"}));
  const Json csi = objects->CsiNode("n");
  EXPECT_EQ(csi.at("spec").at("drivers"),
            Json::parse(R"([{"name":"d","nodeID":"n","allocatable":{"count":39}}])"));
  EXPECT_EQ(csi.at("metadata").at("annotations").begin().value(), "p,q");
}

class PerfPodsTest : public PerfCaseFileTest {};

TEST_F(PerfPodsTest, PodsHaveTheirVolumeAndSignature) {
  const std::string folder = suite_ + "/dra/";
  std::ofstream(folder + "pod.yaml") << "metadata: {name: 'p-{{.Index}}', labels: {App: x}}\n"
                                        "spec: {Priority: '{{.p}}'}";
  std::ofstream(folder + "claim.yaml") << "spec: {}";
  std::ofstream(folder + "volume.yaml") << "spec: {csi: {driver: d}}";
  CreatePods pods;
  pods.template_path = folder + "pod.yaml";
  pods.template_params = Json{{"p", "7"}};
  pods.claim_path = folder + "claim.yaml";
  pods.volume_path = folder + "volume.yaml";
  pods.signature_batch = 2;
  const auto objects = PodObjects::Make(pods, "", "ns");
  ASSERT_TRUE(objects.ok()) << objects.error().message;
  const Result<Json> pod = objects->Pod(5, 6);
  ASSERT_TRUE(pod.ok()) << pod.error().message;
  EXPECT_EQ(pod->at("metadata"),
            Json::parse(R"({"name":"p-5","labels":{"App":"x","signature":"signature-label-2"}})"));
  EXPECT_EQ(
      pod->at("spec"),
      Json::parse(
          R"({"priority":"7","volumes":[{"name":"vol","persistentVolumeClaim":{"claimName":"pvc-5"}}]})"));
  const Result<VolumePair> pair = objects->Volumes(5, 6);
  ASSERT_TRUE(pair.ok());
  EXPECT_EQ(pair->claim.at("spec").at("volumeName"), "ns-vol-5");
  EXPECT_EQ(pair->volume.at("spec").at("csi").at("volumeHandle"), "ns-vol-5");
  EXPECT_EQ(pair->volume.at("spec").at("claimRef").at("name"), "pvc-5");
}

TEST(PerfReportTest, RatioIsOursToTheirs) {
  const auto run = [](const char* scheduler, double rate) {
    Collected one;
    one.name = "ns";
    one.throughput = {.measured = true, .average = rate};
    return PerfRun{.workload = "misc: A/b",
                   .scheduler = scheduler,
                   .threshold = 0,
                   .failure = {},
                   .collected = {one}};
  };
  PerfRun failed = run("kubesched", 1);
  failed.collected.clear();
  failed.failure = "op 1: no";
  const std::string text =
      PerfText({run("kube-scheduler", 100), run("kubesched", 150), run("kubesched", 250), failed});
  EXPECT_THAT(text, HasSubstr("misc: A/b/ns"));
  EXPECT_THAT(text, HasSubstr("2.00\n"));
  EXPECT_THAT(text, HasSubstr("failed: misc: A/b, kubesched: op 1: no\n"));
}

PerfRun RunWith(const char* workload, const char* scheduler, const Collected& collected) {
  return {.workload = workload,
          .scheduler = scheduler,
          .threshold = 70,
          .failure = {},
          .collected = {collected}};
}

Collected Figures(double rate, double cpu_ms) {
  Collected one;
  one.name = "ns";
  one.pods = 100;
  one.seconds = 2;
  one.throughput = {.measured = rate > 0, .average = rate};
  one.cpu_ms_per_pod = cpu_ms;
  one.peak_mb = 64;
  return one;
}

TEST(PerfReportTest, MarkdownHasRatiosAndTheirGeometricMeans) {
  const std::string text = PerfMarkdown(
      {RunWith("a", "kube-scheduler", Figures(100, 8)), RunWith("a", "kubesched", Figures(200, 1)),
       RunWith("b", "kube-scheduler", Figures(10, 2)), RunWith("b", "kubesched", Figures(80, 1)),
       RunWith("c", "kubesched", Figures(80, 1))});
  EXPECT_THAT(text, HasSubstr("| a/ns | 100 | 200 | 2.0 | 8.00 | 1.00 | 0.125 | 64 | 64 | 70 |\n"));
  EXPECT_THAT(text, HasSubstr("Geometric means of 2 rows: pods/s 4, CPU a pod 0.25, peak memory "
                              "1.\n"));
}

TEST(PerfReportTest, WithoutWindowsOfBothTheWholeIsCompared) {
  const std::string text = PerfMarkdown(
      {RunWith("a", "kube-scheduler", Figures(10, 1)), RunWith("a", "kubesched", Figures(0, 1))});
  EXPECT_THAT(text, HasSubstr("| a/ns | 50* | 50* | 1.0 |"));
}

std::vector<std::string> NamesOfShard(const std::string& shard) {
  std::vector<PerfCase> cases(5);
  for (size_t i = 0; i < cases.size(); ++i) cases[i].name = std::to_string(i);
  const auto own = ShardOf(cases, shard);
  if (!own.ok()) return {own.error().message};
  std::vector<std::string> names;
  for (const PerfCase& one : *own) names.push_back(one.name);
  return names;
}

TEST(PerfShardTest, EachCaseIsInOne) {
  EXPECT_THAT(NamesOfShard("1/1"), ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_THAT(NamesOfShard("1/2"), ElementsAre("0", "2", "4"));
  EXPECT_THAT(NamesOfShard("2/2"), ElementsAre("1", "3"));
  EXPECT_THAT(NamesOfShard("6/6"), IsEmpty());
  for (const char* shard : {"", "1", "0/2", "3/2", "1/2x", "-1/2"}) {
    EXPECT_THAT(NamesOfShard(shard),
                ElementsAre(std::string("--shard: ") + shard + ": must be 1/N to N/N"));
  }
}

}  // namespace
}  // namespace ks::ctl::dev::perf
