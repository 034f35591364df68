// SPDX-License-Identifier: Apache-2.0
#include "leader_election.h"

#include "base/logging.h"

namespace ks::daemon {

Result<void> CheckResourceLock(const config::LeaderElection& election) {
  const std::string& lock = election.resource_lock;
  if (!election.leader_elect || lock == "leases") return {};
  const std::string start = "couldn't create resource lock: ";
  if (lock == "endpoints" || lock == "endpointsleases" || lock == "configmaps") {
    return Error{start + lock + " lock is removed, migrate to leases"};
  }
  if (lock == "configmapsleases") {
    return Error{start + lock + " lock is removed, migrated to leases"};
  }
  return Error{start + "Invalid lock-type " + lock};
}

Result<void> CheckLeaderElection(const config::LeaderElection& election, bool asked) {
  if (!election.leader_elect) return {};
  if (asked) {
    return Error{
        "leader election is not supported by this version of kubesched: run one instance, with "
        "--leader-elect=false or leaderElection.leaderElect: false in the configuration file"};
  }
  log::Plain('W',
             "leader election, on by default in kube-scheduler, is not in this version of "
             "kubesched: run one instance only; --leader-elect=false silences this line");
  return {};
}

}  // namespace ks::daemon
