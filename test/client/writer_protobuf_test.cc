// SPDX-License-Identifier: Apache-2.0
// Bodies in protobuf where the server takes it (docs/decisions/0053), in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/proto/proto_bodies.h"
#include "api/proto/proto_envelope.h"
#include "client/fake_transport.h"
#include "client/write/writer.h"
#include "testing/builders.h"

namespace ks::client {
namespace {

using ks::testing::MakePod;
using ::testing::StartsWith;

constexpr int kRefused = 415;

class WriterProtobufTest : public ::testing::Test {
 protected:
  WriterProtobufTest()
      : scheduling_(net_.Client(Options())),
        events_(net_.Client(Options())),
        writer_(std::make_unique<Writer>(
            *scheduling_, *events_,
            WriterOptions{.host_name = "host1", .gathering = Duration::zero()})) {}

  static RestOptions Options() {
    return {.qps = -1, .accept = std::string(kProtobufOrJson), .send_protobuf = true};
  }

  void Bind(const std::string& pod) {
    writer_->Bind(MakePod().Name(pod).Namespace("ns").Uid("u1").Obj(), "n1",
                  [this](const std::optional<api::ApiError>& error) {
                    ++(error.has_value() ? failed_ : bound_);
                  });
  }
  void Record(const std::string& pod) {
    writer_->RecordEvent({.regarding = MakePod().Name(pod).Namespace("ns").Uid(pod).Obj(),
                          .reporting_controller = "default-scheduler",
                          .reason = "Scheduled",
                          .action = "Binding",
                          .note = "n"});
    net_.timers.Settle();
  }
  std::string Header(size_t i, const std::string& name) {
    for (const auto& [key, value] : net_.transport.request(i).headers) {
      if (key == name) return value;
    }
    return "";
  }
  std::string Body(size_t i) { return net_.transport.request(i).body; }
  std::string KindOf(size_t i) {
    api::ProtoEnvelope envelope;
    const std::string body = Body(i);
    return api::ReadEnvelope(body, envelope) ? std::string(envelope.kind) : "";
  }
  void Refuse(size_t i) {
    net_.transport.Answer(i, kRefused, StatusBody(kRefused, "UnsupportedMediaType", "no"));
  }

  int bound_ = 0;
  int failed_ = 0;
  FakeNetwork net_;
  std::unique_ptr<RestClient> scheduling_;
  std::unique_ptr<RestClient> events_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(WriterProtobufTest, Binding) {
  const api::PodPtr pod = MakePod().Name("p").Namespace("ns").Uid("u1").Obj();
  Bind("p");
  EXPECT_EQ(Body(0), api::BindingProto(*pod, "n1"));
  EXPECT_EQ(Header(0, "Content-Type"), kProtobufType);
  EXPECT_EQ(Header(0, "Accept"), kProtobufOrJson);
  net_.transport.Answer(0, 201, "");
  EXPECT_EQ(bound_, 1);
}

TEST_F(WriterProtobufTest, EventAndTheUpdateOfItsSeries) {
  Record("p");
  EXPECT_EQ(KindOf(0), "Event");
  EXPECT_EQ(Header(0, "Content-Type"), kProtobufType);
  net_.transport.Answer(0, 201, "");
  Record("p");
  EXPECT_THAT(Body(1), StartsWith(R"({"series":{"count":2,)"));
  EXPECT_EQ(Header(1, "Content-Type"), "application/strategic-merge-patch+json");
  // The event is gone: it is created again, as JSON.
  net_.transport.Answer(1, 404, StatusBody(404, "NotFound", "gone"));
  net_.timers.Settle();
  EXPECT_THAT(Body(2), StartsWith(R"({"series":{"count":2,)"));
  EXPECT_EQ(Header(2, "Content-Type"), kJsonType);
}

TEST_F(WriterProtobufTest, RefusedBindingsAreSentAgainAsJsonAndSoAreLaterOnes) {
  Bind("p");
  Bind("q");
  Refuse(0);
  Refuse(1);
  net_.timers.Settle();
  ASSERT_EQ(net_.transport.size(), 4u);
  for (size_t i = 2; i < 4; ++i) {
    EXPECT_THAT(Body(i), StartsWith(R"({"kind":"Binding")"));
    EXPECT_EQ(Header(i, "Content-Type"), kJsonType);
    net_.transport.Answer(i, 201, "{}");
  }
  Bind("r");
  EXPECT_THAT(Body(4), StartsWith(R"({"kind":"Binding")"));
  net_.transport.Answer(4, 201, "{}");
  EXPECT_EQ(bound_, 3);
  EXPECT_EQ(failed_, 0);
  EXPECT_EQ(writer_->Stats().bind_retries, 0u);
}

TEST_F(WriterProtobufTest, RefusedEventsAreSentAgainAsJsonAndSoAreLaterOnes) {
  Record("p");
  Refuse(0);
  net_.timers.Settle();
  ASSERT_EQ(net_.transport.size(), 2u);
  EXPECT_THAT(Body(1), StartsWith(R"({"kind":"Event")"));
  net_.transport.Answer(1, 201, "{}");
  Record("q");
  EXPECT_THAT(Body(2), StartsWith(R"({"kind":"Event")"));
  net_.transport.Answer(2, 201, "{}");
  EXPECT_EQ(writer_->Stats().events_sent, 2u);
  EXPECT_EQ(writer_->Stats().events_failed, 0u);
}

// A body that is JSON already is not sent once more.
TEST_F(WriterProtobufTest, RefusedJsonIsAFailure) {
  Bind("p");
  Refuse(0);
  net_.timers.Settle();
  Refuse(1);
  net_.timers.Settle();
  EXPECT_EQ(failed_, 1);
  EXPECT_EQ(net_.transport.size(), 2u);
}

TEST_F(WriterProtobufTest, EventsOfCoreV1StayJson) {
  writer_ = std::make_unique<Writer>(
      *scheduling_, *events_,
      WriterOptions{.host_name = "host1", .gathering = Duration::zero(), .legacy_events = true});
  Record("p");
  EXPECT_THAT(Body(0), StartsWith(R"({"kind":"Event","apiVersion":"v1")"));
}

}  // namespace
}  // namespace ks::client
