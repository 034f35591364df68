// SPDX-License-Identifier: Apache-2.0
// Recordings of whole schedulers, replayed: nothing differs under the same configuration, and the
// first decision that does is named under another one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "api/json/encode_claim.h"
#include "base/random.h"
#include "config/read/load.h"
#include "golang/base64.h"
#include "recording/recording_rig.h"
#include "testing/deltas.h"
#include "testing/fake_extenders.h"
#include "testing/protobuf.h"

namespace ks::scheduler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr char kHead[] =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
constexpr char kMostAllocated[] =
    "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n"
    "        type: MostAllocated\n        resources: [{name: cpu, weight: 1}]\n";

config::Configuration Configured(const std::string& yaml) {
  const config::LoadResult loaded = config::ParseConfiguration(kHead + yaml);
  EXPECT_TRUE(std::holds_alternative<config::Loaded>(loaded)) << yaml;
  return std::get<config::Loaded>(loaded).configuration;
}

void ExpectSame(const std::string& text, uint64_t decisions) {
  const auto report = ReplayText(text);
  ASSERT_TRUE(report.ok()) << report.error().message;
  if (report->difference) {
    const recording::ReplayDifference& difference = *report->difference;
    ADD_FAILURE() << "line " << difference.line << ": "
                  << (difference.left ? difference.left->json : "nothing")
                  << "\n  replayed: " << (difference.right ? difference.right->json : "nothing");
  }
  EXPECT_EQ(report->decisions, decisions);
  EXPECT_EQ(report->ended, recording::kStopped);
}

// A day in a small cluster that is too small: bindings that fail, nodes that change and go, pods
// that go, and pods for which others must.
class Day {
 public:
  explicit Day(uint64_t seed, Rig::Options options = {}) : run_(std::move(options)), random_(seed) {
    std::vector<json> nodes;
    for (int i = 0; i < kNodes; ++i) nodes.push_back(Node(i));
    run_.Sync(nodes);
  }

  void SchedulePods(int pods) {
    for (int i = 0; i < pods; ++i) {
      Arrive(i);
      if (random_.Below(4) == 0) Change(i);
      run_.rig().clock.Advance(milliseconds(random_.Below(400)));
      run_.rig().Settle();
      if (random_.Below(3) != 0) run_.Answer(9);
    }
    for (int i = 0; i < 20; ++i) {
      run_.rig().Advance(seconds(5));
      run_.Answer();
    }
  }
  RecordedRun& run() { return run_; }

 private:
  static constexpr int kNodes = 12;

  json Node(int i) const {
    json node = NodeJson("n" + std::to_string(i), 4 + i % 3);
    if (i % 4 == 3) {
      node["spec"]["taints"] =
          json::array({json{{"key", "reserved"}, {"value", "x"}, {"effect", "NoSchedule"}}});
    }
    return node;
  }
  void Arrive(int i) {
    const int priority = random_.Below(10) == 0 ? 1000 : 0;
    json pod =
        PodJson("p" + std::to_string(i), std::to_string(200 + random_.Below(1200)) + "m", priority);
    if (random_.Below(8) == 0) {
      pod["spec"]["tolerations"] = json::array({json{{"key", "reserved"}, {"operator", "Exists"}}});
    }
    if (random_.Below(30) == 0) pod["spec"]["nodeSelector"]["disk"] = "none-has-it";
    run_.UpsertPod(pod);
  }
  void Change(int i) {
    const int which = static_cast<int>(random_.Below(kNodes));
    json node = Node(which);
    switch (random_.Below(4)) {
      case 0:
        node["spec"]["unschedulable"] = true;
        return run_.UpsertNode(node);
      case 1:
        return run_.UpsertNode(node);
      case 2:
        return run_.DeletePod("uid-p" +
                              std::to_string(random_.Below(static_cast<uint64_t>(i) + 1)));
      default:
        if (random_.Below(6) != 0) return;
        run_.DeleteNode(node);
        run_.rig().Settle();
        run_.UpsertNode(node);
    }
  }

