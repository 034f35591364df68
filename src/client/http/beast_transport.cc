// SPDX-License-Identifier: Apache-2.0
// The transport over Boost.Beast: one thread, which everything below runs on unless it says
// otherwise, so that nothing here takes a lock but for the task after deliveries.
#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>
#include <unordered_map>

#include "api/decode/decoder.h"
#include "base/logging.h"
#include "base/mutex.h"
#include "client/http/http_connection.h"
#include "client/http/inflater.h"
#include "client/http/transport_parts.h"
#include "golang/url.h"

namespace ks::client {
namespace {

namespace asio = boost::asio;
using Kind = TransportError::Kind;

class BeastCall;

// What calls share: the thread, the kept connections, the timer. Outlives the transport as long as
// somebody holds an exchange.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(ServerUrl server, TransportOptions transport_options)
      : url(std::move(server)), options(std::move(transport_options)) {}

  // Threads: any for these three, Start first.
  Result<void> Start();
  template <class Task>
  void Post(Task task) {
    asio::post(context_, std::move(task));
  }
  void CancelAllAndJoin();

  void Add(std::shared_ptr<BeastCall> call);
  void Remove(BeastCall* call);
  // New settings replace the current ones and end the streams of the old ones, so that everything
  // authenticates anew. Null: the current ones stay.
  Result<void> Use(const std::shared_ptr<const TlsConfig>& tls);
  uint64_t generation() const { return settings_->generation; }
  std::shared_ptr<HttpConnection> NewConnection() {
    return std::make_shared<HttpConnection>(context_, settings_);
  }
  // A kept connection that is alive, else a new one.
  std::shared_ptr<HttpConnection> Take();
  void Release(std::shared_ptr<HttpConnection> connection);
  bool HasKept() const { return !kept_.empty(); }
  // One of them turned out to be dead, and the others have been idle for as long.
  void DropKept();
  // Threads: any.
  void SetAfterDelivery(const std::function<void()>& task) KS_EXCLUDES(after_mutex_);
  // A handler or a sink has been called.
  void Delivered();
  // Deadlines are looked at then, at the latest.
  void WakeAt(TimePoint when);
  bool closed() const { return closed_; }

  const ServerUrl url;
  const TransportOptions options;

 private:
  std::vector<std::shared_ptr<BeastCall>> Calls() const;
  void OnTimer();
  void AfterDelivery() KS_EXCLUDES(after_mutex_);
  void Close();

  asio::io_context context_{1};
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  std::thread thread_;
  asio::steady_timer timer_{context_};
  TimePoint wake_ = TimePoint::max();  // of timer_; max: not set
  std::shared_ptr<const TlsConfig> tls_;
  std::shared_ptr<const ConnectionSettings> settings_;
  std::vector<std::shared_ptr<HttpConnection>> kept_;  // the one used last is taken first
  std::unordered_map<BeastCall*, std::shared_ptr<BeastCall>> active_;
  bool closed_ = false;
  std::atomic<bool> has_after_{false};
  bool after_comes_ = false;  // AfterDelivery is posted
  Mutex after_mutex_;
  std::function<void()> after_ KS_GUARDED_BY(after_mutex_);
};

// One exchange, from the first sending to its final callback.
class BeastCall final : public Exchange,
                        public HttpConnection::User,
                        public std::enable_shared_from_this<BeastCall> {
 public:
  BeastCall(std::shared_ptr<Engine> engine, HttpRequest request, HttpReplyHandler done,
            std::shared_ptr<StreamSink> sink)
      : engine_(std::move(engine)),
        request_(std::move(request)),
        done_(std::move(done)),
        sink_(std::move(sink)) {}

  // Threads: any.
  void Cancel() override {
    engine_->Post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->CancelFor(Kind::kCanceled);
    });
  }
  void Resume() override {
    engine_->Post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->ResumeNow();
    });
  }

  void Begin();
  // kLost: new settings took over. Also ends a pause.
  void CancelFor(Kind reason);
  // Ends it if its time is over, or the peer was silent for too long.
  void Check(TimePoint now);
  // When to check again.
  TimePoint Due() const;
  bool IsStreamBefore(uint64_t generation) const {
    return sink_ != nullptr && connection_ != nullptr && connection_->generation() < generation;
  }

  bool MayWrite() override { return request_.fence == nullptr || request_.fence->IsOpen(); }
  void OnWrite() override { written_ = true; }
  void OnHead(const HttpResponse& head, bool gzip) override;
  StreamSink::Flow OnBody(std::string_view piece) override;
  void OnEnd(std::optional<TransportError> error) override;

 private:
  void Send();
  void ResumeNow();
  bool IsWellFormed() const;
  std::string Text() const;
  void Read(std::string_view piece) {
    request_.reader->OnPiece(piece);
    reply_.response.read_bytes += piece.size();
  }
  void Failed(TransportError error);
  void Finish(std::optional<TransportError> error);

  const std::shared_ptr<Engine> engine_;
  const HttpRequest request_;
  HttpReplyHandler done_;                       // requests
  std::shared_ptr<StreamSink> sink_;            // streams
  std::shared_ptr<HttpConnection> connection_;  // null: nothing is under way
  TimePoint deadline_ = TimePoint::max();
  std::optional<Inflater> inflater_;
  bool written_ = false;   // in this sending, bytes left
  bool repeated_ = false;  // this is the second sending
  bool told_ = false;      // the sink has the headers
  bool broken_ = false;    // the body does not unpack
  bool is_read_ = false;   // the body is request_.reader's
  HttpReply reply_;
};

