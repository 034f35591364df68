// SPDX-License-Identifier: Apache-2.0
#pragma once
// Claims and volumes as the volume controller sees them, and what it writes into them: pure
// functions, no timing.
//
// Upstream: docs/spec/plugins-volume.md 1.4 and 2.7.1; phases, annotations and texts as
// kube-controller-manager v1.37.1.

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/labels.h"
#include "api/quantity.h"
#include "api/selector.h"
#include "apiserver/store/object.h"
#include "base/result.h"

namespace ks::apiserver::volumes {

inline constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
inline constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";
inline constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view kVolumeProtection = "kubernetes.io/pv-protection";
inline constexpr std::string_view kClaimProtection = "kubernetes.io/pvc-protection";

struct Volume {
  std::string name;
  std::string uid;
  std::string storage_class;
  std::string mode;  // "Filesystem" when absent
  std::string attributes_class;
  std::string phase;
  std::string reclaim_policy;
  std::string provisioned_by;
  std::string csi_driver;
  api::Quantity capacity;
  std::vector<std::string> access_modes;
  api::LabelMap labels;
  bool claimed = false;  // has a claimRef
  std::string claim_ns;
  std::string claim_name;
  std::string claim_uid;  // empty: reserved for whatever claim has the name
  bool bound_by_controller = false;
  bool terminating = false;
  bool is_protected = false;  // finalizer kubernetes.io/pv-protection
};

struct Claim {
  std::string ns;
  std::string name;
  std::string uid;
  bool says_class = false;  // an empty one is said too
  std::string storage_class;
  std::string mode;
  std::string attributes_class;
  std::string phase;
  std::string volume;
  std::string selected_node;
  api::Quantity request;
  std::vector<std::string> access_modes;
  Result<api::LabelSelector> selector = api::LabelSelector::Everything();
  bool bind_completed = false;
  bool bound_by_controller = false;
  bool provisioner_noted = false;  // annotation volume.kubernetes.io/storage-provisioner
  bool terminating = false;
  bool is_protected = false;  // finalizer kubernetes.io/pvc-protection
};

// What cannot be read counts as absent; the API server has checked it.
Volume ReadVolume(const Json& json);
Claim ReadClaim(const Json& json);

// Keys "ns/name" of the claims that a pod's volumes mean.
std::vector<std::string> ClaimsOfPod(const Json& pod);

// The volume's claimRef names this claim: by name, and by uid where it has one.
bool ReservedFor(const Volume& volume, const Claim& claim);
// For a volume that is reserved for the claim: size, volume mode, attributes class, access modes.
// Neither class nor selector are asked (kube-controller-manager binds it all the same).
bool FitsReserved(const Volume& volume, const Claim& claim);
// For a volume that nothing reserves: class, selector and that it is available, as well.
bool FitsFreely(const Volume& volume, const Claim& claim);
// Why a claim that asks for this volume cannot have it: upstream's text. Empty: it can.
std::string Mismatch(const Volume& volume, const Claim& claim);

// claimRef, annotation, phase Bound. False: nothing to change.
bool BindVolume(Json& volume, const Json& claim, const std::string& now);
// volumeName, annotations, phase Bound, capacity and modes. False: nothing to change.
bool BindClaim(Json& claim, const Json& volume);
void SetVolumePhase(Json& volume, std::string_view phase, const std::string& now);
// Takes back what ties a volume to a claim: all when the controller wrote it, else the uid.
void UnbindVolume(Json& volume);
void RemoveFinalizer(Json& object, std::string_view finalizer);

// Where a provisioned volume can be reached: label values, sorted by key. Empty: everywhere.
using Topology = std::vector<std::pair<std::string, std::string>>;
// The topology of the node that a claim was given: `key` and the keys of the class'
// allowedTopologies, as far as the node has such labels. Error: allowedTopologies forbid the node.
Result<Topology> TopologyOfNode(const StoredObject& node, const Json& storage_class,
                                const std::string& key);
// For a claim that no node was chosen for: one of allowedTopologies, else one of `values` of the
// label `key`, spread by the claim's uid.
Topology AnyTopology(const Claim& claim, const Json& storage_class, const std::string& key,
                     const std::set<std::string>& values);
// The annotations that tell a provisioner of its claim.
void NoteProvisioner(Json& claim, const std::string& provisioner);
// The volume a provisioner makes for a claim of a class.
Json ProvisionedVolume(const Json& claim, const Json& storage_class, const std::string& driver,
                       const Topology& topology);

}  // namespace ks::apiserver::volumes
