// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/explain/explain.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "testing/temp_dir.h"

namespace ks::ctl {
namespace {

// Two nodes for small pods, one tainted; one bound pod.
constexpr const char* kCluster = R"(apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1, labels: {disk: ssd}},
   status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10", example.com/gpu: "1"}}}
- {apiVersion: v1, kind: Node, metadata: {name: n2},
   status: {allocatable: {cpu: 2500m, memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: n3},
   spec: {taints: [{key: dedicated, value: db, effect: NoSchedule}]},
   status: {allocatable: {cpu: "8", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: old},
   spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 705m}}}]}}
)";

std::string Pod(const std::string& name, const std::string& spec) {
  return "- {apiVersion: v1, kind: Pod, metadata: {name: " + name + "}, spec: {" + spec + "}}\n";
}

std::string Requests(const std::string& requests) {
  return "containers: [{name: c, resources: {requests: {" + requests + "}}}]";
}

class ExplainVerbTest : public ::testing::Test {
 protected:
  // Output, then warnings, or the error.
  std::string Explain(const std::string& dump, ExplainQuestion question = {}) {
    Result<inspect::ClusterDump> read = ReadDump({dir_.Write("dump.yaml", dump)});
    if (!read.ok()) return read.error().message;
    std::string output;
    std::string warnings;
    const ExplainSinks sinks{.out = [&](std::string_view text) { output += text; },
                             .warn = [&](const std::string& line) { warnings += line + "\n"; }};
    const Result<void> explained = ExplainDump(std::move(read).value(), question, sinks);
    if (!explained.ok()) return output + explained.error().message;
    return output + warnings;
  }
  std::string Few() const {
    return dir_.Write(
        "few.yaml",
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- schedulerName: few\n  plugins:\n    multiPoint:\n"
        "      disabled: [{name: \"*\"}]\n      enabled: [{name: PrioritySort}, "
        "{name: NodeUnschedulable}, {name: NodeResourcesFit, weight: 2}, {name: DefaultBinder}]\n");
  }
  testing::TempDir dir_;
};

TEST_F(ExplainVerbTest, TableOfAPodThatFitsNowhere) {
  EXPECT_EQ(Explain(kCluster + Pod("big", Requests("cpu: 3, memory: 5Gi, example.com/gpu: 2"))),
            R"(default/big: Unschedulable
  0/3 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint(s), 2 Insufficient cpu, 2 Insufficient example.com/gpu.

  NODES  PLUGIN            REASON                                                 FOR EXAMPLE
      2  NodeResourcesFit  Insufficient cpu: needs 3, free at most 2.5            n2
      2  NodeResourcesFit  Insufficient example.com/gpu: needs 2, free at most 1  n1
      1  NodeResourcesFit  Insufficient memory: needs 5Gi, free 4Gi               n1
      1  TaintToleration   node(s) had untolerated taint(s)                       n3
)");
}

// 1.295 cores are free on n1: rounded down, so that a need of 1.3 does not look satisfied.
TEST_F(ExplainVerbTest, TableOfAPodThatFits) {
  EXPECT_EQ(Explain(kCluster + Pod("web", Requests("cpu: 1296m"))),
            R"(default/web: Schedulable on n2 (1 feasible node of 3)

  NODES  PLUGIN            REASON                                  FOR EXAMPLE
      1  NodeResourcesFit  Insufficient cpu: needs 1.3, free 1.29  n1
      1  TaintToleration   node(s) had untolerated taint(s)        n3

  NODE  TOTAL  DynamicResources  ImageLocality  NodeResourcesBalancedAllocation  NodeResourcesFit  TaintToleration
  n2      434                 0              0                               62                72              300
)");
}

// It holds 3 of 4 cores itself, and the other pod's 2 are in its way.
constexpr const char* kResize = R"(kind: List
items:
- {kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
- {kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 64, pods: 10}}}
- {kind: Pod, metadata: {name: low, uid: low}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}
- {kind: Pod, metadata: {name: grows, uid: grows}, spec: {nodeName: n1, priority: 5, containers: [{name: c, resources: {requests: {cpu: 3}}}]},
   status: {conditions: [{type: PodResizePending, reason: Deferred}]}}
)";