// ---- BeastCall ----

void BeastCall::Begin() {
  if (engine_->closed()) return Finish(CancelError(Kind::kCanceled));
  if (!IsWellFormed()) {
    return Finish(TransportError{
        Kind::kOther, "invalid request: white space or control characters in target or header"});
  }
  const Result<void> used = engine_->Use(request_.tls);
  if (!used.ok()) return Finish(TransportError{Kind::kTls, used.error().message});
  if (request_.timeout > Duration::zero()) {
    deadline_ = RealClock().Now() + request_.timeout;
    engine_->WakeAt(deadline_);
  }
  Send();
}

void BeastCall::Send() {
  if (!MayWrite()) return Finish(TransportError{Kind::kFenced, WriteFence::kRefusal});
  written_ = false;
  const bool kept_will_do = request_.repeat_when_lost && !repeated_;
  connection_ = kept_will_do ? engine_->Take() : engine_->NewConnection();
  // An address that cannot be called, say, ends the call in Run.
  const std::shared_ptr<BeastCall> self = shared_from_this();
  const std::shared_ptr<HttpConnection> connection = connection_;
  connection->Run(*this, Text(), request_.method == "HEAD",
                  sink_ ? engine_->options.stream_idle_timeout : engine_->options.idle_timeout);
  engine_->WakeAt(connection->expires());
}

// A line break in a token read from a file, say, must not begin another header.
bool BeastCall::IsWellFormed() const {
  const auto breaks = [](char c) { return c == '\r' || c == '\n' || c == '\0'; };
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; };
  for (const auto& [name, value] : request_.headers) {
    if (std::any_of(name.begin(), name.end(), blank)) return false;
    if (std::any_of(value.begin(), value.end(), breaks)) return false;
  }
  return !request_.target.empty() &&
         std::none_of(request_.target.begin(), request_.target.end(), blank) &&
         std::none_of(request_.method.begin(), request_.method.end(), blank);
}

std::string BeastCall::Text() const {
  std::string text;
  text.reserve(512 + request_.target.size() + request_.body.size());
  text.append(request_.method).append(" ");
  const Proxy* const proxy = engine_->options.proxy.get();
  const bool passed_on = proxy != nullptr && !proxy->Tunnels(engine_->url);
  if (passed_on) text.append("http://").append(engine_->url.host_field);
  text.append(engine_->url.prefix).append(request_.target);
  text.append(" HTTP/1.1\r\nHost: ").append(engine_->url.host_field).append("\r\n");
  bool authorized = false;
  for (const auto& [name, value] : request_.headers) {
    text.append(name).append(": ").append(value).append("\r\n");
    authorized = authorized || name == "Authorization";
  }
  // The user of the URL counts only where there is no other login.
  if (!authorized && !engine_->url.authorization.empty()) {
    text.append("Authorization: ").append(engine_->url.authorization).append("\r\n");
  }
  if (passed_on && proxy->user.has_value()) {
    text.append("Proxy-Authorization: ")
        .append(golang::BasicAuthorization(*proxy->user))
        .append("\r\n");
  }
  if (request_.accept_gzip) text.append("Accept-Encoding: gzip\r\n");
  if (!request_.body.empty() || (request_.method != "GET" && request_.method != "HEAD")) {
    text.append("Content-Length: ").append(std::to_string(request_.body.size())).append("\r\n");
  }
  return text.append("\r\n").append(request_.body);
}

void BeastCall::OnHead(const HttpResponse& head, bool gzip) {
  reply_.response = head;
  if (sink_) {
    told_ = true;
    deadline_ = TimePoint::max();
    sink_->OnHeaders(head);
    engine_->Delivered();
    return;
  }
  if (gzip && request_.accept_gzip) inflater_.emplace();
  is_read_ = request_.reader != nullptr && request_.reader->Begin(head);
}

