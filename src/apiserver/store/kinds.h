// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds the in-memory API server stores: names, paths, which fields can be selected. A table,
// nothing else; what a kind's objects must look like is strategy.h.
//
// Upstream: docs/spec/api.md sections 1.1, 2 and 5.4.

#include <string>
#include <string_view>
#include <vector>

namespace ks::apiserver {

struct KindInfo {
  std::string group{};    // "" for core
  std::string version{};  // "v1"
  std::string kind{};
  std::string plural{};
  std::string singular{};
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
  bool namespaced = true;
  bool has_status = false;  // the subresource /status: writes elsewhere leave `status` alone
  // metadata.generation counts changes outside of metadata, status.
  bool has_spec_generation = false;
  bool graceful_deletion = false;  // pods: deletion takes a grace period
  // Paths that a field selector may name besides metadata.name and (namespaced kinds)
  // metadata.namespace: "spec.nodeName". An absent field reads as "" (booleans: "false"). Those of
  // a kind that is another form of a stored one stand in the same places.
  std::vector<std::string> selectable_fields{};

  // "v1", "apps/v1"
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  // "pods", "replicasets.apps": how messages name it.
  std::string qualified_plural() const { return group.empty() ? plural : plural + "." + group; }
};

// In a fixed order; the index in it is the kind's number in the store. Addresses are stable.
// Events stand twice: core/v1 (where they are stored) and events.k8s.io/v1 (another form of the
// same objects, see event_forms.h), most kinds of devices (v1, v1beta2), PodGroups and Workloads
// (v1beta1, v1alpha3) in two versions that look the same, of which the first one is stored.
const std::vector<KindInfo>& AllKinds();

// Null: no such resource.
const KindInfo* FindResource(std::string_view group, std::string_view version,
                             std::string_view plural);
// By `apiVersion` and `kind` as an object carries them. Null: unknown.
const KindInfo* FindKind(std::string_view api_version, std::string_view kind);
// The kind under which the objects of `kind` are kept: itself, but for kinds that stand twice.
const KindInfo& StorageKind(const KindInfo& kind);
// Index in AllKinds().
size_t KindIndex(const KindInfo& kind);

}  // namespace ks::apiserver