  RecordedRun run_;
  Random random_;
};

class RecordedDay : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RecordedDay, ReplaysWithoutADifference) {
  Day day(GetParam());
  day.SchedulePods(150);
  const std::string text = day.run().Text();
  const SchedulerStats& stats = day.run().rig().scheduler->context().stats;
  // It is a day worth recording.
  EXPECT_GT(stats.bound, 50U);
  EXPECT_GT(stats.unschedulable, 20U);
  EXPECT_GT(stats.binding_failures, 5U);
  EXPECT_THAT(text, HasSubstr("{\"evict\":"));
  EXPECT_THAT(text, HasSubstr("nominatedNode"));
  ExpectSame(text, stats.attempts);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RecordedDay, ::testing::Values(1, 2, 3),
                         [](const auto& row) { return "Seed" + std::to_string(row.param); });

TEST(Recording, AnotherScoringStrategyHasAFirstDifference) {
  Day day(1);
  day.SchedulePods(100);
  const recording::ReplayQuestion question{.config = {Configured(kMostAllocated)}, .against = {}};
  const auto report = ReplayText(day.run().Text(), question);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_TRUE(report->difference);
  const json recorded = json::parse(report->difference->left->json);
  const json replayed = json::parse(report->difference->right->json);
  EXPECT_EQ(recorded["pod"], replayed["pod"]);
  EXPECT_EQ(recorded["result"], "Scheduled");
  EXPECT_NE(recorded["node"], replayed["node"]);
  EXPECT_FALSE(replayed["best"][0]["scores"].empty());
  EXPECT_EQ(report->difference->decision, report->decisions + 1);
  const std::string line = LinesOf(day.run().Text())[report->difference->line - 1];
  EXPECT_THAT(line, HasSubstr("{\"round\":"));
}

TEST(Recording, TwoConfigurationsAreComparedWithEachOther) {
  Day day(1);
  day.SchedulePods(100);
  const std::string text = day.run().Text();
  const config::Configuration most = Configured(kMostAllocated);
  const auto same = ReplayText(text, {.config = {most}, .against = recording::ReplaySide{most}});
  ASSERT_TRUE(same.ok()) << same.error().message;
  EXPECT_FALSE(same->difference);
  EXPECT_GT(same->decisions, 100U);
  const auto differ = ReplayText(text, {.config = {}, .against = recording::ReplaySide{most}});
  const auto recorded = ReplayText(text, {.config = {most}, .against = {}});
  ASSERT_TRUE(differ.ok() && recorded.ok());
  ASSERT_TRUE(differ->difference && recorded->difference);
  EXPECT_EQ(differ->difference->line, recorded->difference->line);
  EXPECT_EQ(json::parse(differ->difference->left->json)["node"],
            json::parse(recorded->difference->left->json)["node"]);
}

TEST(Recording, AKindThatOnlyTheReplayReadsLooksEmpty) {
  RecordedRun run;
  run.Sync({NodeJson("n1", 4)});
  run.UpsertPod(PodJson("p", "1"));
  run.rig().Settle();
  std::vector<std::string> lines = LinesOf(run.Text());
  const std::string service = "\"Service\",";
  ASSERT_NE(lines[0].find(service), std::string::npos);
  lines[0].erase(lines[0].find(service), service.size());
  std::erase_if(lines,
                [](const std::string& line) { return line.find("{\"list\":\"Service\"") == 0; });
  const auto report = ReplayText(Joined(lines));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->difference);
  ASSERT_EQ(report->notes.size(), 1U);
  EXPECT_THAT(report->notes[0], HasSubstr("Service"));
}

