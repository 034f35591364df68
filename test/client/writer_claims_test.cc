// SPDX-License-Identifier: Apache-2.0
// Requests about ResourceClaims (framework/api_writer.h), in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/fake_transport.h"
#include "client/write/writer.h"
#include "testing/builders.h"

namespace ks::client {
namespace {

using ks::testing::MakePod;
using Kind = TransportError::Kind;
using Verb = api::ClaimRequest::Verb;
using ::testing::Contains;

std::string ResourceClaimJson(const std::string& version) {
  return R"({"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"c",)"
         R"("namespace":"ns","uid":"u-c","resourceVersion":")" +
         version + R"("},"spec":{},"status":{"reservedFor":[{"resource":"pods","uid":"u-p"}]}})";
}

api::ClaimRequest Request(Verb verb) {
  return {.verb = verb,
          .ns = "ns",
          .name = verb == Verb::kCreate ? "" : "c",
          .body = verb == Verb::kGet ? "" : R"({"b":1})"};
}

// What a callback was called with.
struct ClaimOutcome {
  struct State {
    int calls = 0;
    std::optional<api::ApiError> error;
    api::ResourceClaimPtr claim;
  };
  std::shared_ptr<State> state = std::make_shared<State>();

  framework::ApiWriter::ClaimDone Handler() const {
    return [state = state](std::optional<api::ApiError> error, api::ResourceClaimPtr claim) {
      ++state->calls;
      state->error = std::move(error);
      state->claim = std::move(claim);
    };
  }
  // "9" for a claim of that version, "ok" for none, "409" for an error, "-" without an answer.
  std::string Text() const {
    if (state->calls != 1) return state->calls == 0 ? "-" : "called twice";
    if (state->error) return std::to_string(state->error->code) + (state->claim ? " claim" : "");
    return state->claim ? state->claim->meta.resource_version : "ok";
  }
};

class WriterClaimsTest : public ::testing::Test {
 protected:
  WriterClaimsTest() : scheduling_(net_.Client()), events_(net_.Client()) { Restart({}); }

  void Restart(WriterOptions options) {
    writer_ = std::make_unique<Writer>(*scheduling_, *events_, options);
  }
  std::string Line(size_t i) {
    const HttpRequest request = net_.transport.request(i);
    return request.method + " " + request.target;
  }
  // The number of the request.
  size_t Send(Verb verb, const ClaimOutcome& outcome) {
    writer_->SendClaimRequest(Request(verb), outcome.Handler());
    return net_.transport.size() - 1;
  }
  void Wait() { net_.timers.Advance(net_.timers.UntilNext()); }

