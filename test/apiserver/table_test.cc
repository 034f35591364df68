// SPDX-License-Identifier: Apache-2.0
// The whole of the tables is compared with the real server's in test/e2e/kubectl_test.cc; here
// stand the rules, fast.
#include "apiserver/table/table.h"

#include <gtest/gtest.h>

#include <string>

#include "apiserver/table/table_cells.h"
#include "testing/fake_clock.h"

namespace ks::apiserver {
namespace {

const KindInfo& Kind(const char* api_version, const char* kind) {
  return *FindKind(api_version, kind);
}
// The clock stands at 2026-01-02T03:04:05Z.
Json Cells(const KindInfo& kind, const std::string& object) {
  return TableRow(kind, Json::parse(object), "None", testing::FakeClock().Now())["cells"];
}

TEST(WantsTable, TheFirstFormThatIsThereDecides) {
  const KindInfo& pods = Kind("v1", "Pod");
  const std::string table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  EXPECT_TRUE(WantsTable(pods, table));
  EXPECT_TRUE(WantsTable(
      pods, table + ",application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"));
  EXPECT_TRUE(WantsTable(pods, "application/json;as=Table;v=v1beta1;g=meta.k8s.io, " + table));
  EXPECT_FALSE(WantsTable(pods, "application/json, " + table));
  EXPECT_FALSE(WantsTable(pods, "application/json"));
  EXPECT_FALSE(WantsTable(pods, ""));
  EXPECT_FALSE(WantsTable(pods, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"));
}

TEST(Table, HeadAndRow) {
  const KindInfo& pods = Kind("v1", "Pod");
  const Json head = TableHead(pods, true);
  EXPECT_EQ(head["kind"], "Table");
  EXPECT_EQ(head["apiVersion"], "meta.k8s.io/v1");
  EXPECT_EQ(head["columnDefinitions"][0]["name"], "Name");
  EXPECT_EQ(head["columnDefinitions"][0]["format"], "name");
  EXPECT_EQ(head["columnDefinitions"][6]["name"], "Node");
  EXPECT_EQ(head["columnDefinitions"][6]["priority"], 1);
  EXPECT_TRUE(TableHead(pods, false)["columnDefinitions"].is_null());

  const Json pod = Json::parse(
      R"({"metadata":{"name":"p"},"spec":{"containers":[{}]},"status":{"phase":"Succeeded"}})");
  const TimePoint now = testing::FakeClock().Now();
  EXPECT_EQ(TableRow(pods, pod, "", now)["object"], Json::parse(R"({
    "kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"p"}})"));
  EXPECT_EQ(TableRow(pods, pod, "Object", now)["object"]["kind"], "Pod");
  EXPECT_TRUE(TableRow(pods, pod, "None", now)["object"].is_null());
  EXPECT_EQ(TableRow(pods, pod, "", now)["conditions"][0]["reason"], "Succeeded");
}

TEST(Table, EveryRowHasACellForEveryColumn) {
  for (const KindInfo& kind : AllKinds()) {
    const Json row =
        TableRow(kind, Json::parse(R"({"metadata":{"name":"x"}})"), "", testing::FakeClock().Now());
    EXPECT_EQ(row["cells"].size(), TableHead(kind, true)["columnDefinitions"].size()) << kind.kind;
    const size_t name = kind.kind == "Event" ? 9 : 0;
    EXPECT_EQ(row["cells"][name], "x") << kind.kind;
  }
}

struct PodCase {
  const char* name;
  const char* metadata;
  const char* spec;
  const char* status;
  const char* ready;
  const char* text;
  const char* restarts;
};
class PodRow : public ::testing::TestWithParam<PodCase> {};

TEST_P(PodRow, Says) {
  const PodCase& row = GetParam();
  const Json cells =
      Cells(Kind("v1", "Pod"), std::string(R"({"metadata":)") + row.metadata + R"(,"spec":)" +
                                   row.spec + R"(,"status":)" + row.status + "}");
  EXPECT_EQ(cells[1], row.ready);
  EXPECT_EQ(cells[2], row.text);
  EXPECT_EQ(cells[3], row.restarts);
}

constexpr char kOne[] = R"({"containers":[{"name":"a"}]})";
constexpr char kTwo[] = R"({"containers":[{"name":"a"},{"name":"b"}]})";
constexpr char kInit[] =
    R"({"initContainers":[{"name":"i"},{"name":"j"}],"containers":[{"name":"a"}]})";
constexpr char kSidecar[] =
    R"({"initContainers":[{"name":"s","restartPolicy":"Always"}],"containers":[{"name":"a"}]})";

INSTANTIATE_TEST_SUITE_P(
    Cases, PodRow,
    ::testing::Values(
        PodCase{"pending", "{}", kTwo, R"({"phase":"Pending"})", "0/2", "Pending", "0"},
        PodCase{"gated", "{}", kOne,
                R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",
                    "reason":"SchedulingGated"}]})",
                "0/1", "SchedulingGated", "0"},
        PodCase{"terminating", R"({"deletionTimestamp":"2026-01-02T03:04:35Z"})", kOne,
                R"({"phase":"Running"})", "0/1", "Terminating", "0"},
        PodCase{"terminating_done", R"({"deletionTimestamp":"2026-01-02T03:04:35Z"})", kOne,
                R"({"phase":"Failed"})", "0/1", "Failed", "0"},
        PodCase{"node_lost", R"({"deletionTimestamp":"2026-01-02T03:04:35Z"})", kOne,
                R"({"phase":"Running","reason":"NodeLost"})", "0/1", "Unknown", "0"},
        PodCase{"evicted", "{}", kOne, R"({"phase":"Failed","reason":"Evicted"})", "0/1", "Evicted",
                "0"},
        PodCase{"creating", "{}", kOne,
                R"({"phase":"Pending","containerStatuses":[
                    {"name":"a","state":{"waiting":{"reason":"ContainerCreating"}}}]})",
                "0/1", "ContainerCreating", "0"},
        PodCase{"running", "{}", kTwo,
                R"({"phase":"Running","containerStatuses":[
                    {"name":"a","ready":true,"restartCount":2,"state":{"running":{}},
                     "lastState":{"terminated":{"finishedAt":"2026-01-02T03:00:45Z"}}},
                    {"name":"b","ready":false,"state":{"running":{}}}]})",
                "1/2", "Running", "2 (3m20s ago)"},
        PodCase{"crash_loop", "{}", kOne,
                R"({"phase":"Running","containerStatuses":[{"name":"a","restartCount":7,
                    "state":{"waiting":{"reason":"CrashLoopBackOff"}}}]})",
                "0/1", "CrashLoopBackOff", "7"},
        PodCase{"killed", "{}", kOne,
                R"({"phase":"Running","containerStatuses":[
                    {"name":"a","state":{"terminated":{"signal":9,"exitCode":137}}}]})",
                "0/1", "Signal:9", "0"},
        PodCase{"failed", "{}", kOne,
                R"({"phase":"Failed","containerStatuses":[
                    {"name":"a","state":{"terminated":{"exitCode":3}}}]})",
                "0/1", "ExitCode:3", "0"},
        PodCase{"one_done_one_runs", "{}", kTwo,
                R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}],
                    "containerStatuses":[
                    {"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
                    {"name":"b","ready":true,"state":{"running":{}}}]})",
                "1/2", "Running", "0"},
        PodCase{"one_done_one_runs_not_ready", "{}", kTwo,
                R"({"phase":"Running","containerStatuses":[
                    {"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
                    {"name":"b","ready":true,"state":{"running":{}}}]})",
                "1/2", "NotReady", "0"},
        PodCase{"init", "{}", kInit,
                R"({"phase":"Pending","initContainerStatuses":[
                    {"name":"i","state":{"terminated":{"exitCode":0}}},
                    {"name":"j","state":{"running":{}}}]})",
                "0/1", "Init:1/2", "0"},
        PodCase{"init_fails", "{}", kInit,
                R"({"phase":"Pending","initContainerStatuses":[
                    {"name":"i","restartCount":1,"state":{"terminated":{"exitCode":1,
                     "reason":"Error"}}}]})",
                "0/1", "Init:Error", "1"},
        PodCase{"init_waits", "{}", kInit,
                R"({"phase":"Pending","initContainerStatuses":[
                    {"name":"i","state":{"waiting":{"reason":"ImagePullBackOff"}}}]})",
                "0/1", "Init:ImagePullBackOff", "0"},
        PodCase{"sidecar", "{}", kSidecar,
                R"({"phase":"Running","initContainerStatuses":[
                    {"name":"s","ready":true,"started":true,"restartCount":1,
                     "state":{"running":{}}}],
                    "containerStatuses":[{"name":"a","ready":true,"state":{"running":{}}}]})",
                "2/2", "Running", "1"}),
    [](const auto& row) { return row.param.name; });

