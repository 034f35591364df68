// SPDX-License-Identifier: Apache-2.0
// Bindings, deletions and status patches (docs/spec/api.md section 9), in virtual time. Events:
// writer_events_test.cc.
#include "client/write/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/fake_transport.h"
#include "testing/builders.h"

namespace ks::client {
namespace {

using Kind = TransportError::Kind;
using ks::testing::MakePod;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

const std::string kAssigned = StatusBody(
    409, "Conflict",
    "Operation cannot be fulfilled on pods/binding p: pod p is already assigned to node n2");

std::string PodJson(const std::string& uid, const std::string& node) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","uid":")" +
         uid + R"(","resourceVersion":"9"},"spec":{"nodeName":")" + node + R"(","containers":[]}})";
}

// What a callback was called with. The callback may outlive the test's local variables, up to the
// writer's end.
struct Outcome {
  struct State {
    int calls = 0;
    std::optional<api::ApiError> error;
  };
  std::shared_ptr<State> state = std::make_shared<State>();

  framework::ApiWriter::Done Handler() const {
    return [state = state](std::optional<api::ApiError> e) {
      ++state->calls;
      state->error = std::move(e);
    };
  }
  int calls() const { return state->calls; }
  const std::optional<api::ApiError>& error() const { return state->error; }
  bool ok() const { return calls() == 1 && !error().has_value(); }
};

class WriterTest : public ::testing::Test {
 protected:
  WriterTest() : scheduling_(net_.Client()), events_(net_.Client()) { Restart({}); }

  void Restart(WriterOptions options) {
    options.host_name = "host1";
    writer_ = std::make_unique<Writer>(*scheduling_, *events_, options);
  }
  // Runs the timer that is due next and tells its delay.
  Duration NextDelay() {
    const Duration delay = net_.timers.UntilNext();
    net_.timers.Advance(delay);
    return delay;
  }
  std::string Line(size_t i) {
    const HttpRequest request = net_.transport.request(i);
    return request.method + " " + request.target;
  }
  static api::PodStatusChange Unschedulable(const std::string& message) {
    api::PodStatusChange change;
    change.condition = api::Condition{
        .type = "PodScheduled", .status = "False", .reason = "Unschedulable", .message = message};
    return change;
  }

  static api::Condition Disruption() {
    return {.type = "DisruptionTarget", .status = "True", .reason = "PreemptionByScheduler"};
  }