  FakeNetwork net_;
  std::unique_ptr<RestClient> scheduling_;
  std::unique_ptr<RestClient> events_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(WriterClaimsTest, EachVerb) {
  const std::string claims = " /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims";
  struct Case {
    Verb verb;
    bool strategic;
    std::string line;
    const char* content_type;
    int status;
    const char* wanted;
  };
  const Case cases[] = {
      {Verb::kGet, false, "GET" + claims + "/c", nullptr, 200, "9"},
      {Verb::kCreate, false, "POST" + claims, "application/json", 201, "9"},
      {Verb::kPatch, false, "PATCH" + claims + "/c", "application/merge-patch+json", 200, "9"},
      {Verb::kPatchStatus, false, "PATCH" + claims + "/c/status", "application/merge-patch+json",
       200, "9"},
      {Verb::kPatchStatus, true, "PATCH" + claims + "/c/status",
       "application/strategic-merge-patch+json", 200, "9"},
      {Verb::kDelete, false, "DELETE" + claims + "/c", "application/json", 200, "ok"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.line);
    api::ClaimRequest request = Request(c.verb);
    request.strategic = c.strategic;
    const size_t sent = net_.transport.size();
    ClaimOutcome outcome;
    writer_->SendClaimRequest(request, outcome.Handler());
    ASSERT_EQ(net_.transport.size(), sent + 1);
    EXPECT_EQ(Line(sent), c.line);
    EXPECT_EQ(net_.transport.request(sent).body, request.body);
    EXPECT_TRUE(net_.transport.request(sent).repeat_when_lost);
    if (c.content_type != nullptr) {
      EXPECT_THAT(net_.transport.request(sent).headers,
                  Contains(std::pair<std::string, std::string>("Content-Type", c.content_type)));
    }
    net_.transport.Answer(sent, c.status, ResourceClaimJson("9"));
    EXPECT_EQ(outcome.Text(), c.wanted);
    if (outcome.state->claim) {
      EXPECT_TRUE(outcome.state->claim->IsReservedFor("u-p"));
    }
  }
  EXPECT_EQ(writer_->Stats().claim_writes, 5u) << "the read is none";
  EXPECT_EQ(writer_->Stats().claim_write_failures, 0u);
  EXPECT_EQ(writer_->Stats().volume_writes, 0u);
  EXPECT_EQ(writer_->Stats().binds_pending, 0u);
}

// What waits keeps nothing else waiting.
TEST_F(WriterClaimsTest, ARequestIsSentAfterItsWait) {
  Restart({.bind_in_flight = 1});
  ClaimOutcome late;
  api::ClaimRequest request = Request(Verb::kGet);
  request.after = std::chrono::seconds(2);
  writer_->SendClaimRequest(request, late.Handler());
  EXPECT_EQ(net_.transport.size(), 0u);
  ClaimOutcome other;
  EXPECT_EQ(Send(Verb::kPatch, other), 0u);
  net_.transport.Answer(0, 200, ResourceClaimJson("8"));
  EXPECT_EQ(other.Text(), "8");
  net_.timers.Advance(std::chrono::milliseconds(1999));
  EXPECT_EQ(net_.transport.size(), 1u);
  net_.timers.Advance(std::chrono::milliseconds(1));
  ASSERT_EQ(net_.transport.size(), 2u);
  net_.transport.Answer(1, 200, ResourceClaimJson("9"));
  EXPECT_EQ(late.Text(), "9");
}

TEST_F(WriterClaimsTest, ADrainWaitsForNoWait) {
  ClaimOutcome late;
  api::ClaimRequest request = Request(Verb::kGet);
  request.after = std::chrono::seconds(2);
  writer_->SendClaimRequest(request, late.Handler());
  EXPECT_FALSE(writer_->Drain(Duration::zero()));
  EXPECT_EQ(net_.transport.size(), 0u);
  ASSERT_EQ(late.state->calls, 1);
  EXPECT_EQ(late.state->error->message, "the writer is shut down");
}

TEST_F(WriterClaimsTest, AnAnswerIsFinal) {
  for (const int status : {403, 404, 409, 422, 429}) {
    for (const Verb verb : {Verb::kPatchStatus, Verb::kCreate, Verb::kDelete}) {
      SCOPED_TRACE(status);
      ClaimOutcome outcome;
      const size_t sent = Send(verb, outcome);
      net_.transport.Answer(sent, status, StatusBody(status, "", "no"));
      net_.timers.Settle();
      EXPECT_EQ(outcome.Text(), std::to_string(status));
      EXPECT_EQ(outcome.state->error->message, "no");
      EXPECT_EQ(net_.transport.size(), sent + 1);
    }
  }
  EXPECT_EQ(writer_->Stats().claim_write_failures, 15u);
  EXPECT_EQ(writer_->Stats().claim_writes, 0u);
}

TEST_F(WriterClaimsTest, AConflictIsToldAsItIs) {
  ClaimOutcome outcome;
  const size_t sent = Send(Verb::kPatchStatus, outcome);
  net_.transport.UncertainNext();
  net_.transport.Answer(sent, 409, StatusBody(409, "Conflict", "the object has been modified"));
  EXPECT_EQ(net_.transport.size(), sent + 1) << "nobody asks whose doing it was";
  EXPECT_EQ(outcome.Text(), "409");
  EXPECT_TRUE(outcome.state->error->IsConflict());
}

TEST_F(WriterClaimsTest, PassingFailuresAreTriedAgain) {
  for (const Verb verb :
       {Verb::kGet, Verb::kCreate, Verb::kPatch, Verb::kPatchStatus, Verb::kDelete}) {
    SCOPED_TRACE(static_cast<int>(verb));
    ClaimOutcome outcome;
    const size_t sent = Send(verb, outcome);
    net_.transport.Answer(sent, 500, StatusBody(500, "InternalError", "boom"));
    Wait();
    net_.transport.Answer(sent + 1, 503, StatusBody(503, "ServiceUnavailable", "boom"));
    Wait();
    net_.transport.Fail(sent + 2, Kind::kRefused);
    Wait();
    ASSERT_EQ(net_.transport.size(), sent + 4);
    EXPECT_EQ(Line(sent + 3), Line(sent));
    EXPECT_EQ(net_.transport.request(sent + 3).body, net_.transport.request(sent).body);
    EXPECT_EQ(outcome.Text(), "-");
    net_.transport.Answer(sent + 3, 200, ResourceClaimJson("9"));
    EXPECT_EQ(outcome.Text(), verb == Verb::kDelete ? "ok" : "9");
  }
}

TEST_F(WriterClaimsTest, TriesEnd) {
  ClaimOutcome outcome;
  const size_t sent = Send(Verb::kPatchStatus, outcome);
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(net_.transport.size(), sent + i + 1);
    net_.transport.Answer(sent + i, 500, StatusBody(500, "InternalError", "boom"));
    if (i < 3) Wait();
  }
  EXPECT_EQ(outcome.Text(), "500");
}

