// SPDX-License-Identifier: Apache-2.0
// Writing volumes and claims (framework/api_writer.h), in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/fake_transport.h"
#include "client/write/writer.h"

namespace ks::client {
namespace {

using Kind = TransportError::Kind;
using ::testing::Contains;

const std::string kConflict =
    StatusBody(409, "Conflict", "Operation cannot be fulfilled: the object has been modified");

api::PersistentVolumePtr BoundVolume() {
  auto volume = std::make_shared<api::PersistentVolume>();
  volume->meta.name = "pv1";
  volume->meta.uid = "u1";
  volume->meta.resource_version = "7";
  volume->bound_by_controller = true;
  volume->claim_ref = api::ClaimReference{"PersistentVolumeClaim", "v1", "ns", "x", "uid-x", "5"};
  return volume;
}

api::PersistentVolumeClaimPtr PinnedClaim() {
  auto claim = std::make_shared<api::PersistentVolumeClaim>();
  claim->meta.name = "x";
  claim->meta.ns = Symbol("ns");
  claim->meta.uid = "uid-x";
  claim->meta.resource_version = "5";
  claim->selected_node = "n1";
  return claim;
}

std::string VolumeJson(const std::string& version, const std::string& claim_uid) {
  return R"({"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"pv1","uid":"u1",)"
         R"("resourceVersion":")" +
         version + R"("},"spec":{"claimRef":{"namespace":"ns","name":"x","uid":")" + claim_uid +
         R"("}}})";
}

std::string ClaimJson(const std::string& version, const std::string& node) {
  return R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"x",)"
         R"("namespace":"ns","uid":"uid-x","resourceVersion":")" +
         version + R"(","annotations":{"volume.kubernetes.io/selected-node":")" + node +
         R"("}},"spec":{}})";
}

// What a callback was called with.
struct Outcome {
  struct State {
    int calls = 0;
    std::optional<api::ApiError> error;
    std::string version;
  };
  std::shared_ptr<State> state = std::make_shared<State>();

  framework::ApiWriter::WriteDone Handler() const {
    return [state = state](std::optional<api::ApiError> error, std::string version) {
      ++state->calls;
      state->error = std::move(error);
      state->version = std::move(version);
    };
  }
  // "9" for a success with that version, "409" for an error, "-" without an answer.
  std::string Text() const {
    if (state->calls != 1) return state->calls == 0 ? "-" : "called twice";
    return state->error ? std::to_string(state->error->code) : state->version;
  }
};

class WriterStorageTest : public ::testing::Test {
 protected:
  WriterStorageTest() : scheduling_(net_.Client()), events_(net_.Client()) { Restart({}); }

  void Restart(WriterOptions options) {
    writer_ = std::make_unique<Writer>(*scheduling_, *events_, options);
  }
  std::string Line(size_t i) {
    const HttpRequest request = net_.transport.request(i);
    return request.method + " " + request.target;
  }

