// SPDX-License-Identifier: Apache-2.0
#include "api/json/encode.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "golang/json_text.h"
#include "testing/builders.h"

namespace ks::api {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals only
using ks::testing::MakePod;

const TimePoint kFirst =
    std::chrono::sys_days(std::chrono::year(2026) / 1 / 2) + 3h + 4min + 5s + 123456789ns;
const TimePoint kLater = std::chrono::sys_days(std::chrono::year(2026) / 1 / 2) + 3h + 5min + 6s;

Condition Unschedulable(std::string message, int64_t generation, TimePoint now = kLater) {
  return Condition{.type = "PodScheduled",
                   .status = "False",
                   .reason = "Unschedulable",
                   .message = std::move(message),
                   .last_probe_time = {},
                   .last_transition_time = now,
                   .observed_generation = generation};
}

Condition Other(std::string type) {
  return Condition{.type = std::move(type),
                   .status = "True",
                   .reason = {},
                   .message = {},
                   .last_probe_time = {},
                   .last_transition_time = {}};
}

struct PatchCase {
  const char* name;
  std::vector<Condition> known;
  std::string known_nomination;
  PodStatusChange change;
  std::string patch;
};

// docs/spec/api.md 9.2, 9.4 and 13.
TEST(EncodeTest, PodStatusPatch) {
  const std::string order =
      R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],"conditions":[)";
  Condition was_true = Unschedulable("", 0, kFirst);
  was_true.status = "True";
  was_true.reason = "";
  Condition scheduler_error = Unschedulable("x", 1, kFirst);
  scheduler_error.reason = "SchedulerError";
  Condition disruption =
      Unschedulable("default-scheduler: preempting to accommodate a higher priority pod", 7);
  disruption.type = "DisruptionTarget";
  disruption.status = "True";
  disruption.reason = "PreemptionByScheduler";
  Condition no_message = Unschedulable("", 0);
  const PatchCase cases[] = {
      {"first_failure",
       {},
       "",
       {.condition = Unschedulable("0/3 nodes are available: 3 x.", 3, kFirst),
        .nominated_node_name = {}},
       R"({"status":{"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z","message":"0/3 nodes are available: 3 x.","observedGeneration":3,"reason":"Unschedulable","status":"False","type":"PodScheduled"}]}})"},
      {"message_changed",
       {Unschedulable("old", 3, kFirst)},
       "",
       {.condition = Unschedulable("new", 3), .nominated_node_name = {}},
       order + R"({"message":"new","type":"PodScheduled"}]}})"},
      {"message_and_generation",
       {Unschedulable("old", 2, kFirst)},
       "",
       {.condition = Unschedulable("new", 3), .nominated_node_name = {}},
       order + R"({"message":"new","observedGeneration":3,"type":"PodScheduled"}]}})"},
      {"reason_and_message",
       {scheduler_error},
       "",
       {.condition = Unschedulable("y", 1), .nominated_node_name = {}},
       order + R"({"message":"y","reason":"Unschedulable","type":"PodScheduled"}]}})"},
      {"true_to_false",
       {was_true},
       "",
       {.condition = Unschedulable("y", 1), .nominated_node_name = {}},
       order +
           R"({"lastTransitionTime":"2026-01-02T03:05:06Z","message":"y","observedGeneration":1,"reason":"Unschedulable","status":"False","type":"PodScheduled"}]}})"},
      {"other_conditions_present",
       {Other("DisruptionTarget"), Other("Ready")},
       "",
       {.condition = Unschedulable("y", 1), .nominated_node_name = {}},
       R"({"status":{"$setElementOrder/conditions":[{"type":"DisruptionTarget"},{"type":"Ready"},{"type":"PodScheduled"}],"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:05:06Z","message":"y","observedGeneration":1,"reason":"Unschedulable","status":"False","type":"PodScheduled"}]}})"},
      {"nomination_set",
       {},
       "",
       {.condition = {}, .nominated_node_name = "node-1"},
       R"({"status":{"nominatedNodeName":"node-1"}})"},
      {"nomination_cleared",
       {},
       "node-1",
       {.condition = {}, .nominated_node_name = ""},
       R"({"status":{"nominatedNodeName":null}})"},
      {"nomination_kept", {}, "node-1", {.condition = {}, .nominated_node_name = "node-1"}, ""},
      {"message_and_nomination",
       {Unschedulable("old", 2, kFirst)},
       "node-1",
       {.condition = Unschedulable("new", 3), .nominated_node_name = "node-2"},
       order +
           R"({"message":"new","observedGeneration":3,"type":"PodScheduled"}],"nominatedNodeName":"node-2"}})"},
      {"W18_only_generation",
       {Unschedulable("m", 3, kFirst)},
       "",
       {.condition = Unschedulable("m", 4), .nominated_node_name = {}},
       ""},
      {"W18_with_nomination",
       {Unschedulable("m", 3, kFirst)},
       "",
       {.condition = Unschedulable("m", 4), .nominated_node_name = "n"},
       R"({"status":{"nominatedNodeName":"n"}})"},
      {"W19",
       {Other("Ready")},
       "",
       {.condition = Unschedulable("y", 1), .nominated_node_name = {}},
       R"({"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"PodScheduled"}],"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:05:06Z","message":"y","observedGeneration":1,"reason":"Unschedulable","status":"False","type":"PodScheduled"}]}})"},
      {"victim",
       {Other("Ready"), Other("PodScheduled")},
       "",
       {.condition = disruption, .nominated_node_name = {}},
       R"({"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"PodScheduled"},{"type":"DisruptionTarget"}],"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:05:06Z","message":"default-scheduler: preempting to accommodate a higher priority pod","observedGeneration":7,"reason":"PreemptionByScheduler","status":"True","type":"DisruptionTarget"}]}})"},
      {"of_two_of_one_type_the_first",
       {Unschedulable("first", 1, kFirst), Unschedulable("second", 1, kFirst)},
       "",
       {.condition = Unschedulable("first", 2), .nominated_node_name = {}},
       ""},
      {"message_and_generation_removed",
       {Unschedulable("old", 2, kFirst)},
       "",
       {.condition = no_message, .nominated_node_name = {}},
       order + R"({"message":null,"observedGeneration":null,"type":"PodScheduled"}]}})"},
      {"extended_resource_claim",
       {},
       "",
       {.nominated_node_name = "n",
        .extended_resource_claim =
            ExtendedResourceClaimStatus{
                "p-extended-resources-x",
                {{"c0", "example.com/gpu", "container-0-request-1"}, {"c1", "d/x", "r"}}}},
       R"({"status":{"nominatedNodeName":"n","extendedResourceClaimStatus":{"requestMappings":[)"
       R"({"containerName":"c0","resourceName":"example.com/gpu","requestName":"container-0-request-1"},)"
       R"({"containerName":"c1","resourceName":"d/x","requestName":"r"}],)"
       R"("resourceClaimName":"p-extended-resources-x"}}})"},
      {"no_change_at_all", {}, "", {.condition = {}, .nominated_node_name = {}}, ""},
  };
  for (const PatchCase& c : cases) {
    SCOPED_TRACE(c.name);
    auto builder = MakePod().Name("p").NominatedNode(c.known_nomination);
    for (const Condition& condition : c.known) builder.Condition(condition);
    EXPECT_EQ(PodStatusPatch(*builder.Obj(), c.change), c.patch);
  }
}

