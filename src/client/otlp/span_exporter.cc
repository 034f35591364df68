// SPDX-License-Identifier: Apache-2.0
#include "client/otlp/span_exporter.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/logging.h"
#include "base/mutex.h"
#include "base/random.h"

namespace ks::client {
namespace {

constexpr double kJitter = 0.2;

bool MayRepeat(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

// In whole seconds. The form with a date is passed over: backoff serves as well.
std::optional<Duration> RetryAfter(const HttpReply& reply) {
  const std::string& text = reply.response.retry_after;
  uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (reply.error || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::chrono::seconds(seconds);
}

// Spans that left no trace, by why.
struct Drops {
  explicit Drops(metrics::Registry& registry)
      : family(registry.AddCounter({.name = "kubesched_trace_spans_dropped_total",
                                    .stability = metrics::Stability::kAlpha,
                                    .help = "Spans that no collector has, by reason: the queue was "
                                            "full, the collector rejected them, it could not be "
                                            "reached, or kubesched ended."})),
        queue_full(family.Add({{"reason", "queue_full"}})),
        rejected(family.Add({{"reason", "rejected"}})),
        unreachable(family.Add({{"reason", "unreachable"}})),
        ended(family.Add({{"reason", "ended"}})),
        sent(registry
                 .AddCounter({.name = "kubesched_trace_spans_sent_total",
                              .stability = metrics::Stability::kAlpha,
                              .help = "Spans that a collector took."})
                 .Add({})) {}

  metrics::Family<metrics::Counter>& family;
  metrics::Counter& queue_full;
  metrics::Counter& rejected;
  metrics::Counter& unreachable;
  metrics::Counter& ended;
  metrics::Counter& sent;
};

}  // namespace

// Outlives the exporter while a sending or a timer refers to it.
struct SpanExporter::State : std::enable_shared_from_this<State> {
  State(Transport& of_transport, TimerService& of_timers, metrics::Registry& registry,
        SpanExporterOptions of_options)
      : transport(of_transport),
        timers(of_timers),
        options(std::move(of_options)),
        drops(registry),
        jitter(options.seed),
        ids(options.seed + 1) {}

  void Add(tracing::Span span) {
    MutexLock lock(mutex);
    if (closed) return drops.ended.Increment(1);
    if (waiting.size() >= options.queue_spans) return drops.queue_full.Increment(1);
    waiting.push_back(std::move(span));
    if (busy) return;
    const bool full = waiting.size() >= options.batch_spans;
    if (waiting.size() == 1 || full) Wake(full ? Duration::zero() : options.gather);
  }

  // The next batch is begun then, unless one is under way or an earlier time was set.
  void Wake(Duration delay) KS_REQUIRES(mutex) {
    busy = busy || delay == Duration::zero();
    if (timer != 0) (void)timers.Cancel(timer);
    timer = timers.Schedule(delay, [self = shared_from_this()] { self->BeginBatch(); });
  }

  void BeginBatch() {
    std::vector<tracing::Span> batch;
    {
      MutexLock lock(mutex);
      timer = 0;
      if (canceled) return;
      const size_t count = std::min(waiting.size(), options.batch_spans);
      for (size_t i = 0; i < count; ++i) {
        batch.push_back(std::move(waiting.front()));
        waiting.pop_front();
      }
      in_flight = count;
      busy = count > 0;
      if (!busy) return changed.NotifyAll();
    }
    spans = batch.size();
    body = tracing::EncodeTraces(options.resource, batch);
    began = timers.clock().Now();
    backoff = options.backoff_first;
    Send();
  }

  void Send() {
    HttpRequest request{.method = "POST",
                        .target = options.path,
                        .headers = {{"Content-Type", "application/x-protobuf"}},
                        .body = body,
                        .timeout = options.timeout};
    if (!options.user_agent.empty()) {
      request.headers.emplace_back("User-Agent", options.user_agent);
    }
    {
      MutexLock lock(mutex);
      if (canceled) return;
    }
    const std::shared_ptr<Exchange> sent =
        transport.Send(std::move(request), [self = shared_from_this()](HttpReply reply) {
          self->Soon(Duration::zero(), [self, reply = std::move(reply)] { self->OnReply(reply); });
        });
    MutexLock lock(mutex);
    exchange = sent;
  }

  void Soon(Duration delay, std::function<void()> task) {
    MutexLock lock(mutex);
    if (!canceled) timer = timers.Schedule(delay, std::move(task));
  }

  void OnReply(const HttpReply& reply) {
    const int status = reply.error ? 0 : reply.response.status;
    if (status >= 200 && status < 300) {
      Taken(reply.response.body);
    } else if (reply.error || MayRepeat(status)) {
      if (Retry(reply)) return;
      Drop(drops.unreachable, spans, WhyNot(reply));
    } else {
      Drop(drops.rejected, spans, WhyNot(reply));
    }
    EndBatch();
  }

  // What came meanwhile is gathered, too, unless it is much or the last.
  void EndBatch() {
    {
      MutexLock lock(mutex);
      const bool at_once = waiting.size() >= options.batch_spans || closed;
      busy = at_once && !waiting.empty();
      in_flight = 0;
      if (!busy) {
        if (!waiting.empty()) Wake(options.gather);
        return changed.NotifyAll();
      }
    }
    BeginBatch();
  }

  // An answer that is none is as good as one: the status says that the spans were taken.
  void Taken(const std::string& answer) {
    const auto partial = tracing::DecodeAnswer(answer).value_or(tracing::PartialSuccess());
    const size_t rejected =
        std::min(static_cast<size_t>(std::max<int64_t>(partial.rejected_spans, 0)), spans);
    drops.sent.Increment(static_cast<double>(spans - rejected));
    if (rejected > 0) return Drop(drops.rejected, rejected, partial.message);
    failing = false;
  }

  // False: it was tried for long enough.
  bool Retry(const HttpReply& reply) {
    const Duration jittered(
        static_cast<int64_t>(static_cast<double>(backoff.count()) * (1 + kJitter * jitter.Unit())));
    const Duration wait = RetryAfter(reply).value_or(jittered);
    backoff = std::min(2 * backoff, options.backoff_most);
    bool hurry = false;
    {
      MutexLock lock(mutex);
      hurry = closed;
    }
    if (hurry || timers.clock().Now() + wait - began > options.give_up) return false;
    Soon(wait, [self = shared_from_this()] { self->Send(); });
    return true;
  }

  static std::string WhyNot(const HttpReply& reply) {
    if (reply.error) return reply.error->message;
    return "the collector answered with status " + std::to_string(reply.response.status);
  }

  // Told in the log once for each time it begins.
  void Drop(metrics::Counter& reason, size_t count, const std::string& why) {
    reason.Increment(static_cast<double>(count));
    if (std::exchange(failing, true)) return;
    log::Error(why, "Spans are dropped", {{"count", count}});
  }

  bool Flush(Duration limit) {
    const TimePoint deadline = timers.clock().Now() + limit;
    MutexLock lock(mutex);
    closed = true;
    if (!busy && !waiting.empty()) Wake(Duration::zero());
    while (busy) {
      const Duration left = deadline - timers.clock().Now();
      if (left <= Duration::zero()) return false;
      (void)changed.WaitFor(mutex, left);
    }
    return true;
  }

  void Cancel() {
    std::shared_ptr<Exchange> running;
    {
      MutexLock lock(mutex);
      closed = canceled = true;
      if (timer != 0) (void)timers.Cancel(timer);
      drops.ended.Increment(static_cast<double>(waiting.size() + in_flight));
      waiting.clear();
      running = std::move(exchange);
    }
    if (running != nullptr) running->Cancel();
  }

  Transport& transport;
  TimerService& timers;
  const SpanExporterOptions options;
  Drops drops;

  // Of the batch that is sent; of one task after the other.
  size_t spans = 0;
  std::string body;
  TimePoint began{};
  Duration backoff{};
  bool failing = false;
  Random jitter;

  Mutex mutex;
  CondVar changed;  // nothing is under way any more
  Random ids KS_GUARDED_BY(mutex);
  std::deque<tracing::Span> waiting KS_GUARDED_BY(mutex);
  std::shared_ptr<Exchange> exchange KS_GUARDED_BY(mutex);
  size_t in_flight KS_GUARDED_BY(mutex) = 0;  // spans
  TimerId timer KS_GUARDED_BY(mutex) = 0;
  bool busy KS_GUARDED_BY(mutex) = false;  // a batch is begun or under way
  bool closed KS_GUARDED_BY(mutex) = false;
  bool canceled KS_GUARDED_BY(mutex) = false;
};

SpanExporter::SpanExporter(Transport& transport, TimerService& timers, metrics::Registry& registry,
                           SpanExporterOptions options)
    : state_(std::make_shared<State>(transport, timers, registry, std::move(options))) {}

SpanExporter::~SpanExporter() { state_->Cancel(); }

void SpanExporter::Add(tracing::Span span) { state_->Add(std::move(span)); }

uint64_t SpanExporter::NewSpanId() {
  MutexLock lock(state_->mutex);
  const uint64_t id = state_->ids.Next();
  return id == 0 ? 1 : id;
}

bool SpanExporter::Flush(Duration limit) { return state_->Flush(limit); }

}  // namespace ks::client