TEST(Recording, HasStandbyReloadAndLead) {
  RecordedRun run({.standby = true});
  run.Sync({NodeJson("n1", 4), NodeJson("n2", 8)});
  for (int i = 0; i < 3; ++i) run.UpsertPod(PodJson("p" + std::to_string(i), "1"));
  run.rig().Settle();
  EXPECT_EQ(run.rig().scheduler->context().stats.attempts, 0U);
  run.rig().scheduler->Post(
      Task([&run] { ASSERT_TRUE(run.rig().scheduler->Reload(Configured(kMostAllocated)).ok()); }));
  run.rig().scheduler->Post(Task([&run] { run.rig().scheduler->Lead(); }));
  run.rig().Settle();
  run.Answer();
  EXPECT_EQ(run.rig().Bound().at("p0"), "n1");  // the fuller one
  EXPECT_THAT(run.Text(), HasSubstr("{\"lead\":true}"));
  ExpectSame(run.Text(), 3);
  // A configuration that is given stays in force.
  const auto report = ReplayText(run.Text(), {.config = {Configured("")}, .against = {}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->difference);
}

// One that preempts and one that fits, neither of which is ever bound.
TEST(Recording, HasPodsThatWaitForTheirResize) {
  const config::GateFlags flags{
      .feature_gates = {"InPlacePodVerticalScalingSchedulerPreemption=true"}};
  const auto gates = config::FeatureGates::Make(flags, nullptr);
  ASSERT_TRUE(gates.ok());
  RecordedRun run({.configuration = config::DefaultConfiguration(*gates), .gates = &*gates}, flags);
  run.Sync({NodeJson("n1", 4), NodeJson("n2", 8)});
  const auto running = [&run](const std::string& name, const char* cpu, int priority,
                              const char* node, bool deferred) {
    json pod = PodJson(name, cpu, priority);
    pod["spec"]["nodeName"] = node;
    if (deferred) {
      pod["status"]["conditions"] = {{{"type", "PodResizePending"}, {"reason", "Deferred"}}};
    }
    run.UpsertPod(pod);
  };
  running("low", "2", 0, "n1", false);
  running("grows", "4", 5, "n1", true);
  running("fits", "4", 5, "n2", true);
  run.rig().Settle();
  EXPECT_EQ(run.rig().api.evictions.size(), 1U);
  run.Answer();
  run.rig().Advance(std::chrono::seconds(5));
  EXPECT_EQ(run.rig().scheduler->context().stats.attempts, 3U);
  EXPECT_THAT(run.rig().Bound(), ::testing::IsEmpty());
  ExpectSame(run.Text(), 3);
}

TEST(Recording, HasTheAnswersOfExtenders) {
  auto extenders = std::make_shared<testing::FakeExtenders>();
  config::Configuration configuration = Configured("");
  config::Extender& extender = configuration.extenders.emplace_back();
  extender.url_prefix = "http://h:1";
  extender.filter_verb = "filter";
  extender.node_cache_capable = true;
  extender.tls_config.emplace().key_data = "a secret";
  RecordedRun run({.configuration = configuration,
                   .extender_transport = [extenders](const auto&)
                       -> Result<std::shared_ptr<framework::ExtenderTransport>> {
                     return std::shared_ptr<framework::ExtenderTransport>(extenders);
                   }});
  run.Sync({NodeJson("n1", 4), NodeJson("n2", 8)});
  json pod = PodJson("p", "1");
  auto delta = WithText<api::Pod>("ADDED", pod);
  auto whole = std::make_shared<api::Pod>(*delta.object);
  whole->raw = std::make_shared<const std::string>(
      delta.text.text);  // as the reflector would for an extender
  delta.object = whole;
  run.rig().scheduler->Post(PodDeltas{delta});
  run.rig().Settle();
  ASSERT_EQ(extenders->unanswered(), 1U);
  extenders->AnswerAll(R"({"NodeNames":["n1"],"FailedNodes":{"n2":"not today"}})");
  run.rig().Settle();
  EXPECT_EQ(run.rig().Bound().at("p"), "n1");
  EXPECT_THAT(run.Text(), Not(HasSubstr("keyData")));
  ExpectSame(run.Text(), 1);
}

// Asked and answered within a round, and in the last one not any more.
TEST(Recording, HasWhatAGroupWasTold) {
  const config::GateFlags flags{.feature_gates = {"GenericWorkload=true"}};
  const config::FeatureGates gates = config::FeatureGates::Make(flags, nullptr).value();
  auto extenders = std::make_shared<testing::FakeExtenders>();
  bool stopped = false;
  extenders->at_once = [&stopped](const framework::ExtenderRequest& request) {
    const json node = json::parse(request.body)["NodeNames"].back();
    return stopped ? std::nullopt
                   : std::optional(framework::ExtenderReply{
                         .status = 200, .body = json{{"NodeNames", {node}}}.dump()});
  };
  config::Configuration configuration = config::DefaultConfiguration(gates);
  config::Extender& extender = configuration.extenders.emplace_back();
  extender.url_prefix = "http://h:1";
  extender.filter_verb = "filter";
  extender.node_cache_capable = true;
  RecordedRun run(
      {.configuration = configuration,
       .gates = &gates,
       .extender_transport =
           [extenders](const auto&) -> Result<std::shared_ptr<framework::ExtenderTransport>> {
         return std::shared_ptr<framework::ExtenderTransport>(extenders);
       }},
      flags);
  run.SyncGroups();
  run.Sync({NodeJson("n1", 4), NodeJson("n2", 8)});
  const auto bring = [&run](const std::string& group, const std::string& first) {
    run.UpsertGroup<api::PodGroup>(
        {{"metadata", {{"name", group}, {"namespace", "default"}, {"uid", "uid-" + group}}},
         {"spec", {{"schedulingPolicy", {{"gang", {{"minCount", 2}}}}}}}});
    for (const std::string& name : {first, first + "2"}) {
      json pod = PodJson(name, "1");
      pod["spec"]["schedulingGroup"] = {{"podGroupName", group}};
      auto delta = WithText<api::Pod>("ADDED", pod);
      auto whole = std::make_shared<api::Pod>(*delta.object);
      whole->raw = std::make_shared<const std::string>(
          delta.text.text);  // as the reflector would for an extender
      delta.object = whole;
      run.rig().scheduler->Post(PodDeltas{delta});
    }
    run.rig().Settle();
  };
  bring("g", "p");
  EXPECT_EQ(run.rig().Bound().at("p"), "n2");
  EXPECT_EQ(run.rig().Bound().at("p2"), "n2");
  EXPECT_EQ(extenders->asked.size(), 2U);
  stopped = true;
  bring("h", "q");
  EXPECT_EQ(extenders->asked.size(), 3U);
  EXPECT_EQ(run.rig().Bound().size(), 2U);
  ExpectSame(run.Text(), 2);
}

// What had no time between two rounds, and pods that were attempted only in the replay.
TEST(Recording, ADecisionThatWasNotRecordedIsADifference) {
  RecordedRun run;
  run.Sync({NodeJson("n1", 4)});
  json other = PodJson("of-another-scheduler", "1");
  other["spec"]["schedulerName"] = "second";
  run.UpsertPod(other);
  run.rig().Settle();
  run.UpsertPod(PodJson("p", "1"));
  run.rig().Settle();
  const recording::ReplayQuestion question{
      .config = {Configured("profiles: [{schedulerName: default-scheduler}, {schedulerName: "
                            "second}]\n")},
      .against = {}};
  const auto report = ReplayText(run.Text(), question);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_TRUE(report->difference);
  EXPECT_EQ(report->difference->decision, 1U);
  EXPECT_FALSE(report->difference->left);
  EXPECT_EQ(json::parse(report->difference->right->json)["pod"], "default/of-another-scheduler");
}

TEST(Recording, SaysNothingOfObjectsWithoutText) {
  std::string lines;
  StepRecord record;
  record.inputs.emplace_back(
      PodDeltas{testing::Upsert<api::Pod>(testing::MakePod().Name("p").Obj())});
  const Result<void> appended = recording::AppendLines(record, &lines);
  ASSERT_FALSE(appended.ok());
  EXPECT_EQ(appended.error().message, "there is no text of Pod ns/p");
}

// ---- files that are none ----

struct BadFile {
  const char* name;
  std::string (*spoil)(std::vector<std::string> lines);
  const char* want;  // a part of the error
};

std::string WithLine(std::vector<std::string> lines, size_t number, const std::string& line) {
  lines[number - 1] = line;
  return Joined(lines);
}
size_t LineWith(const std::vector<std::string>& lines, const std::string& text) {
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find(text) != std::string::npos) return i + 1;
  }
  ADD_FAILURE() << "no line with " << text;
  return 1;
}

