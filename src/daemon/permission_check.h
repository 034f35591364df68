// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a daemon may do at the API server, asked when it starts: a permission that is missing shows
// hours later otherwise, as an informer that never syncs or a preemption that never ends. Tells
// and never stops: whoever grants the rest later needs no restart.
//
// Source of the list: docs/spec/operations.md section 11.

#include <functional>
#include <string>
#include <vector>

#include "client/rest/rest_client.h"
#include "config/types.h"
#include "framework/owner_listers.h"

namespace ks::daemon {

// One verb on one resource.
struct Permission {
  std::string verb;
  std::string group;       // "" is the core group
  std::string resource;    // "pods", "pods/binding"
  std::string ns;          // empty: in all namespaces, or of the cluster
  std::string name;        // empty: of any name
  std::string needed_for;  // half a sentence for the log
  std::string granted_by;  // the role that has it
  std::string or_verb{};   // does as well; empty: none
  bool operator==(const Permission&) const = default;
};

struct PermissionNeeds {
  framework::OptionalKinds kinds;  // kinds that plugins read
  bool preempts = true;            // some profile evicts pods
  bool legacy_events = false;      // events go to core/v1
  config::LeaderElection leader_election;
  bool coordinated = false;  // the API server names the leader
  bool delegates = true;     // callers of the own server are authenticated by the API server
};

// Sorted by what they are needed for.
std::vector<Permission> NeededPermissions(const PermissionNeeds& needs);

struct PermissionAnswers {
  std::vector<Permission> missing;
  std::vector<std::string> failures;  // of the asking itself, each text once
};

// A SelfSubjectAccessReview for each, and another where a verb with a substitute is refused; `done`
// runs once, on a client thread. Lifetime: the client's destruction cancels it.
void AskPermissions(client::RestClient& client, std::vector<Permission> needed,
                    std::function<void(const PermissionAnswers&)> done);

// An error line for each that is missing, with the role that would give it.
void LogPermissions(const PermissionAnswers& answers);

}  // namespace ks::daemon
