// SPDX-License-Identifier: Apache-2.0
// The transport over cpprestsdk. The library's traps and their cures are commented where they bite;
// no exception and no task leaves this file.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "api/decode/decoder.h"
#include "base/logging.h"
#include "base/mutex.h"
#include "client/http/cpprest_clients.h"
#include "client/http/process_environment.h"
#include "client/http/transport_parts.h"

namespace ks::client {
namespace {

using Kind = TransportError::Kind;
using Bytes = concurrency::streams::details::streambuf_state_manager<uint8_t>;

// Runs continuations on the thread that completes the task (always one of the pool): saves a hop
// through the pool's queue for each.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"  // the library's interface has none
class InlineScheduler final : public pplx::scheduler_interface {
 public:
  void schedule(pplx::TaskProc_t proc, void* argument) override { proc(argument); }
};
#pragma GCC diagnostic pop

pplx::task_options Inline() {
  static InlineScheduler* const scheduler = new InlineScheduler();  // outlives the pool's threads
  return pplx::task_options(pplx::scheduler_ptr(scheduler));
}

// Runs the task on a thread of the pool, never from inside this call: requests are put together and
// connections set up there, not on the scheduler's thread; and a request sent from a handler finds
// the handler's connection back among the kept ones.
template <class Task>
void PostToPool(Task task) {
  crossplat::threadpool::shared_instance().service().post(std::move(task));
}

class Call;

// What calls share; outlives the transport object as long as one of them runs.
class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(ServerUrl server, TransportOptions transport_options, TimerService& timer_service)
      : url(std::move(server)), options(std::move(transport_options)), timers(timer_service) {}

  Result<void> Initialize();
  // The clients for a request with these settings (null: the current ones). New settings replace
  // the clients and end the streams of the old ones, so that everything authenticates anew.
  Result<std::shared_ptr<CpprestClients>> Clients(const std::shared_ptr<const TlsConfig>& tls);
  // Throws away clients whose kept connections turned out to be dead; calls in flight keep the old
  // ones alive.
  void Replace(const std::shared_ptr<CpprestClients>& dead);

  void Start(std::shared_ptr<Call> call);
  void Remove(Call* call);
  void CancelAllAndWait();

  const ServerUrl url;
  const TransportOptions options;
  TimerService& timers;

 private:
  int address_family_ = 0;  // constant after Initialize

  Mutex mutex_;
  CondVar empty_;
  std::shared_ptr<const TlsConfig> tls_ KS_GUARDED_BY(mutex_);
  std::shared_ptr<CpprestClients> clients_ KS_GUARDED_BY(mutex_);
  std::unordered_map<Call*, std::shared_ptr<Call>> active_ KS_GUARDED_BY(mutex_);
  bool closed_ KS_GUARDED_BY(mutex_) = false;
};

// One exchange, from the first sending to its final callback.
class Call final : public Exchange, public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<Core> core, HttpRequest request, HttpReplyHandler done,
       std::shared_ptr<StreamSink> sink)
      : core_(std::move(core)),
        request_(std::move(request)),
        done_(std::move(done)),
        sink_(std::move(sink)) {}

  void Cancel() override { CancelFor(Kind::kCanceled); }
  void Resume() override;

  // Also ends a pause. kLost: new settings took over.
  void CancelFor(Kind reason);
  bool IsStreamBefore(uint64_t generation) const;

  void Begin();
  // The body, a piece at a time; never two at once. The library reads no further before the task is
  // done.
  pplx::task<size_t> Data(const uint8_t* data, size_t size);

 private:
  void Send();
  web::http::client::http_client& ClientToUse();
  void ArmDeadline();
  void DisarmDeadline();
  void Headers(const pplx::task<web::http::http_response>& task);
  void BodyEnded(const pplx::task<web::http::http_response>& task);
  void Failed(TransportError error);
  void Finish(std::optional<TransportError> error);
  pplx::task<size_t> Push(std::string_view data);

  const std::shared_ptr<Core> core_;
  const HttpRequest request_;
  HttpReplyHandler done_;             // requests
  std::shared_ptr<StreamSink> sink_;  // streams
  std::shared_ptr<CpprestClients> clients_;
  std::unique_ptr<web::http::client::http_client> own_;  // of a request that may not be repeated
  std::atomic<uint64_t> tls_generation_ = UINT64_MAX;    // of clients_; UINT64_MAX: not begun
  std::atomic<int> sent_ = 0;                            // how often the whole request went out
  std::atomic<bool> fenced_ = false;                     // the fence kept the body back
  HttpReply reply_;

  Mutex mutex_;
  pplx::cancellation_token_source cancel_ KS_GUARDED_BY(mutex_);
  std::optional<Kind> cancel_reason_ KS_GUARDED_BY(mutex_);
  TimerId deadline_ KS_GUARDED_BY(mutex_) = 0;
  bool head_seen_ KS_GUARDED_BY(mutex_) = false;
  bool resumed_ KS_GUARDED_BY(mutex_) = false;  // a Resume that came before the pause
  std::optional<pplx::task_completion_event<size_t>> paused_ KS_GUARDED_BY(mutex_);
  size_t paused_size_ KS_GUARDED_BY(mutex_) = 0;
  std::string before_head_ KS_GUARDED_BY(mutex_);  // data that overtook the headers
};

