// SPDX-License-Identifier: Apache-2.0
#include "client/rest/rest_client.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "api/decode/decoder.h"
#include "base/canary.h"
#include "base/logging.h"
#include "base/mutex.h"
#include "base/text.h"
#include "client/rest/reply_slot.h"
#include "client/rest/rest_metrics.h"
#include "client/rest/token_bucket.h"

namespace ks::client {
namespace {

constexpr int kMostRepetitions = 10;
constexpr Duration kLostWait = std::chrono::seconds(1);
// Waits for the client's own rate limit: noted, shown at once, and how often at most.
constexpr Duration kNotableWait = std::chrono::milliseconds(50);
constexpr Duration kLongWait = std::chrono::seconds(1);
constexpr Duration kTellAgain = std::chrono::seconds(10);
constexpr size_t kMostErrorBody = 1 << 20;  // of a refused watch
constexpr int kUnsupportedMediaType = 415;

using Kind = TransportError::Kind;

bool IsSuccess(int status) { return status >= 200 && status < 300; }

// A plain integer only; a date means no repetition.
std::optional<int> RetryAfterSeconds(const std::string& text) {
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || seconds < 0) {
    return std::nullopt;
  }
  return seconds;
}

api::ApiError FromTransport(const TransportError& failure) {
  api::ApiError error;
  error.message = failure.message;
  error.connection_refused = failure.kind == Kind::kRefused;
  error.timed_out = failure.kind == Kind::kTimedOut;
  return error;
}

api::ApiError FromResponse(const RestRequest& request, const HttpResponse& response) {
  const std::string verb = request.verb.empty() ? LowerCase(request.method) : request.verb;
  api::ApiError error = api::Decoder::DecodeStatus(response.status, response.body, verb,
                                                   request.resource, request.name);
  if (const std::optional<int> seconds = RetryAfterSeconds(response.retry_after)) {
    if (error.retry_after_seconds < 0) error.retry_after_seconds = *seconds;
  }
  return error;
}

HttpRequest ToHttp(const RestRequest& request, const RestOptions& options, const Access& access) {
  HttpRequest http{.method = request.method,
                   .target = request.target,
                   .headers = access.headers,
                   .body = request.body,
                   .timeout = request.timeout,
                   .accept_gzip = request.accept_gzip,
                   .reader = request.reader,
                   .tls = access.tls,
                   .fence = request.fence};
  http.headers.emplace_back("Accept",
                            request.decoded ? std::string_view(options.accept) : kJsonType);
  if (!options.user_agent.empty()) http.headers.emplace_back("User-Agent", options.user_agent);
  if (!request.body.empty()) http.headers.emplace_back("Content-Type", request.content_type);
  if (!request.traceparent.empty()) http.headers.emplace_back("traceparent", request.traceparent);
  return http;
}

// Ends early when the client goes away.
class Running : public Exchange {
 public:
  virtual void Begin() = 0;
};

}  // namespace

// Outlives the client object while calls run.
struct RestClient::State {
  State(Transport& t, Credentials& c, TimerService& ts, RestOptions o)
      : transport(t),
        credentials(c),
        timers(ts),
        options(std::move(o)),
        sends_protobuf(options.send_protobuf),
        bucket(options.qps, options.burst) {}

  // For a sending with this method.
  Duration TakeToken(const std::string& method) {
    MutexLock lock(mutex);
    const Duration wait = bucket.Take(timers.clock().Now());
    if (options.metrics != nullptr) options.metrics->ObserveRateLimit(method, wait);
    return wait;
  }

  // Code 0: without an answer.
  void Count(const std::string& method, int code) const {
    if (options.metrics != nullptr) options.metrics->CountRequest(method, code);
  }

  // Whether a body was refused for being protobuf: then the next ones are not.
  bool IsFormRefused(const RestRequest& request, int code) {
    if (code != kUnsupportedMediaType || request.content_type != kProtobufType) return false;
    sends_protobuf = false;
    return true;
  }

