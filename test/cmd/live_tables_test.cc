// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/live/live_tables.h"

#include <gtest/gtest.h>

#include <string>

#include "kubeschedctl/live/live_verbs.h"

namespace ks::ctl {
namespace {

std::string Text(const Result<std::string>& table) {
  return table.ok() ? *table : "error: " + table.error().message;
}

TEST(LiveTables, Queue) {
  EXPECT_EQ(
      Text(QueueTable(R"({
    "time":"2026-01-02T03:10:00.000000Z","standby":false,"identity":"host_1","synced":true,
    "counts":{"active":1,"backoff":1,"inFlight":0,"waiting":0,"binding":1,"unschedulable":1,
              "gated":0},
    "rejectedBy":[{"plugin":"NodeResourcesFit","pods":2}],"matching":7,
    "pods":[
     {"pod":"ns/a","queue":"active","position":1,"priority":5,"attempts":0,
      "since":"2026-01-02T03:09:15.000000Z","lastEvent":"UnscheduledPodAdd"},
     {"pod":"ns/b","queue":"backoff","position":1,"priority":0,"attempts":2,
      "since":"2026-01-02T03:06:48.000000Z","backoffEnd":"2026-01-02T03:10:03.000000Z",
      "rejectedBy":["NodeResourcesFit"],"lastEvent":"NodeAdd","wokenBy":"NodeAdd",
      "wokenByHintOf":"NodeResourcesFit"},
     {"pod":"ns/c","queue":"binding","priority":0,"attempts":1,"node":"n1",
      "since":"2026-01-02T01:00:00.000000Z"},
     {"pod":"ns/d","queue":"unschedulable","priority":0,"attempts":9,
      "since":"2026-01-02T03:09:59.000000Z","backoffEnd":"2026-01-02T03:00:00.000000Z",
      "rejectedBy":["NodeAffinity","NodeResourcesFit"],"lastEvent":"ScheduleAttemptFailure"}]})")),
      R"(leader host_1: 1 active, 1 in backoff, 0 in flight, 0 waiting at Permit, 1 being bound, 1 unschedulable, 0 gated
rejected by: NodeResourcesFit 2

QUEUE          POS  POD         PRIORITY  ATTEMPTS  SINCE  BACKOFF  HELD BY                        LAST EVENT              WOKEN BY
active           1  ns/a               5         0    45s        -  -                              UnscheduledPodAdd       -
backoff          1  ns/b               0         2  3m12s       3s  NodeResourcesFit               NodeAdd                 NodeAdd (NodeResourcesFit)
binding          -  ns/c -> n1         0         1  2h10m        -  -                              -                       -
unschedulable    -  ns/d               0         9     1s        -  NodeAffinity,NodeResourcesFit  ScheduleAttemptFailure  -
(3 pods left out: --limit=0 shows all)
)");
}

TEST(LiveTables, QueueOfGroups) {
  EXPECT_EQ(
      Text(QueueTable(R"({
    "time":"2026-01-02T03:10:00.000000Z","standby":false,
    "counts":{"active":2,"incomplete":3,"pending":0},"rejectedBy":[],"matching":3,
    "pods":[
     {"podGroup":"podgroup/ns/g","queue":"active","position":1,"priority":5,"attempts":2,
      "since":"2026-01-02T03:09:15.000000Z","lastEvent":"PodGroupAdd","members":[
       {"pod":"ns/a","queue":"active","position":1,"priority":5,"attempts":1,
        "since":"2026-01-02T03:09:15.000000Z","rejectedBy":["NodeAffinity"]},
       {"pod":"ns/b","queue":"active","position":1,"priority":5,"attempts":2}]},
     {"pod":"ns/c","queue":"active","position":2,"priority":0,"attempts":0}]})")),
      R"(leader: 2 active, 0 in backoff, 0 in flight, 0 waiting at Permit, 0 being bound, 0 unschedulable, 0 gated, 3 incomplete, 0 pending

QUEUE   POS  POD                        PRIORITY  ATTEMPTS  SINCE  BACKOFF  HELD BY       LAST EVENT   WOKEN BY
active    1  podgroup/ns/g (2 members)         5         2    45s        -  -             PodGroupAdd  -
               ns/a                            5         1      -        -  NodeAffinity  -            -
               ns/b                            5         2      -        -  -             -            -
active    2  ns/c                              0         0      -        -  -             -            -
)");
}

TEST(LiveTables, DecisionsAboutGroups) {
  EXPECT_EQ(Text(DecisionsTable(R"({"standby":false,"kept":1000,"made":2,"decisions":[
     {"podGroup":"podgroup/ns/g","time":"2026-01-02T03:10:00.123456Z","attempt":1,
      "result":"Unschedulable","message":"minCount (2) cannot be satisfied","members":[
      {"number":1,"time":"2026-01-02T03:10:00.123456Z","pod":"ns/a","attempt":1,
       "result":"Unschedulable","evaluatedNodes":3,"message":"pod group is unschedulable",
       "decidedMicroseconds":81}]}]})")),
            R"(leader: 2 decisions made, the last 1000 are kept

TIME          POD            ATTEMPT  RESULT         NODE  FEASIBLE   TOOK  BOUND AFTER  BEST NODES, OR WHY NONE
03:10:00.123  podgroup/ns/g        1  Unschedulable  -            -      -            -  minCount (2) cannot be satisfied
03:10:00.123    ns/a               1  Unschedulable  -          0/3  81 us            -  pod group is unschedulable
)");
}

TEST(LiveTables, SimulatedGroups) {
  EXPECT_EQ(Text(SimulationTable(R"({"notes":[],"sources":[
    {"source":"Job ns/w","pods":2,"placed":1,"nodes":[{"node":"n1","pods":1}]}],
    "pods":[],"podGroups":[{"podGroup":"podgroup/ns/g","result":"Schedulable","members":[
      {"pod":"ns/w-0","result":"Schedulable","node":"n1"},
      {"pod":"ns/w-1","result":"Unschedulable","message":"no room"}]}]})")),
            R"(Job ns/w: 1 of 2 pods would be placed
  NODE  PODS
  n1       1
podgroup/ns/g: Schedulable
  MEMBER  NODE  WHY NONE
  ns/w-0  n1    -
  ns/w-1  -     no room
)");
}