TEST(EncodeTest, BindingBody) {
  const PodPtr pod = MakePod().Name("p").Uid("u1").Obj();
  EXPECT_EQ(
      BindingBody(*pod, "n1"),
      R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","uid":"u1"},"target":{"kind":"Node","name":"n1"}})");
}

EventRecord Failed() {
  EventRecord event;
  event.ns = Symbol("ns");
  event.name = "p.1886caf223f1ff15";
  event.reporting_controller = "default-scheduler";
  event.reporting_instance = "default-scheduler-host1";
  event.action = "Scheduling";
  event.reason = "FailedScheduling";
  event.note = "0/3 nodes are available: 3 x.";
  event.warning = true;
  event.regarding = MakePod().Name("p").Uid("u1").ResourceVersion("42").Obj();
  event.event_time = kFirst;
  return event;
}

TEST(EncodeTest, EventBody) {
  EXPECT_EQ(
      EventBody(Failed()),
      R"({"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"p.1886caf223f1ff15","namespace":"ns"},"eventTime":"2026-01-02T03:04:05.123456Z","reportingController":"default-scheduler","reportingInstance":"default-scheduler-host1","action":"Scheduling","reason":"FailedScheduling","regarding":{"kind":"Pod","namespace":"ns","name":"p","uid":"u1","apiVersion":"v1","resourceVersion":"42"},"note":"0/3 nodes are available: 3 x.","type":"Warning","deprecatedSource":{},"deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null})");
}

TEST(EncodeTest, EventBodyWithRelatedAndSeries) {
  EventRecord event = Failed();
  event.warning = false;
  event.related = MakePod().Name("q").Uid("u2").ResourceVersion("7").Obj();
  event.series_count = 3;
  event.series_last_observed = kLater;
  const std::string body = EventBody(event);
  EXPECT_NE(
      body.find(
          R"("related":{"kind":"Pod","namespace":"ns","name":"q","uid":"u2","apiVersion":"v1","resourceVersion":"7"},"note")"),
      std::string::npos)
      << body;
  EXPECT_NE(
      body.find(
          R"(56Z","series":{"count":3,"lastObservedTime":"2026-01-02T03:05:06.000000Z"},"reportingC)"),
      std::string::npos)
      << body;
  EXPECT_NE(body.find(R"("type":"Normal")"), std::string::npos) << body;
}

