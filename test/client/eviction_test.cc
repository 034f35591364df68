// SPDX-License-Identifier: Apache-2.0
// Evictions by the writer (docs/spec/preemption.md 10.1; P29, P30), in virtual time.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/fake_transport.h"
#include "client/write/writer.h"
#include "testing/builders.h"

namespace ks::client {
namespace {

using framework::EvictionOutcome;
using ks::testing::MakePod;
using ks::testing::PodBuilder;

class EvictionTest : public ::testing::Test {
 protected:
  EvictionTest() : scheduling_(net_.Client()), events_(net_.Client()) {
    writer_ = std::make_unique<Writer>(*scheduling_, *events_, WriterOptions{});
  }

  void Evict(const PodBuilder& pod, TimePoint decided = {}) {
    api::Condition condition;
    condition.type = "DisruptionTarget";
    condition.status = "True";
    condition.reason = "PreemptionByScheduler";
    condition.message = "default-scheduler: preempting to accommodate a higher priority pod";
    const api::PodPtr victim = pod.Obj();
    condition.observed_generation = victim->meta.generation;
    condition.last_transition_time = TimePoint(std::chrono::seconds(1795219834));
    writer_->EvictPod(victim, condition, decided,
                      [results = results_](EvictionOutcome outcome, auto error) {
                        results->push_back(outcome == EvictionOutcome::kEvicted ? "evicted"
                                           : outcome == EvictionOutcome::kGone  ? "gone"
                                                                                : error->message);
                      });
  }
  void Answer(int code, const std::string& body = "{}") {
    net_.transport.Answer(net_.transport.size() - 1, code, body);
  }
  void Fail(int code, const std::string& reason, const std::string& message) {
    Answer(code, StatusBody(code, reason, message));
  }
  void RunTimer() { net_.timers.Advance(net_.timers.UntilNext()); }
  // All requests so far, as "METHOD path".
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    for (size_t i = 0; i < net_.transport.size(); ++i) {
      const HttpRequest request = net_.transport.request(i);
      lines.push_back(request.method + " " + request.target);
    }
    return lines;
  }
  std::string Body(size_t i) { return net_.transport.request(i).body; }

  const std::shared_ptr<std::vector<std::string>> results_ =
      std::make_shared<std::vector<std::string>>();
  const std::string patch_ = "PATCH /api/v1/namespaces/ns/pods/v/status";
  const std::string delete_ = "DELETE /api/v1/namespaces/ns/pods/v";
  FakeNetwork net_;
  std::unique_ptr<RestClient> scheduling_;
  std::unique_ptr<RestClient> events_;
  std::unique_ptr<Writer> writer_;
};

using Texts = std::vector<std::string>;

TEST_F(EvictionTest, ConditionThenDeletion) {
  Evict(MakePod().Name("v").Generation(1));
  EXPECT_EQ(Lines(), Texts{patch_});
  EXPECT_EQ(Body(0),
            R"({"status":{"conditions":[{"lastProbeTime":null,)"
            R"("lastTransitionTime":"2026-11-21T00:10:34Z",)"
            R"("message":"default-scheduler: preempting to accommodate a higher priority pod",)"
            R"("observedGeneration":1,"reason":"PreemptionByScheduler","status":"True",)"
            R"("type":"DisruptionTarget"}]}})");
  Answer(200);
  EXPECT_EQ(Lines(), (Texts{patch_, delete_}));
  EXPECT_EQ(Body(1),
            R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-v"}})");
  EXPECT_TRUE(results_->empty());
  Answer(200);
  EXPECT_EQ(*results_, Texts{"evicted"});
  EXPECT_EQ(writer_->Stats().evictions, 1U);
  EXPECT_EQ(writer_->Stats().binds_pending, 0U);
}

api::Condition Condition(const std::string& type, const std::string& status,
                         const std::string& reason) {
  return {.type = type,
          .status = status,
          .reason = reason,
          .last_transition_time = TimePoint(std::chrono::seconds(1000))};
}

TEST_F(EvictionTest, OrderListWhenThereAreOtherConditions) {
  Evict(MakePod()
            .Name("v")
            .Generation(3)
            .Condition(Condition("PodScheduled", "True", ""))
            .Condition(Condition("Ready", "True", "")));
  EXPECT_EQ(Body(0),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"},{"type":"Ready"},)"
            R"({"type":"DisruptionTarget"}],"conditions":[{"lastProbeTime":null,)"
            R"("lastTransitionTime":"2026-11-21T00:10:34Z",)"
            R"("message":"default-scheduler: preempting to accommodate a higher priority pod",)"
            R"("observedGeneration":3,"reason":"PreemptionByScheduler","status":"True",)"
            R"("type":"DisruptionTarget"}]}})");
}

TEST_F(EvictionTest, TrueForAnotherReasonKeepsItsTime) {
  Evict(MakePod().Name("v").Generation(3).Condition(
      Condition("DisruptionTarget", "True", "EvictionByEvictionAPI")));
  EXPECT_EQ(Body(0),
            R"({"status":{"$setElementOrder/conditions":[{"type":"DisruptionTarget"}],)"
            R"("conditions":[{"message":"default-scheduler: preempting to accommodate a higher )"
            R"(priority pod","observedGeneration":3,"reason":"PreemptionByScheduler",)"
            R"("type":"DisruptionTarget"}]}})");
}