TEST(NodeRow, StatusRolesAndInfo) {
  const KindInfo& nodes = Kind("v1", "Node");
  EXPECT_EQ(Cells(nodes, R"({"metadata":{"name":"n","creationTimestamp":"2026-01-02T03:04:00Z"}})"),
            Json::parse(R"(["n","Unknown","<none>","5s","","<none>","<none>","<unknown>",
                            "<unknown>","<unknown>"])"));
  EXPECT_EQ(Cells(nodes, R"({"metadata":{"name":"n","creationTimestamp":"2026-01-02T03:04:00Z",
      "labels":{"node-role.kubernetes.io/worker":"","kubernetes.io/role":"a"}},
      "spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],
      "addresses":[{"type":"InternalIP","address":"10.0.0.1"}],
      "nodeInfo":{"kubeletVersion":"v1.37.1","osImage":"Debian","kernelVersion":"6.1","architecture":"amd64",
                  "containerRuntimeVersion":"containerd://2"}}})"),
            Json::parse(R"j(["n","Ready,SchedulingDisabled","a,worker","5s","v1.37.1","10.0.0.1",
                            "<none>","Debian","6.1 (amd64)","containerd://2"])j"));
  EXPECT_EQ(Cells(nodes, R"({"metadata":{"name":"n"},"status":{
      "conditions":[{"type":"Ready","status":"Unknown"}]}})")[1],
            "NotReady");
}