class BadRecording : public ::testing::TestWithParam<BadFile> {
 protected:
  static std::vector<std::string> Good() {
    RecordedRun run;
    run.Sync({NodeJson("n1", 4)});
    run.UpsertPod(PodJson("p", "1"));
    run.rig().Settle();
    run.Answer();
    return LinesOf(run.Text());
  }
};

TEST_P(BadRecording, IsRefusedByPlaceAndCure) {
  const auto report = ReplayText(GetParam().spoil(Good()));
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.error().message, HasSubstr(GetParam().want));
}

const BadFile kBadFiles[] = {
    {"Empty", [](std::vector<std::string>) { return std::string(); },
     "FILE: line 1: the file is empty: this is no recording of kubesched --record"},
    {"OfSomethingElse",
     [](std::vector<std::string>) { return std::string("{\"kind\":\"List\"}\n"); },
     "FILE: line 1: this is no recording of kubesched --record"},
    {"NoJson",
     [](std::vector<std::string>) {
       return std::string(
           "\x7f"
           "ELF\n");
     },
     "FILE: line 1: this is no recording of kubesched --record"},
    {"HeaderCut", [](std::vector<std::string> lines) { return lines[0].substr(0, 50); },
     "FILE: line 1: the recording ends here without its last line"},
    {"OtherFormat",
     [](std::vector<std::string> lines) {
       return WithLine(std::move(lines), 1, R"({"kubeschedRecording":3,"version":"9.1.0"})");
     },
     "FILE: line 1: the recording has format 3, this program reads 1 to 2: take kubeschedctl of "
     "version 9.1.0"},
    {"NoConfiguration",
     [](std::vector<std::string> lines) {
       return WithLine(std::move(lines), 1, R"({"kubeschedRecording":1,"version":"0.1.0"})");
     },
     "FILE: line 1: this is no line of a recording; the file was changed or damaged"},
    {"RefusedConfiguration",
     [](std::vector<std::string> lines) {
       return WithLine(std::move(lines), 1,
                       R"({"kubeschedRecording":1,"configuration":"apiVersion: v9\nkind: X\n"})");
     },
     "this version refuses the recorded configuration: "},
    {"Garbage", [](std::vector<std::string> lines) { return WithLine(std::move(lines), 4, "##"); },
     "FILE: line 4: this is no line of a recording"},
    {"GarbageBehindTheLine",
     [](std::vector<std::string> lines) {
       const std::string line = lines[3] + "}";
       return WithLine(std::move(lines), 4, line);
     },
     "FILE: line 4: this is no line of a recording"},
    {"UnknownLine",
     [](std::vector<std::string> lines) {
       return WithLine(std::move(lines), 4, R"({"question":{}})");
     },
     "FILE: line 4: this is no line of a recording"},
    {"UnknownKind",
     [](std::vector<std::string> lines) {
       return WithLine(std::move(lines), 4, R"({"upsert":"Secret","object":{}})");
     },
     "FILE: line 4: this is no line of a recording"},
    {"NoBase64",
     [](std::vector<std::string> lines) {
       return WithLine(std::move(lines), 4, R"({"upsert":"Pod","object":"####"})");
     },
     "FILE: line 4: this is no line of a recording"},
    {"NoProtobuf",
     [](std::vector<std::string> lines) {
       return WithLine(std::move(lines), 4, R"({"upsert":"Pod","object":"e30="})");  // {}
     },
     "FILE: line 4: this is no line of a recording"},
    {"CutProtobuf",
     [](std::vector<std::string> lines) {
       const std::string body = testing::ProtoBody("Pod", "\x0a\x7f");
       return WithLine(std::move(lines), 4,
                       R"({"upsert":"Pod","object":")" + golang::EncodeBase64(body) + "\"}");
     },
     "FILE: line 4: Pod: "},
    {"BadObject",
     [](std::vector<std::string> lines) {
       const size_t number = LineWith(lines, "{\"upsert\":\"Pod\"");
       return WithLine(std::move(lines), number,
                       R"({"upsert":"Pod","object":{"metadata":{"name":7}}})");
     },
     ": Pod: metadata.name"},
    {"ListTooShort",
     [](std::vector<std::string> lines) {
       const size_t number = LineWith(lines, "{\"list\":\"Node\"");
       return WithLine(std::move(lines), number, R"({"list":"Node","count":2})");
     },
     "this is no line of a recording"},
    {"CutInALine",
     [](std::vector<std::string> lines) {
       const std::string text = Joined(lines);
       return text.substr(0, text.size() - 30);
     },
     "--partial replays what is there"},
    {"CutBehindALine",
     [](std::vector<std::string> lines) {
       lines.pop_back();
       return Joined(lines);
     },
     "--partial replays what is there"},
    {"TwoInOne", [](std::vector<std::string> lines) { return Joined(lines) + Joined(lines); },
     "there is something behind the end of the recording"},
};

