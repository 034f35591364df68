// SPDX-License-Identifier: Apache-2.0
#include "client/watch/reflector.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/decode/decoder.h"
#include "api/kinds.h"
#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "base/mutex.h"
#include "base/random.h"
#include "client/rest/backoff.h"
#include "client/watch/frame_splitter.h"
#include "client/watch/informer_metrics.h"
#include "client/watch/list_form.h"
#include "client/watch/list_reading.h"
#include "client/watch/reflector_requests.h"

namespace ks::client {
namespace {

constexpr int kPageSize = 500;
constexpr Duration kShortWatch = std::chrono::seconds(1);

}  // namespace

// One outstanding operation at a time: a list request, a watch, or a timer; each ends by starting
// the next. The fields of that chain need no lock, because every hand-over between threads passes
// through one of the client or the timers.
template <class T>
class Reflector<T>::Core final : public WatchSink, public std::enable_shared_from_this<Core> {
 public:
  Core(RestClient& client, ReflectorOptions options, api::DeltaSink<T> sink)
      : client_(client),
        options_(std::move(options)),
        sink_(std::move(sink)),
        random_(options_.seed) {
    decoder_.set_keep_raw(options_.keep_raw);
    decoder_.set_keep_texts(options_.keep_texts);
  }

  void Start() {
    {
      MutexLock lock(mutex_);
      KS_CHECK(!running_ && !stopped_, "Start of a reflector that was started or stopped before");
      running_ = true;
    }
    StartRound();
  }

  void Stop() {
    std::shared_ptr<Exchange> exchange;
    TimerId timer = 0;
    {
      MutexLock lock(mutex_);
      stopped_ = true;
      exchange = exchange_;
      timer = timer_;
    }
    if (timer != 0 && client_.timers().Cancel(timer)) {
      End();
    } else if (exchange != nullptr) {
      exchange->Cancel();
    }
    MutexLock lock(mutex_);
    while (running_) ended_.Wait(mutex_);
  }

  ReflectorStatus Status() const {
    MutexLock lock(mutex_);
    return status_;
  }

  bool Synced() const {
    MutexLock lock(mutex_);
    return status_.synced;
  }

  void WhenReached(std::string resource_version, std::function<void()> reached) {
    {
      MutexLock lock(mutex_);
      waiters_.push_back({std::move(resource_version), std::move(reached)});
    }
    client_.timers().Schedule(Duration::zero(),
                              [self = this->shared_from_this()] { self->TellWaiters(""); });
  }

  void ListAgain(std::string resource_version) {
    std::shared_ptr<Exchange> exchange;
    {
      MutexLock lock(mutex_);
      relist_ = std::move(resource_version);
      if (timer_ != 0 && client_.timers().Cancel(timer_)) {  // no patience now
        timer_ = client_.timers().Schedule(
            Duration::zero(), [self = this->shared_from_this()] { self->StartRound(); });
        return;
      }
      if (!is_watch_) return;
      abort_ = true;
      exchange = exchange_;
    }
    if (exchange != nullptr) exchange->Cancel();
  }

  // WatchSink.
  void OnOpened() override {
    MutexLock lock(mutex_);
    opened_ = true;
    ++status_.watches;
    status_.watching = true;
    status_.error.reset();
  }
  StreamSink::Flow OnData(std::string_view data) override;
  void OnEnd(std::optional<api::ApiError> error) override;

 private:
  using Delta = api::Delta<T>;

  // -- the chain --
  void StartRound();
  void List(ListForm form);
  void Listed(RestReply reply, ListReading<T>& reading);
  void ListFailed(const api::ApiError& error);
  void AskWhatIsServed(const api::ApiError& refusal);
  void ServedIsKnown(const api::ApiError& refusal, const RestReply& reply);
  void NoSuchKind(const api::ApiError& error);
  void Replace(std::string resource_version);
  void Watch();
  void WatchEnded(const std::optional<api::ApiError>& error);
  void RoundEnded(const std::string& what, api::ApiError error);
  void After(Duration delay, void (Core::*next)());
  void End();
  void TellWaiters(const std::string& listed_anew);
  std::optional<std::string> TakeRelist() {
    MutexLock lock(mutex_);
    return std::exchange(relist_, std::nullopt);
  }
  bool RelistAsked() const {
    MutexLock lock(mutex_);
    return relist_.has_value();
  }

