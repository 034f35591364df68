// SPDX-License-Identifier: Apache-2.0
#pragma once
// Serves a Service over HTTPS (HTTP/1.1, Boost.Beast) on one thread, which is the service's thread:
// authentication by client certificate or bearer token, watches as chunked bodies, faults by rule.
// For group system:masters only: GET, POST, DELETE /kubesched/faults (the rules); POST
// /kubesched/snapshot answers with a v1 List of everything; POST /kubesched/forget-history ends all
// watches and forgets what they could resume from, as a restart does.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "apiserver/http/credentials.h"
#include "apiserver/http/faults.h"
#include "apiserver/service/service.h"
#include "apiserver/store/types.h"
#include "base/result.h"
#include "server/tls/certificate.h"

namespace ks::apiserver {

struct FrontOptions {
  std::string bind_address = "127.0.0.1";
  uint16_t port = 0;  // 0: any free port
  server::ServingCertificate certificate{};
  std::string client_ca_pem{};               // empty: client certificates are not asked for
  std::map<std::string, UserInfo> tokens{};  // bearer token → user
  size_t max_sessions = 4096;
  size_t max_body = 3U << 20;
  uint64_t fault_seed = 1;
  Duration handshake_timeout = std::chrono::seconds(10);
  Duration request_timeout = std::chrono::seconds(60);  // from a request's first byte to its end
  Duration idle_timeout = std::chrono::seconds(180);    // between two requests
  Duration write_timeout = std::chrono::seconds(60);    // an answer, or a piece of a watch
  Duration close_timeout = std::chrono::seconds(2);     // for the peer's part of a TLS close
};

// Threads: any, unless said otherwise. Lifetime: the service outlives the front and is used by its
// thread alone between Serve and Stop.
class HttpsFront {
 public:
  // Binds. Error: address in use, unusable certificate.
  static Result<std::unique_ptr<HttpsFront>> Listen(FrontOptions options, Service& service);
  ~HttpsFront();  // stops

  uint16_t port() const;
  std::string url() const;  // "https://127.0.0.1:34567"

  // Requires: before Serve, or on the front's thread (Run).
  FaultRules& faults();
  size_t sessions() const;  // open connections; on the front's thread

  void Serve();
  // Runs `task` on the front's thread and waits for it. Requires: serving, not on that thread.
  void Run(const std::function<void()>& task);
  // Closes everything. Idempotent.
  void Stop();

  struct State;  // front_state.h

 private:
  explicit HttpsFront(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ks::apiserver