  FakeNetwork net_;
  std::unique_ptr<RestClient> scheduling_;
  std::unique_ptr<RestClient> events_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(WriterStorageTest, AVolume) {
  Outcome outcome;
  writer_->WriteVolume(BoundVolume(), outcome.Handler());
  EXPECT_EQ(Line(0), "PATCH /api/v1/persistentvolumes/pv1");
  EXPECT_THAT(net_.transport.request(0).headers,
              Contains(std::pair<std::string, std::string>("Content-Type",
                                                           "application/merge-patch+json")));
  EXPECT_EQ(net_.transport.request(0).body,
            R"({"metadata":{"resourceVersion":"7",)"
            R"("annotations":{"pv.kubernetes.io/bound-by-controller":"yes"}},)"
            R"("spec":{"claimRef":{"kind":"PersistentVolumeClaim","namespace":"ns","name":"x",)"
            R"("uid":"uid-x","apiVersion":"v1","resourceVersion":"5","fieldPath":null}}})");
  net_.transport.Answer(0, 200, VolumeJson("9", "uid-x"));
  EXPECT_EQ(outcome.Text(), "9");
  EXPECT_EQ(writer_->Stats().volume_writes, 1u);
  EXPECT_EQ(writer_->Stats().binds, 0u) << "not a binding";
  EXPECT_EQ(writer_->Stats().binds_pending, 0u);
}

TEST_F(WriterStorageTest, AClaim) {
  Outcome outcome;
  writer_->WriteClaim(PinnedClaim(), outcome.Handler());
  EXPECT_EQ(Line(0), "PATCH /api/v1/namespaces/ns/persistentvolumeclaims/x");
  EXPECT_EQ(net_.transport.request(0).body,
            R"({"metadata":{"resourceVersion":"5",)"
            R"("annotations":{"volume.kubernetes.io/selected-node":"n1"}}})");
  net_.transport.Answer(0, 200, ClaimJson("6", "n1"));
  EXPECT_EQ(outcome.Text(), "6");
}

TEST_F(WriterStorageTest, AnAnswerIsFinal) {
  for (const int status : {404, 409, 422, 429}) {
    SCOPED_TRACE(status);
    const size_t before = net_.transport.size();
    Outcome outcome;
    writer_->WriteClaim(PinnedClaim(), outcome.Handler());
    net_.transport.Answer(before, status, StatusBody(status, "Reason", "no"));
    EXPECT_EQ(outcome.Text(), std::to_string(status));
    EXPECT_EQ(net_.transport.size(), before + 1);
  }
  EXPECT_EQ(writer_->Stats().volume_write_failures, 4u);
  EXPECT_EQ(writer_->Stats().volume_writes, 0u);
}

// The write may have taken effect although its answer says otherwise, or never came.
TEST_F(WriterStorageTest, WhatMayHaveHappenedIsLookedAt) {
  struct Case {
    std::string found;
    std::string want;
  };
  const Case cases[] = {{VolumeJson("9", "uid-x"), "9"}, {VolumeJson("8", "other"), "409"}};
  for (const Case& row : cases) {
    SCOPED_TRACE(row.want);
    const size_t before = net_.transport.size();
    Outcome outcome;
    writer_->WriteVolume(BoundVolume(), outcome.Handler());
    net_.transport.UncertainNext();
    net_.transport.Answer(before, 409, kConflict);
    ASSERT_EQ(net_.transport.size(), before + 2);
    EXPECT_EQ(Line(before + 1), "GET /api/v1/persistentvolumes/pv1");
    net_.transport.Answer(before + 1, 200, row.found);
    EXPECT_EQ(outcome.Text(), row.want);
  }
  const size_t before = net_.transport.size();
  Outcome lost;
  writer_->WriteClaim(PinnedClaim(), lost.Handler());
  net_.transport.Fail(before, Kind::kLost);
  ASSERT_EQ(net_.transport.size(), before + 2);
  EXPECT_EQ(Line(before + 1), "GET /api/v1/namespaces/ns/persistentvolumeclaims/x");
  net_.transport.Answer(before + 1, 200, ClaimJson("6", "n1"));
  EXPECT_EQ(lost.Text(), "6");
}

TEST_F(WriterStorageTest, ARefusedConnectionIsTriedAgain) {
  Outcome outcome;
  writer_->WriteClaim(PinnedClaim(), outcome.Handler());
  net_.transport.Fail(0, Kind::kRefused);
  net_.timers.Advance(net_.timers.UntilNext());
  ASSERT_EQ(net_.transport.size(), 2u);
  EXPECT_EQ(Line(1), Line(0));
  net_.transport.Answer(1, 200, ClaimJson("6", "n1"));
  EXPECT_EQ(outcome.Text(), "6");
}

// ---- where patches are forbidden ----

std::string Forbidden(const std::string& verb) {
  return StatusBody(403, "Forbidden", "cannot " + verb);
}

// As VolumeJson, with what kubesched does not know.
std::string WholeVolume(const std::string& version) {
  return R"({"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"pv1","uid":"u1",)"
         R"("resourceVersion":")" +
         version +
         R"(","managedFields":[{"manager":"m"}]},"spec":{"zeta":1.5,"csi":{"driver":"d"},)"
         R"("claimRef":{"fieldPath":"old"},"alpha":[1,null]}})";
}

TEST_F(WriterStorageTest, ForbiddenToPatchItPutsTheWholeObject) {
  Outcome outcome;
  writer_->WriteVolume(BoundVolume(), outcome.Handler());
  net_.transport.Answer(0, 403, Forbidden("patch"));
  ASSERT_EQ(net_.transport.size(), 2u);
  EXPECT_EQ(Line(1), "GET /api/v1/persistentvolumes/pv1");
  net_.transport.Answer(1, 200, WholeVolume("7"));
  ASSERT_EQ(net_.transport.size(), 3u);
  EXPECT_EQ(Line(2), "PUT /api/v1/persistentvolumes/pv1");
  EXPECT_EQ(
      net_.transport.request(2).body,
      R"({"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"pv1","uid":"u1",)"
      R"("resourceVersion":"7","managedFields":[{"manager":"m"}],)"
      R"("annotations":{"pv.kubernetes.io/bound-by-controller":"yes"}},)"
      R"("spec":{"zeta":1.5,"csi":{"driver":"d"},)"
      R"("claimRef":{"kind":"PersistentVolumeClaim","namespace":"ns","name":"x","uid":"uid-x",)"
      R"("apiVersion":"v1","resourceVersion":"5"},"alpha":[1,null]}})");
  net_.transport.Answer(2, 200, VolumeJson("9", "uid-x"));
  EXPECT_EQ(outcome.Text(), "9");
  EXPECT_EQ(writer_->Stats().volume_writes, 1u);
}