  // Whether a long wait is worth a line: at most one in ten seconds is.
  bool TellNow() {
    MutexLock lock(mutex);
    const TimePoint now = timers.clock().Now();
    if (told && now - *told < kTellAgain) return false;
    told = now;
    return true;
  }

  void Start(const std::shared_ptr<Running>& call) {
    bool cancel = false;
    {
      MutexLock lock(mutex);
      active.emplace(call.get(), call);
      cancel = closed;
    }
    if (cancel) call->Cancel();
    call->Begin();
  }

  void Remove(Running* call) {
    std::shared_ptr<Running> last;  // destroyed after the lock
    MutexLock lock(mutex);
    const auto it = active.find(call);
    if (it == active.end()) return;
    last = std::move(it->second);
    active.erase(it);
    if (active.empty()) empty.NotifyAll();
  }

  void CancelAllAndWait() {
    std::vector<std::shared_ptr<Running>> calls;
    {
      MutexLock lock(mutex);
      closed = true;
      for (const auto& [key, call] : active) calls.push_back(call);
    }
    for (const std::shared_ptr<Running>& call : calls) call->Cancel();
    calls.clear();
    MutexLock lock(mutex);
    while (!active.empty()) empty.Wait(mutex);
  }

  Transport& transport;
  Credentials& credentials;
  TimerService& timers;
  const RestOptions options;
  std::atomic<bool> sends_protobuf;

  Mutex mutex;
  CondVar empty;
  TokenBucket bucket KS_GUARDED_BY(mutex);
  std::optional<TimePoint> told KS_GUARDED_BY(mutex);  // of a long wait
  std::unordered_map<Running*, std::shared_ptr<Running>> active KS_GUARDED_BY(mutex);
  bool closed KS_GUARDED_BY(mutex) = false;
};

namespace {

// The part that requests and watches share: wait for a token or a pause, get credentials, send, all
// cancellable in between.
class Attempt : public Running, public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(TimerService& timers, Credentials& credentials)
      : timers_(timers), credentials_(credentials) {}

  void Resume() override {
    if (const std::shared_ptr<Exchange> exchange = Current()) exchange->Resume();
  }

  void Cancel() override {
    std::shared_ptr<Exchange> exchange;
    TimerId timer = 0;
    {
      MutexLock lock(mutex_);
      if (canceled_) return;
      canceled_ = true;
      exchange = exchange_;
      timer = timer_;
    }
    if (timer != 0 && timers_.Cancel(timer)) {
      // Nothing else will come: end here, but not inside the caller's call.
      timers_.Schedule(Duration::zero(), [self = shared_from_this()] { self->Canceled(); });
    } else if (exchange != nullptr) {
      exchange->Cancel();
    }
  }

 protected:
  // Sends now or after `wait`: ends in Ready, Refused or Canceled.
  void SendAfter(Duration wait) {
    auto task = [self = shared_from_this()] { self->Authorize(); };
    if (wait <= Duration::zero()) {
      Authorize();
      return;
    }
    MutexLock lock(mutex_);
    timer_ = timers_.Schedule(canceled_ ? Duration::zero() : wait, std::move(task));
  }

  // Keeps the exchange for Cancel and Resume. A sending may be answered, and the next one begun,
  // before this call.
  void SetExchange(uint64_t sending, const std::shared_ptr<Exchange>& exchange) {
    bool cancel = false;
    {
      MutexLock lock(mutex_);
      if (sending != sending_) return;
      exchange_ = exchange;
      cancel = canceled_;
    }
    if (cancel) exchange->Cancel();
  }

  // The final callback is about to run. The exchange owns its callback, which owns this object: let
  // go of it.
  void Over() {
    std::shared_ptr<Exchange> last;  // destroyed after the lock
    MutexLock lock(mutex_);
    ++sending_;
    last.swap(exchange_);
  }

  bool IsCanceled() {
    MutexLock lock(mutex_);
    return canceled_;
  }

  std::shared_ptr<Exchange> Current() {
    MutexLock lock(mutex_);
    return exchange_;
  }