TEST_F(EvictionTest, NothingToPatch) {
  api::Condition condition = Condition("DisruptionTarget", "True", "PreemptionByScheduler");
  condition.message = "default-scheduler: preempting to accommodate a higher priority pod";
  Evict(MakePod().Name("v").Condition(condition));
  EXPECT_EQ(Lines(), Texts{delete_});
}

TEST_F(EvictionTest, P30) {
  Evict(MakePod().Name("v"));
  Fail(404, "NotFound", "pods \"v\" not found");
  EXPECT_EQ(Lines(), Texts{patch_});
  EXPECT_EQ(*results_, Texts{"gone"});
}

TEST_F(EvictionTest, GoneAtTheDeletion) {
  Evict(MakePod().Name("v"));
  Answer(200);
  Fail(404, "NotFound", "pods \"v\" not found");
  EXPECT_EQ(*results_, Texts{"gone"});
}

// Safer than upstream (T11).
TEST_F(EvictionTest, AnotherPodOfTheNameIsLeftAlone) {
  Evict(MakePod().Name("v"));
  Answer(200);
  Fail(409, "Conflict",
       "Operation cannot be fulfilled on Pod \\\"v\\\": the UID in the precondition (uid-v) does "
       "not "
       "match the UID in record (other). The object might have been deleted and then recreated");
  EXPECT_EQ(*results_, Texts{"gone"});
}

TEST_F(EvictionTest, AnyOtherConflictIsAnError) {
  Evict(MakePod().Name("v"));
  Answer(200);
  Fail(409, "Conflict", "try again");
  EXPECT_EQ(*results_, Texts{"try again"});
}

TEST_F(EvictionTest, ThePatchIsRetriedTheDeletionIsNot) {
  Evict(MakePod().Name("v"));
  Fail(409, "Conflict", "the object has been modified");
  RunTimer();
  Fail(500, "InternalError", "boom");
  RunTimer();
  Fail(503, "ServiceUnavailable", "later");
  RunTimer();
  EXPECT_EQ(Lines(), (Texts{patch_, patch_, patch_, patch_}));
  Answer(200);
  Fail(500, "InternalError", "boom");
  EXPECT_EQ(Lines().size(), 5U);
  EXPECT_EQ(*results_, Texts{"boom"});
  EXPECT_EQ(writer_->Stats().eviction_failures, 1U);
  EXPECT_EQ(writer_->Stats().bind_retries, 0U);
}

TEST_F(EvictionTest, PatchGivenUp) {
  Evict(MakePod().Name("v"));
  Fail(403, "Forbidden", "not you");
  EXPECT_EQ(Lines(), Texts{patch_});
  EXPECT_EQ(*results_, Texts{"not you"});
}

TEST_F(EvictionTest, ShutDown) {
  EXPECT_TRUE(writer_->Drain(Duration::zero()));
  Evict(MakePod().Name("v"));
  net_.timers.Advance(Duration::zero());
  EXPECT_EQ(Lines(), Texts{});
  EXPECT_EQ(*results_, Texts{"the writer is shut down"});
}

// A preemptor whose victims are gone must not wait for everybody else's victims.
TEST_F(EvictionTest, BindingsGoBeforeEvictionsThatWait) {
  writer_ = std::make_unique<Writer>(*scheduling_, *events_, WriterOptions{.bind_in_flight = 4});
  for (const char* victim : {"v1", "v2", "v3", "v4", "v5", "v6"}) Evict(MakePod().Name(victim));
  ASSERT_EQ(net_.transport.size(), 4U) << "the lane is full";
  for (const char* pod : {"a", "b", "c", "d"}) {
    writer_->Bind(MakePod().Name(pod).Namespace("ns").Obj(), "n1", [](auto) {});
  }
  for (size_t i = 0; i < 4; ++i) net_.transport.Answer(i, 404, StatusBody(404, "NotFound", "gone"));
  Texts later = Lines();
  later.erase(later.begin(), later.begin() + 4);
  EXPECT_EQ(later, (Texts{"POST /api/v1/namespaces/ns/pods/a/binding",
                          "POST /api/v1/namespaces/ns/pods/b/binding",
                          "POST /api/v1/namespaces/ns/pods/c/binding",
                          "PATCH /api/v1/namespaces/ns/pods/v5/status"}))
      << "a quarter of the lane stays the evictions'";
}

// The last victim of the first preemptor is asked for when its other victims are gone, behind the
// first victims of those who decided after it.
TEST_F(EvictionTest, OlderDecisionsGoFirst) {
  writer_ = std::make_unique<Writer>(*scheduling_, *events_, WriterOptions{.bind_in_flight = 1});
  const auto at = [](int second) { return TimePoint(std::chrono::seconds(second)); };
  Evict(MakePod().Name("first"), at(1));
  Evict(MakePod().Name("b"), at(2));
  Evict(MakePod().Name("c"), at(3));
  Evict(MakePod().Name("b2"), at(2));
  Evict(MakePod().Name("last"), at(1));
  for (size_t i = 0; i < 5; ++i) net_.transport.Answer(i, 404, StatusBody(404, "NotFound", "gone"));
  Texts order;
  for (const std::string& line : Lines()) order.push_back(line.substr(line.find("pods/") + 5));
  EXPECT_EQ(order, (Texts{"first/status", "last/status", "b/status", "b2/status", "c/status"}));
}

}  // namespace
}  // namespace ks::client