TEST(LiveTables, ExplanationOfAGroup) {
  EXPECT_EQ(Text(LiveExplanationTable(R"({"podGroup":"podgroup/ns/g","result":"Unschedulable",
    "message":"no","summary":"1 of 2 members fit","groups":[],"members":[
     {"pod":"ns/a","result":"Unschedulable","message":"no"}],
    "live":{"notes":["this kubesched is a standby: it knows the cluster, but decides nothing"]}})",
                                      "")),
            R"(podgroup/ns/g: Unschedulable
  note: this kubesched is a standby: it knows the cluster, but decides nothing
  no
  1 of 2 members fit

  MEMBERS  FOR EXAMPLE  RESULT
        1  ns/a         Unschedulable: no
)");
}

TEST(LiveTables, Decisions) {
  EXPECT_EQ(Text(DecisionsTable(R"({"standby":true,"kept":1000,"made":2,"decisions":[
     {"number":2,"time":"2026-01-02T03:10:00.123456Z","pod":"ns/web","attempt":1,"result":"Bound",
      "node":"n1","nodes":3,"evaluatedNodes":3,"feasibleNodes":2,
      "best":[{"node":"n1","total":443},{"node":"n2","total":414}],
      "decidedMicroseconds":81,"endedMicroseconds":3400},
     {"number":1,"time":"2026-01-02T03:09:59.000000Z","pod":"ns/big","attempt":3,
      "result":"Unschedulable","nominatedNode":"n2","evaluatedNodes":3,
      "message":"0/3 nodes are available: 3 Insufficient cpu.","decidedMicroseconds":120}]})")),
            R"(standby: 2 decisions made, the last 1000 are kept

TIME          POD     ATTEMPT  RESULT         NODE  FEASIBLE    TOOK  BOUND AFTER  BEST NODES, OR WHY NONE
03:10:00.123  ns/web        1  Bound          n1         2/3   81 us       3.4 ms  n1 443, n2 414
03:09:59.000  ns/big        3  Unschedulable  (n2)       0/3  120 us            -  0/3 nodes are available: 3 Insufficient cpu.
)");
  EXPECT_EQ(Text(DecisionsTable(R"({"standby":true,"kept":1000,"made":2,"decisions":[
     {"number":2,"time":"2026-01-02T03:10:00.123456Z","pod":"ns/cut","attempt":1,"result":"Bound",
      "node":"n1","nodes":3,"evaluatedNodes":3,"feasibleNodes":1,
      "extenders":[{"extender":"http://a/x","asked":3,"kept":3}],
      "cutRequests":[{"resource":"memory","asked":"50E","counted":0}],
      "best":[{"node":"n1","total":443}],"decidedMicroseconds":81,"endedMicroseconds":3400},
     {"number":1,"time":"2026-01-02T03:09:59.000000Z","pod":"ns/gpu","attempt":3,
      "result":"Unschedulable","evaluatedNodes":3,
      "extenders":[{"extender":"http://a/x","asked":3,"kept":1,"unexplained":1},
                   {"extender":"http://b/x","asked":1,"kept":0,"unexplained":1}],
      "message":"0/3 nodes are available: 1 no.","decidedMicroseconds":120}]})")),
            R"(standby: 2 decisions made, the last 1000 are kept

