// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the connections of the HTTPS front share: the event loop, the service, the timers, the fault
// rules. Internal to https_front.cc and front_session.cc.
//
// Threads: everything belongs to the front's thread once Serve has started it.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apiserver/http/front_answers.h"
#include "apiserver/http/https_front.h"

namespace ks::apiserver {

class FrontSession;

struct HttpsFront::State {
  using Tcp = boost::asio::ip::tcp;
  using ErrorCode = boost::system::error_code;

  State(FrontOptions front_options, Service& served);

  void Accept();
  void OnAccept(const ErrorCode& error, Tcp::socket socket);
  void MakeRoom();
  void BeginStop();
  // Closes the connections whose deadline has passed, and comes again.
  void Sweep();

  // Whom a request comes from; a failure is its 401.
  Outcome<UserInfo> Authenticate(const std::optional<UserInfo>& certificate, bool bad_certificate,
                                 std::string_view authorization) const;
  std::optional<Fault> DecideFault(const ApiRequest& request);
  // The real answer; what follows from it (controllers, timers) is done in this turn of the loop.
  ApiResponse Handle(const ApiRequest& request);
  // A list's answer, or an earlier one when `stale` and there is one.
  void Age(const ApiRequest& request, bool stale, ApiResponse& response);
  void StepSoon();
  void Step();
  // The session's watch may have something: it is pumped at the end of this turn of the loop, so
  // that what is ready by then goes out together.
  void Wake(std::shared_ptr<FrontSession> session);
  // "Fri, 02 Jan 2026 02:04:05 GMT", made once a second.
  const std::string& Date();

  FrontOptions options;
  Service& service;
  FaultRules faults;
  EarlierLists earlier;
  uint16_t port = 0;
  std::string url;
  std::thread thread;

  boost::asio::io_context io{1};
  boost::asio::ssl::context tls{boost::asio::ssl::context::tls_server};
  Tcp::acceptor acceptor;
  boost::asio::steady_timer accept_timer;  // pause after an accept error
  boost::asio::steady_timer step_timer;    // the service's NextDue
  boost::asio::steady_timer sweep_timer;
  std::list<FrontSession*> sessions;  // the one that waited longest first
  std::vector<std::shared_ptr<FrontSession>> woken;
  std::optional<TimePoint> step_due;  // what step_timer waits for
  bool step_posted = false;
  bool stopping = false;
  std::string date;
  int64_t date_unix_s = -1;
};

}  // namespace ks::apiserver
