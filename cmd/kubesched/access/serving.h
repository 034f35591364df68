// SPDX-License-Identifier: Apache-2.0
#pragma once
// From flags to the HTTPS server: certificate, listener, TLS, who may ask for what.
//
// Upstream: docs/spec/config.md section 8.5 (steps 7 and 9 of section 1).

#include <memory>
#include <optional>

#include "base/result.h"
#include "client/http/timer_service.h"
#include "client/rest/rest_metrics.h"
#include "kubesched/access/delegated_access.h"
#include "kubesched/access/tls_keeper.h"
#include "kubesched/flags/flags.h"
#include "metrics/registry.h"
#include "server/http/https_server.h"

namespace ks::daemon {

// Step 7: a self-signed pair, new or kept in --cert-dir. Absent: --secure-port=0, or files are
// given, which are read when the server is made.
Result<std::optional<server::ServingCertificate>> PrepareCertificate(const ServingOptions& options);

// The server with everything that keeps it going. Threads: one at a time. Lifetime: registry and
// metrics outlive it.
class Serving {
 public:
  // Steps 9 and following: binds the port, checks everything about TLS, authentication and
  // authorization, and reads the trust roots that the cluster publishes. Null: --secure-port=0.
  // Nothing is served yet.
  static Result<std::unique_ptr<Serving>> Prepare(
      const Options& options, const std::optional<server::ServingCertificate>& generated,
      metrics::Registry& registry, client::RestMetrics& rest_metrics);
  ~Serving();  // stops
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  // For handlers. Requires for those: not yet started.
  server::HttpsServer& https() { return *https_; }

  client::TimerService& timers() { return *timers_; }

  // Requires: called once.
  void Start();
  // Lets open answers finish for 5 s. Idempotent.
  void Stop();

 private:
  Serving() = default;

  std::unique_ptr<client::TimerService> timers_;
  std::unique_ptr<server::HttpsServer> https_;
  std::unique_ptr<TlsKeeper> tls_;
  std::unique_ptr<DelegatedAccess> access_;
};

}  // namespace ks::daemon
