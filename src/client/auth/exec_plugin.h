// SPDX-License-Identifier: Apache-2.0
#pragma once
// One run of an exec credential plugin: start, wait, read what it printed. When to run it is the
// business of credentials.h.
//
// Upstream: docs/spec/api.md section 8.5.

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "client/auth/kubeconfig.h"
#include "client/http/connection_metrics.h"

namespace ks::client {

struct ExecCredential {
  std::string token{};
  std::string client_cert_pem{};
  std::string client_key_pem{};
  std::optional<TimePoint> expires{};  // none: for ever

  friend bool operator==(const ExecCredential&, const ExecCredential&) = default;
};

// What a plugin with provideClusterInfo is told.
struct ExecClusterInfo {
  std::string server{};
  std::string proxy_url{};
  std::string tls_server_name{};
  bool insecure_skip_tls_verify = false;
  std::string ca_pem{};
};

// A wake-up that a poll() can wait for. Threads: any.
class StopFlag {
 public:
  StopFlag();
  ~StopFlag();
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;

  void Set();
  // Readable once set.
  int fd() const { return fd_; }

 private:
  int fd_;
};

// Blocks until the plugin has ended; kills it when `stop` is set. Its stderr is ours, and so is its
// stdin where that is a terminal and the plugin may ask. `metrics`, if not null, is told how the
// run ended. Errors: docs/spec/api.md 8.5, with the install hint.
Result<ExecCredential> RunExecPlugin(const ExecPlugin& plugin, const ExecClusterInfo& cluster,
                                     const StopFlag& stop, ConnectionMetrics* metrics = nullptr);

// The time in which the first certificate of a PEM text is valid. Absent: there is none.
struct CertificateLife {
  TimePoint from{};
  TimePoint end{};
};
std::optional<CertificateLife> LifeOfCertificate(const std::string& pem);

// The standard output of a plugin. Exposed for tests of bad output.
Result<ExecCredential> ParseExecCredential(const std::string& output,
                                           const std::string& api_version);

}  // namespace ks::client
