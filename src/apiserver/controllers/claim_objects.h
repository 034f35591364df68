// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pods, pod groups and their claims as the claim controller sees them, and what it writes into
// them: pure functions, no timing.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store/object.h"

namespace ks::apiserver::claims {

inline constexpr std::string_view kProtection = "resource.kubernetes.io/delete-protection";
inline constexpr std::string_view kPodClaimName = "resource.kubernetes.io/pod-claim-name";

// Who uses claims.
enum class UserKind : uint8_t { kPod, kGroup };
struct User {
  UserKind kind = UserKind::kPod;
  std::string ns;
  std::string name;
  std::string uid;
};

// What cannot be read counts as absent; the API server has checked it.
struct EntryClaim {
  std::string entry;          // name in spec.resourceClaims
  std::string template_name;  // empty: the claim is named
  std::string claim;          // its name, from spec or status; empty: none yet
  bool noted = false;         // the status says what became of it

  // Whether entries of a pod and of its group stand for one claim.
  bool SameEntry(const EntryClaim& other) const {
    return entry == other.entry && template_name == other.template_name &&
           (!template_name.empty() || claim == other.claim);
  }
};
struct Pod {
  User self;
  std::string node;
  std::string group;  // name of its pod group; empty: none
  bool done = false;  // has ended, or was deleted before it got a node: it uses nothing any more
  bool terminating = false;
  std::vector<EntryClaim> claims;
};
Pod ReadPod(const Json& json);

struct Group {
  User self;
  bool terminating = false;
  std::vector<EntryClaim> claims;
};
Group ReadGroup(const Json& json);

struct Consumer {
  std::optional<UserKind> kind;  // none: neither pod nor pod group
  std::string name;
  std::string uid;
};
struct Claim {
  std::string uid;
  std::optional<User> owner;  // the pod or pod group that controls it
  std::string entry;          // of the owner, for which it was generated
  std::vector<Consumer> consumers;
  bool allocated = false;
  bool is_protected = false;  // finalizer kProtection
  bool terminating = false;
};
Claim ReadClaim(const Json& json);

// The claim that a template makes for an entry of its user. Its name is to be generated.
Json GeneratedClaim(const User& user, const std::string& entry, const Json& claim_template);
// Puts the names of generated claims into status.resourceClaimStatuses of their user.
void NoteClaims(const std::vector<EntryClaim>& claims, Json& json);
// Leaves the consumers of these uids.
void KeepConsumers(const std::vector<std::string>& uids, Json& claim);
void AddConsumer(const User& user, Json& claim);
// Allocation, device status and finalizer go.
void Deallocate(Json& claim);

}  // namespace ks::apiserver::claims
