// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who vouches for callers: the authorities of client certificates and of front proxies, and the
// header fields in which a front proxy names the caller. They change while the server runs.
//
// Upstream: docs/spec/operations.md section 4.2.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "server/tls/client_certificate.h"

namespace ks::server {

struct FrontProxyTrust {
  std::shared_ptr<const CertificateAuthorities> authorities{};
  std::vector<std::string> allowed_names{};  // empty: any
  std::vector<std::string> username_headers{};
  std::vector<std::string> group_headers{};
  std::vector<std::string> uid_headers{};
  std::vector<std::string> extra_header_prefixes{};
};

struct TrustRoots {
  std::shared_ptr<const CertificateAuthorities> clients{};  // null: no client certificates
  std::optional<FrontProxyTrust> front_proxy{};             // absent: no front proxies
};

// Threads: any.
class LiveTrustRoots {
 public:
  std::shared_ptr<const TrustRoots> Get() const KS_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return roots_;
  }
  void Set(TrustRoots roots) KS_EXCLUDES(mutex_) {
    auto next = std::make_shared<const TrustRoots>(std::move(roots));
    const MutexLock lock(mutex_);
    roots_.swap(next);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const TrustRoots> roots_ KS_GUARDED_BY(mutex_) =
      std::make_shared<const TrustRoots>();
};

}  // namespace ks::server
