// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pods and their claims as the claim controller sees them, and what it writes into them: pure
// functions, no timing.

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store/object.h"

namespace ks::apiserver::claims {

inline constexpr std::string_view kProtection = "resource.kubernetes.io/delete-protection";
inline constexpr std::string_view kPodClaimName = "resource.kubernetes.io/pod-claim-name";

// What cannot be read counts as absent; the API server has checked it.
struct PodClaim {
  std::string entry;          // name in spec.resourceClaims
  std::string template_name;  // empty: the claim is named
  std::string claim;          // its name, from spec or status; empty: none yet
  bool noted = false;         // the status says what became of it
};
struct Pod {
  std::string ns;
  std::string name;
  std::string uid;
  std::string node;
  bool done = false;  // has ended, or was deleted before it got a node: it uses nothing any more
  bool terminating = false;
  std::vector<PodClaim> claims;
};
Pod ReadPod(const Json& json);

struct Consumer {
  std::string pod;  // name; empty: no pod
  std::string uid;
};
struct Claim {
  std::string uid;
  std::string owner;  // name of the pod that controls it; empty: none
  std::string owner_uid;
  std::string entry;  // of the pod, for which it was generated
  std::vector<Consumer> consumers;
  bool allocated = false;
  bool is_protected = false;  // finalizer kProtection
  bool terminating = false;
};
Claim ReadClaim(const Json& json);

// The claim that a template makes for an entry of a pod. Its name is to be generated.
Json GeneratedClaim(const Pod& pod, const std::string& entry, const Json& claim_template);
// Adds what status.resourceClaimStatuses lacks of `pod`.
void NoteClaims(const Pod& pod, Json& json);
// Leaves the consumers of these uids.
void KeepConsumers(const std::vector<std::string>& uids, Json& claim);
void AddConsumer(const Pod& pod, Json& claim);
// Allocation, device status and finalizer go.
void Deallocate(Json& claim);

}  // namespace ks::apiserver::claims
