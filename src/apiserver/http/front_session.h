// SPDX-License-Identifier: Apache-2.0
#pragma once
// One connection of the HTTPS front: what a request asks of the service, answers and watches, and
// what fault rules do to them. Internal to https_front.cc and front_session.cc.

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/http/front_state.h"
#include "server/http/server_connection.h"

namespace ks::apiserver {

//                               ┌── status, stale list ──▶ Answer ────────────┐
//  OnRequest ──latency──▶ Carry ┼── reset ──▶ (closed)                        ▼
//                               ├── stall ──▶ (until the peer leaves)       Send ──▶ FinishAnswer
//                               ├── none ───▶ Answer ─────────────────────────▲
//                               └── a watch ▶ StartWatch ──▶ Pump ⇄ Send      │
//                                                             ├── its end ────┘
//                                                             └── cut ──▶ (closed in a frame)
//
// The peer is watched whenever it may leave: also during a watch or a stalled answer. One write at
// a time; a watch is read again only when the last write is done, so a slow reader costs one
// buffer.
//
// Threads: the front's. Lifetime: kept alive by its pending operations.
class FrontSession final : public server::ServerConnection {
 public:
  FrontSession(HttpsFront::State& front, Tcp::socket socket);

  // Sends what the watch has, if it is not sending yet.
  void Pump();

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // Requests and answers: front_session.cc.
  void OnConnected() override;
  void OnHandshakeError(const ErrorCode&) override {}
  void OnHeader() override;
  void OnRequest() override;
  void OnUnreadable(const ErrorCode& error) override;
  void OnClose() override;
  void Carry();
  void Answer(ApiResponse response);
  void Send();       // out_, then body_
  void SendPiece();  // the same at fault_.bytes_per_second
  void OnSent();
  void Reset();
  std::shared_ptr<FrontSession> Self();

  // Watches: front_session_watch.cc.
  void StartWatch(ApiResponse response);
  void EndWatch();
  void Frame();
  void ArmDue();
  void CutFrame(size_t empty);

  HttpsFront::State& front_;
  boost::asio::steady_timer fault_timer_;
  std::optional<UserInfo> certificate_user_;
  bool bad_certificate_ = false;

  ApiRequest request_;
  bool head_ = false;
  bool old_ = false;  // HTTP/1.0: no chunks
  Fault fault_;

  std::string out_;   // head of an answer with a small body, or a chunk
  std::string body_;  // a large body
  size_t sent_ = 0;   // of out_ + body_, when pieces are sent
  bool writing_ = false;

  // A watch; absent otherwise.
  struct Watch {
    explicit Watch(HttpsFront::State& front);
    std::unique_ptr<WatchStream> stream;
    boost::asio::steady_timer due_timer;
    std::optional<TimePoint> due;
    size_t start = 0;    // of the chunk in out_
    bool more = true;    // readable as far as we know
    bool woken = false;  // in the front's list
    // What faults ask for: nothing more is sent; the next frame breaks off.
    SteadyTime silent_from = SteadyTime::max();
    SteadyTime cut_from = SteadyTime::max();
  };
  std::optional<Watch> watch_;
};

}  // namespace ks::apiserver
