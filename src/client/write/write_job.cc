// SPDX-License-Identifier: Apache-2.0
#include "client/write/write_job.h"

#include <array>
#include <chrono>

#include "client/write/write_dispatcher.h"

namespace ks::client {
namespace {

// docs/spec/api.md 9.1.
constexpr std::array<Duration, 3> kRetryWaits = {
    std::chrono::milliseconds(10), std::chrono::milliseconds(50), std::chrono::milliseconds(250)};
constexpr double kRetryJitter = 0.1;

bool IsTemporary(const api::ApiError& error) {
  return error.IsInternal() || error.IsUnavailable() || error.connection_refused;
}

}  // namespace

api::ApiError WriterShutDown() {
  api::ApiError error;
  error.message = "the writer is shut down";
  return error;
}

void WriteJob::Run() {
  {
    MutexLock lock(mutex_);
    timer_ = 0;
  }
  if (tries_++ == 0) began_ = dispatcher_->timers().clock().Now();
  Try();
}

void WriteJob::SendRequest(RestRequest request, RestHandler next) {
  uint64_t operation = 0;
  {
    MutexLock lock(mutex_);
    operation = ++operation_;
    exchange_.reset();
  }
  sent_ = true;
  if (request.method != "GET") request.fence = dispatcher_->fence();
  if (caller_.valid() && dispatcher_->spans() != nullptr) next = Traced(request, std::move(next));
  std::shared_ptr<Exchange> exchange = client_.Send(std::move(request), std::move(next));
  bool cancel = false;
  {
    MutexLock lock(mutex_);
    // The answer, and the next sending, may have come before.
    if (operation_ != operation) return;
    exchange_ = exchange;
    cancel = canceled_;
  }
  if (cancel) exchange->Cancel();
}

// OpenTelemetry's conventions for HTTP clients.
RestHandler WriteJob::Traced(RestRequest& request, RestHandler next) {
  tracing::SpanSink& spans = *dispatcher_->spans();
  const Clock& clock = dispatcher_->timers().clock();
  tracing::Span span{.context = {.trace = caller_.trace, .span = spans.NewSpanId()},
                     .parent = caller_.span,
                     .name = request.method,
                     .kind = tracing::SpanKind::kClient,
                     .start = clock.Now()};
  request.traceparent = tracing::Traceparent(span.context);
  span.Add("http.request.method", request.method);
  span.Add("url.path", request.target.substr(0, request.target.find('?')));
  if (tries_ > 1) span.Add("http.request.resend_count", int64_t{tries_ - 1});
  return [&spans, &clock, span = std::move(span), next = std::move(next)](RestReply reply) mutable {
    span.end = clock.Now();
    if (reply.code != 0) span.Add("http.response.status_code", int64_t{reply.code});
    if (!reply.ok()) {
      span.failed = true;
      span.message = reply.error->message;
      span.Add("error.type",
               reply.code == 0 ? std::string("no_answer") : std::to_string(reply.code));
    }
    spans.Add(std::move(span));
    next(std::move(reply));
  };
}

void WriteJob::Note(const RestReply& reply, bool writes) {
  uncertain_ = uncertain_ || (writes && reply.uncertain);
  if (reply.fenced) dispatcher_->Count(&WriterStats::fenced);
}

bool WriteJob::IsCanceled() const {
  MutexLock lock(mutex_);
  return canceled_;
}

void WriteJob::RetryAfter(Duration wait) {
  MutexLock lock(mutex_);
  ++operation_;
  exchange_.reset();
  timer_ = dispatcher_->timers().Schedule(canceled_ ? Duration::zero() : wait,
                                          [job = shared_from_this()] { job->Run(); });
}

bool WriteJob::RetryIfFormRefused(const RestReply& reply) {
  if (!reply.form_refused || IsCanceled()) return false;
  RetryAfter(Duration::zero());
  return true;
}

bool WriteJob::RetryIfTemporary(const api::ApiError& error, bool on_conflict) {
  if (!IsTemporary(error) && !(on_conflict && error.IsConflict())) return false;
  return RetryIfTriesAreLeft();
}

bool WriteJob::RetryIfTriesAreLeft() {
  if (tries_ > static_cast<int>(kRetryWaits.size()) || IsCanceled()) return false;
  RetryAfter(dispatcher_->Jittered(kRetryWaits[static_cast<size_t>(tries_ - 1)], kRetryJitter));
  return true;
}

void WriteJob::End(std::optional<api::ApiError> error) {
  {
    MutexLock lock(mutex_);
    ++operation_;
    exchange_.reset();
  }
  dispatcher_->End(shared_from_this(), std::move(error));
}

void WriteJob::EndSoon() {
  dispatcher_->timers().Schedule(Duration::zero(),
                                 [job = shared_from_this()] { job->End(std::nullopt); });
}

void WriteJob::Cancel() {
  std::shared_ptr<Exchange> exchange;
  bool waiting = false;
  {
    MutexLock lock(mutex_);
    canceled_ = true;
    waiting = timer_ != 0 && dispatcher_->timers().Cancel(timer_);
    exchange = exchange_;
  }
  if (waiting) {
    dispatcher_->timers().Schedule(Duration::zero(),
                                   [job = shared_from_this()] { job->End(WriterShutDown()); });
  } else if (exchange != nullptr) {
    exchange->Cancel();
  }
}

}  // namespace ks::client