TIME          POD     ATTEMPT  RESULT         NODE  FEASIBLE    TOOK  BOUND AFTER  BEST NODES, OR WHY NONE
03:10:00.123  ns/cut        1  Bound          n1         1/3   81 us       3.4 ms  n1 443 (memory 50E is too large to be counted and taken for 0)
03:09:59.000  ns/gpu        3  Unschedulable  -          0/3  120 us            -  0/3 nodes are available: 1 no. (extender http://a/x dropped 2 of 3 nodes, 1 of them without a reason; extender http://b/x dropped 1 of 1 node without a reason)
)");
  EXPECT_EQ(Text(DecisionsTable(R"({"kept":0,"made":0,"decisions":[]})")),
            "leader: 0 decisions made, the last 0 are kept\n(--decisions-kept=0 keeps none)\n");
}

TEST(LiveTables, Cache) {
  EXPECT_EQ(Text(CacheTable(R"({"standby":false,"synced":false,
    "counts":{"nodes":1,"pods":2,"assumedPods":1},
    "nodes":[{"name":"n1","unschedulable":true,
      "allocatable":{"cpuMilli":4000,"memory":8589934592,"ephemeralStorage":0,"pods":110},
      "requested":{"cpuMilli":1500,"memory":1610612736,"ephemeralStorage":0,"pods":2},
      "nominated":["ns/next"],
      "pods":[{"pod":"ns/a","priority":0,"cpuMilli":1000,"memory":0,"assumed":true}]}]})")),
            R"(leader, which has not read the cluster yet: 1 node, 2 pods, 1 of them assumed

NODE   PODS    CPU     MEMORY  EPHEMERAL  REMARKS
n1    2/110  1.5/4  1.5Gi/8Gi        0/0  cordoned, nominated: ns/next

NODE  POD   PRIORITY  CPU  MEMORY  REMARKS
n1    ns/a         0    1       0  assumed
)");
  const std::string counts = R"({"counts":{"nodes":1,"pods":1,"assumedPods":0},"comparison":)";
  EXPECT_EQ(Text(CacheTable(counts + R"({"nodes":1,"pods":1,"same":true,"differences":[]}})")),
            "leader: 1 node, 1 pod, 0 of them assumed\n"
            "compared with 1 node and 1 pod of the API server: no difference\n");
  EXPECT_EQ(Text(CacheTable(counts + R"({"nodes":1,"pods":1,"same":false,"differences":[
              {"kind":"requested","object":"n1 cpu","cache":"3000m","apiServer":"2000m"},
              {"kind":"missedNode","object":"n2"}]}})")),
            R"(leader: 1 node, 1 pod, 0 of them assumed
compared with 1 node and 1 pod of the API server: 2 differences

DIFFERENCE  OBJECT  CACHE  API SERVER
requested   n1 cpu  3000m  2000m
missedNode  n2      -      -
)");
}

TEST(LiveTables, Simulation) {
  EXPECT_EQ(Text(SimulationTable(R"({"notes":["extenders are not asked"],"sources":[
    {"source":"Deployment default/web","pods":4,"placed":2,
     "nodes":[{"node":"n1","pods":1},{"node":"n2","pods":1}]}],
    "pods":[{"source":"Deployment default/web","result":"Schedulable","node":"n1"},
      {"source":"Deployment default/web","result":"Schedulable","node":"n2"},
      {"source":"Deployment default/web","result":"Unschedulable","message":"0/2 nodes"},
      {"source":"Deployment default/web","result":"Unschedulable","message":"0/2 nodes"}]})")),
            R"(note: extenders are not asked
Deployment default/web: 2 of 4 pods would be placed
  NODE  PODS
  n1       1
  n2       1
2 pods of Deployment default/web, Unschedulable: 0/2 nodes
)");
}