StreamSink::Flow BeastCall::OnBody(std::string_view piece) {
  if (sink_) {
    engine_->Delivered();
    return sink_->OnData(piece);
  }
  std::string& body = reply_.response.body;
  if (inflater_.has_value()) {
    broken_ = broken_ || !inflater_->Add(piece, &body);
    if (!is_read_) return StreamSink::Flow::kContinue;
    Read(body);
    body.clear();
  } else if (is_read_) {
    Read(piece);
  } else {
    const size_t wanted = body.size() + piece.size() + api::kJsonPadding;
    if (body.capacity() < wanted) body.reserve(std::max(2 * body.capacity(), wanted));
    body.append(piece);
  }
  return StreamSink::Flow::kContinue;
}

void BeastCall::OnEnd(std::optional<TransportError> error) {
  const std::shared_ptr<HttpConnection> connection = std::move(connection_);
  connection_ = nullptr;
  // What was made for this request alone would let the pool grow with each.
  const bool was_extra = !request_.repeat_when_lost && engine_->HasKept();
  if (connection->IsKept() && !was_extra) engine_->Release(connection);
  if (error.has_value()) return Failed(std::move(*error));
  if (broken_ || (inflater_.has_value() && !inflater_->IsDone())) {
    return Failed({Kind::kMalformed, "malformed HTTP response: the body is no gzip"});
  }
  Finish(std::nullopt);
}

void BeastCall::ResumeNow() {
  const std::shared_ptr<HttpConnection> connection = connection_;
  if (connection == nullptr) return;
  connection->Resume();
  engine_->WakeAt(connection->expires());
}

void BeastCall::CancelFor(Kind reason) {
  if (connection_ == nullptr) return;  // over: between two sendings nobody else runs
  connection_->Abort();
  connection_ = nullptr;
  Finish(CancelError(reason));
}

void BeastCall::Check(TimePoint now) {
  if (deadline_ <= now) return CancelFor(Kind::kTimedOut);
  const std::shared_ptr<HttpConnection> connection = connection_;
  if (connection != nullptr && connection->expires() <= now) connection->Expire();
}

TimePoint BeastCall::Due() const {
  return connection_ == nullptr ? deadline_ : std::min(deadline_, connection_->expires());
}

void BeastCall::Failed(TransportError error) {
  if (error.kind == Kind::kLost) engine_->DropKept();
  if (error.kind != Kind::kLost || !request_.repeat_when_lost || repeated_ || told_) {
    return Finish(std::move(error));
  }
  KS_LOG(4, "Connection lost, sending again",
         {{"server", engine_->url.Authority()}, {"cause", error.message}});
  repeated_ = true;
  reply_ = HttpReply();
  reply_.uncertain = written_;
  inflater_.reset();
  broken_ = false;
  Send();
}

void BeastCall::Finish(std::optional<TransportError> error) {
  if (error.has_value()) error->message = WithRequest(engine_->url, request_, error->message);
  const std::shared_ptr<BeastCall> self = shared_from_this();
  engine_->Remove(this);
  engine_->Delivered();
  if (sink_) {
    sink_->OnEnd(std::move(error));
    sink_ = nullptr;
    return;
  }
  std::string& body = reply_.response.body;
  if (body.capacity() < body.size() + api::kJsonPadding) {
    body.reserve(body.size() + api::kJsonPadding);
  }
  reply_.error = std::move(error);
  const HttpReplyHandler done = std::move(done_);
  done_ = nullptr;
  done(std::move(reply_));
}

// ---- Engine ----

Result<void> Engine::Start() {
  tls_ = options.tls ? options.tls : std::make_shared<const TlsConfig>();
  auto made = ConnectionSettings::Make(url, options, *tls_);
  if (!made.ok()) return made.error();
  settings_ = *made;
  work_.emplace(context_.get_executor());
  thread_ = std::thread([this] { context_.run(); });
  return {};
}

void Engine::CancelAllAndJoin() {
  Post([this] { Close(); });
  thread_.join();
}

void Engine::Close() {
  closed_ = true;
  DropKept();
  for (const std::shared_ptr<BeastCall>& call : Calls()) call->CancelFor(Kind::kCanceled);
  timer_.cancel();
  work_.reset();
}

void Engine::Add(std::shared_ptr<BeastCall> call) {
  BeastCall* const begun = call.get();
  active_.emplace(begun, std::move(call));
  begun->Begin();
}

void Engine::Remove(BeastCall* call) { active_.erase(call); }

