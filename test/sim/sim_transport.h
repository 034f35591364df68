// SPDX-License-Identifier: Apache-2.0
#pragma once
// The network between one scheduler process and the API server: requests and streams with delays
// and faults, in virtual time. It takes the place of client::NewCpprestTransport.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/random.h"
#include "client/http/transport.h"
#include "sim/api_model.h"
#include "sim/event_loop.h"
#include "sim/plan.h"
#include "sim/trace.h"

namespace ks::sim {

// What all processes' networks share. Faults end when the plan's rates are set to zero.
struct Network {
  EventLoop& loop;
  ApiModel& api;
  Trace& trace;
  NetworkFaults faults;
  Random random;
};

// Threads: one. Lifetime: the network outlives it; events under way hold a weak reference.
class SimTransport final : public client::Transport,
                           public std::enable_shared_from_this<SimTransport> {
 public:
  // `run` runs an action as the process, when it runs at all (it may be frozen). `sending` sees
  // each request that leaves.
  SimTransport(Network& network, std::string name, std::function<void(Action)> run,
               std::function<void(const client::HttpRequest&)> sending)
      : net_(network), name_(std::move(name)), run_(std::move(run)), sending_(std::move(sending)) {}

  std::shared_ptr<client::Exchange> Send(client::HttpRequest request,
                                         client::HttpReplyHandler done) override;
  std::shared_ptr<client::Exchange> OpenStream(client::HttpRequest request,
                                               std::shared_ptr<client::StreamSink> sink) override;

  // The server closed or lost all connections. What has not arrived never will.
  void BreakConnections();
  // Nothing arrives on either side before that time.
  void CutOffUntil(TimePoint until) { cut_off_until_ = until; }

  // The process is dead: what it sent may still arrive at the server, nothing comes back. From now
  // on every exchange is refused by RefuseAll, which the owner calls until it answers false.
  void Die() { dead_ = true; }
  bool RefuseAll();

 private:
  class Handle;
  struct Piece {
    std::string data;
    bool headers = false;
    bool end = false;
    std::optional<client::TransportError> error;  // of the end
  };
  struct Call {
    client::HttpRequest request;
    client::HttpReplyHandler done;             // requests
    std::shared_ptr<client::StreamSink> sink;  // streams
    std::unique_ptr<apiserver::WatchStream> watch;
    client::HttpResponse head;
    std::deque<Piece> pieces;  // on their way to the process, in order
    TimePoint last_arrival{};
    std::optional<TimePoint> read_at;
    bool broken = false;    // the connection is gone
    bool finished = false;  // the end is on its way
  };
  using CallPtr = std::shared_ptr<Call>;

  CallPtr Find(uint64_t id) const;
  void Cancel(uint64_t id);
  void TimeOut(uint64_t id);
  Duration Latency();
  bool Chance(double p) { return p > 0 && net_.random.Unit() < p; }
  // Runs at the true time when a message that is sent now has arrived.
  void Travel(Duration extra, Action action);

  // Requests, on the server's side.
  void Arrive(uint64_t id, const CallPtr& call);
  void Execute(uint64_t id, const CallPtr& call);
  bool FailRead(uint64_t id, const CallPtr& call);
  bool FailWrite(uint64_t id, const CallPtr& call);
  void Answer(uint64_t id, client::HttpReply reply, Duration extra = {});
  void AnswerError(uint64_t id, client::TransportError::Kind kind, const char* message,
                   Duration extra = {});
  client::HttpReply AskServer(const client::HttpRequest& request);

  // Streams.
  void ArriveStream(uint64_t id, const CallPtr& call);
  void ReadStream(uint64_t id);
  bool SendFrames(uint64_t id, Call& call, std::string_view frames);
  void SendPiece(uint64_t id, Call& call, Piece piece, Duration extra = {});
  void EndStream(uint64_t id, Call& call, std::optional<client::TransportError> error,
                 Duration extra = {});
  void DeliverPiece(uint64_t id);

  Network& net_;
  const std::string name_;
  const std::function<void(Action)> run_;
  const std::function<void(const client::HttpRequest&)> sending_;
  std::map<uint64_t, CallPtr> calls_;
  uint64_t last_id_ = 0;
  TimePoint cut_off_until_{};
  bool dead_ = false;
};

}  // namespace ks::sim