  // Sends, then calls SetExchange with `sending`.
  virtual void Ready(uint64_t sending, Access access) = 0;
  virtual void Refused(const std::string& message) = 0;
  virtual void Canceled() = 0;

  TimerService& timers_;

 private:
  void Authorize() {
    uint64_t sending = 0;
    bool canceled = false;
    {
      MutexLock lock(mutex_);
      timer_ = 0;
      exchange_.reset();
      sending = ++sending_;
      canceled = canceled_;
    }
    if (canceled) {
      timers_.Schedule(Duration::zero(), [self = shared_from_this()] { self->Canceled(); });
      return;
    }
    credentials_.Get([self = shared_from_this(), sending](Result<Access> access) {
      if (access.ok()) {
        self->Ready(sending, std::move(*access));
        return;
      }
      self->timers_.Schedule(Duration::zero(),
                             [self, message = access.error().message] { self->Refused(message); });
    });
  }

  Credentials& credentials_;

  Mutex mutex_;
  bool canceled_ KS_GUARDED_BY(mutex_) = false;
  TimerId timer_ KS_GUARDED_BY(mutex_) = 0;
  uint64_t sending_ KS_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<Exchange> exchange_ KS_GUARDED_BY(mutex_);
};

}  // namespace

class RestClient::Call final : public Attempt {
 public:
  Call(std::shared_ptr<State> state, RestRequest request, RestHandler done)
      : Attempt(state->timers, state->credentials),
        state_(std::move(state)),
        request_(std::move(request)),
        done_(std::move(done)) {}

  void Begin() override {
    began_ = timers_.clock().Now();
    const Duration wait = state_->TakeToken(request_.method);
    if (wait > kNotableWait) TellOfWait(wait);
    SendAfter(wait);
  }

 private:
  // The limit that was set for this client holds it back.
  void TellOfWait(Duration wait) {
    const int level = wait > kLongWait && state_->TellNow() ? 0 : 3;
    KS_LOG(level, "Waited before sending request",
           {{"delay", FormatDuration(wait)},
            {"reason", "client-side throttling, not priority and fairness"},
            {"verb", request_.method},
            {"URL", request_.target}});
  }

  void Ready(uint64_t sending, Access access) override {
    access_ = std::move(access);
    auto self = std::static_pointer_cast<Call>(shared_from_this());
    if (request_.fence != nullptr && !request_.fence->IsOpen() && !KS_CANARY(FenceNotAsked)) {
      timers_.Schedule(Duration::zero(), [self] { self->Fenced(); });
      return;
    }
    SetExchange(sending, state_->transport.Send(
                             ToHttp(request_, state_->options, access_),
                             [self](HttpReply reply) { self->Answered(std::move(reply)); }));
  }

  void Refused(const std::string& message) override {
    RestReply reply;
    reply.error.emplace();
    reply.error->message = message;
    Finish(std::move(reply));
  }

  void Canceled() override { Refused("request canceled"); }

  void Fenced() {
    RestReply reply;
    reply.fenced = true;
    reply.error.emplace();
    reply.error->message = WriteFence::kRefusal;
    Finish(std::move(reply));
  }

  void Answered(HttpReply http) {
    uncertain_ = uncertain_ || http.uncertain;
    state_->Count(request_.method, http.error.has_value() ? 0 : http.response.status);
    if (http.error.has_value()) {
      if (http.error->kind == Kind::kFenced) return Fenced();
      const bool lost = http.error->kind == Kind::kLost;
      if (lost) earlier_ = http.error->message;
      if (lost && request_.method == "GET" && RepeatAfter(kLostWait, 0)) return;
      RestReply reply;
      reply.error = FromTransport(*http.error);
      // The peer may have carried out a request whose answer is missing.
      uncertain_ = uncertain_ || lost || http.error->kind == Kind::kTimedOut;
      Finish(std::move(reply));
      return;
    }
    const HttpResponse& response = http.response;
    uncertain_ = uncertain_ || response.status >= 500;
    if (response.status == 401) state_->credentials.Rejected(access_);
    const std::optional<int> wait = RetryAfterSeconds(response.retry_after);
    if ((response.status == 429 || response.status >= 500) && wait.has_value()) {
      KS_LOG(4, "Repeating a request as the server asked",
             {{"target", request_.target}, {"code", response.status}, {"afterSeconds", *wait}});
      if (RepeatAfter(std::chrono::seconds(*wait), response.status)) return;
    }
    if (HostMetrics* const metrics = state_->options.metrics) {
      metrics->ObserveExchange(request_.method,
                               {.took = timers_.clock().Now() - began_,
                                .request_bytes = request_.body.size(),
                                .response_bytes = response.body.size() + response.read_bytes});
    }
    RestReply reply;
    reply.code = response.status;
    if (IsSuccess(response.status)) {
      reply.body = std::move(http.response.body);
    } else {
      reply.error = FromResponse(request_, response);
      reply.form_refused = state_->IsFormRefused(request_, response.status);
      if (!earlier_.empty()) {
        reply.error->message += " - error from a previous attempt: " + earlier_;
      }
    }
    Finish(std::move(reply));
  }

