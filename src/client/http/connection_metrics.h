// SPDX-License-Identifier: Apache-2.0
#pragma once
// What connections tell /metrics of themselves: how many there are and who shares them, how the CA
// file's checks ended, how runs of the exec plugin did. A connection has one pool for each set of
// TLS settings and is what upstream calls a cached transport.
//
// Upstream: docs/spec/metrics.md section 4.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"
#include "metrics/registry.h"

namespace ks::client {

// How a plugin's run ended; what it printed does not count.
struct ExecCall {
  enum class Status : uint8_t {
    kNoError,
    kExecutionError,  // it ran and failed
    kNotFound,        // it could not be started
    kClientError,     // anything else
  };
  Status status = Status::kNoError;
  int code = 0;  // of its exit, -1 after a signal; 1 where it did not run
};

enum class CaReload : uint8_t { kUpdated, kUnchanged, kUnreadable, kEmpty, kUnusable };

// One for all connections of a process. Threads: any. Lifetime: registry and clock outlive it; it
// outlives the connections that tell it, and no Collect of the registry runs while it is destroyed.
class ConnectionMetrics {
 public:
  explicit ConnectionMetrics(metrics::Registry& registry, const Clock& clock = RealClock());

  // A connection was made, has another user besides its first, is gone.
  void Made();
  void Shared();
  void Gone();

  void CountCaReload(CaReload outcome);
  void CountExecCall(const ExecCall& call);
  // When the certificate ends that the plugin of `login` gave last; absent: it gave none, or there
  // is no such login any more. The earliest end of all logins is shown.
  void SetCertificateEnd(const void* login, std::optional<TimePoint> end) KS_EXCLUDES(mutex_);
  // A plugin's certificate that was valid from then on was replaced.
  void CertificateReplaced(TimePoint valid_from);

 private:
  double SecondsLeft() const KS_EXCLUDES(mutex_);

  const Clock& clock_;
  metrics::Gauge& entries_;
  metrics::Family<metrics::Counter>& create_calls_;
  metrics::Family<metrics::Counter>& ca_reloads_;
  metrics::Family<metrics::Counter>& exec_calls_;
  metrics::Histogram& rotation_age_;
  metrics::Gauge& seconds_left_;

  mutable Mutex mutex_;
  std::map<const void*, TimePoint> certificate_ends_ KS_GUARDED_BY(mutex_);  // by login

  std::shared_ptr<void> before_text_;  // last: it reads what stands above
};

}  // namespace ks::client