TEST_F(ExplainVerbTest, APodThatWaitsForItsResizeUnderTheGate) {
  EXPECT_EQ(Explain(kResize, {.pod = "grows"}),
            "pod default/grows is not pending: it is on node n1");
  EXPECT_EQ(
      Explain(kResize, {.feature_gates = {"InPlacePodVerticalScalingSchedulerPreemption=true"},
                        .preemption = true}),
      R"(default/grows: Unschedulable
  0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeName].

  NODES  PLUGIN            REASON                                       FOR EXAMPLE
      1  NodeResourcesFit  Insufficient cpu: needs 3, free 2            n1
      1  -                 node(s) didn't satisfy plugin(s) [NodeName]  n2

  preemption: found a potential placement for pod on node n1, preempting 1 victims
     TRIED  BUDGETS VIOLATED  VICTIMS, OR WHY NONE HELP
  *  n1                    0  default/low (priority 0)
)");
}

// docs/spec/preemption.md P1, and nodes on which preemption does not help.
constexpr const char* kFullCluster = R"(kind: List
items:
- {kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
- {kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 2, pods: 1}}}
- {kind: Node, metadata: {name: n3}, status: {allocatable: {cpu: 1, pods: 10}}}
- {kind: Pod, metadata: {name: a, uid: a}, spec: {nodeName: n1, priority: 1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
- {kind: Pod, metadata: {name: b, uid: b}, spec: {nodeName: n1, priority: 2, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
- {kind: Pod, metadata: {name: c, uid: c}, spec: {nodeName: n1, priority: 3, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
- {kind: Pod, metadata: {name: d, uid: d}, spec: {nodeName: n1, priority: 4, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}
- {kind: Pod, metadata: {name: e, uid: e}, spec: {nodeName: n2, priority: 10, containers: [{name: c}]}}
)";

TEST_F(ExplainVerbTest, TableOfPreemption) {
  EXPECT_EQ(
      Explain(kFullCluster + Pod("p", "priority: 10, " + Requests("cpu: 2")), {.preemption = true}),
      R"(default/p: Unschedulable
  0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu.

  NODES  PLUGIN            REASON                                     FOR EXAMPLE
      2  NodeResourcesFit  Insufficient cpu: needs 2, free at most 1  n3
      1  NodeResourcesFit  Too many pods: needs 1, free 0             n2

  preemption: found a potential placement for pod on node n1, preempting 2 victims
     TRIED  BUDGETS VIOLATED  VICTIMS, OR WHY NONE HELP
  *  n1                    0  default/b (priority 2), default/a (priority 1)
     n2                    -  No preemption victims found for incoming pod
)");
}

TEST_F(ExplainVerbTest, JsonOfPreemption) {
  const std::string dump = kFullCluster + Pod("p", "priority: 10, " + Requests("cpu: 2"));
  const std::string json = Explain(dump, {.preemption = true, .json = true});
  const size_t begin = json.find("\"preemption\":");
  ASSERT_NE(begin, std::string::npos) << json;
  EXPECT_EQ(
      json.substr(begin),
      R"("preemption":{"node":"n1","nomination":"override","code":"Success",)"
      R"("message":"preemption: found a potential placement for pod on node n1, preempting 2 victims",)"
      R"("event":"0/3 nodes are available: 1 Too many pods, 2 Insufficient cpu. preemption: found a )"
      R"(potential placement for pod on node n1, preempting 2 victims",)"
      R"("victims":[{"pod":"default/b","priority":2},{"pod":"default/a","priority":1}],)"
      R"("violations":0,"tried":[{"node":"n1","victims":[{"pod":"default/b","priority":2},)"
      R"({"pod":"default/a","priority":1}]},{"node":"n2","code":"UnschedulableAndUnresolvable",)"
      R"("reasons":["No preemption victims found for incoming pod"]}]}})"
      "\n");
  EXPECT_EQ(Explain(dump, {.json = true}).find("preemption"), std::string::npos);
}

TEST_F(ExplainVerbTest, TableOfOneNode) {
  const std::string dump = kCluster + Pod("web", Requests("cpu: 1")) + Pod("b", Requests("cpu: 1"));
  EXPECT_EQ(Explain(dump, {.pod = "web", .node = "n3"}),
            R"(default/web: Schedulable on n2 (2 feasible nodes of 3)

  NODES  PLUGIN           REASON                            FOR EXAMPLE
      1  TaintToleration  node(s) had untolerated taint(s)  n3
)");
}

TEST_F(ExplainVerbTest, TableOfBestNodesSaysWhatItLeavesOut) {
  std::string dump = "kind: List\nitems:\n";
  for (char c = 'a'; c < 'm'; ++c) {
    dump += std::string("- {kind: Node, metadata: {name: m") + c +
            "}, status: {allocatable: {cpu: 4, memory: 1Gi, pods: 5}}}\n";
  }
  const std::string all = Explain(dump + Pod("p", "schedulerName: few"), {.config_file = Few()});
  EXPECT_EQ(all,
            R"(default/p: Schedulable, 12 nodes share the best total (12 feasible nodes of 12)

  NODE  TOTAL  NodeResourcesFit
  ma      200               200
  mb      200               200
  mc      200               200
  md      200               200
  me      200               200
  mf      200               200
  mg      200               200
  mh      200               200
  mi      200               200
  mj      200               200
  (2 more feasible nodes left out)
)");
}

TEST_F(ExplainVerbTest, TableOfGatedAndNominatedPods) {
  EXPECT_EQ(Explain(kCluster + Pod("a", "schedulingGates: [{name: wait}]") +
                    "- {kind: Pod, metadata: {name: b}, spec: {schedulerName: few}, "
                    "status: {nominatedNodeName: n1}}\n"),
            "default/a: Gated\n  waiting for scheduling gates: [wait]\n");
  const std::string b =
      Explain(kCluster + std::string("- {kind: Pod, metadata: {name: b}, spec: {schedulerName: few}"
                                     ", status: {nominatedNodeName: n1}}\n"),
              {.config_file = Few(), .node = "n2"});
  EXPECT_EQ(b,
            R"(default/b: Schedulable on n1, to which it is nominated (3 feasible nodes of 3)

  NODE  TOTAL  NodeResourcesFit
  n2      200               200
)");
}

TEST_F(ExplainVerbTest, AmountsHaveUnits) {
  const std::string dump =
      "kind: List\nitems:\n- {kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 50m, "
      "memory: 1073741823, ephemeral-storage: 3Ki, hugepages-2Mi: 10Mi, pods: 0}}}\n" +
      Pod("p", Requests("cpu: 51m, memory: 1Gi, ephemeral-storage: 3073, hugepages-2Mi: 7Ti"));
  const std::string table = Explain(dump, {.node = "n1"});
  for (const char* line :
       {"Insufficient cpu: needs 0.06, free 0.05 ",
        "Insufficient memory: needs 1Gi, free 1023.99Mi ",
        "Insufficient ephemeral-storage: needs 3.01Ki, free 3Ki ",
        "Insufficient hugepages-2Mi: needs 7Ti, free 10Mi ", "Too many pods: needs 1, free 0 "}) {
    EXPECT_NE(table.find(line), std::string::npos) << line << "\n" << table;
  }
}

// 50E of memory is taken for 0, and 10E of cpu, in thousandths, too.
TEST_F(ExplainVerbTest, RequestsThatCannotBeCountedAreTold) {
  const std::string answer = Explain(kCluster + Pod("cut", Requests("memory: 50E, cpu: 10E")));
  EXPECT_EQ(answer.substr(0, answer.find("\n\n")),
            R"(default/cut: Schedulable on n2 (2 feasible nodes of 3)
  note: the pod asks for 10E of cpu, more than kube-scheduler and kubesched can count: both take it for 0, which fits everywhere
  note: the pod asks for 50E of memory, more than kube-scheduler and kubesched can count: both take it for 0, which fits everywhere)");
  EXPECT_EQ(
      Explain(kCluster + Pod("most", Requests("memory: \"9223372036854775807\""))).find("note"),
      std::string::npos);
}

TEST_F(ExplainVerbTest, JsonIsALineAPodOfAProfile) {
  const std::string dump = kCluster + Pod("b", "schedulerName: few, " + Requests("cpu: 1")) +
                           Pod("a", "schedulerName: few") + Pod("other", "");
  EXPECT_EQ(
      Explain(dump, {.config_file = Few(), .json = true}),
      R"({"pod":"default/a","profile":"few","result":"Schedulable","bestNodes":["n2","n3"],)"
      R"("nodes":[{"name":"n1","feasible":true,"scores":[)"
      R"({"plugin":"NodeResourcesFit","raw":79,"weighted":158}],"total":158},)"
      R"({"name":"n2","feasible":true,"scores":[)"
      R"({"plugin":"NodeResourcesFit","raw":100,"weighted":200}],"total":200},)"
      R"({"name":"n3","feasible":true,"scores":[)"
      R"({"plugin":"NodeResourcesFit","raw":100,"weighted":200}],"total":200}]})"
      "\n"
      R"({"pod":"default/b","profile":"few","result":"Schedulable","bestNodes":["n3"],"nodes":[)"
      R"({"name":"n1","feasible":true,"scores":[)"
      R"({"plugin":"NodeResourcesFit","raw":52,"weighted":104}],"total":104},)"
      R"({"name":"n2","feasible":true,"scores":[)"
      R"({"plugin":"NodeResourcesFit","raw":78,"weighted":156}],"total":156},)"
      R"({"name":"n3","feasible":true,"scores":[)"
      R"({"plugin":"NodeResourcesFit","raw":92,"weighted":184}],"total":184}]})"
      "\n");
}

TEST_F(ExplainVerbTest, JsonOfOneNode) {
  EXPECT_EQ(Explain(kCluster + Pod("web", Requests("cpu: 1")),
                    {.pod = "default/web", .node = "n3", .json = true}),
            R"({"pod":"default/web","profile":"default-scheduler","result":"Schedulable",)"
            R"("unschedulablePlugins":["TaintToleration"],"bestNodes":["n2"],"nodes":[)"
            R"({"name":"n3","feasible":false,"plugin":"TaintToleration",)"
            R"("code":"UnschedulableAndUnresolvable",)"
            R"x("reasons":["node(s) had untolerated taint(s)"]}]})x"
            "\n");
}

TEST_F(ExplainVerbTest, WhatCannotBeExplained) {
  const std::string dump = kCluster + Pod("web", "") + Pod("other", "schedulerName: other") +
                           "- {kind: Pod, metadata: {name: leaving, "
                           "deletionTimestamp: \"2025-01-01T00:00:00Z\"}}\n";
  const auto refused = [&](const ExplainQuestion& question) { return Explain(dump, question); };
  EXPECT_EQ(refused({.pod = "a/web"}),
            "no pod a/web in the dump, or it is Succeeded or Failed; name it as NAMESPACE/POD "
            "(default/ may be left out)");
  EXPECT_EQ(refused({.pod = "old"}), "pod default/old is not pending: it is on node n1");
  EXPECT_EQ(refused({.pod = "leaving"}), "pod default/leaving is not pending: it is being deleted");
  EXPECT_EQ(refused({.pod = "other"}),
            "pod default/other belongs to another scheduler: no profile is named other; give its "
            "configuration with --config");
  EXPECT_EQ(refused({.node = "n9"}), "no node n9 in the dump");
  EXPECT_EQ(refused({.feature_gates = {"Nothing=true"}}).substr(0, 21), "unrecognized feature ");
  EXPECT_EQ(Explain(kCluster), "no pending pods in the dump\n");
}

TEST_F(ExplainVerbTest, ConfigurationsAreRefusedWithTheirPlace) {
  const std::string file =
      dir_.Write("bad.yaml",
                 "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                 "parallelism: 0\n");
  const std::string fault =
      "parallelism: Invalid value: 0: should be an integer value greater than zero";
  EXPECT_EQ(Explain(kCluster, {.config_file = file}),
            file + ": " + fault + "\n" + file + ":3:1: " + fault);
}

TEST_F(ExplainVerbTest, ExtendersAreNotAsked) {
  const std::string file =
      dir_.Write("extender.yaml",
                 "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                 "extenders: [{urlPrefix: \"http://extender.test\", filterVerb: filter}]\n");
  EXPECT_EQ(Explain(kCluster, {.config_file = file}),
            "warning: " + file +
                ": extenders are not asked: their verdicts and scores are missing\n"
                "no pending pods in the dump\n");
}

TEST_F(ExplainVerbTest, FilesThatCannotBeRead) {
  const auto error = [](const std::vector<std::string>& files) {
    const auto read = ReadDump(files);
    return read.ok() ? "" : read.error().message;
  };
  EXPECT_EQ(error({dir_.path() + "/none"}),
            "open " + dir_.path() + "/none: no such file or directory");
  EXPECT_EQ(error({dir_.path()}), "read " + dir_.path() + ": is a directory");
  EXPECT_EQ(error({"-", "-"}), "--dump: standard input (-) can be read only once");
  const std::string good = dir_.Write("good", "kind: Node\nmetadata: {name: n1}\n");
  const std::string bad = dir_.Write("bad", "kind: Pod\nmetadata: {name: 5}\n");
  EXPECT_EQ(error({good, "web"}),
            "open web: no such file or directory (the name of a pod stands before --dump)");
  EXPECT_EQ(error({good, bad}), bad + ": Pod: metadata.name: must be a string, not a number");
}

}  // namespace
}  // namespace ks::ctl