INSTANTIATE_TEST_SUITE_P(Files, BadRecording, ::testing::ValuesIn(kBadFiles),
                         [](const auto& row) { return row.param.name; });

TEST(Recording, WithoutAnEndIsReplayedInPart) {
  Day day(2);
  day.SchedulePods(60);
  const std::string whole = day.run().Text();
  uint64_t last = 0;
  for (const size_t bytes : {whole.size() / 3, whole.size() / 2, whole.size() - 5}) {
    const auto report = ReplayText(whole.substr(0, bytes), {}, true);
    ASSERT_TRUE(report.ok()) << bytes << ": " << report.error().message;
    EXPECT_FALSE(report->difference) << bytes;
    EXPECT_EQ(report->ended, "cut off");
    EXPECT_GT(report->decisions, last);
    last = report->decisions;
  }
}

// docs/debugging.md: a recording is a function of what happened.
TEST(Recording, OfTheSameDayIsTheSame) {
  std::vector<std::string> texts;
  for (int i = 0; i < 2; ++i) {
    Day day(3);
    day.SchedulePods(50);
    texts.push_back(day.run().Text());
  }
  EXPECT_EQ(texts[0], texts[1]);
}

// A day of gangs in two racks: they come in pieces, wait, preempt, fail to bind and lose members.
class DayOfGroups {
 public:
  explicit DayOfGroups(uint64_t seed)
      : gates_(config::FeatureGates::Make(Flags(), nullptr).value()),
        run_({.configuration = config::DefaultConfiguration(gates_), .gates = &gates_}, Flags()),
        random_(seed) {}