  FakeNetwork net_;
  std::unique_ptr<RestClient> scheduling_;
  std::unique_ptr<RestClient> events_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(WriterTest, Bind) {
  Outcome outcome;
  writer_->Bind(MakePod().Name("p").Namespace("ns").Uid("u1").Obj(), "n1", outcome.Handler());
  EXPECT_EQ(Line(0), "POST /api/v1/namespaces/ns/pods/p/binding");
  EXPECT_EQ(
      net_.transport.request(0).body,
      R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","uid":"u1"},)"
      R"("target":{"kind":"Node","name":"n1"}})");
  EXPECT_EQ(writer_->Stats().binds_pending, 1u);
  net_.transport.Answer(0, 201, "{}");
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(writer_->Stats().binds, 1u);
  EXPECT_EQ(writer_->Stats().binds_pending, 0u);
}

TEST_F(WriterTest, W14) {
  Outcome outcome;
  writer_->Bind(MakePod().Name("p").Obj(), "n1", outcome.Handler());
  net_.transport.Answer(0, 500, StatusBody(500, "InternalError", "boom"));
  EXPECT_THAT(NextDelay(), AllOf(Ge(milliseconds(10)), Le(milliseconds(11))));
  net_.transport.Answer(1, 500, StatusBody(500, "InternalError", "boom"));
  EXPECT_THAT(NextDelay(), AllOf(Ge(milliseconds(50)), Le(milliseconds(55))));
  EXPECT_EQ(outcome.calls(), 0);
  net_.transport.Answer(2, 201, "{}");
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(writer_->Stats().bind_retries, 2u);
}

TEST_F(WriterTest, AtMostFourTries) {
  Outcome outcome;
  writer_->Bind(MakePod().Name("p").Obj(), "n1", outcome.Handler());
  net_.transport.Fail(0, Kind::kRefused);
  NextDelay();
  net_.transport.Answer(1, 503, StatusBody(503, "ServiceUnavailable", "later"));
  NextDelay();
  net_.transport.Answer(2, 500, StatusBody(500, "", "target.name: Required value"));
  EXPECT_THAT(NextDelay(), AllOf(Ge(milliseconds(250)), Le(milliseconds(275))));
  net_.transport.Answer(3, 500, StatusBody(500, "InternalError", "last"));
  ASSERT_EQ(net_.transport.size(), 5u);
  EXPECT_EQ(Line(4), "GET /api/v1/namespaces/ns/pods/p");
  net_.transport.Answer(4, 200, PodJson("u1", ""));
  ASSERT_EQ(outcome.calls(), 1);
  EXPECT_EQ(outcome.error()->message, "last");
  EXPECT_EQ(net_.transport.size(), 5u);
  EXPECT_EQ(writer_->Stats().bind_failures, 1u);
}

struct FinalCase {
  std::string name;
  int status = 0;
  std::string reason;
};

TEST_F(WriterTest, OtherErrorsOfABindingAreFinal) {
  const FinalCase cases[] = {{"W15", 409, "Conflict"},
                             {"W17", 429, "TooManyRequests"},
                             {"notFound", 404, "NotFound"},
                             {"forbidden", 403, "Forbidden"}};
  for (const FinalCase& row : cases) {
    SCOPED_TRACE(row.name);
    const size_t before = net_.transport.size();
    Outcome outcome;
    writer_->Bind(MakePod().Name("p").Obj(), "n1", outcome.Handler());
    net_.transport.Answer(before, row.status, StatusBody(row.status, row.reason, "no"));
    ASSERT_EQ(outcome.calls(), 1);
    EXPECT_EQ(outcome.error()->code, row.status);
    EXPECT_EQ(net_.transport.size(), before + 1);
  }
}

TEST_F(WriterTest, W16) {
  Outcome outcome;
  writer_->Bind(MakePod().Name("p").Obj(), "n1", outcome.Handler());
  net_.transport.Answer(0, 429, "", "2");
  EXPECT_EQ(NextDelay(), seconds(2));
  net_.transport.Answer(1, 201, "{}");
  EXPECT_TRUE(outcome.ok());
}

struct ConflictCase {
  std::string name;
  int status = 0;  // of the GET
  std::string body;
  bool want_ok = false;
};

TEST_F(WriterTest, ConflictAfterAnUncertainTryIsLookedAt) {
  const ConflictCase cases[] = {
      {"ours", 200, PodJson("u1", "n1"), true},
      {"otherNode", 200, PodJson("u1", "n2"), false},
      {"otherPod", 200, PodJson("u2", "n1"), false},
      {"gone", 404, StatusBody(404, "NotFound", "gone"), false},
  };
  for (const ConflictCase& row : cases) {
    SCOPED_TRACE(row.name);
    const size_t before = net_.transport.size();
    Outcome outcome;
    writer_->Bind(MakePod().Name("p").Uid("u1").Obj(), "n1", outcome.Handler());
    net_.transport.UncertainNext();
    net_.transport.Answer(before, 409, kAssigned);
    ASSERT_EQ(net_.transport.size(), before + 2);
    EXPECT_EQ(Line(before + 1), "GET /api/v1/namespaces/ns/pods/p");
    net_.transport.Answer(before + 1, row.status, row.body);
    EXPECT_EQ(outcome.calls(), 1);
    EXPECT_EQ(outcome.ok(), row.want_ok);
    if (!row.want_ok) {
      EXPECT_TRUE(outcome.error()->IsConflict());
    }
  }
  EXPECT_EQ(writer_->Stats().binds_resolved_by_get, 1u);
}

// The write may have taken effect although its answer says otherwise, or never came.
TEST_F(WriterTest, AFailureThatMayBeNoneIsLookedAt) {
  for (const Kind lost : {Kind::kLost, Kind::kTimedOut, Kind::kOther}) {
    for (const char* node : {"n1", "n2", ""}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(lost)) + " " + node);
      const size_t before = net_.transport.size();
      Outcome outcome;
      writer_->Bind(MakePod().Name("p").Uid("u1").Obj(), "n1", outcome.Handler());
      if (lost == Kind::kOther) {
        net_.transport.Answer(before, 504, StatusBody(504, "Timeout", "no"));
      } else {
        net_.transport.Fail(before, lost);
      }
      ASSERT_EQ(net_.transport.size(), before + 2);
      EXPECT_EQ(Line(before + 1), "GET /api/v1/namespaces/ns/pods/p");
      EXPECT_EQ(outcome.calls(), 0);
      net_.transport.Answer(before + 1, 200, PodJson("u1", node));
      ASSERT_EQ(outcome.calls(), 1);
      EXPECT_EQ(outcome.ok(), std::string_view(node) == "n1");
    }
  }
}

