// SPDX-License-Identifier: Apache-2.0
#pragma once
// HTTP exchanges with one API server: requests with an answer, and streams (watches). Everything
// above this header is free of the HTTP library; nothing here knows about Kubernetes, retries by
// status code or rate limits (rest_client.h does).
//
// Upstream: docs/spec/api.md sections 7.1 (TLS floor, keep-alive), 8.4 (rotation).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "client/http/timer_service.h"
#include "client/http/write_fence.h"

namespace ks::client {

struct Proxy;

// What a connection authenticates with. Threads: immutable once shared.
struct TlsConfig {
  // Grows with each change: requests with a newer one make the transport open new connections.
  uint64_t generation = 0;
  std::string ca_pem{};  // trusted exclusively; empty: the system's roots
  bool insecure_skip_verify = false;
  std::string server_name{};      // expected name and SNI; empty: the host of the URL
  std::string client_cert_pem{};  // chain, leaf first; empty: none
  std::string client_key_pem{};
};

struct HttpResponse;

// Takes the body of an answer as it comes, so that nobody holds it whole. Calls come on client
// threads, one at a time, and none after the handler's.
class BodyReader {
 public:
  virtual ~BodyReader() = default;
  // The answer to a sending begins; what came of an earlier one is void. False: its body is
  // gathered as usual.
  virtual bool Begin(const HttpResponse& head) = 0;
  virtual void OnPiece(std::string_view piece) = 0;
};

struct HttpRequest {
  std::string method = "GET";
  std::string target{};  // escaped path and query: "/api/v1/pods?limit=500"
  // What messages call the URL; empty: the server's with the target.
  std::string shown_url{};
  std::vector<std::pair<std::string, std::string>> headers{};  // Host is added by the transport
  std::string body{};
  Duration timeout{};        // of the whole exchange (streams: until the headers); zero: none
  bool accept_gzip = false;  // the answer is unpacked before anybody sees it
  // True: if the connection is lost before the answer is whole, the request is sent once more, over
  // a new one. The answer then says `uncertain`, unless nothing of the first sending had left.
  // False: it is never sent again, as nobody can tell whether the peer carried it out. Instead it
  // is given a connection that carried nothing before: only of a kept one may a healthy peer take
  // leave while a request is on its way (an idle limit; a close after each answer that no header
  // announced). Costs a connect, and with TLS a handshake.
  bool repeat_when_lost = true;
  // Of the answer, but for streams; null: it is gathered. A transport may pass it over.
  std::shared_ptr<BodyReader> reader{};
  std::shared_ptr<const TlsConfig> tls{};  // null: what the transport was made with
  // Asked before each sending, those included that the transport repeats by itself, and of requests
  // with a body once more at the last moment, when the connection is there. Null: none.
  std::shared_ptr<const WriteFence> fence{};
};

// A failure without an HTTP answer.
struct TransportError {
  enum class Kind : uint8_t {
    kRefused,    // nobody listens
    kLost,       // reset, end of file, broken pipe: the peer may have seen the request
    kTimedOut,   // deadline, inactivity, or keep-alive probes without answer
    kCanceled,   // by Exchange::Cancel or because the transport ends
    kTls,        // certificate or handshake
    kResolve,    // host name
    kMalformed,  // an answer that is not HTTP
    kFenced,     // HttpRequest::fence was shut; the body did not leave, in this sending
    kOther,
  };
  Kind kind = Kind::kOther;
  std::string message{};
};

struct HttpResponse {
  int status = 0;
  std::string content_type{};
  std::string retry_after{};  // verbatim; empty when absent
  std::string body{};         // capacity >= size + api::kJsonPadding
  size_t read_bytes = 0;      // of the body, given to a BodyReader
};

struct HttpReply {
  std::optional<TransportError> error{};  // set: `response` is meaningless
  HttpResponse response;
  // An earlier sending of this request was lost and may have been carried out.
  bool uncertain = false;
};
using HttpReplyHandler = std::function<void(HttpReply)>;

// Receives a stream. Calls come one at a time, on client threads, in the order headers, data…, end.
class StreamSink {
 public:
  enum class Flow : uint8_t { kContinue, kPause };

  virtual ~StreamSink() = default;

  // At most once; never when the stream fails before. The body is empty.
  virtual void OnHeaders(const HttpResponse& head) = 0;
  // A piece of the body as it came: any cut is possible. kPause: nothing more is read until
  // Exchange::Resume (which may come before this call has returned).
  virtual Flow OnData(std::string_view data) = 0;
  // Exactly once and last. Empty: the body ended cleanly.
  virtual void OnEnd(std::optional<TransportError> error) = 0;
};

// A running exchange. Dropping the pointer neither ends nor leaks it.
// Threads: any.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // Idempotent. The final callback still comes, from a client thread, with kCanceled unless the
  // end was under way.
  virtual void Cancel() = 0;
  // After a kPause.
  virtual void Resume() = 0;
};

// Connections are kept for later requests. One that is found closed, or a request that is lost,
// empties the pool: the others are as old.
//
// Threads: any. Handlers and sinks run on client threads, never from inside the call, and must not
// block. Lifetime: destruction cancels what runs and waits for its final callbacks; not allowed on
// a client thread.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual std::shared_ptr<Exchange> Send(HttpRequest request, HttpReplyHandler done) = 0;
  virtual std::shared_ptr<Exchange> OpenStream(HttpRequest request,
                                               std::shared_ptr<StreamSink> sink) = 0;

  // Runs the task on a client thread, soon and not from inside the call. False: it did not take it.
  virtual bool RunSoon(const std::function<void()>& /*task*/) { return false; }
  // `task` runs on a client thread soon after each time that handlers and sinks were called, once
  // for several of them. It must not block for long. Empty: none; then the former one is not
  // running any more. Not allowed from inside the task. False: this transport has no such thing.
  virtual bool SetAfterDelivery(const std::function<void()>& /*task*/) { return false; }
};

struct TransportOptions {
  // "https://10.0.0.1:6443", also http, also IPv6 in brackets, also with a path prefix.
  std::string server;
  std::shared_ptr<const TlsConfig> tls{};  // null: system roots, no client certificate
  // What all connections go through; null: none. Only the transport over Boost.Beast knows proxies.
  std::shared_ptr<const Proxy> proxy{};
  // Silence of the peer in any step: resolve, connect, handshake, headers, each piece of the body.
  Duration idle_timeout = std::chrono::seconds(75);
  // Silence on a stream. Longer than a reflector's watch may last, at whose end the server speaks.
  Duration stream_idle_timeout = std::chrono::seconds(28);
  // TCP: first probe after this silence, then every 5 s, 3 in all.
  Duration keep_alive = std::chrono::seconds(15);
  // TCP: data that the peer has not acknowledged for so long will never reach it: the connection is
  // lost. Zero: as long as the probes last.
  Duration unacknowledged_most{};
};

// The transport over Boost.Beast, for API servers: a thread of its own. Error: the URL or the
// certificates are unusable.
Result<std::unique_ptr<Transport>> NewBeastTransport(TransportOptions options);

// The transport over cpprestsdk, for webhooks: one thread for all of them. Requires:
// InitializeClientProcess() ran. Error: the URL or the certificates are unusable.
Result<std::unique_ptr<Transport>> NewCpprestTransport(TransportOptions options,
                                                       TimerService& timers);

// First lines of main, before any thread: sets up the process for both. Idempotent.
void InitializeClientProcess();

}  // namespace ks::client