TEST(LiveTables, Explanation) {
  EXPECT_EQ(Text(LiveExplanationTable(R"({"pod":"ns/big","profile":"default-scheduler",
    "result":"Unschedulable","message":"0/2 nodes are available: 2 Insufficient cpu.",
    "unschedulablePlugins":["NodeResourcesFit"],"nodes":[
     {"name":"n1","feasible":false,"plugin":"NodeResourcesFit","code":"Unschedulable",
      "reasons":["Insufficient cpu"]},
     {"name":"n2","feasible":false,"plugin":"NodeResourcesFit","code":"Unschedulable",
      "reasons":["Insufficient cpu"]}],
    "live":{"time":"2026-01-02T03:10:00.000000Z","standby":true,
     "notes":["this kubesched is a standby: it knows the cluster, but decides nothing"],
     "queue":{"queue":"unschedulable","attempts":3,"lastEvent":"ScheduleAttemptFailure"},
     "lastDecision":{"result":"Unschedulable","time":"2026-01-02T03:09:00.000000Z","attempt":3,
       "extenders":[{"extender":"http://a/x","asked":2,"kept":0,"unexplained":2}]},
     "shortages":[{"reason":"Insufficient cpu","plugin":"NodeResourcesFit","resource":"cpu",
       "needed":9000,"mostFree":2500,"node":"n2"}]}})",
                                      "")),
            R"(ns/big: Unschedulable
  note: this kubesched is a standby: it knows the cluster, but decides nothing
  queue: unschedulable, 3 attempts, moved there by ScheduleAttemptFailure
  last decision: Unschedulable at 2026-01-02T03:09:00.000000Z, attempt 3: extender http://a/x dropped 2 of 2 nodes without a reason
  0/2 nodes are available: 2 Insufficient cpu.

  NODES  PLUGIN            REASON                                       FOR EXAMPLE
      2  NodeResourcesFit  Insufficient cpu: needs 9, free at most 2.5  n2
)");
  EXPECT_EQ(Text(LiveExplanationTable(R"({"pod":"ns/web","result":"Schedulable",
    "bestNodes":["n1"],"nodes":[{"name":"n1","feasible":true,"total":90,
     "scores":[{"plugin":"NodeResourcesFit","raw":90,"weighted":90}]}],"live":{}})",
                                      "")),
            R"(ns/web: Schedulable on n1 (1 feasible node of 1)

  NODE  TOTAL  NodeResourcesFit
  n1       90                90
)");
}

TEST(LiveTables, AnswersOfOthersAreRefused) {
  for (const char* body : {"", "<html>", "[]", R"({"kind":"Status"})"}) {
    EXPECT_NE(Text(QueueTable(body)).find("error: the answer is not what a kubesched answers"),
              std::string::npos)
        << body;
  }
  // A line that would move the cursor is made harmless.
  EXPECT_EQ(Text(QueueTable("\x1b[2J")).find('\x1b'), std::string::npos);
}

TEST(LiveTargets, QueriesAreEscaped) {
  EXPECT_EQ(QueueTarget({.live = {}, .ns = "a b", .pod = "ns/p", .plugin = "X", .part = "gated"}),
            "/debug/kubesched/queue?namespace=a%20b&pod=ns%2Fp&plugin=X&queue=gated&limit=500");
  EXPECT_EQ(DecisionsTarget({.live = {}, .node = "n1", .result = "Bound", .limit = 0}),
            "/debug/kubesched/decisions?node=n1&result=Bound&limit=0");
  EXPECT_EQ(CacheTarget({.live = {}}), "/debug/kubesched/cache");
  EXPECT_EQ(CacheTarget({.live = {}, .pods = true, .compare = true}),
            "/debug/kubesched/cache?pods=true&compare=true");
  EXPECT_EQ(SimulateTarget({.live = {}, .replicas = 3}), "/debug/kubesched/simulate?replicas=3");
  EXPECT_EQ(SimulateTarget({.live = {},
                            .more_nodes = {"n1:2", "n2:1"},
                            .without_nodes = {"pool=a"},
                            .weights = {"NodeResourcesFit:3"}}),
            "/debug/kubesched/simulate?moreNodes=n1%3A2%2Cn2%3A1&withoutNodes=pool%3Da&weights="
            "NodeResourcesFit%3A3");
  EXPECT_EQ(ExplainTarget({.live = {}, .pod = "podgroup/ns/g"}),
            "/debug/kubesched/explain?podGroup=podgroup%2Fns%2Fg");
  EXPECT_EQ(ExplainTarget({.live = {}, .pod = "p", .node = "n1", .preemption = true}),
            "/debug/kubesched/explain?pod=p&node=n1&preemption=true");
}

}  // namespace
}  // namespace ks::ctl