TEST_F(WriterTest, ConflictAfterARetriedServerErrorIsLookedAt) {
  Outcome outcome;
  writer_->Bind(MakePod().Name("p").Uid("u1").Obj(), "n1", outcome.Handler());
  net_.transport.Answer(0, 500, StatusBody(500, "InternalError", "etcd timed out"));
  NextDelay();
  net_.transport.Answer(1, 409, kAssigned);
  net_.transport.Answer(2, 200, PodJson("u1", "n1"));
  EXPECT_TRUE(outcome.ok());
}

TEST_F(WriterTest, LanesHaveTheirOwnLimits) {
  Restart({.bind_in_flight = 2, .patch_in_flight = 1, .event_in_flight = 1});
  std::vector<Outcome> outcomes(8);
  for (int i = 0; i < 4; ++i) {
    writer_->PatchPodStatus(MakePod().Name("q" + std::to_string(i)).Obj(), Unschedulable("m"),
                            outcomes[i].Handler());
  }
  EXPECT_EQ(net_.transport.size(), 1u);
  for (int i = 4; i < 8; ++i) {
    const api::PodPtr pod = MakePod().Name("p" + std::to_string(i)).Obj();
    if (i % 2 == 0) {
      writer_->Bind(pod, "n", outcomes[i].Handler());
    } else {
      writer_->EvictPod(pod, Disruption(), {},
                        [done = outcomes[i].Handler()](framework::EvictionOutcome,
                                                       std::optional<api::ApiError> error) {
                          done(std::move(error));
                        });
    }
  }
  ASSERT_EQ(net_.transport.size(), 3u) << "the full patch lane does not hold bindings back";
  EXPECT_EQ(Line(1), "POST /api/v1/namespaces/ns/pods/p4/binding");
  EXPECT_EQ(Line(2), "PATCH /api/v1/namespaces/ns/pods/p5/status");
  EXPECT_EQ(writer_->Stats().binds_pending, 4u);
  EXPECT_EQ(writer_->Stats().patches_pending, 4u);
  for (size_t i = 0; i < net_.transport.size(); ++i) net_.transport.Answer(i, 200, "{}");
  EXPECT_EQ(net_.transport.size(), 10u) << "an eviction is two requests";
  for (const Outcome& outcome : outcomes) EXPECT_TRUE(outcome.ok());
}

