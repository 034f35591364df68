// SPDX-License-Identifier: Apache-2.0
#pragma once
// One connection of the HTTPS front: requests one after the other, answers, watches, faults.
// Internal to https_front.cc and front_session.cc.
//
// One read is outstanding whenever the peer may say something or leave: also during a watch or a
// stalled answer. One write at a time; a watch is read again only when the last write is done, so a
// slow reader costs one buffer.
//
// Threads: the front's. Lifetime: kept alive by its pending operations.

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/http/front_state.h"

namespace ks::apiserver {

class FrontSession : public std::enable_shared_from_this<FrontSession> {
 public:
  using Tcp = boost::asio::ip::tcp;
  using ErrorCode = boost::system::error_code;
  using SteadyTime = std::chrono::steady_clock::time_point;

  FrontSession(HttpsFront::State& front, Tcp::socket socket);
  ~FrontSession();
  FrontSession(const FrontSession&) = delete;
  FrontSession& operator=(const FrontSession&) = delete;

  void Start();
  // Pending operations end with an error, which ends the session.
  void Close();
  // Nothing is owed to the peer: it may be cut at any time.
  bool idle() const { return phase_ == Phase::kRequest; }
  // When the peer has taken too long; the maximum: it may take for ever.
  SteadyTime deadline() const { return deadline_; }
  // Sends what the watch has, if it is not sending yet.
  void Pump();

 private:
  using RequestParser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class Phase : uint8_t {
    kHandshake,
    kRequest,  // reading one, or waiting for it
    kAnswer,   // delayed by a fault, or being written
    kWatch,
    kStalled,  // by a fault: no answer ever
    kClosing,
  };

  void ExpireAfter(Duration timeout);
  void OnHandshake(const ErrorCode& error);
  void ReadCertificate();
  void AnswerPlainHttp();

  // Requests: front_session.cc.
  void Read();
  void OnRead(const ErrorCode& error, size_t size);
  void NextRequest();
  void Parse();
  void OnParseError(const ErrorCode& error);
  void OnHeader();
  void OnRequest();
  void Carry();
  void Refuse(const Failure& failure);

  // Answers: front_session_answer.cc.
  void Answer(ApiResponse response);
  void Write();       // out_, then body_; then OnWritten
  void WritePiece();  // the same at fault_.bytes_per_second
  void OnWritten(const ErrorCode& error);
  void ShutDown();
  void Linger();
  void Discard();
  void Reset();

  // Watches: front_session_watch.cc.
  void StartWatch(ApiResponse response);
  void EndWatch();
  void Frame();
  void ArmDue();
  void CutFrame(size_t empty);

  HttpsFront::State& front_;
  std::list<FrontSession*>::iterator position_;
  boost::asio::ssl::stream<Tcp::socket> stream_;
  boost::asio::steady_timer fault_timer_;
  SteadyTime deadline_ = SteadyTime::max();
  Phase phase_ = Phase::kHandshake;
  std::optional<UserInfo> certificate_user_;
  bool bad_certificate_ = false;

  boost::beast::flat_buffer buffer_;
  std::optional<RequestParser> parser_;
  bool reading_ = false;
  bool continued_ = false;  // 100 Continue is sent or on its way
  ApiRequest request_;
  bool head_ = false;
  bool old_ = false;  // HTTP/1.0: no chunks
  bool keep_alive_ = true;
  Fault fault_;

  std::string out_;   // head of an answer with a small body, or a chunk
  std::string body_;  // a large body
  size_t sent_ = 0;   // of out_ + body_, when pieces are sent
  bool writing_ = false;
  bool refused_ = false;
  std::array<char, 4096> scrap_;
  size_t discarded_ = 0;

  // A watch; absent otherwise.
  struct Watch {
    explicit Watch(HttpsFront::State& front);
    std::unique_ptr<WatchStream> stream;
    boost::asio::steady_timer due_timer;
    std::optional<TimePoint> due;
    size_t start = 0;    // of the chunk in out_
    bool more = true;    // readable as far as we know
    bool woken = false;  // in the front's list
    // Of faults: nothing more is sent; the next frame breaks off.
    SteadyTime silent_from = SteadyTime::max();
    SteadyTime cut_from = SteadyTime::max();
  };
  std::optional<Watch> watch_;
};

}  // namespace ks::apiserver
