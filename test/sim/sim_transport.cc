// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_transport.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/decode/decoder.h"
#include "apiserver/store/failure.h"

namespace ks::sim {

using client::HttpReply;
using client::HttpRequest;
using client::HttpResponse;
using client::TransportError;
using Kind = TransportError::Kind;

namespace {

constexpr Duration kIdleTimeout = std::chrono::seconds(75);        // TransportOptions
constexpr Duration kStreamIdleTimeout = std::chrono::seconds(28);  // TransportOptions

std::string HeaderOf(const HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return {};
}

apiserver::ApiRequest ToApi(const HttpRequest& request) {
  apiserver::ApiRequest api;
  api.method = request.method;
  api.target = request.target;
  api.accept = HeaderOf(request, "Accept");
  api.content_type = HeaderOf(request, "Content-Type");
  api.body = request.body;
  api.user = {.name = "system:kube-scheduler", .groups = {"system:authenticated"}};
  return api;
}

HttpResponse ToHttp(apiserver::ApiResponse&& api) {
  HttpResponse response;
  response.status = api.status;
  response.content_type = std::move(api.content_type);
  for (const auto& [key, value] : api.headers) {
    if (key == "Retry-After") response.retry_after = value;
  }
  response.body = std::move(api.body);
  response.body.reserve(response.body.size() + api::kJsonPadding);
  return response;
}

struct Refusal {
  int code;
  const char* reason;
  int retry_after;  // seconds; 0: none
};

constexpr std::array<Refusal, 8> kRefusals = {{{404, "NotFound", 0},
                                               {409, "Conflict", 0},
                                               {429, "TooManyRequests", 0},
                                               {429, "TooManyRequests", 1},
                                               {500, "InternalError", 0},
                                               {503, "ServiceUnavailable", 0},
                                               {503, "ServiceUnavailable", 2},
                                               {504, "Timeout", 0}}};
constexpr size_t kFirstServerError = 4;

HttpResponse ToResponse(const Refusal& refusal) {
  apiserver::Failure failure;
  failure.code = refusal.code;
  failure.reason = refusal.reason;
  failure.message = "a fault of the simulation";
  failure.retry_after_seconds = refusal.retry_after;
  HttpResponse response;
  response.status = refusal.code;
  response.content_type = "application/json";
  if (refusal.retry_after > 0) response.retry_after = std::to_string(refusal.retry_after);
  response.body = apiserver::StatusText(failure);
  response.body.reserve(response.body.size() + api::kJsonPadding);
  return response;
}

}  // namespace

// What the client holds of an exchange.
class SimTransport::Handle final : public client::Exchange {
 public:
  Handle(std::weak_ptr<SimTransport> transport, uint64_t id)
      : transport_(std::move(transport)), id_(id) {}
  void Cancel() override {
    if (const auto transport = transport_.lock()) transport->Cancel(id_);
  }
  void Resume() override {}  // no sink of ours pauses

