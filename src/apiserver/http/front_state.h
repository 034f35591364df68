// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the connections of the HTTPS front share: the service and when it wants to go on, the fault
// rules, the watches that have something to say. Internal to https_front.cc and front_session.cc.
//
// Threads: everything belongs to the front's thread once Serve has started it.

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/http/front_answers.h"
#include "apiserver/http/https_front.h"
#include "server/http/server_connection.h"

namespace ks::apiserver {

class FrontSession;

struct HttpsFront::State final : server::ServerListener {
  State(FrontOptions front_options, Service& served);

  std::shared_ptr<server::ServerConnection> MakeConnection(Tcp::socket socket) override;
  void BeginStop() override;

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

  boost::asio::steady_timer step_timer;  // the service's NextDue
  std::vector<std::shared_ptr<FrontSession>> woken;
  std::optional<TimePoint> step_due;  // what step_timer waits for
  bool step_posted = false;
  std::string date;
  int64_t date_unix_s = -1;
};

}  // namespace ks::apiserver