TEST_F(WriterClaimsTest, TheServerMayAskForPatience) {
  for (const Verb verb : {Verb::kPatchStatus, Verb::kCreate}) {
    ClaimOutcome outcome;
    const size_t sent = Send(verb, outcome);
    net_.transport.Answer(sent, 429, StatusBody(429, "TooManyRequests", "later"), "2");
    net_.timers.Advance(std::chrono::seconds(2));
    ASSERT_EQ(net_.transport.size(), sent + 2);
    EXPECT_EQ(net_.transport.at(sent + 1) - net_.transport.at(sent), std::chrono::seconds(2));
    net_.transport.Answer(sent + 1, 200, ResourceClaimJson("9"));
    EXPECT_EQ(outcome.Text(), "9");
  }
}

// It may have been carried out when its answer is lost: it is sent again all the same.
TEST_F(WriterClaimsTest, AWriteWithoutAnswerIsSentAgain) {
  for (const Verb verb : {Verb::kPatchStatus, Verb::kCreate}) {
    for (const Kind kind : {Kind::kLost, Kind::kTimedOut, Kind::kRefused}) {
      ClaimOutcome outcome;
      const size_t sent = Send(verb, outcome);
      net_.transport.Fail(sent, kind);
      Wait();
      ASSERT_EQ(net_.transport.size(), sent + 2);
      EXPECT_EQ(Line(sent + 1), Line(sent));
      EXPECT_EQ(net_.transport.request(sent + 1).body, net_.transport.request(sent).body);
      net_.transport.Answer(sent + 1, 409, StatusBody(409, "Conflict", "modified"));
      EXPECT_EQ(outcome.Text(), "409");
    }
  }
}

// The server carried the first try out and went down.
TEST_F(WriterClaimsTest, ThatALaterTryIsRefusedDoesNotTellWhatBecameOfTheFirst) {
  ClaimOutcome outcome;
  const size_t sent = Send(Verb::kPatchStatus, outcome);
  net_.transport.Fail(sent, Kind::kLost);
  for (size_t i = 1; i < 4; ++i) {
    Wait();
    ASSERT_EQ(net_.transport.size(), sent + i + 1);
    net_.transport.Fail(sent + i, Kind::kRefused);
  }
  ASSERT_EQ(outcome.Text(), "0");
  EXPECT_FALSE(outcome.state->error->connection_refused);
}

TEST_F(WriterClaimsTest, NorThatItIsForbidden) {
  ClaimOutcome outcome;
  const size_t sent = Send(Verb::kPatchStatus, outcome);
  net_.transport.Answer(sent, 503, StatusBody(503, "ServiceUnavailable", "boom"));
  Wait();
  net_.transport.Answer(sent + 1, 403, StatusBody(403, "Forbidden", "not any more"));
  EXPECT_EQ(outcome.Text(), "0");
  EXPECT_EQ(outcome.state->error->message, "not any more");
}