// The response stream given to the library: output only, hands everything to the call.
class CallBuffer final : public Bytes {
 public:
  explicit CallBuffer(std::shared_ptr<Call> call)
      : Bytes(std::ios_base::out), call_(std::move(call)) {}

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(size_t, std::ios_base::openmode) override {}
  size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override {
    return static_cast<pos_type>(traits::eof());
  }
  pos_type seekpos(pos_type, std::ios_base::openmode) override {
    return static_cast<pos_type>(traits::eof());
  }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return static_cast<pos_type>(traits::eof());
  }
  bool acquire(uint8_t*&, size_t&) override { return false; }
  void release(uint8_t*, size_t) override {}

 protected:
  pplx::task<int_type> _putc(uint8_t byte) override {
    return call_->Data(&byte, 1).then([byte](size_t) { return static_cast<int_type>(byte); },
                                      Inline());
  }
  pplx::task<size_t> _putn(const uint8_t* data, size_t size) override {
    return call_->Data(data, size);
  }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  pplx::task<int_type> _bumpc() override { return End(); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return End(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return End(); }
  pplx::task<int_type> _ungetc() override { return End(); }
  pplx::task<size_t> _getn(uint8_t*, size_t) override { return pplx::task_from_result<size_t>(0); }
  size_t _scopy(uint8_t*, size_t) override { return 0; }
  uint8_t* _alloc(size_t) override { return nullptr; }
  void _commit(size_t) override {}

 private:
  static pplx::task<int_type> End() { return pplx::task_from_result<int_type>(traits::eof()); }

  const std::shared_ptr<Call> call_;
};

// ---- Call ----

void Call::Begin() {
  Result<std::shared_ptr<CpprestClients>> clients = core_->Clients(request_.tls);
  if (!clients.ok()) {
    Finish(TransportError{Kind::kTls, clients.error().message});
    return;
  }
  clients_ = *clients;
  tls_generation_ = clients_->generation;
  ArmDeadline();
  Send();
}

void Call::ArmDeadline() {
  if (request_.timeout <= Duration::zero()) return;
  std::weak_ptr<Call> weak = weak_from_this();
  const TimerId id = core_->timers.Schedule(request_.timeout, [weak] {
    if (const std::shared_ptr<Call> self = weak.lock()) self->CancelFor(Kind::kTimedOut);
  });
  MutexLock lock(mutex_);
  deadline_ = id;
}

void Call::DisarmDeadline() {
  TimerId id = 0;
  {
    MutexLock lock(mutex_);
    std::swap(id, deadline_);
  }
  if (id != 0) core_->timers.Cancel(id);
}

