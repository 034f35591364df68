// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps the login of a ClusterAccess current while the process runs: token files, rotated
// certificates and CAs, exec plugins.
//
// Upstream: docs/spec/api.md sections 8.4 and 8.5.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "client/auth/kubeconfig.h"
#include "client/http/connection_metrics.h"
#include "client/http/transport.h"

namespace ks::client {

// What one request is sent with.
struct Access {
  std::vector<std::pair<std::string, std::string>> headers{};  // Authorization, Impersonate-*
  std::shared_ptr<const TlsConfig> tls{};
  uint64_t serial = 0;  // of the plugin's answer, for Rejected
};

// Threads: any. Lifetime: destruction waits for a running plugin's end (it is killed).
class Credentials {
 public:
  using Handler = std::function<void(Result<Access>)>;

  virtual ~Credentials() = default;

  // Calls `done` with current credentials: from inside this call when what is known suffices (files
  // are checked at their intervals here), else on the plugin thread. Errors: `getting credentials:
  // <cause>`.
  virtual void Get(Handler done) = 0;

  // What is known without running a plugin: for checking a configuration at start.
  virtual std::shared_ptr<const TlsConfig> InitialTls() const = 0;

  // The server answered 401 to a request sent with the credentials of a Get. A plugin runs again
  // for the next request.
  virtual void Rejected(const Access& access) = 0;
};

// Reads the files once: a certificate, CA or token file that cannot be used at start is an error
// naming it. `metrics` may be null. Lifetime: `clock` and `metrics` outlive the credentials.
Result<std::unique_ptr<Credentials>> NewCredentials(ClusterAccess access,
                                                    const Clock& clock = RealClock(),
                                                    ConnectionMetrics* metrics = nullptr);

// No login at all (tests, --master alone).
std::unique_ptr<Credentials> NewAnonymousCredentials();

}  // namespace ks::client