TEST(EventRow, BothFormsGiveTheSameRow) {
  const Json core = Cells(Kind("v1", "Event"), R"({"metadata":{"name":"p.1"},
      "involvedObject":{"kind":"Pod","name":"p"},"reason":"FailedScheduling","message":" no \n",
      "source":{},"firstTimestamp":null,"lastTimestamp":null,"type":"Warning",
      "eventTime":"2026-01-02T03:03:05.123456Z","reportingComponent":"s",
      "reportingInstance":"s-h"})");
  EXPECT_EQ(core, Json::parse(R"(["59s","Warning","FailedScheduling","pod/p","","s, s-h","no",
                                  "59s",1,"p.1"])"));
  const Json v1 = Cells(Kind("events.k8s.io/v1", "Event"), R"({"metadata":{"name":"p.1"},
      "regarding":{"kind":"Pod","name":"p"},"reason":"FailedScheduling","note":"no",
      "type":"Warning","eventTime":"2026-01-02T03:03:05.123456Z","reportingController":"s",
      "reportingInstance":"s-h"})");
  EXPECT_EQ(v1, core);
  const Json repeated = Cells(Kind("v1", "Event"), R"({"metadata":{"name":"p.1"},
      "eventTime":"2026-01-02T03:03:05.123456Z",
      "series":{"count":4,"lastObservedTime":"2026-01-02T03:04:04.5Z"}})");
  EXPECT_EQ(repeated[0], "0s");
  EXPECT_EQ(repeated[8], 4);
}

TEST(Cells, OfOtherKinds) {
  EXPECT_EQ(Cells(Kind("policy/v1", "PodDisruptionBudget"), R"({"metadata":{"name":"b"},
      "spec":{"minAvailable":"50%"},"status":{"disruptionsAllowed":2}})"),
            Json::parse(R"(["b","50%","N/A",2,"<unknown>"])"));
  EXPECT_EQ(Cells(Kind("apps/v1", "ReplicaSet"), R"({"metadata":{"name":"r"},"spec":{"replicas":3,
      "selector":{"matchLabels":{"b":"1"},"matchExpressions":[
        {"key":"a","operator":"In","values":["y","x"]},{"key":"c","operator":"DoesNotExist"}]},
      "template":{"spec":{"containers":[{"name":"m","image":"i:1"},{"name":"n","image":"j"}]}}},
      "status":{"replicas":2,"readyReplicas":1}})"),
            Json::parse(R"(["r",3,2,1,"<unknown>","m,n","i:1,j","a in (x,y),b=1,!c"])"));
  EXPECT_EQ(Cells(Kind("v1", "PersistentVolumeClaim"), R"({"metadata":{"name":"c"},
      "spec":{"storageClassName":"fast","volumeName":"v","volumeMode":"Filesystem"},
      "status":{"phase":"Bound","capacity":{"storage":"1Gi"},
                "accessModes":["ReadWriteMany","ReadWriteOnce"]}})"),
            Json::parse(R"(["c","Bound","v","1Gi","RWO,RWX","fast","<unset>","<unknown>",
                            "Filesystem"])"));
}