TEST(EncodeTest, EventBodyRelatedToAGroup) {
  EventRecord event = Failed();
  auto group = std::make_shared<PodGroup>();
  group->meta.ns = Symbol("ns");
  group->meta.name = "g";
  group->meta.uid = "u3";
  event.related = PodGroupPtr(group);
  EXPECT_NE(
      EventBody(event).find(
          R"("related":{"kind":"PodGroup","namespace":"ns","name":"g","uid":"u3","apiVersion":"scheduling.k8s.io/v1beta1"})"),
      std::string::npos);
  event.related = PodGroupPtr();
  EXPECT_EQ(EventBody(event).find("related"), std::string::npos);
}

TEST(EncodeTest, W22SeriesPatch) {
  EXPECT_EQ(EventSeriesPatch(2, kFirst),
            R"({"series":{"count":2,"lastObservedTime":"2026-01-02T03:04:05.123456Z"}})");
}

TEST(EncodeTest, W23EventName) {
  EXPECT_EQ(EventName("p", kFirst, 1), "p.1886caf223f1ff15");
  for (const std::string& name : {std::string("Not_legal"), std::string(250, 'a'), std::string()}) {
    SCOPED_TRACE(name);
    const std::string uuid = EventName(name, kFirst, 1);
    EXPECT_EQ(uuid.size(), 36u);
    EXPECT_EQ(uuid[14], '4');
    EXPECT_NE(uuid, EventName(name, kFirst, 2));
  }
}

// Expected values: what Go's fmt.Sprintf makes of the text without arguments.
TEST(EncodeTest, EventNote) {
  struct Case {
    const char* name;
    std::string text;
    std::string note;
  };
  const Case cases[] = {
      {"spec", "50% full", "50%!f(MISSING)ull"},
      {"W21", "0/1 nodes: 100% used", "0/1 nodes: 100%!u(MISSING)sed"},
      {"plain", "0/3 nodes are available", "0/3 nodes are available"},
      {"end", "100%", "100%!(NOVERB)"},
      {"double", "100%% %x", "100% %!x(MISSING)"},
      {"flagged_percent", "% %x %5%", "%x %"},
      {"flags", "%-05d%+#v", "%!d(MISSING)%!v(MISSING)"},
      {"precision", "%.3f%.f", "%!f(MISSING)%!f(MISSING)"},
      {"point_at_end", "%.", "%!.(MISSING)"},
      {"star_width", "%*d", "%!(BADWIDTH)%!d(MISSING)"},
      {"star_precision", "%5.*d", "%!(BADPREC)%!d(MISSING)"},
      {"index", "%[1]d", "%!d(BADINDEX)"},
      {"index_no_number", "%[x]d", "%!d(BADINDEX)"},
      {"index_open", "%[1", "%!(NOVERB)"},
      {"index_star", "%[5]*.[3]*d", "%!(BADWIDTH)%!(BADPREC)%!d(BADINDEX)"},
      {"index_twice", "%[1][2]d", "%![(BADINDEX)2]d"},
      {"index_empty", "%[]d %[]", "%!d(BADINDEX) %!](BADINDEX)"},
      {"huge_width", "a%99999999999999999999d b", "a%!(NOVERB)"},
      {"wide_character", "%é", "%!é(MISSING)"},
      {"cut_character", "%\xff.", "%!\xEF\xBF\xBD(MISSING)."},
      {"bang", "%!!", "%!!(MISSING)!"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(EventNote(c.text, true), c.note);
  }
}

TEST(EncodeTest, W20NotesAreCut) {
  EXPECT_EQ(EventNote(std::string(1030, 'x'), true), std::string(1020, 'x') + " ...");
  EXPECT_EQ(EventNote(std::string(1024, 'x'), true), std::string(1024, 'x'));
  EXPECT_EQ(EventNote(std::string(1030, 'x'), false), std::string(1030, 'x'));
  // Trap 11: the cut comes first.
  const std::string long_note = "%x" + std::string(1028, 'y');
  EXPECT_EQ(EventNote(long_note, true), "%!x(MISSING)" + std::string(1018, 'y') + " ...");
}

TEST(EncodeTest, JsonString) {
  struct Case {
    const char* name;
    std::string text;
    const char* json;
  };
  const Case cases[] = {
      {"html", "<a> & b", R"("\u003ca\u003e \u0026 b")"},
      {"separators", "\u2028\u2029", R"("\u2028\u2029")"},
      {"other", "é€😀", "\"é€😀\""},
      {"quotes", "\"\\/", R"("\"\\/")"},
      {"controls", std::string("\0\b\f\n\r\t\x1f\x7f", 8), "\"\\u0000\\b\\f\\n\\r\\t\\u001f\x7f\""},
      {"damaged", "a\xff\xc3(", R"("a\ufffd\ufffd(")"},
      {"surrogate", "\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},
      {"empty", "", R"("")"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(golang::JsonString(c.text), c.json);
  }
}

}  // namespace
}  // namespace ks::api