TEST_F(WriterTest, PatchesStandBackWhileTheLaneOfBindingsIsFull) {
  // Unlike events, however many wait.
  Restart({.bind_in_flight = 1, .patch_in_flight = 8, .event_queue = 2});
  std::vector<Outcome> outcomes(5);
  writer_->Bind(MakePod().Name("p").Obj(), "n", outcomes[0].Handler());
  for (int i = 1; i < 5; ++i) {
    writer_->PatchPodStatus(MakePod().Name("q" + std::to_string(i)).Obj(), Unschedulable("m"),
                            outcomes[i].Handler());
  }
  EXPECT_EQ(net_.transport.size(), 3u) << "a quarter of eight patches";
  net_.transport.Answer(0, 201, "{}");
  EXPECT_EQ(net_.transport.size(), 5u);
  for (size_t i = 1; i < net_.transport.size(); ++i) net_.transport.Answer(i, 200, "{}");
  for (const Outcome& outcome : outcomes) EXPECT_TRUE(outcome.ok());
}

TEST_F(WriterTest, PatchRetriesConflicts) {
  Outcome outcome;
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("m"), outcome.Handler());
  EXPECT_EQ(Line(0), "PATCH /api/v1/namespaces/ns/pods/p/status");
  EXPECT_THAT(net_.transport.request(0).headers,
              ::testing::Contains(std::pair<std::string, std::string>(
                  "Content-Type", "application/strategic-merge-patch+json")));
  EXPECT_THAT(net_.transport.request(0).body, HasSubstr("\"message\":\"m\""));
  net_.transport.Answer(0, 409, StatusBody(409, "Conflict", "c"));
  NextDelay();
  net_.transport.Answer(1, 200, "{}");
  EXPECT_TRUE(outcome.ok());
}

TEST_F(WriterTest, AnEmptyPatchIsNotSent) {
  Outcome outcome;
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), {}, outcome.Handler());
  net_.timers.Settle();
  EXPECT_EQ(outcome.calls(), 0) << "never from inside the call, and with others";
  EXPECT_EQ(writer_->Stats().patches_pending, 1u);
  net_.timers.Advance(WriterOptions().gathering);
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(net_.transport.size(), 0u);
  EXPECT_EQ(writer_->Stats().patches_pending, 0u);
  EXPECT_EQ(writer_->Stats().patches, 1u);
}

// What a pod of the informer says may be out of date while something about it is under way.
TEST_F(WriterTest, AnEmptyPatchStandsInLineBehindAnother) {
  Outcome first;
  Outcome second;
  Outcome empty;
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("1"), first.Handler());
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("2"), second.Handler());
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), {}, empty.Handler());
  net_.timers.Advance(WriterOptions().gathering);
  EXPECT_EQ(empty.calls(), 0);
  net_.transport.Answer(0, 200, "{}");
  ASSERT_EQ(net_.transport.size(), 2u);
  EXPECT_THAT(net_.transport.request(1).body, HasSubstr("\"message\":\"2\""));
  net_.transport.Answer(1, 200, "{}");
  EXPECT_TRUE(empty.ok());
}

TEST_F(WriterTest, QueuedPatchesOfOnePodAreSuperseded) {
  Outcome first;
  Outcome second;
  Outcome third;
  Outcome other;
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("1"), first.Handler());
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("2"), second.Handler());
  ASSERT_EQ(net_.transport.size(), 1u) << "one patch of a pod at a time";
  api::PodStatusChange nomination;
  nomination.nominated_node_name = "n7";
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), nomination, third.Handler());
  writer_->PatchPodStatus(MakePod().Name("q").Obj(), Unschedulable("q"), other.Handler());
  net_.timers.Advance(WriterOptions().gathering);
  EXPECT_TRUE(second.ok()) << "superseded";
  EXPECT_EQ(third.calls(), 0);
  EXPECT_EQ(net_.transport.size(), 2u) << "the other pod is not held up";
  net_.transport.Answer(0, 200, "{}");
  EXPECT_TRUE(first.ok());
  ASSERT_EQ(net_.transport.size(), 3u);
  EXPECT_THAT(net_.transport.request(2).body,
              AllOf(HasSubstr("\"message\":\"2\""), HasSubstr("\"nominatedNodeName\":\"n7\"")));
  net_.transport.Answer(1, 200, "{}");
  net_.transport.Answer(2, 200, "{}");
  EXPECT_TRUE(third.ok());
  EXPECT_TRUE(other.ok());
  EXPECT_EQ(writer_->Stats().patches_superseded, 1u);
  EXPECT_EQ(writer_->Stats().patches, 3u);
}

