// SPDX-License-Identifier: Apache-2.0
#pragma once
// Delegated authentication and authorization put together from the flags: clients of the API
// server, trust roots from files or from the cluster, caches, and the guard made of them.
//
// Upstream: docs/spec/operations.md sections 4 and 5, docs/spec/config.md section 8.5.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "client/rest/connection.h"
#include "client/rest/rest_metrics.h"
#include "daemon/config_watcher.h"
#include "kubesched/access/delegated_reviews.h"
#include "kubesched/access/delegated_roots.h"
#include "kubesched/flags/flags.h"
#include "server/auth/authentication.h"
#include "server/auth/authorization.h"
#include "server/auth/request_guard.h"
#include "server/http/request_metrics.h"
#include "server/tls/trust_roots.h"

namespace ks::daemon {

// Threads: Prepare, Start and Stop one at a time; the rest any. Lifetime: the registry and the
// metrics outlive it; it outlives the server that its guard is given to.
class DelegatedAccess {
 public:
  // Reads kubeconfigs and files, and the published trust roots once (one request, at most 10 s, not
  // with --authentication-skip-lookup). Errors: docs/spec/config.md 8.5.
  static Result<std::unique_ptr<DelegatedAccess>> Prepare(const AuthenticationOptions& who,
                                                          const AuthorizationOptions& may,
                                                          metrics::Registry& registry,
                                                          client::RestMetrics& rest_metrics);
  ~DelegatedAccess();
  DelegatedAccess(const DelegatedAccess&) = delete;
  DelegatedAccess& operator=(const DelegatedAccess&) = delete;

  server::Guard MakeGuard() const;

  // All authorities whose certificates callers may show, for the TLS handshake.
  std::string AuthoritiesPem() const;

  // Follows files and ConfigMap from here on; `roots_changed` runs on threads of theirs.
  void Start(std::function<void()> roots_changed);
  // Nothing is sent any more; guards that wait for an answer get none. Idempotent.
  void Stop();

 private:
  // One kubeconfig's client.
  struct Side {
    std::unique_ptr<client::Connection> connection;
    std::unique_ptr<client::RestClient> rest;
  };

  DelegatedAccess(const AuthenticationOptions& who, metrics::Registry& registry);

  static Result<Side> Connect(const std::string& kubeconfig, const std::string& start,
                              client::RestMetrics& metrics);
  Result<void> LoadFiles(server::TrustRoots* roots) const;
  Result<void> LookUp();
  void OnFiles() KS_EXCLUDES(mutex_);
  void OnPublished(server::TrustRoots roots) KS_EXCLUDES(mutex_);
  void Compose() KS_EXCLUDES(mutex_);

  const AuthenticationOptions who_;
  server::RequestMetrics metrics_;
  server::LiveTrustRoots roots_;

  Mutex mutex_;
  server::TrustRoots from_files_ KS_GUARDED_BY(mutex_);
  server::TrustRoots published_ KS_GUARDED_BY(mutex_);
  // Without the published roots at start there are no front proxies until the next start.
  bool front_proxy_known_ KS_GUARDED_BY(mutex_) = false;
  std::function<void()> roots_changed_ KS_GUARDED_BY(mutex_);

  Side authentication_;
  Side authorization_;
  std::unique_ptr<ApiTokenReviewer> token_reviewer_;
  std::unique_ptr<server::CachedTokenReviewer> tokens_;
  std::unique_ptr<ApiAccessReviewer> access_reviewer_;
  std::unique_ptr<server::CachedAccessReviewer> access_;
  std::unique_ptr<server::Authenticator> authenticator_;
  std::unique_ptr<server::Authorizer> authorizer_;
  std::unique_ptr<PublishedRoots> publisher_;
  std::unique_ptr<ConfigWatcher> watcher_;
};

}  // namespace ks::daemon