void Call::Send() {
  pplx::cancellation_token token = pplx::cancellation_token::none();
  {
    MutexLock lock(mutex_);
    token = cancel_.get_token();
  }
  if (request_.fence != nullptr && !request_.fence->IsOpen()) {
    return Finish(TransportError{Kind::kFenced, WriteFence::kRefusal});
  }
  try {
    web::http::http_request request(request_.method);
    request.set_request_uri(web::uri(request_.target));
    std::string content_type;
    for (const auto& [name, value] : request_.headers) {
      if (name == "Content-Type") {
        content_type = value;
      } else {
        request.headers().add(name, value);
      }
    }
    if (!clients_->host_header.empty()) request.headers().add("Host", clients_->host_header);
    if (!request_.body.empty()) request.set_body(request_.body, content_type);
    // On a kept connection that ends before the answer the library itself sends once more, and does
    // not say so: the peer may have carried out the first one.
    request.set_progress_handler([self = shared_from_this()](
                                     web::http::message_direction::direction direction,
                                     utility::size64_t size) {
      // Between headers and body: what is thrown here ends the exchange, and the peer sees a
      // request that breaks off.
      if (direction == web::http::message_direction::upload && size == 0 &&
          self->request_.fence != nullptr && !self->request_.fence->IsOpen()) {
        self->fenced_ = true;
        throw web::http::http_exception(WriteFence::kRefusal);
      }
      if (direction == web::http::message_direction::upload && size == self->request_.body.size()) {
        ++self->sent_;
      }
    });
    request.set_response_stream(
        concurrency::streams::streambuf<uint8_t>(std::make_shared<CallBuffer>(shared_from_this()))
            .create_ostream());
    ClientToUse()
        .request(request, token)
        .then([self = shared_from_this()](
                  const pplx::task<web::http::http_response>& task) { self->Headers(task); },
              Inline());
  } catch (...) {
    Failed(ClassifyException(*clients_, core_->url));
  }
}

web::http::client::http_client& Call::ClientToUse() {
  if (sink_) return *clients_->stream;
  if (!request_.repeat_when_lost) {
    // Only over a connection that carried nothing before does the library never send again.
    own_ = clients_->NewPlain();
    return *own_;
  }
  return request_.accept_gzip ? *clients_->gzip : *clients_->plain;
}

void Call::Headers(const pplx::task<web::http::http_response>& task) {
  try {
    const web::http::http_response response = task.get();
    HttpResponse& head = reply_.response;
    head.status = response.status_code();
    head.content_type = response.headers().content_type();
    const auto retry_after = response.headers().find("Retry-After");
    if (retry_after != response.headers().end()) head.retry_after = retry_after->second;
    if (sink_) {
      DisarmDeadline();
      sink_->OnHeaders(head);
    }
    std::optional<pplx::task_completion_event<size_t>> overtaken;
    std::string data;
    {
      MutexLock lock(mutex_);
      head_seen_ = true;
      data.swap(before_head_);
      if (!data.empty()) overtaken.swap(paused_);
    }
    response.content_ready().then(
        [self = shared_from_this()](const pplx::task<web::http::http_response>& body) {
          self->BodyEnded(body);
        },
        Inline());
    if (overtaken.has_value()) {
      const size_t size = data.size();
      const auto event = *overtaken;
      Push(data).then([event, size](size_t) { event.set(size); }, Inline());
    }
  } catch (...) {
    Failed(ClassifyException(*clients_, core_->url));
  }
}

pplx::task<size_t> Call::Data(const uint8_t* data, size_t size) {
  const std::string_view piece(reinterpret_cast<const char*>(data), size);
  if (!sink_) {
    std::string& body = reply_.response.body;
    if (body.capacity() < body.size() + size + api::kJsonPadding) {
      body.reserve(std::max(2 * body.capacity(), body.size() + size + api::kJsonPadding));
    }
    body.append(piece);
    return pplx::task_from_result(size);
  }
  {
    MutexLock lock(mutex_);
    // The library reads on while the continuation with the headers may still wait for a thread.
    if (!head_seen_) {
      before_head_ = piece;
      paused_.emplace();
      return pplx::create_task(*paused_);
    }
  }
  return Push(piece);
}

pplx::task<size_t> Call::Push(std::string_view data) {
  const size_t size = data.size();
  {
    MutexLock lock(mutex_);
    if (cancel_reason_.has_value()) return pplx::task_from_result(size);
    resumed_ = false;
  }
  if (sink_->OnData(data) == StreamSink::Flow::kContinue) return pplx::task_from_result(size);
  MutexLock lock(mutex_);
  if (resumed_ || cancel_reason_.has_value()) return pplx::task_from_result(size);
  paused_.emplace();
  paused_size_ = size;
  return pplx::create_task(*paused_);
}