 private:
  const std::weak_ptr<SimTransport> transport_;
  const uint64_t id_;
};

SimTransport::CallPtr SimTransport::Find(uint64_t id) const {
  const auto it = calls_.find(id);
  return it == calls_.end() ? nullptr : it->second;
}

Duration SimTransport::Latency() {
  const auto jitter = static_cast<uint64_t>(net_.faults.jitter.count());
  return net_.faults.latency + Duration(static_cast<int64_t>(net_.random.Below(jitter + 1)));
}

void SimTransport::Travel(Duration extra, Action action) {
  const TimePoint arrival = net_.loop.Now() + Latency() + extra;
  net_.loop.At(std::max(arrival, cut_off_until_), std::move(action));
}

std::shared_ptr<client::Exchange> SimTransport::Send(HttpRequest request,
                                                     client::HttpReplyHandler done) {
  const uint64_t id = ++last_id_;
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->done = std::move(done);
  calls_.emplace(id, call);
  if (!dead_) {
    sending_(call->request);
    Travel({}, [self = shared_from_this(), id, call] { self->Arrive(id, call); });
    if (call->request.timeout > Duration::zero()) {
      net_.loop.After(call->request.timeout,
                      [self = shared_from_this(), id] { self->TimeOut(id); });
    }
  }
  return std::make_shared<Handle>(weak_from_this(), id);
}

std::shared_ptr<client::Exchange> SimTransport::OpenStream(
    HttpRequest request, std::shared_ptr<client::StreamSink> sink) {
  const uint64_t id = ++last_id_;
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->sink = std::move(sink);
  calls_.emplace(id, call);
  if (!dead_) Travel({}, [self = shared_from_this(), id, call] { self->ArriveStream(id, call); });
  return std::make_shared<Handle>(weak_from_this(), id);
}

void SimTransport::Cancel(uint64_t id) {
  const CallPtr call = Find(id);
  if (call == nullptr || dead_) return;
  // A request that is on its way is carried out all the same.
  if (call->sink != nullptr) {
    call->watch.reset();
    call->pieces.clear();
    call->finished = true;
  }
  net_.loop.After({}, [self = shared_from_this(), id] {
    self->run_([self, id] {
      const CallPtr over = self->Find(id);
      if (over == nullptr || self->dead_) return;
      self->calls_.erase(id);
      const TransportError error{Kind::kCanceled, "request canceled"};
      if (over->sink != nullptr) {
        over->sink->OnEnd(error);
      } else {
        over->done({.error = error});
      }
    });
  });
}

// The request's own deadline, which needs no word of the server.
void SimTransport::TimeOut(uint64_t id) {
  run_([self = shared_from_this(), id] {
    const CallPtr call = self->Find(id);
    if (call == nullptr || self->dead_) return;
    self->calls_.erase(id);
    call->done({.error = TransportError{Kind::kTimedOut, "context deadline exceeded"}});
  });
}

void SimTransport::BreakConnections() {
  for (const auto& [id, call] : calls_) {
    if (call->broken || call->finished) continue;
    call->broken = true;
    if (call->sink != nullptr) {
      EndStream(id, *call, TransportError{Kind::kLost, "connection reset by peer"});
    } else {
      AnswerError(id, Kind::kLost, "connection reset by peer");
    }
  }
}

bool SimTransport::RefuseAll() {
  std::map<uint64_t, CallPtr> calls;
  calls.swap(calls_);
  const TransportError error{Kind::kRefused, "connection refused"};
  for (const auto& [id, call] : calls) {
    call->watch.reset();
    if (call->sink != nullptr) {
      call->sink->OnEnd(error);
    } else {
      call->done({.error = error});
    }
  }
  return !calls.empty();
}

// ---- requests ----

void SimTransport::Answer(uint64_t id, HttpReply reply, Duration extra) {
  auto shared = std::make_shared<HttpReply>(std::move(reply));
  Travel(extra, [self = shared_from_this(), id, shared] {
    self->run_([self, id, shared] {
      const CallPtr call = self->Find(id);
      if (call == nullptr || self->dead_) return;
      self->calls_.erase(id);
      call->done(std::move(*shared));
    });
  });
}

void SimTransport::AnswerError(uint64_t id, Kind kind, const char* message, Duration extra) {
  Answer(id, {.error = TransportError{kind, message}}, extra);
}

HttpReply SimTransport::AskServer(const HttpRequest& request) {
  HttpReply reply;
  const bool stale_allowed = request.method == "GET" &&
                             request.target.find("resourceVersion=0") != std::string::npos &&
                             Chance(net_.faults.stale_list);
  const apiserver::ApiRequest api = ToApi(request);
  reply.response = ToHttp(stale_allowed ? net_.api.HandleStale(api) : net_.api.Handle(api));
  return reply;
}

void SimTransport::Arrive(uint64_t id, const CallPtr& call) {
  if (call->broken) return;
  if (!net_.api.up()) return AnswerError(id, Kind::kRefused, "connection refused");
  const bool failed = call->request.method == "GET" ? FailRead(id, call) : FailWrite(id, call);
  if (!failed) Execute(id, call);
}

void SimTransport::Execute(uint64_t id, const CallPtr& call) {
  HttpReply reply = AskServer(call->request);
  net_.trace.Line(net_.loop.Now(), name_, "{} {} -> {}", call->request.method, call->request.target,
                  reply.response.status);
  Duration extra{};
  if (Chance(net_.faults.slow)) {
    extra = Duration(static_cast<int64_t>(static_cast<double>(net_.faults.slow_most.count()) *
                                          net_.random.Unit()));
  }
  Answer(id, std::move(reply), extra);
}

bool SimTransport::FailRead(uint64_t id, const CallPtr& call) {
  if (!Chance(net_.faults.list_failed)) return false;
  net_.trace.Line(net_.loop.Now(), name_, "fault: read fails: {}", call->request.target);
  if (Chance(0.3)) {
    AnswerError(id, Kind::kLost, "connection reset by peer");
  } else {
    const size_t which = 2 + net_.random.Below(kRefusals.size() - 2);
    Answer(id, {.response = ToResponse(kRefusals[which])});
  }
  return true;
}

bool SimTransport::FailWrite(uint64_t id, const CallPtr& call) {
  const NetworkFaults& faults = net_.faults;
  const auto told = [&](const char* what) {
    net_.trace.Line(net_.loop.Now(), name_, "fault: {}: {} {}", what, call->request.method,
                    call->request.target);
  };
  if (Chance(faults.code_before)) {
    const Refusal& refusal = kRefusals[net_.random.Below(kRefusals.size())];
    told(refusal.reason);
    Answer(id, {.response = ToResponse(refusal)});
  } else if (Chance(faults.code_after)) {
    const size_t which =
        kFirstServerError + net_.random.Below(kRefusals.size() - kFirstServerError);
    told("done, but an error is answered");
    AskServer(call->request);
    Answer(id, {.response = ToResponse(kRefusals[which])});
  } else if (Chance(faults.lost_before)) {
    told("lost on its way");
    AnswerError(id, Kind::kLost, "connection reset by peer");
  } else if (Chance(faults.lost_after)) {
    told("done, but the answer is lost");
    AskServer(call->request);
    AnswerError(id, Kind::kLost, "connection reset by peer");
  } else if (Chance(faults.repeated)) {
    told("sent twice");
    if (Chance(0.5)) AskServer(call->request);
    HttpReply reply = AskServer(call->request);
    reply.uncertain = true;
    Answer(id, std::move(reply));
  } else if (Chance(faults.stalled)) {
    told("stalls");
    // Half of them are carried out, at some time, unless the server that has them goes down.
    if (Chance(0.5)) {
      const auto most = static_cast<uint64_t>(kIdleTimeout.count());
      net_.loop.After(Duration(static_cast<int64_t>(net_.random.Below(most))),
                      [self = shared_from_this(), call, restarts = net_.api.restarts()] {
                        if (self->net_.api.restarts() == restarts) self->AskServer(call->request);
                      });
    }
    AnswerError(id, Kind::kTimedOut, "timed out", kIdleTimeout);
  } else {
    return false;
  }
  return true;
}

// ---- streams ----

void SimTransport::ArriveStream(uint64_t id, const CallPtr& call) {
  if (call->broken || call->finished || dead_) return;
  if (!net_.api.up()) {
    return EndStream(id, *call, TransportError{Kind::kRefused, "connection refused"});
  }
  if (Chance(net_.faults.watch_refused)) {
    if (Chance(0.3)) {
      return EndStream(id, *call, TransportError{Kind::kLost, "connection reset by peer"});
    }
    const size_t which = 2 + net_.random.Below(kRefusals.size() - 2);
    call->head = ToResponse(kRefusals[which]);
  } else {
    apiserver::ApiResponse response = net_.api.Handle(ToApi(call->request));
    call->watch = std::move(response.watch);
    call->head = ToHttp(std::move(response));
  }
  net_.trace.Line(net_.loop.Now(), name_, "watch {} -> {}", call->request.target,
                  call->head.status);
  SendPiece(id, *call, {.headers = true});
  if (call->watch == nullptr) {
    SendPiece(id, *call, {.data = std::exchange(call->head.body, {})});
    return EndStream(id, *call, std::nullopt);
  }
  call->watch->OnReady([weak = weak_from_this(), id] {
    if (const auto self = weak.lock()) {
      self->net_.loop.After({}, [self, id] { self->ReadStream(id); });
    }
  });
  ReadStream(id);
}

void SimTransport::ReadStream(uint64_t id) {
  const CallPtr call = Find(id);
  if (call == nullptr || call->watch == nullptr || call->finished) return;
  using State = apiserver::WatchStream::State;
  State state = State::kMore;
  while (state == State::kMore) {
    std::string frames;
    state = call->watch->Read(1 << 16, &frames);
    if (!frames.empty() && !SendFrames(id, *call, frames)) return;
  }
  if (state == State::kEnded) {
    call->watch.reset();
    return EndStream(id, *call, std::nullopt);
  }
  const std::optional<TimePoint> due = call->watch->NextDue();
  if (!due.has_value() || (call->read_at.has_value() && *call->read_at <= *due)) return;
  call->read_at = due;
  net_.loop.At(*due, [self = shared_from_this(), id, when = *due] {
    const CallPtr reading = self->Find(id);
    if (reading == nullptr) return;
    if (reading->read_at == when) reading->read_at.reset();
    self->ReadStream(id);
  });
}

// Frame by frame, with what can happen to each. False: the stream is over.
bool SimTransport::SendFrames(uint64_t id, Call& call, std::string_view frames) {
  const NetworkFaults& faults = net_.faults;
  const bool is_of_claims = call.request.target.find("/resourceclaims?") != std::string::npos;
  while (!frames.empty()) {
    const size_t end = std::min(frames.find('\n'), frames.size() - 1) + 1;
    std::string frame(frames.substr(0, end));
    frames.remove_prefix(end);
    Duration extra{};
    if (Chance(faults.delayed)) {
      extra = Duration(static_cast<int64_t>(static_cast<double>(faults.delay_most.count()) *
                                            net_.random.Unit()));
    }
    if (faults.claims_lag > Duration::zero() && is_of_claims) {
      extra += Duration(static_cast<int64_t>(static_cast<double>(faults.claims_lag.count()) *
                                             net_.random.Unit()));
    }
    if (Chance(faults.duplicated)) frame += frame;
    if (Chance(faults.silenced)) {
      net_.trace.Line(net_.loop.Now(), name_, "fault: silent stream {}", call.request.target);
      call.watch.reset();
      EndStream(id, call, TransportError{Kind::kTimedOut, "timed out"}, kStreamIdleTimeout);
      return false;
    }
    if (Chance(faults.cut)) {
      frame.resize(net_.random.Below(frame.size() + 1));
      const bool forget = Chance(faults.forget);
      net_.trace.Line(net_.loop.Now(), name_, "fault: cut stream {}{}", call.request.target,
                      forget ? ", history forgotten" : "");
      if (forget) net_.api.ForgetHistory();
      call.watch.reset();
      SendPiece(id, call, {.data = std::move(frame)}, extra);
      if (Chance(0.5)) {
        EndStream(id, call, std::nullopt);
      } else {
        EndStream(id, call, TransportError{Kind::kLost, "connection reset by peer"});
      }
      return false;
    }
    // Any cut is possible.
    if (Chance(0.2)) {
      const size_t cut = net_.random.Below(frame.size() + 1);
      SendPiece(id, call, {.data = frame.substr(0, cut)}, extra);
      frame.erase(0, cut);
    }
    SendPiece(id, call, {.data = std::move(frame)}, extra);
  }
  return true;
}

void SimTransport::SendPiece(uint64_t id, Call& call, Piece piece, Duration extra) {
  call.pieces.push_back(std::move(piece));
  call.last_arrival =
      std::max({call.last_arrival, net_.loop.Now() + Latency() + extra, cut_off_until_});
  net_.loop.At(call.last_arrival, [self = shared_from_this(), id] {
    self->run_([self, id] { self->DeliverPiece(id); });
  });
}

void SimTransport::EndStream(uint64_t id, Call& call, std::optional<TransportError> error,
                             Duration extra) {
  call.finished = true;
  call.watch.reset();
  SendPiece(id, call, {.end = true, .error = std::move(error)}, extra);
}

void SimTransport::DeliverPiece(uint64_t id) {
  const CallPtr call = Find(id);
  if (call == nullptr || dead_ || call->pieces.empty()) return;
  const Piece piece = std::move(call->pieces.front());
  call->pieces.pop_front();
  if (piece.headers) {
    HttpResponse head = call->head;
    head.body.clear();
    call->sink->OnHeaders(head);
  } else if (piece.end) {
    calls_.erase(id);
    call->sink->OnEnd(piece.error);
  } else if (!piece.data.empty()) {
    call->sink->OnData(piece.data);
  }
}

}  // namespace ks::sim