  // False when the repetitions are used up. `code`: that of the answer, 0 without one.
  bool RepeatAfter(Duration wait, int code) {
    if (IsCanceled() || repetitions_ == kMostRepetitions) return false;
    ++repetitions_;
    if (auto* metrics = state_->options.metrics) metrics->CountRepetition(request_.method, code);
    SendAfter(wait + state_->TakeToken(request_.method));
    return true;
  }

  void Finish(RestReply reply) {
    Over();
    reply.uncertain = uncertain_;
    RestHandler done = std::move(done_);
    done(std::move(reply));
    state_->Remove(this);
  }

  const std::shared_ptr<State> state_;
  const RestRequest request_;
  RestHandler done_;
  Access access_;
  TimePoint began_;
  int repetitions_ = 0;
  bool uncertain_ = false;
  std::string earlier_;  // transport error of an earlier sending
};

class RestClient::WatchCall final : public Attempt {
 public:
  WatchCall(std::shared_ptr<State> state, RestRequest request, std::shared_ptr<WatchSink> sink)
      : Attempt(state->timers, state->credentials),
        state_(std::move(state)),
        request_(std::move(request)),
        sink_(std::move(sink)) {}

  void Begin() override { SendAfter(Duration::zero()); }

 private:
  // Outlives the call on the transport's side; one per sending.
  class Stream final : public StreamSink {
   public:
    explicit Stream(std::shared_ptr<WatchCall> call) : call_(std::move(call)) {}
    void OnHeaders(const HttpResponse& head) override {
      head_ = head;
      call_->state_->Count(call_->request_.method, head.status);
      opened_ = IsSuccess(head.status);
      if (opened_) call_->sink_->OnOpened();
    }
    Flow OnData(std::string_view data) override {
      if (opened_) return call_->sink_->OnData(data);
      // The body of a refusal.
      if (head_.body.size() + data.size() <= kMostErrorBody) head_.body.append(data);
      return Flow::kContinue;
    }
    void OnEnd(std::optional<TransportError> error) override {
      call_->Ended(opened_, head_, std::move(error));
    }

   private:
    const std::shared_ptr<WatchCall> call_;
    HttpResponse head_;
    bool opened_ = false;
  };

  void Ready(uint64_t sending, Access access) override {
    access_ = std::move(access);
    auto self = std::static_pointer_cast<WatchCall>(shared_from_this());
    SetExchange(sending, state_->transport.OpenStream(ToHttp(request_, state_->options, access_),
                                                      std::make_shared<Stream>(std::move(self))));
  }

  void Refused(const std::string& message) override {
    api::ApiError error;
    error.message = message;
    Finish(std::move(error));
  }

  void Canceled() override { Refused("request canceled"); }