// A pod whose extended resource claim is not told must not be bound, so that call has to wait.
TEST_F(WriterTest, AnExtendedResourceClaimIsNotLostToALaterPatch) {
  Outcome first;
  Outcome claimed;
  Outcome second;
  Outcome third;
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("1"), first.Handler());
  api::PodStatusChange nomination;
  nomination.nominated_node_name = "n7";
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), nomination, second.Handler());
  api::PodStatusChange claim;
  claim.extended_resource_claim = {"c7", {{"container", "example.com/gpu", "r"}}};
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), claim, claimed.Handler());
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("3"), third.Handler());
  net_.timers.Advance(WriterOptions().gathering);
  EXPECT_TRUE(second.ok()) << "superseded";
  EXPECT_EQ(claimed.calls(), 0);
  net_.transport.Answer(0, 200, "{}");
  ASSERT_EQ(net_.transport.size(), 2u);
  EXPECT_THAT(net_.transport.request(1).body,
              AllOf(HasSubstr("\"message\":\"3\""), HasSubstr("\"nominatedNodeName\":\"n7\""),
                    HasSubstr("\"resourceClaimName\":\"c7\"")));
  net_.transport.Answer(1, 403, StatusBody(403, "Forbidden", "no"));
  ASSERT_EQ(claimed.calls(), 1);
  ASSERT_TRUE(claimed.error().has_value());
  EXPECT_EQ(claimed.error()->code, 403);
  EXPECT_EQ(third.calls(), 1);
  EXPECT_FALSE(third.ok());
}

// A patch that arrives after the binding would tell a bound pod that it is unschedulable.
TEST_F(WriterTest, ABindingWaitsForThePatchInFlightAndReplacesTheQueuedOne) {
  Outcome first;
  Outcome second;
  Outcome bound;
  Outcome late;
  Outcome other;
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("1"), first.Handler());
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("2"), second.Handler());
  writer_->Bind(MakePod().Name("p").Obj(), "n1", bound.Handler());
  writer_->Bind(MakePod().Name("q").Obj(), "n1", other.Handler());
  ASSERT_EQ(net_.transport.size(), 2u) << "the patch, and the binding of another pod";
  EXPECT_EQ(Line(1), "POST /api/v1/namespaces/ns/pods/q/binding");
  net_.transport.Answer(0, 200, "{}");
  net_.timers.Advance(WriterOptions().gathering);
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(second.ok()) << "dropped unsent";
  ASSERT_EQ(net_.transport.size(), 3u);
  EXPECT_EQ(Line(2), "POST /api/v1/namespaces/ns/pods/p/binding");
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("3"), late.Handler());
  net_.timers.Advance(WriterOptions().gathering);
  EXPECT_TRUE(late.ok()) << "the binding says more";
  net_.transport.Answer(2, 201, "{}");
  EXPECT_TRUE(bound.ok());
  net_.transport.Answer(1, 201, "{}");
  EXPECT_TRUE(other.ok());
  EXPECT_EQ(net_.transport.size(), 3u);
  EXPECT_EQ(writer_->Stats().patches_superseded, 2u);
}