  // One watch frame into `batch`. False: the stream is over, watch_error_ says why.
  bool Frame(std::string_view frame, std::vector<Delta>* batch);

  bool Stopped() const {
    MutexLock lock(mutex_);
    return stopped_;
  }
  uint64_t NextOperation() {
    MutexLock lock(mutex_);
    exchange_.reset();
    timer_ = 0;
    abort_ = false;
    is_watch_ = false;
    return ++operation_;
  }
  // An operation may be over, and the next one begun, before its handle arrives here.
  void Keep(uint64_t operation, const std::shared_ptr<Exchange>& exchange) {
    bool cancel = false;
    {
      MutexLock lock(mutex_);
      if (operation != operation_) return;
      exchange_ = exchange;
      cancel = stopped_ || abort_;
    }
    if (cancel) exchange->Cancel();
  }

  RestClient& client_;
  const ReflectorOptions options_;
  const api::DeltaSink<T> sink_;

  // Used by the chain of requests alone.
  Random random_;
  Backoff backoff_;
  api::Decoder decoder_;
  FrameSplitter splitter_;
  std::string last_;          // resourceVersion of the newest event or list; "" at start
  bool unavailable_ = false;  // the server refused last_
  bool paginate_ = false;     // the server has no watch cache
  bool absent_ = false;       // the server does not serve the kind, which was said
  ListForm form_;
  ListForm first_form_;      // of the list that the page belongs to
  bool repeated_ = false;    // the list was begun anew once
  std::string listing_for_;  // what ListAgain asked for, in this round
  Delta listed_;             // the pages so far
  TimePoint watch_began_{};
  uint64_t watch_events_ = 0;
  std::optional<api::ApiError> watch_error_;

