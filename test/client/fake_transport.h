// SPDX-License-Identifier: Apache-2.0
#pragma once
// A transport that sends nothing: the test sees the requests and gives the answers, in virtual
// time. Callbacks run on the thread of the fake timers, as those of the real transport run on its
// own.

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/decode/decoder.h"
#include "base/check.h"
#include "base/mutex.h"
#include "client/auth/credentials.h"
#include "client/http/transport.h"
#include "client/rest/rest_client.h"
#include "testing/fake_timers.h"

namespace ks::client {

class FakeTransport final : public Transport {
 public:
  explicit FakeTransport(ks::testing::FakeTimers& timers) : timers_(timers) {}

  std::shared_ptr<Exchange> Send(HttpRequest request, HttpReplyHandler done) override {
    return Add(std::move(request), std::move(done), nullptr);
  }
  std::shared_ptr<Exchange> OpenStream(HttpRequest request,
                                       std::shared_ptr<StreamSink> sink) override {
    return Add(std::move(request), nullptr, std::move(sink));
  }

  // Everything asked for so far.
  size_t size() {
    MutexLock lock(mutex_);
    return sent_.size();
  }
  HttpRequest request(size_t i) { return At(i)->request; }
  // Virtual time since the transport was made.
  Duration at(size_t i) { return At(i)->at - start_; }
  bool canceled(size_t i) { return At(i)->canceled; }
  bool open(size_t i) { return !At(i)->over; }

  void Answer(size_t i, int status, std::string body, std::string retry_after = "") {
    HttpReply reply;
    reply.response.status = status;
    reply.response.retry_after = std::move(retry_after);
    reply.response.body = std::move(body);
    reply.response.body.reserve(reply.response.body.size() + api::kJsonPadding);
    reply.uncertain = std::exchange(next_uncertain_, false);
    At(i)->Finish(std::move(reply));
    timers_.Settle();
  }
  // An answer in protobuf, in pieces of so many bytes, to whoever reads it as it comes.
  void AnswerInPieces(size_t i, const std::string& body, size_t piece_bytes) {
    auto sent = At(i);
    HttpReply reply;
    reply.response.status = 200;
    reply.response.content_type = kProtobufType;
    KS_CHECK(sent->request.reader->Begin(reply.response), "a reader that takes protobuf");
    for (size_t at = 0; at < body.size(); at += piece_bytes) {
      sent->request.reader->OnPiece(std::string_view(body).substr(at, piece_bytes));
    }
    sent->Finish(std::move(reply));
    timers_.Settle();
  }
  void Fail(size_t i, TransportError::Kind kind, std::string message = "scripted failure") {
    HttpReply reply;
    reply.error = TransportError{kind, std::move(message)};
    At(i)->Finish(std::move(reply));
    timers_.Settle();
  }
  // The next answer follows a first sending that was lost.
  void UncertainNext() { next_uncertain_ = true; }

  // Streams.
  void Headers(size_t i, int status, std::string retry_after = "") {
    HttpResponse head;
    head.status = status;
    head.retry_after = std::move(retry_after);
    auto sent = At(i);
    timers_.Schedule(Duration::zero(), [sent, head] { sent->sink->OnHeaders(head); });
    timers_.Settle();
  }
  void Data(size_t i, std::string data) {
    auto sent = At(i);
    timers_.Schedule(Duration::zero(),
                     [sent, data = std::move(data)] { sent->sink->OnData(data); });
    timers_.Settle();
  }
  void End(size_t i, std::optional<TransportError::Kind> kind = std::nullopt) {
    HttpReply reply;
    if (kind.has_value()) reply.error = TransportError{*kind, "scripted end"};
    At(i)->Finish(std::move(reply));
    timers_.Settle();
  }

 private:
  struct Sent final : Exchange, std::enable_shared_from_this<Sent> {
    explicit Sent(ks::testing::FakeTimers& t) : timers(t) {}
    void Cancel() override {
      canceled = true;
      HttpReply reply;
      reply.error = TransportError{TransportError::Kind::kCanceled, "request canceled"};
      Finish(std::move(reply));
    }
    void Resume() override {}
    // Once; later calls are ignored.
    void Finish(HttpReply reply) {
      if (over.exchange(true)) return;
      timers.Schedule(Duration::zero(),
                      [self = shared_from_this(), reply = std::move(reply)]() mutable {
                        if (self->sink != nullptr) {
                          self->sink->OnEnd(std::move(reply.error));
                        } else {
                          self->done(std::move(reply));
                        }
                      });
    }

    ks::testing::FakeTimers& timers;
    HttpRequest request;
    HttpReplyHandler done;
    std::shared_ptr<StreamSink> sink;
    TimePoint at;
    std::atomic<bool> canceled{false};
    std::atomic<bool> over{false};
  };

  std::shared_ptr<Exchange> Add(HttpRequest request, HttpReplyHandler done,
                                std::shared_ptr<StreamSink> sink) {
    auto sent = std::make_shared<Sent>(timers_);
    sent->request = std::move(request);
    sent->done = std::move(done);
    sent->sink = std::move(sink);
    sent->at = timers_.clock().Now();
    MutexLock lock(mutex_);
    sent_.push_back(sent);
    return sent;
  }
  std::shared_ptr<Sent> At(size_t i) {
    MutexLock lock(mutex_);
    KS_CHECK(i < sent_.size(), "no request number " + std::to_string(i));
    return sent_[i];
  }

  ks::testing::FakeTimers& timers_;
  const TimePoint start_ = timers_.clock().Now();
  bool next_uncertain_ = false;

  Mutex mutex_;
  std::vector<std::shared_ptr<Sent>> sent_ KS_GUARDED_BY(mutex_);
};

// Everything a RestClient needs, in virtual time.
struct FakeNetwork {
  ks::testing::FakeTimers timers;
  FakeTransport transport{timers};
  std::unique_ptr<Credentials> credentials = NewAnonymousCredentials();

  std::unique_ptr<RestClient> Client(RestOptions options = {.qps = -1}) {
    return std::make_unique<RestClient>(transport, *credentials, timers, std::move(options));
  }
};

inline std::string StatusBody(int code, const std::string& reason, const std::string& message) {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" +
         message + R"(","reason":")" + reason + R"(","code":)" + std::to_string(code) + "}";
}

}  // namespace ks::client