  void Run() {
    std::vector<json> nodes;
    for (int i = 0; i < 6; ++i) {
      json node = NodeJson("n" + std::to_string(i), 4);
      node["metadata"]["labels"]["rack"] = i % 2 == 0 ? "even" : "odd";
      nodes.push_back(node);
    }
    run_.SyncGroups();
    run_.Sync(nodes);
    Composite("tree");
    for (int i = 0; i < 14; ++i) {
      const int priority = i > 8 && random_.Below(2) == 0 ? 1000 : 0;
      const auto members = static_cast<int>(2 + random_.Below(3));
      const bool early = random_.Below(2) == 0;
      if (early) Group(i, members, priority);
      for (int m = 0; m < members; ++m) {
        json pod = PodJson(Name(i) + "-" + std::to_string(m),
                           std::to_string(500 + random_.Below(1500)) + "m", priority);
        pod["spec"]["schedulingGroup"]["podGroupName"] = Name(i);
        run_.UpsertPod(pod);
        Pause();
      }
      if (!early) Group(i, members, priority);
      if (random_.Below(3) == 0) run_.DeletePod("uid-" + Name(i) + "-0");
      Pause();
    }
    for (int i = 0; i < 10; ++i) {
      run_.rig().Advance(seconds(10));
      run_.Answer();
    }
  }
  RecordedRun& run() { return run_; }