TEST_F(WriterClaimsTest, ATryThatNobodyHeardWasNotCarriedOut) {
  ClaimOutcome outcome;
  const size_t sent = Send(Verb::kPatchStatus, outcome);
  for (size_t i = 0; i < 4; ++i) {
    net_.transport.Fail(sent + i, Kind::kRefused);
    if (i < 3) Wait();
  }
  ASSERT_EQ(outcome.Text(), "0");
  EXPECT_TRUE(outcome.state->error->connection_refused);
}

TEST_F(WriterClaimsTest, AnAnswerWithoutAClaimIsAnError) {
  for (const char* const body : {"", "[]", R"({"kind":"Pod","apiVersion":"v1"})"}) {
    SCOPED_TRACE(body);
    ClaimOutcome outcome;
    net_.transport.Answer(Send(Verb::kPatch, outcome), 200, body);
    ASSERT_EQ(outcome.state->calls, 1);
    EXPECT_EQ(outcome.state->claim, nullptr);
    ASSERT_TRUE(outcome.state->error.has_value());
    EXPECT_TRUE(outcome.state->error->message.starts_with("the answer holds no ResourceClaim: "))
        << outcome.state->error->message;
  }
}

TEST_F(WriterClaimsTest, TheFenceKeepsWritesBack) {
  Restart({.fence = std::make_shared<WriteFence>(net_.timers.clock())});
  for (const Verb verb : {Verb::kPatch, Verb::kPatchStatus, Verb::kCreate, Verb::kDelete}) {
    ClaimOutcome outcome;
    writer_->SendClaimRequest(Request(verb), outcome.Handler());
    net_.timers.Advance(std::chrono::seconds(10));
    EXPECT_EQ(net_.transport.size(), 0u);
    ASSERT_EQ(outcome.state->calls, 1);
    ASSERT_TRUE(outcome.state->error.has_value());
    EXPECT_EQ(outcome.state->error->message, WriteFence::kRefusal);
  }
  EXPECT_EQ(writer_->Stats().fenced, 4u);
  ClaimOutcome read;
  net_.transport.Answer(Send(Verb::kGet, read), 200, ResourceClaimJson("9"));
  EXPECT_EQ(read.Text(), "9") << "a question is no write";
}

TEST_F(WriterClaimsTest, TheLaneIsThatOfBindings) {
  Restart({.bind_in_flight = 1});
  writer_->Bind(MakePod().Name("p").Obj(), "n1", nullptr);
  ClaimOutcome outcome;
  Send(Verb::kPatchStatus, outcome);
  ASSERT_EQ(net_.transport.size(), 1u);
  EXPECT_EQ(writer_->Stats().binds_pending, 2u);
  net_.transport.Answer(0, 201, "{}");
  ASSERT_EQ(net_.transport.size(), 2u);
  net_.transport.Answer(1, 200, ResourceClaimJson("9"));
  EXPECT_EQ(outcome.Text(), "9");
}

TEST_F(WriterClaimsTest, TheEndCancelsWhatIsInFlightQueuedAndWaiting) {
  Restart({.bind_in_flight = 2});
  ClaimOutcome in_flight;
  ClaimOutcome waiting;
  ClaimOutcome queued;
  Send(Verb::kPatchStatus, in_flight);
  const size_t sent = Send(Verb::kPatchStatus, waiting);
  net_.transport.Answer(sent, 500, StatusBody(500, "InternalError", "boom"));
  writer_->SendClaimRequest(Request(Verb::kPatch), queued.Handler());
  EXPECT_FALSE(writer_->Drain(Duration::zero()));
  EXPECT_EQ(net_.transport.size(), 2u);
  for (const ClaimOutcome& outcome : {in_flight, waiting, queued}) {
    ASSERT_EQ(outcome.state->calls, 1);
    EXPECT_TRUE(outcome.state->error.has_value());
    EXPECT_EQ(outcome.state->claim, nullptr);
  }
  ClaimOutcome late;
  writer_->SendClaimRequest(Request(Verb::kPatch), late.Handler());
  net_.timers.Settle();
  ASSERT_EQ(late.state->calls, 1);
  EXPECT_EQ(late.state->error->message, "the writer is shut down");
}

}  // namespace
}  // namespace ks::client