  mutable Mutex mutex_;
  CondVar ended_;
  bool running_ KS_GUARDED_BY(mutex_) = false;
  bool stopped_ KS_GUARDED_BY(mutex_) = false;
  bool opened_ KS_GUARDED_BY(mutex_) = false;
  bool abort_ KS_GUARDED_BY(mutex_) = false;  // the operation is to be canceled
  bool is_watch_ KS_GUARDED_BY(mutex_) = false;
  std::optional<std::string> relist_ KS_GUARDED_BY(mutex_);
  struct Waiter {
    std::string resource_version;
    std::function<void()> reached;
  };
  std::vector<Waiter> waiters_ KS_GUARDED_BY(mutex_);
  uint64_t operation_ KS_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<Exchange> exchange_ KS_GUARDED_BY(mutex_);
  TimerId timer_ KS_GUARDED_BY(mutex_) = 0;
  ReflectorStatus status_ KS_GUARDED_BY(mutex_);
};

template <class T>
void Reflector<T>::Core::StartRound() {
  repeated_ = false;
  ListForm form;
  if (auto asked = TakeRelist()) listing_for_ = *std::move(asked);
  if (!listing_for_.empty() && !unavailable_) {
    form.limit = paginate_;
    form.resource_version = listing_for_;
  } else if (unavailable_) {
    form.limit = true;
  } else if (last_.empty()) {
    form.limit = true;
    form.resource_version = "0";
  } else {
    form.limit = paginate_;
    form.resource_version = last_;
  }
  List(std::move(form));
}

template <class T>
void Reflector<T>::Core::List(ListForm form) {
  if (Stopped()) return End();
  if (form.continue_token.empty()) {
    first_form_ = form;
    listed_ = {};
  }
  form_ = std::move(form);
  std::vector<std::pair<std::string, std::string>> parameters;
  if (!form_.continue_token.empty()) parameters.emplace_back("continue", form_.continue_token);
  if (form_.limit) parameters.emplace_back("limit", std::to_string(kPageSize));
  if (form_.resource_version.has_value()) {
    parameters.emplace_back("resourceVersion", *form_.resource_version);
  }
  const uint64_t operation = NextOperation();
  auto self = this->shared_from_this();
  auto reading = std::make_shared<ListReading<T>>(decoder_);
  Keep(operation,
       client_.Send(
           {.target = QueryTarget(options_.path, options_.field_selector, std::move(parameters)),
            .decoded = !options_.NeedsJson(),
            .accept_gzip = options_.gzip_lists,
            .reader = reading,
            .verb = "list",
            .resource = options_.resource},
           [self, reading](RestReply reply) { self->Listed(std::move(reply), *reading); }));
}

template <class T>
void Reflector<T>::Core::Listed(RestReply reply, ListReading<T>& reading) {
  if (Stopped()) return End();
  if (!reply.ok()) return ListFailed(*reply.error);
  Result<api::ListPage<T>> page = reading.Take(reply.body);
  if (!page.ok()) {
    api::ApiError error;
    error.message = page.error().message;
    return RoundEnded("failed to list " + options_.type_name, std::move(error));
  }
  Append(std::move(page->items), &listed_.items);
  Append(std::move(page->texts), &listed_.texts);
  if (page->continue_token.empty()) return Replace(std::move(page->resource_version));
  if (form_.resource_version == "0") paginate_ = true;
  List({.limit = true, .continue_token = std::move(page->continue_token)});
}

template <class T>
void Reflector<T>::Core::ListFailed(const api::ApiError& error) {
  const bool first_page = form_.continue_token.empty();
  if (!repeated_ && error.IsGone() && !first_page) {
    repeated_ = true;
    return List({.resource_version = first_form_.resource_version});
  }
  if (!unavailable_ && (error.IsGone() || IsTooLargeResourceVersion(error))) {
    unavailable_ = true;
    return List({.limit = true});
  }
  if (options_.absent_is_empty && !Synced()) {
    if (error.IsNotFound()) return NoSuchKind(error);
    if (error.code == 403) return AskWhatIsServed(error);
  }
  RoundEnded("failed to list " + options_.type_name, error);
}

// The roles that an API server makes for its scheduler name no kinds that it does not serve: it
// refuses then what it would not find. What it serves, everybody may read.
template <class T>
void Reflector<T>::Core::AskWhatIsServed(const api::ApiError& refusal) {
  const uint64_t operation = NextOperation();
  auto self = this->shared_from_this();
  Keep(operation,
       client_.Send({.target = options_.path.substr(0, options_.path.rfind('/')),
                     .resource = "apiresources"},
                    [self, refusal](RestReply reply) { self->ServedIsKnown(refusal, reply); }));
}

template <class T>
void Reflector<T>::Core::ServedIsKnown(const api::ApiError& refusal, const RestReply& reply) {
  if (Stopped()) return End();
  const bool served =
      reply.ok() ? Serves(reply.body, options_.resource) : !reply.error->IsNotFound();
  if (!served) return NoSuchKind(refusal);
  RoundEnded("failed to list " + options_.type_name, refusal);
}

template <class T>
void Reflector<T>::Core::NoSuchKind(const api::ApiError& error) {
  log::Error("", "The API server does not serve this kind; it is taken to have no objects of it",
             {{"type", options_.type_name}, {"path", options_.path}});
  absent_ = true;
  sink_(std::vector<Delta>(1));
  {
    MutexLock lock(mutex_);
    status_.synced = true;
  }
  RoundEnded("failed to list " + options_.type_name, error);
}

template <class T>
void Reflector<T>::Core::Replace(std::string resource_version) {
  last_ = std::move(resource_version);
  unavailable_ = false;
  absent_ = false;
  std::vector<Delta> batch(1);
  batch[0] = std::exchange(listed_, {});
  sink_(std::move(batch));
  if (options_.metrics != nullptr) options_.metrics->Seen(last_);
  bool first = false;
  {
    MutexLock lock(mutex_);
    first = status_.resource_version.empty();
    status_.synced = true;
    status_.resource_version = last_;
    status_.error.reset();
    ++status_.lists;
  }
  if (first) {
    log::Info(2, "Caches populated", {{"type", options_.type_name}, {"reflector", options_.path}});
  }
  TellWaiters(std::exchange(listing_for_, {}));
  Watch();
}

// Everybody whose version is reached; `listed_anew`: by a list that was asked for with it.
template <class T>
void Reflector<T>::Core::TellWaiters(const std::string& listed_anew) {
  std::vector<std::function<void()>> reached;
  {
    MutexLock lock(mutex_);
    if (stopped_) return;
    const std::string known = status_.synced ? status_.resource_version : std::string();
    const auto is_reached = [&](const Waiter& waiter) {
      if (!listed_anew.empty() && waiter.resource_version == listed_anew) return true;
      if (known.empty()) return false;
      if (KS_CANARY(CaughtUpTooEarly)) return true;
      const auto order = api::CompareResourceVersions(known, waiter.resource_version);
      return order.ok() && *order >= 0;
    };
    for (Waiter& waiter : waiters_) {
      if (is_reached(waiter)) reached.push_back(std::exchange(waiter.reached, nullptr));
    }
    std::erase_if(waiters_, [](const Waiter& waiter) { return waiter.reached == nullptr; });
  }
  for (const std::function<void()>& each : reached) each();
}

template <class T>
void Reflector<T>::Core::Watch() {
  if (Stopped()) return End();
  if (RelistAsked()) return StartRound();
  splitter_.Clear();
  watch_events_ = 0;
  watch_error_.reset();
  watch_began_ = client_.clock().Now();
  const uint64_t operation = NextOperation();
  {
    MutexLock lock(mutex_);
    opened_ = false;
    is_watch_ = true;
    abort_ = relist_.has_value();  // asked for meanwhile
  }
  Keep(operation, client_.Watch({.target = WatchTarget(options_.path, options_.field_selector,
                                                       last_, random_.Unit()),
                                 .decoded = !options_.NeedsJson(),
                                 .verb = "watch",
                                 .resource = options_.resource},
                                this->shared_from_this()));
}

template <class T>
StreamSink::Flow Reflector<T>::Core::OnData(std::string_view data) {
  if (watch_error_.has_value() || Stopped()) return StreamSink::Flow::kContinue;
  std::vector<Delta> batch;
  splitter_.Append(data);
  std::string_view frame;
  bool going = true;
  while (going && splitter_.Next(&frame)) going = Frame(frame, &batch);
  if (going && splitter_.broken()) {
    going = false;
    watch_error_.emplace();
    watch_error_->code = 500;
    watch_error_->message =
        "unable to decode an event from the watch stream: no sequence of objects";
  }
  const uint64_t events = batch.size();
  if (events != 0) sink_(std::move(batch));
  if (options_.metrics != nullptr) options_.metrics->Seen(last_);
  bool waited_for = false;
  std::shared_ptr<Exchange> exchange;
  {
    MutexLock lock(mutex_);
    status_.resource_version = last_;
    status_.events += events;
    abort_ = abort_ || !going;
    if (!going) exchange = exchange_;
    waited_for = !waiters_.empty();
  }
  if (exchange != nullptr) exchange->Cancel();
  if (waited_for) TellWaiters("");
  return StreamSink::Flow::kContinue;
}

template <class T>
bool Reflector<T>::Core::Frame(std::string_view frame, std::vector<Delta>* batch) {
  Result<api::WatchEvent<T>> event = decoder_.Event<T>(frame);
  if (!event.ok()) {
    watch_error_.emplace();
    watch_error_->code = 500;
    watch_error_->message =
        "unable to decode an event from the watch stream: " + event.error().message;
    return false;
  }
  using Type = api::WatchEventType;
  if (event->type == Type::kError) {
    watch_error_ = std::move(event->error);
    return false;
  }
  ++watch_events_;
  if (event->type != Type::kBookmark) {
    if (event->object == nullptr) {
      log::Error("", "Unexpected kind of object in a watch", {{"expected", options_.type_name}});
      return true;
    }
    Delta& delta = batch->emplace_back();
    delta.type = event->type == Type::kDeleted ? Delta::Type::kDelete : Delta::Type::kUpsert;
    delta.object = std::move(event->object);
    delta.text = std::move(event->text);
  }
  if (KS_CANARY(OldVersionResumed) && event->type == Type::kModified) return true;
  last_ = std::move(event->resource_version);
  return true;
}

template <class T>
void Reflector<T>::Core::OnEnd(std::optional<api::ApiError> error) {
  bool opened = false;
  {
    MutexLock lock(mutex_);
    opened = opened_;
    status_.watching = false;
  }
  if (Stopped()) return End();
  if (RelistAsked()) return StartRound();
  if (watch_error_.has_value()) return WatchEnded(watch_error_);
  // Cut connections, and servers that cannot be reached after all repetitions, count as ends.
  if (opened || (error.has_value() && error->IsTransport() && !error->connection_refused)) {
    error.reset();
  }
  WatchEnded(error);
}

template <class T>
void Reflector<T>::Core::WatchEnded(const std::optional<api::ApiError>& error) {
  if (KS_CANARY(GoneIgnored) && error.has_value() && error->IsGone()) {
    return After(kShortWatch, &Core::Watch);
  }
  if (!error.has_value()) {
    const bool was_short = client_.clock().Now() - watch_began_ < kShortWatch;
    if (watch_events_ != 0 || !was_short) return Watch();
    api::ApiError reason;
    reason.message =
        "Unexpected watch close - watch lasted less than a second and no items received";
    return RoundEnded("very short watch: " + options_.resource, std::move(reason));
  }
  if (error->connection_refused || error->code == 429 || error->IsTooManyRequests()) {
    const Duration delay = backoff_.Next(client_.clock().Now(), random_.Unit());
    log::Info(2, "Watch refused, trying again",
              {{"type", options_.type_name}, {"err", error->message}});
    {
      MutexLock lock(mutex_);
      status_.error = error;
    }
    return After(delay, &Core::Watch);
  }
  RoundEnded("failed to watch " + options_.type_name, *error);
}

template <class T>
void Reflector<T>::Core::RoundEnded(const std::string& what, api::ApiError error) {
  error.message = what + ": " + error.message;
  if (error.IsGone()) {
    log::Info(4, "Watch is behind what the server remembers",
              {{"type", options_.type_name}, {"err", error.message}});
  } else if (absent_) {
    log::Info(4, "Still not served", {{"type", options_.type_name}, {"err", error.message}});
  } else {
    log::Error(
        error.message, "Failed to watch",
        {{"logger", "UnhandledError"}, {"reflector", options_.path}, {"type", options_.type_name}});
  }
  listed_ = {};
  {
    MutexLock lock(mutex_);
    status_.error = std::move(error);
  }
  After(backoff_.Next(client_.clock().Now(), random_.Unit()), &Core::StartRound);
}

template <class T>
void Reflector<T>::Core::After(Duration delay, void (Core::*next)()) {
  const uint64_t operation = NextOperation();
  bool stopped = false;
  {
    MutexLock lock(mutex_);
    stopped = stopped_;
    if (!stopped && operation == operation_) {
      timer_ = client_.timers().Schedule(
          delay, [self = this->shared_from_this(), next] { (self.get()->*next)(); });
    }
  }
  if (stopped) End();
}

template <class T>
void Reflector<T>::Core::End() {
  MutexLock lock(mutex_);
  running_ = false;
  status_.watching = false;
  exchange_.reset();
  ended_.NotifyAll();
}

template <class T>
Reflector<T>::Reflector(RestClient& client, ReflectorOptions options, api::DeltaSink<T> sink)
    : core_(std::make_shared<Core>(client, std::move(options), std::move(sink))) {}

template <class T>
Reflector<T>::~Reflector() {
  Stop();
}

template <class T>
void Reflector<T>::Start() {
  core_->Start();
}

template <class T>
void Reflector<T>::Stop() {
  core_->Stop();
}

template <class T>
bool Reflector<T>::Synced() const {
  return core_->Synced();
}

template <class T>
ReflectorStatus Reflector<T>::Status() const {
  return core_->Status();
}

template <class T>
void Reflector<T>::WhenReached(std::string resource_version, std::function<void()> reached) {
  core_->WhenReached(std::move(resource_version), std::move(reached));
}

template <class T>
void Reflector<T>::ListAgain(std::string resource_version) {
  core_->ListAgain(std::move(resource_version));
}

#define KS_REFLECTOR(type, kind, group, version, plural, scope) template class Reflector<api::type>;
KS_ALL_KINDS(KS_REFLECTOR)
#undef KS_REFLECTOR

}  // namespace ks::client
