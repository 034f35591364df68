// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps the server's certificates current: pairs in files that are exchanged, the self-signed pair
// before it expires, the authorities whose names go out in handshakes.
//
// Upstream: docs/spec/operations.md section 3.1.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "client/http/timer_service.h"
#include "daemon/config_watcher.h"
#include "kubesched/flags/flags.h"
#include "server/tls/certificate.h"
#include "server/tls/tls_context.h"

namespace ks::daemon {

// The self-signed pair that is in no file. Its keys are of P-256; where the operator chose cipher
// suites or curves they are of RSA, as kube-scheduler's: the choice may leave out the others.
Result<server::ServingCertificate> MakePairInMemory(const ServingOptions& options,
                                                    int64_t now_unix_s);

// Threads: any once made. Lifetime: the timers and what `apply` uses outlive it.
class TlsKeeper {
 public:
  // What puts a setup into force: HttpsServer::Secure.
  using Apply = std::function<Result<void>(const server::TlsSetup&)>;

  // `generated`: the pair of PrepareCertificate (serving.h). Applies once. Errors:
  // docs/spec/config.md 8.5.
  static Result<std::unique_ptr<TlsKeeper>> Make(
      const ServingOptions& options, const std::optional<server::ServingCertificate>& generated,
      client::TimerService& timers, Apply apply);
  ~TlsKeeper();
  TlsKeeper(const TlsKeeper&) = delete;
  TlsKeeper& operator=(const TlsKeeper&) = delete;

  // A failure is logged, and what was in force stays.
  void SetAuthorities(const std::string& pem) KS_EXCLUDES(mutex_);

  // Follows the files, and looks at the self-signed pair's date once a day.
  void Start() KS_EXCLUDES(mutex_);

 private:
  struct Renewal;

  TlsKeeper(ServingOptions options, client::TimerService& timers, Apply apply);
  std::vector<std::string> Files() const;
  Result<void> Load() KS_REQUIRES(mutex_);
  void Reload() KS_EXCLUDES(mutex_);
  void RenewIfDue() KS_EXCLUDES(mutex_);

  const ServingOptions options_;
  client::TimerService& timers_;
  const Apply apply_;

  Mutex mutex_;
  server::TlsSetup setup_ KS_GUARDED_BY(mutex_);
  bool in_memory_ KS_GUARDED_BY(mutex_) = false;  // the pair is in no file
  std::unique_ptr<ConfigWatcher> watcher_;
  std::shared_ptr<Renewal> renewal_;
};

}  // namespace ks::daemon