  void Ended(bool opened, const HttpResponse& head, std::optional<TransportError> error) {
    if (opened) {
      if (error.has_value()) {
        Finish(FromTransport(*error));
      } else {
        Finish(std::nullopt);
      }
      return;
    }
    if (head.status == 0) state_->Count(request_.method, 0);
    if (error.has_value() && head.status == 0) {
      const bool again = error->kind == Kind::kLost || error->kind == Kind::kTimedOut;
      if (again) earlier_ = error->message;
      if (again && RepeatAfter(kLostWait, 0)) return;
      Finish(FromTransport(*error));
      return;
    }
    if (head.status == 401) state_->credentials.Rejected(access_);
    const std::optional<int> wait = RetryAfterSeconds(head.retry_after);
    if ((head.status == 429 || head.status >= 500) && wait.has_value() &&
        RepeatAfter(std::chrono::seconds(*wait), head.status)) {
      return;
    }
    api::ApiError refusal = FromResponse(request_, head);
    if (!earlier_.empty()) refusal.message += " - error from a previous attempt: " + earlier_;
    Finish(std::move(refusal));
  }

  bool RepeatAfter(Duration wait, int code) {
    if (IsCanceled() || repetitions_ == kMostRepetitions) return false;
    ++repetitions_;
    if (auto* metrics = state_->options.metrics) metrics->CountRepetition(request_.method, code);
    // Never at once from inside the transport's callback: the sending before has to end first.
    SendAfter(std::max(wait, Duration(1)));
    return true;
  }

  void Finish(std::optional<api::ApiError> error) {
    Over();
    const std::shared_ptr<WatchSink> sink = std::move(sink_);
    sink->OnEnd(std::move(error));
    state_->Remove(this);
  }

  const std::shared_ptr<State> state_;
  const RestRequest request_;
  std::shared_ptr<WatchSink> sink_;
  Access access_;
  int repetitions_ = 0;
  std::string earlier_;
};

RestClient::RestClient(Transport& transport, Credentials& credentials, TimerService& timers,
                       RestOptions options)
    : state_(std::make_shared<State>(transport, credentials, timers, std::move(options))) {}

RestClient::~RestClient() { state_->CancelAllAndWait(); }

std::shared_ptr<Exchange> RestClient::Send(RestRequest request, RestHandler done) {
  auto call = std::make_shared<Call>(state_, std::move(request), std::move(done));
  state_->Start(call);
  return call;
}

std::shared_ptr<Exchange> RestClient::Watch(RestRequest request, std::shared_ptr<WatchSink> sink) {
  auto call = std::make_shared<WatchCall>(state_, std::move(request), std::move(sink));
  state_->Start(call);
  return call;
}

RestReply RestClient::SendAndWait(RestRequest request) {
  const auto slot = std::make_shared<ReplySlot<RestReply>>();
  Send(std::move(request), [slot](RestReply reply) { slot->Fill(std::move(reply)); });
  return slot->Take();
}

RestReply RestClient::Get(std::string target, Duration timeout) {
  return SendAndWait({.method = "GET", .target = std::move(target), .timeout = timeout});
}

RestReply RestClient::Post(std::string target, std::string body, Duration timeout) {
  return SendAndWait(
      {.method = "POST", .target = std::move(target), .body = std::move(body), .timeout = timeout});
}

RestReply RestClient::Put(std::string target, std::string body, Duration timeout) {
  return SendAndWait(
      {.method = "PUT", .target = std::move(target), .body = std::move(body), .timeout = timeout});
}

RestReply RestClient::Patch(std::string target, std::string body, std::string content_type,
                            Duration timeout) {
  return SendAndWait({.method = "PATCH",
                      .target = std::move(target),
                      .body = std::move(body),
                      .content_type = std::move(content_type),
                      .timeout = timeout});
}

RestReply RestClient::Delete(std::string target, Duration timeout) {
  return SendAndWait({.method = "DELETE", .target = std::move(target), .timeout = timeout});
}

bool RestClient::SendsProtobuf() const { return state_->sends_protobuf; }

const Clock& RestClient::clock() const { return state_->timers.clock(); }
TimerService& RestClient::timers() const { return state_->timers; }

void RestClient::RunSoon(std::function<void()> task) const {
  if (state_->transport.RunSoon(task)) return;
  state_->timers.Schedule(Duration::zero(), std::move(task));
}

}  // namespace ks::client
