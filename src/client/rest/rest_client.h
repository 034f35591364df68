// SPDX-License-Identifier: Apache-2.0
#pragma once
// REST over a Transport: credentials, headers, rate limit, repetition on Retry-After, errors as
// api::ApiError. One object per purpose (scheduling, events, leader election): each has its own
// token bucket, all may share one Transport and Credentials.
//
// Upstream: docs/spec/api.md sections 7.1, 7.3, 7.4, 7.5.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/status.h"
#include "base/clock.h"
#include "client/auth/credentials.h"
#include "client/http/transport.h"

namespace ks::client {

class HostMetrics;

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";
// For RestOptions::accept.
inline constexpr std::string_view kProtobufOrJson =
    "application/vnd.kubernetes.protobuf, application/json";

struct RestOptions {
  float qps = 50;  // negative: no limit
  int burst = 100;
  std::string user_agent{};  // see UserAgent()
  // Of the answers that an api::Decoder reads (RestRequest::decoded); the others come as JSON.
  std::string accept{kJsonType};
  HostMetrics* metrics = nullptr;  // outlives the client; null: nothing is measured
  bool send_protobuf = false;      // bodies that there are in both forms, see SendsProtobuf
};

struct RestRequest {
  std::string method = "GET";
  std::string target{};  // escaped path and query
  std::string body{};
  std::string content_type = "application/json";  // sent with a body only
  Duration timeout{};                             // of one sending; zero: none
  // The answer may come in any form of RestOptions::accept: a Decoder reads it, or nobody.
  bool decoded = false;
  bool accept_gzip = false;
  std::shared_ptr<BodyReader> reader{};  // HttpRequest::reader; of a success the body is its own
  std::string traceparent{};             // value of that header; empty: none
  // Asked before every sending; a shut one ends the request with RestReply::fenced. Null: none.
  std::shared_ptr<const WriteFence> fence{};
  // For error texts: "pods", "p". Empty verb: the method in lower case.
  std::string verb{};
  std::string resource{};
  std::string name{};
};

struct RestReply {
  std::optional<api::ApiError> error{};
  int code = 0;        // HTTP status; 0 without an answer
  std::string body{};  // of a success; capacity >= size + api::kJsonPadding
  // An earlier sending may have been carried out although its answer was lost or bad.
  bool uncertain = false;
  // The last sending did not take place: RestRequest::fence was shut. The error says so.
  bool fenced = false;
  // The body was protobuf, which the server does not take. The error says so.
  bool form_refused = false;

  bool ok() const { return !error.has_value(); }
};
using RestHandler = std::function<void(RestReply)>;

// Receives a watch. Calls come one at a time, on client threads, in the order opened, data…, end.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  // The server accepted the watch.
  virtual void OnOpened() = 0;
  virtual StreamSink::Flow OnData(std::string_view data) = 0;
  // Exactly once and last. Before OnOpened: why it could not be opened. After it: empty for a clean
  // end, else how it broke.
  virtual void OnEnd(std::optional<api::ApiError> error) = 0;
};

// Threads: any; handlers run on client threads, never from inside the call.
// Lifetime: transport, credentials and timers outlive it. Destruction cancels what runs and waits
// for its handlers.
class RestClient {
 public:
  RestClient(Transport& transport, Credentials& credentials, TimerService& timers,
             RestOptions options);
  ~RestClient();
  RestClient(const RestClient&) = delete;
  RestClient& operator=(const RestClient&) = delete;

  // One bucket token per sending. Success is a status of 200 to 299.
  std::shared_ptr<Exchange> Send(RestRequest request, RestHandler done);

  // Takes no bucket token. Lost connections while opening are repeated as 7.3 says.
  std::shared_ptr<Exchange> Watch(RestRequest request, std::shared_ptr<WatchSink> sink);

  // Blocking forms for command-line tools and start-up. Requires: not called on a client thread.
  RestReply Get(std::string target, Duration timeout = {});
  RestReply Post(std::string target, std::string body, Duration timeout = {});
  RestReply Put(std::string target, std::string body, Duration timeout = {});
  RestReply Patch(std::string target, std::string body,
                  std::string content_type = "application/strategic-merge-patch+json",
                  Duration timeout = {});
  RestReply Delete(std::string target, Duration timeout = {});
  RestReply SendAndWait(RestRequest request);

  // Whether bodies are to be protobuf where there is such a form: as RestOptions say, until the
  // server refuses one (415). What it refused is to be sent again, in JSON.
  bool SendsProtobuf() const;

  const Clock& clock() const;
  TimerService& timers() const;
  // Runs the task on a client thread, soon and not from inside the call: on that of the transport,
  // which need not be woken when it is the caller's, or else on that of the timers.
  void RunSoon(std::function<void()> task) const;

 private:
  struct State;
  class Call;
  class WatchCall;
  std::shared_ptr<State> state_;
};

// "kubesched/v0.1.0 (linux/amd64) kubernetes/unknown/scheduler": docs/spec/api.md 7.1.
std::string UserAgent(std::string_view program, std::string_view component);

// Escapes a query value or a path segment (everything but unreserved characters).
std::string EscapeUrl(std::string_view text);

}  // namespace ks::client