TEST(Cells, OfDevices) {
  const auto claim = [](const std::string& rest) {
    return Cells(Kind("resource.k8s.io/v1", "ResourceClaim"), R"({"metadata":{"name":"c")" + rest);
  };
  const std::string held = R"("status":{"allocation":{"devices":{}},"reservedFor":[{"uid":"1"}]}})";
  EXPECT_EQ(claim("}}")[1], "pending");
  EXPECT_EQ(claim("}," + held)[1], "allocated,reserved");
  EXPECT_EQ(claim(R"(,"deletionTimestamp":"2026-01-02T03:04:05Z"},)" + held)[1],
            "deleted,allocated,reserved");
  EXPECT_EQ(Cells(Kind("resource.k8s.io/v1", "ResourceSlice"), R"({"metadata":{"name":"s"},
      "spec":{"driver":"d","nodeName":"n","pool":{"name":"p"}}})"),
            Json::parse(R"(["s","n","d","p","<unknown>"])"));
  EXPECT_EQ(Cells(Kind("resource.k8s.io/v1", "ResourceSlice"), R"({"metadata":{"name":"s"},
      "spec":{"driver":"d","allNodes":true,"pool":{"name":"p"}}})")[1],
            "");
  EXPECT_EQ(Cells(Kind("resource.k8s.io/v1", "DeviceTaintRule"), R"({"metadata":{"name":"t"},
      "spec":{"taint":{"key":"k","value":"v","effect":"NoSchedule",
                       "timeAdded":"2026-01-02T03:02:05Z"}}})"),
            Json::parse(R"(["t","k","v","NoSchedule","2m","<unknown>"])"));
}

TEST(Cells, OfGroups) {
  const auto group = [](const std::string& policy, const std::string& rest) {
    return Cells(Kind("scheduling.k8s.io/v1beta1", "PodGroup"),
                 R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":)" + policy + rest);
  };
  const auto with = [&group](const std::string& type, const std::string& status) {
    return group(R"({"basic":{}}},"status":{"conditions":[)",
                 R"({"type":")" + type + R"(","status":")" + status + R"(","reason":"R"}]}})")[3];
  };
  EXPECT_EQ(group(R"({"gang":{"minCount":2}})", R"(,"workloadRef":{"workloadName":"w"}}})"),
            Json::parse(R"(["g","Gang","w","Pending","<unknown>"])"));
  EXPECT_EQ(group(R"({"basic":{}})", "}}"),
            Json::parse(R"(["g","Basic","<none>","Pending","<unknown>"])"));
  EXPECT_EQ(with("PodGroupInitiallyScheduled", "True"), "Scheduled");
  EXPECT_EQ(with("PodGroupInitiallyScheduled", "False"), "Unschedulable");
  EXPECT_EQ(with("PodGroupInitiallyScheduled", "Unknown"), "Unschedulable");
  EXPECT_EQ(with("DisruptionTarget", "False"), "R");
  EXPECT_EQ(with("Other", "True"), "Pending");
  EXPECT_EQ(Cells(Kind("scheduling.k8s.io/v1alpha3", "CompositePodGroup"),
                  R"({"metadata":{"name":"c"},"spec":{"workloadRef":{"workloadName":"w"},
                      "schedulingPolicy":{"gang":{"minGroupCount":2}}}})"),
            Json::parse(R"(["c","Gang","w","<unknown>"])"));
}

TEST(Ages, AsPeopleRead) {
  const auto text = [](int64_t seconds) { return HumanDuration(std::chrono::seconds(seconds)); };
  EXPECT_EQ(text(-5), "<invalid>");
  EXPECT_EQ(text(-1), "0s");
  EXPECT_EQ(text(0), "0s");
  EXPECT_EQ(text(119), "119s");
  EXPECT_EQ(text(120), "2m");
  EXPECT_EQ(text(200), "3m20s");
  EXPECT_EQ(text(600), "10m");
  EXPECT_EQ(text(10799), "179m");
  EXPECT_EQ(text(10800), "3h");
  EXPECT_EQ(text(3 * 3600 + 300), "3h5m");
  EXPECT_EQ(text(8 * 3600 + 300), "8h");
  EXPECT_EQ(text(48 * 3600), "2d");
  EXPECT_EQ(text(50 * 3600), "2d2h");
  EXPECT_EQ(text(8 * 86400 + 7200), "8d");
  EXPECT_EQ(text(800LL * 86400), "2y70d");
  EXPECT_EQ(text(9LL * 365 * 86400), "9y");
}

TEST(Times, AreReadWithFractionsAndOffsets) {
  const auto base = ParseTime("2026-01-02T03:04:05Z");
  ASSERT_TRUE(base.has_value());
  EXPECT_EQ(*base, testing::FakeClock().Now());
  EXPECT_EQ(*ParseTime("2026-01-02T03:04:05.250000Z") - *base, std::chrono::milliseconds(250));
  EXPECT_EQ(*ParseTime("2026-01-02T05:04:05+02:00"), *base);
  for (const char* bad : {"", "x", "2026-13-02T03:04:05Z", "2026-01-02"}) {
    EXPECT_FALSE(ParseTime(bad).has_value()) << bad;
  }
  EXPECT_FALSE(ParseTime(Json()).has_value());
}

}  // namespace
}  // namespace ks::apiserver