TEST_F(WriterTest, CallsThatWereSentAreReported) {
  std::vector<std::string> reported;
  WriterOptions options;
  options.call_done = [&reported](std::string_view call_type, bool ok, Duration took) {
    reported.push_back(std::string(call_type) + (ok ? " ok " : " failed ") +
                       std::to_string(took.count()));
  };
  Restart(options);
  Outcome outcome;
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), {}, outcome.Handler());
  net_.timers.Settle();
  EXPECT_THAT(reported, ::testing::IsEmpty()) << "nothing to send";
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("1"), outcome.Handler());
  net_.transport.Answer(0, 403, "{}");
  writer_->Bind(MakePod().Name("p").Obj(), "n1", outcome.Handler());
  net_.transport.Answer(1, 201, "{}");
  EXPECT_THAT(reported, ::testing::ElementsAre("pod_status_patch failed 0", "pod_binding ok 0"));
}

TEST_F(WriterTest, ConditionsOfDifferentTypesAreBothSent) {
  Outcome a;
  Outcome b;
  Outcome c;
  api::PodStatusChange target;
  target.condition = api::Condition{
      .type = "DisruptionTarget", .status = "True", .reason = "PreemptionByScheduler"};
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("1"), a.Handler());
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), Unschedulable("2"), b.Handler());
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), target, c.Handler());
  for (size_t i = 0; i < 3; ++i) net_.transport.Answer(i, 200, "{}");
  EXPECT_THAT(net_.transport.request(1).body, HasSubstr("PodScheduled"));
  EXPECT_THAT(net_.transport.request(2).body, HasSubstr("DisruptionTarget"));
  EXPECT_TRUE(a.ok() && b.ok() && c.ok());
}

TEST_F(WriterTest, DrainWaitsForWhatIsUnderWay) {
  Restart({.bind_in_flight = 1});
  Outcome sent;
  Outcome queued;
  Outcome late;
  writer_->Bind(MakePod().Name("a").Obj(), "n", sent.Handler());
  writer_->Bind(MakePod().Name("b").Obj(), "n", queued.Handler());
  bool clean = false;
  std::thread draining([&] { clean = writer_->Drain(seconds(30)); });
  while (net_.timers.UntilNext() != seconds(30)) std::this_thread::yield();
  writer_->Bind(MakePod().Name("c").Obj(), "n", late.Handler());
  net_.timers.Settle();
  ASSERT_EQ(late.calls(), 1);
  EXPECT_EQ(late.error()->message, "the writer is shut down");
  net_.transport.Answer(0, 201, "{}");
  net_.transport.Answer(1, 201, "{}");
  draining.join();
  EXPECT_TRUE(clean);
  EXPECT_TRUE(sent.ok());
  EXPECT_TRUE(queued.ok());
  EXPECT_TRUE(writer_->Drain(Duration::zero()));
}

TEST_F(WriterTest, DrainTellsWhatWasGathered) {
  Outcome outcome;
  writer_->PatchPodStatus(MakePod().Name("p").Obj(), {}, outcome.Handler());
  EXPECT_FALSE(writer_->Drain(Duration::zero())) << "it was not over";
  EXPECT_TRUE(outcome.ok());
}

TEST_F(WriterTest, DrainGivesUpAtItsDeadline) {
  Restart({.bind_in_flight = 2});
  Outcome sent;
  Outcome waiting;
  Outcome queued;
  writer_->Bind(MakePod().Name("a").Obj(), "n", sent.Handler());
  writer_->Bind(MakePod().Name("b").Obj(), "n", waiting.Handler());
  writer_->Bind(MakePod().Name("c").Obj(), "n", queued.Handler());
  net_.transport.Answer(1, 429, "", "3600");
  bool clean = true;
  std::thread draining([&] { clean = writer_->Drain(seconds(5)); });
  while (net_.timers.UntilNext() != seconds(5)) std::this_thread::yield();
  net_.timers.Advance(seconds(5));
  draining.join();
  EXPECT_FALSE(clean);
  for (const Outcome* outcome : {&sent, &waiting, &queued}) {
    EXPECT_EQ(outcome->calls(), 1);
    EXPECT_TRUE(outcome->error().has_value());
  }
  EXPECT_EQ(net_.transport.size(), 2u);
}

}  // namespace
}  // namespace ks::client