TEST_F(WriterStorageTest, WhatWorkedIsRememberedForTheResource) {
  Outcome first;
  writer_->WriteVolume(BoundVolume(), first.Handler());
  net_.transport.Answer(0, 403, Forbidden("patch"));
  net_.transport.Answer(1, 200, WholeVolume("7"));
  net_.transport.Answer(2, 200, VolumeJson("9", "uid-x"));

  Outcome second;
  writer_->WriteVolume(BoundVolume(), second.Handler());
  EXPECT_EQ(Line(3), "GET /api/v1/persistentvolumes/pv1");
  Outcome claim;
  writer_->WriteClaim(PinnedClaim(), claim.Handler());
  EXPECT_EQ(Line(4), "PATCH /api/v1/namespaces/ns/persistentvolumeclaims/x");

  // Somebody exchanged the rights.
  net_.transport.Answer(3, 200, WholeVolume("7"));
  net_.transport.Answer(5, 403, Forbidden("update"));
  EXPECT_EQ(Line(6), "PATCH /api/v1/persistentvolumes/pv1");
  net_.transport.Answer(6, 200, VolumeJson("9", "uid-x"));
  EXPECT_EQ(second.Text(), "9");
  writer_->WriteVolume(BoundVolume(), Outcome().Handler());
  EXPECT_EQ(Line(7), "PATCH /api/v1/persistentvolumes/pv1");
}

TEST_F(WriterStorageTest, ForbiddenBothWaysTheFirstRefusalIsTold) {
  for (const bool may_read : {true, false}) {
    SCOPED_TRACE(may_read);
    const size_t before = net_.transport.size();
    Outcome outcome;
    writer_->WriteVolume(BoundVolume(), outcome.Handler());
    EXPECT_EQ(Line(before), "PATCH /api/v1/persistentvolumes/pv1") << "nothing is remembered";
    net_.transport.Answer(before, 403, Forbidden("patch"));
    if (may_read) {
      net_.transport.Answer(before + 1, 200, WholeVolume("7"));
      net_.transport.Answer(before + 2, 403, Forbidden("update"));
    } else {
      net_.transport.Answer(before + 1, 403, Forbidden("get"));
    }
    ASSERT_EQ(outcome.Text(), "403");
    EXPECT_EQ(outcome.state->error->message, "cannot patch");
  }
}

TEST_F(WriterStorageTest, AnotherVersionIsAConflictAndNotWrittenOver) {
  Outcome outcome;
  writer_->WriteVolume(BoundVolume(), outcome.Handler());
  net_.transport.Answer(0, 403, Forbidden("patch"));
  net_.transport.Answer(1, 200, WholeVolume("8"));
  EXPECT_EQ(net_.transport.size(), 2u);
  ASSERT_EQ(outcome.Text(), "409");
  EXPECT_TRUE(outcome.state->error->IsConflict());
  EXPECT_EQ(outcome.state->error->message,
            "Operation cannot be fulfilled on persistentvolumes \"pv1\": the object has been "
            "modified; please apply your changes to the latest version and try again");
}

// The first PUT was carried out, but its answer was not heard.
TEST_F(WriterStorageTest, APutThatMayHaveHappenedIsRecognized) {
  Outcome outcome;
  writer_->WriteVolume(BoundVolume(), outcome.Handler());
  net_.transport.Answer(0, 403, Forbidden("patch"));
  net_.transport.Answer(1, 200, WholeVolume("7"));
  net_.transport.Answer(2, 500, StatusBody(500, "InternalError", "lost"));
  net_.timers.Advance(net_.timers.UntilNext());
  ASSERT_EQ(net_.transport.size(), 4u);
  EXPECT_EQ(Line(3), "GET /api/v1/persistentvolumes/pv1");
  net_.transport.Answer(3, 200, VolumeJson("9", "uid-x"));
  EXPECT_EQ(net_.transport.size(), 4u);
  EXPECT_EQ(outcome.Text(), "9");
}

TEST_F(WriterStorageTest, TheFenceKeepsItBack) {
  Restart({.fence = std::make_shared<WriteFence>(net_.timers.clock())});
  Outcome outcome;
  writer_->WriteVolume(BoundVolume(), outcome.Handler());
  net_.timers.Settle();
  EXPECT_EQ(net_.transport.size(), 0u);
  EXPECT_EQ(outcome.state->calls, 1);
  EXPECT_TRUE(outcome.state->error.has_value());
}

TEST_F(WriterStorageTest, AWriterThatIsShutDownRefuses) {
  writer_->Drain(Duration::zero());
  Outcome outcome;
  writer_->WriteClaim(PinnedClaim(), outcome.Handler());
  net_.timers.Settle();
  ASSERT_EQ(outcome.state->calls, 1);
  EXPECT_EQ(outcome.state->error->message, "the writer is shut down");
}

}  // namespace
}  // namespace ks::client