 private:
  static config::GateFlags Flags() {
    return {
        .feature_gates = {
            "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true"}};
  }
  static std::string Name(int i) { return "g" + std::to_string(i); }

  void Composite(const std::string& name) {
    run_.UpsertGroup<api::CompositePodGroup>(
        {{"metadata", {{"name", name}, {"namespace", "default"}, {"uid", "uid-" + name}}},
         {"spec", {{"schedulingPolicy", {{"gang", {{"minGroupCount", 2}}}}}}}});
  }
  void Group(int i, int members, int priority) {
    json group = {
        {"metadata", {{"name", Name(i)}, {"namespace", "default"}, {"uid", "uid-" + Name(i)}}},
        {"spec",
         {{"priority", priority}, {"schedulingPolicy", {{"gang", {{"minCount", members}}}}}}}};
    if (i % 3 == 0) group["spec"]["schedulingConstraints"]["topology"] = {{{"key", "rack"}}};
    if (i == 4 || i == 5) group["spec"]["parentCompositePodGroupName"] = "tree";
    run_.UpsertGroup<api::PodGroup>(group);
  }
  void Pause() {
    run_.rig().clock.Advance(milliseconds(random_.Below(400)));
    run_.rig().Settle();
    if (random_.Below(3) != 0) run_.Answer(7);
  }

  const config::FeatureGates gates_;
  RecordedRun run_;
  Random random_;
};

class RecordedGroups : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RecordedGroups, ReplayWithoutADifference) {
  DayOfGroups day(GetParam());
  day.Run();
  const SchedulerStats& stats = day.run().rig().scheduler->context().stats;
  EXPECT_GT(stats.bound, 10U);
  EXPECT_GT(stats.unschedulable, 3U);
  EXPECT_GT(stats.binding_failures, 0U);
  EXPECT_FALSE(day.run().rig().api.group_patches.empty());
  ExpectSame(day.run().Text(), stats.attempts);
  EXPECT_THAT(day.run().Text(), HasSubstr(R"("podGroup":"podgroup/default/g)"));
}
INSTANTIATE_TEST_SUITE_P(Seeds, RecordedGroups, ::testing::Values(1, 2, 3, 4, 5),
                         [](const auto& row) { return "S" + std::to_string(row.param); });

// A gang that the replayed configuration places elsewhere.
TEST(Recording, AnotherScoringStrategyPlacesAGangElsewhere) {
  DayOfGroups day(1);
  day.Run();
  const auto report =
      ReplayText(day.run().Text(), {.config = {Configured(kMostAllocated)}, .against = {}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->difference);
}

// In the form in which the API server sent them.
class KeptObjects : public ::testing::TestWithParam<bool> {};

TEST_P(KeptObjects, AreReadAgain) {
  using testing::ProtoField;
  const bool protobuf = GetParam();
  api::PodGroup group;
  group.meta.name = "g";
  group.meta.ns = Symbol("ns");
  const std::string gang = ProtoField(2, testing::ProtoNumber(1, 3));
  const std::string text =
      protobuf
          ? testing::ProtoBody("PodGroup", ProtoField(1, ProtoField(1, "g") + ProtoField(3, "ns")) +
                                               ProtoField(2, ProtoField(3, gang)))
          : R"({"metadata":{"name":"g","namespace":"ns"},"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}})";
  StepRecord record;
  record.now = record.wall = TimePoint() + std::chrono::seconds(5);
  record.inputs.emplace_back(scheduler::GroupDeltas(std::vector<api::Delta<api::PodGroup>>{
      {.type = api::Delta<api::PodGroup>::Type::kUpsert,
       .object = std::make_shared<const api::PodGroup>(group),
       .items = {},
       .text = api::ObjectText::Of(std::make_shared<const std::string>(text))}}));
  std::string lines = recording::HeaderLine(RecordedRun().header());
  ASSERT_TRUE(recording::AppendLines(record, &lines).ok());

  auto reader = OpenText(lines + recording::EndLine(recording::kStopped));
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const auto round = (*reader)->Next();
  ASSERT_TRUE(round.ok()) << round.error().message;
  ASSERT_EQ((*round)->in.inputs.size(), 1U);
  const auto& deltas = std::get<std::vector<api::Delta<api::PodGroup>>>(
      std::get<scheduler::GroupDeltas>((*round)->in.inputs[0]));
  ASSERT_EQ(deltas.size(), 1U);
  EXPECT_EQ(deltas[0].object->meta.Key(), "ns/g");
  EXPECT_EQ(deltas[0].object->min_count, 3);
}
INSTANTIATE_TEST_SUITE_P(Forms, KeptObjects, ::testing::Bool(),
                         [](const auto& row) { return row.param ? "Protobuf" : "Json"; });