std::vector<std::shared_ptr<BeastCall>> Engine::Calls() const {
  std::vector<std::shared_ptr<BeastCall>> calls;
  for (const auto& [key, call] : active_) calls.push_back(call);
  return calls;
}

Result<void> Engine::Use(const std::shared_ptr<const TlsConfig>& tls) {
  if (tls == nullptr || tls == tls_ || tls->generation <= tls_->generation) return {};
  auto made = ConnectionSettings::Make(url, options, *tls);
  if (!made.ok()) return made.error();
  tls_ = tls;
  settings_ = *made;
  DropKept();
  for (const std::shared_ptr<BeastCall>& call : Calls()) {
    if (call->IsStreamBefore(generation())) call->CancelFor(Kind::kLost);
  }
  return {};
}

std::shared_ptr<HttpConnection> Engine::Take() {
  if (kept_.empty()) return NewConnection();
  std::shared_ptr<HttpConnection> connection = std::move(kept_.back());
  kept_.pop_back();
  if (connection->IsUsable()) return connection;
  DropKept();
  return NewConnection();
}

void Engine::Release(std::shared_ptr<HttpConnection> connection) {
  if (closed_ || connection->generation() != generation()) return;
  WakeAt(connection->expires());
  kept_.push_back(std::move(connection));
}

void Engine::DropKept() { kept_.clear(); }

void Engine::WakeAt(TimePoint when) {
  if (when >= wake_ || closed_) return;
  wake_ = when;
  timer_.expires_after(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(when - RealClock().Now()));
  timer_.async_wait([self = weak_from_this()](const boost::system::error_code& error) {
    const std::shared_ptr<Engine> engine = self.lock();
    if (!error && engine != nullptr) engine->OnTimer();
  });
}

void Engine::SetAfterDelivery(const std::function<void()>& task) {
  const MutexLock lock(after_mutex_);
  after_ = task;
  has_after_.store(after_ != nullptr, std::memory_order_relaxed);
}

// As a handler of its own it comes after those that are due already, and what it posts here wakes
// nobody.
void Engine::Delivered() {
  if (after_comes_ || !has_after_.load(std::memory_order_relaxed)) return;
  after_comes_ = true;
  asio::post(context_, [self = shared_from_this()] { self->AfterDelivery(); });
}

void Engine::AfterDelivery() {
  after_comes_ = false;
  const MutexLock lock(after_mutex_);
  if (after_ != nullptr) after_();
}

void Engine::OnTimer() {
  const TimePoint now = RealClock().Now();
  wake_ = TimePoint::max();
  std::erase_if(kept_, [now](const auto& connection) { return connection->expires() <= now; });
  for (const std::shared_ptr<BeastCall>& call : Calls()) call->Check(now);
  TimePoint next = TimePoint::max();
  for (const auto& [key, call] : active_) next = std::min(next, call->Due());
  for (const auto& connection : kept_) next = std::min(next, connection->expires());
  WakeAt(next);
}

class BeastTransport final : public Transport {
 public:
  explicit BeastTransport(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}
  ~BeastTransport() override { engine_->CancelAllAndJoin(); }

  std::shared_ptr<Exchange> Send(HttpRequest request, HttpReplyHandler done) override {
    return Start(std::move(request), std::move(done), nullptr);
  }
  std::shared_ptr<Exchange> OpenStream(HttpRequest request,
                                       std::shared_ptr<StreamSink> sink) override {
    return Start(std::move(request), nullptr, std::move(sink));
  }

  bool RunSoon(const std::function<void()>& task) override {
    engine_->Post(task);
    return true;
  }
  bool SetAfterDelivery(const std::function<void()>& task) override {
    engine_->SetAfterDelivery(task);
    return true;
  }

 private:
  std::shared_ptr<Exchange> Start(HttpRequest request, HttpReplyHandler done,
                                  std::shared_ptr<StreamSink> sink) {
    auto call =
        std::make_shared<BeastCall>(engine_, std::move(request), std::move(done), std::move(sink));
    Engine* const engine = engine_.get();
    engine->Post([engine, call]() mutable { engine->Add(std::move(call)); });
    return call;
  }

  const std::shared_ptr<Engine> engine_;
};

}  // namespace

Result<std::unique_ptr<Transport>> NewBeastTransport(TransportOptions options) {
  Result<ServerUrl> url = ParseServerUrl(options.server);
  if (!url.ok()) return url.error();
  auto engine = std::make_shared<Engine>(std::move(*url), std::move(options));
  Result<void> started = engine->Start();
  if (!started.ok()) return started.error();
  return std::unique_ptr<Transport>(std::make_unique<BeastTransport>(std::move(engine)));
}

}  // namespace ks::client