void Call::Resume() {
  std::optional<pplx::task_completion_event<size_t>> paused;
  size_t size = 0;
  {
    MutexLock lock(mutex_);
    resumed_ = true;
    if (before_head_.empty()) paused.swap(paused_);
    size = paused_size_;
  }
  if (paused.has_value()) paused->set(size);
}

void Call::CancelFor(Kind reason) {
  std::optional<pplx::task_completion_event<size_t>> paused;
  size_t size = 0;
  pplx::cancellation_token_source cancel;
  {
    MutexLock lock(mutex_);
    if (cancel_reason_.has_value()) return;
    cancel_reason_ = reason;
    cancel = cancel_;
    paused.swap(paused_);
    size = before_head_.empty() ? paused_size_ : before_head_.size();
    before_head_.clear();
  }
  cancel.cancel();
  // The library waits for the sink before it sees the cancellation.
  if (paused.has_value()) paused->set(size);
}

bool Call::IsStreamBefore(uint64_t generation) const {
  return sink_ != nullptr && tls_generation_ < generation;
}

void Call::BodyEnded(const pplx::task<web::http::http_response>& task) {
  try {
    task.get();
  } catch (...) {
    Failed(ClassifyException(*clients_, core_->url));
    return;
  }
  Finish(std::nullopt);
}

void Call::Failed(TransportError error) {
  bool repeat = false;
  {
    MutexLock lock(mutex_);
    if (cancel_reason_.has_value()) {
      error = CancelError(*cancel_reason_);
    } else if (fenced_) {
      error = {Kind::kFenced, WriteFence::kRefusal};
    } else {
      const bool nothing_delivered = !sink_ || !head_seen_;
      repeat = error.kind == Kind::kLost && request_.repeat_when_lost && !reply_.uncertain &&
               nothing_delivered;
    }
  }
  // The kept connections are probably as dead, and each would fail once.
  if (error.kind == Kind::kLost) core_->Replace(clients_);
  if (!repeat) {
    Finish(std::move(error));
    return;
  }
  KS_LOG(4, "Connection lost, sending again",
         {{"server", core_->url.Authority()}, {"cause", error.message}});
  reply_.uncertain = true;
  reply_.response = HttpResponse();
  PostToPool([self = shared_from_this()] {
    Result<std::shared_ptr<CpprestClients>> clients = self->core_->Clients(nullptr);
    if (clients.ok()) self->clients_ = *clients;
    self->tls_generation_ = self->clients_->generation;
    {
      MutexLock lock(self->mutex_);
      self->head_seen_ = false;
    }
    self->Send();
  });
}

void Call::Finish(std::optional<TransportError> error) {
  DisarmDeadline();
  if (error.has_value()) error->message = WithRequest(core_->url, request_, error->message);
  if (sink_) {
    sink_->OnEnd(std::move(error));
  } else {
    reply_.uncertain = reply_.uncertain || sent_ > 1;
    std::string& body = reply_.response.body;
    if (body.capacity() < body.size() + api::kJsonPadding) {
      body.reserve(body.size() + api::kJsonPadding);
    }
    reply_.error = std::move(error);
    HttpReplyHandler done = std::move(done_);
    done(std::move(reply_));
  }
  core_->Remove(this);
}

// ---- Core ----

Result<void> Core::Initialize() {
  address_family_ = AddressFamily(url);
  auto tls = options.tls ? options.tls : std::make_shared<const TlsConfig>();
  Result<std::shared_ptr<CpprestClients>> made =
      CpprestClients::Make(url, options, *tls, address_family_);
  if (!made.ok()) return made.error();
  MutexLock lock(mutex_);
  tls_ = std::move(tls);
  clients_ = *made;
  return {};
}

