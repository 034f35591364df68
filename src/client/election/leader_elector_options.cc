// SPDX-License-Identifier: Apache-2.0
// What an elector is made with: which settings work, and who it says it is.

#include "base/uuid.h"
#include "client/election/leader_elector.h"

namespace ks::client {
namespace {

// A wait between two tries is at most so many retry periods longer than one.
constexpr double kJitter = 1.2;

}  // namespace

Result<void> CheckLeaderElector(const LeaderElectorOptions& options) {
  const auto fault = [](const char* text, const char* field) {
    return Error{std::string("couldn't create leader elector: ") + text,
                 std::string("leaderElection.") + field};
  };
  if (options.lease_duration <= options.renew_deadline) {
    return fault("leaseDuration must be greater than renewDeadline", "leaseDuration");
  }
  if (options.renew_deadline <=
      Duration(static_cast<int64_t>(static_cast<double>(options.retry_period.count()) * kJitter))) {
    return fault("renewDeadline must be greater than retryPeriod*JitterFactor", "renewDeadline");
  }
  if (options.lease_duration <= Duration::zero()) {
    return fault("leaseDuration must be greater than zero", "leaseDuration");
  }
  if (options.renew_deadline <= Duration::zero()) {
    return fault("renewDeadline must be greater than zero", "renewDeadline");
  }
  if (options.retry_period <= Duration::zero()) {
    return fault("retryPeriod must be greater than zero", "retryPeriod");
  }
  if (options.lease_name.empty()) {
    return fault("leaderElection.resourceName must not be empty", "resourceName");
  }
  if (options.lease_namespace.empty()) {
    return fault("leaderElection.resourceNamespace must not be empty", "resourceNamespace");
  }
  return {};
}

std::string NewIdentity(const std::string& host, Random& random) {
  return host + '_' + NewUuid(random);
}

}  // namespace ks::client