// An answered claim comes back whole, whatever watches said of it.
TEST(Recording, KeepsClaimsThatWereAnswered) {
  const std::string text =
      R"({"metadata":{"name":"c","namespace":"ns","uid":"u","resourceVersion":"9","finalizers":["f"]},)"
      R"("spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu","count":2}}]}},)"
      R"("status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d","pool":"p",)"
      R"("device":"d0","consumedCapacity":{"z":"1","a":"2"}}]}},"reservedFor":[{"uid":"u-p"}]}})";
  api::Decoder decoder;
  const auto claim = decoder.Object<api::ResourceClaim>(text + std::string(api::kJsonPadding, ' '));
  ASSERT_TRUE(claim.ok()) << claim.error().message;
  StepRecord record;
  record.now = record.wall = TimePoint() + std::chrono::seconds(5);
  record.inputs.emplace_back(CallResult{.call = 3, .claim = *claim});
  record.inputs.emplace_back(CallResult{.call = 4, .error = api::ApiError{.code = 409}});
  std::string lines = recording::HeaderLine(RecordedRun().header());
  ASSERT_TRUE(recording::AppendLines(record, &lines).ok());

  auto reader = OpenText(lines + recording::EndLine(recording::kStopped));
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const auto round = (*reader)->Next();
  ASSERT_TRUE(round.ok()) << round.error().message;
  ASSERT_TRUE(round->has_value());
  ASSERT_EQ((*round)->in.inputs.size(), 2U);
  const auto& answered = std::get<CallResult>((*round)->in.inputs[0]);
  EXPECT_EQ(answered.call, 3U);
  ASSERT_NE(answered.claim, nullptr);
  EXPECT_EQ(api::ClaimJson(*answered.claim), api::ClaimJson(**claim));
  EXPECT_EQ(answered.claim->status_fingerprint, (*claim)->status_fingerprint);
  EXPECT_NE(answered.claim->status_fingerprint, 0U);
  EXPECT_EQ(std::get<CallResult>((*round)->in.inputs[1]).claim, nullptr);
}

TEST(Recording, AClaimThatIsNoneIsDamage) {
  const std::string head = recording::HeaderLine(RecordedRun().header());
  auto reader = OpenText(head + R"({"result":{"call":1,"claim":"[]"}})" + "\n");
  ASSERT_TRUE(reader.ok());
  const auto round = (*reader)->Next();
  ASSERT_FALSE(round.ok());
  EXPECT_THAT(round.error().message, HasSubstr("damaged"));
}

}  // namespace
}  // namespace ks::scheduler