Result<std::shared_ptr<CpprestClients>> Core::Clients(const std::shared_ptr<const TlsConfig>& tls) {
  {
    MutexLock lock(mutex_);
    if (tls == nullptr || tls == tls_ || tls->generation <= tls_->generation) return clients_;
  }
  Result<std::shared_ptr<CpprestClients>> made =
      CpprestClients::Make(url, options, *tls, address_family_);
  if (!made.ok()) return made.error();
  std::vector<std::shared_ptr<Call>> outdated;
  {
    MutexLock lock(mutex_);
    if (tls->generation <= tls_->generation) return clients_;
    for (const auto& [key, call] : active_) {
      if (call->IsStreamBefore(tls->generation)) outdated.push_back(call);
    }
    tls_ = tls;
    clients_ = *made;
  }
  for (const std::shared_ptr<Call>& call : outdated) call->CancelFor(Kind::kLost);
  return *made;
}

void Core::Replace(const std::shared_ptr<CpprestClients>& dead) {
  std::shared_ptr<const TlsConfig> tls;
  {
    MutexLock lock(mutex_);
    if (clients_ != dead) return;
    tls = tls_;
  }
  Result<std::shared_ptr<CpprestClients>> made =
      CpprestClients::Make(url, options, *tls, address_family_, dead->tls);
  if (!made.ok()) return;
  MutexLock lock(mutex_);
  if (clients_ == dead) clients_ = *made;
}

void Core::Start(std::shared_ptr<Call> call) {
  bool closed = false;
  {
    MutexLock lock(mutex_);
    active_.emplace(call.get(), call);
    closed = closed_;
  }
  if (closed) call->Cancel();
  PostToPool([call = std::move(call)] { call->Begin(); });
}

void Core::Remove(Call* call) {
  std::shared_ptr<Call> last;  // destroyed after the lock
  MutexLock lock(mutex_);
  const auto it = active_.find(call);
  if (it == active_.end()) return;
  last = std::move(it->second);
  active_.erase(it);
  if (active_.empty()) empty_.NotifyAll();
}

void Core::CancelAllAndWait() {
  std::vector<std::shared_ptr<Call>> calls;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    for (const auto& [key, call] : active_) calls.push_back(call);
  }
  for (const std::shared_ptr<Call>& call : calls) call->Cancel();
  calls.clear();
  MutexLock lock(mutex_);
  while (!active_.empty()) empty_.Wait(mutex_);
}

class CpprestTransport final : public Transport {
 public:
  explicit CpprestTransport(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  ~CpprestTransport() override { core_->CancelAllAndWait(); }

  std::shared_ptr<Exchange> Send(HttpRequest request, HttpReplyHandler done) override {
    auto call = std::make_shared<Call>(core_, std::move(request), std::move(done), nullptr);
    core_->Start(call);
    return call;
  }

  std::shared_ptr<Exchange> OpenStream(HttpRequest request,
                                       std::shared_ptr<StreamSink> sink) override {
    auto call = std::make_shared<Call>(core_, std::move(request), nullptr, std::move(sink));
    core_->Start(call);
    return call;
  }

 private:
  const std::shared_ptr<Core> core_;
};

// Sets the size of the library's pool. Its default of 40 threads costs four times as much, and with
// a second one each completion wakes the other (docs/performance_diary.md, Client).
void StartPool() {
  static std::once_flag once;
  std::call_once(once, [] {
    try {
      crossplat::threadpool::initialize_with_threads(1);
    } catch (const std::exception& e) {
      log::Error(e.what(), "The HTTP library's thread pool was started before its size was set");
    }
  });
}

}  // namespace

Result<std::unique_ptr<Transport>> NewCpprestTransport(TransportOptions options,
                                                       TimerService& timers) {
  Result<ServerUrl> url = ParseServerUrl(options.server);
  if (!url.ok()) return url.error();
  StartPool();
  auto core = std::make_shared<Core>(std::move(*url), std::move(options), timers);
  Result<void> initialized = core->Initialize();
  if (!initialized.ok()) return initialized.error();
  return std::unique_ptr<Transport>(std::make_unique<CpprestTransport>(std::move(core)));
}

void InitializeClientProcess() {
  static const bool done = [] {
    HideSystemRoots();
    return true;
  }();
  (void)done;
}

}  // namespace ks::client
