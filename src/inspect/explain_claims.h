// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which claim of a pod is behind a reason of VolumeBinding, and what it wants that is not there.
// Internal to explain_volumes and, for its texts, to explain_devices.
//
// Upstream: none; docs/spec/plugins-volume.md sections 2.4 to 2.7 say when a reason is given.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/storage.h"
#include "framework/snapshot.h"
#include "framework/storage_state.h"
#include "plugins/volume_binding/binding_state.h"
#include "plugins/volume_binding/class_volumes.h"

namespace ks::inspect {

using NodeSpan = std::span<const framework::NodeInfo* const>;

// As kubectl writes it: "zone in (a, b) and disk or cores > 4".
std::string SelectorText(const api::NodeSelectorSpec& selector);

// "n1, n2, n3 and 4 more". Requires: not empty.
std::string SomeNames(const std::vector<std::string>& names);

// What there is to say of the nodes of one row.
struct RowDetail {
  std::string node;  // that it speaks of
  std::string text;
};

// Each claim is judged as if it were the pod's only one. Threads: the scheduling thread. Lifetime:
// what the constructor takes outlives it and does not change meanwhile.
class ClaimExplainer {
 public:
  ClaimExplainer(const api::Pod& pod, const framework::Snapshot& snapshot,
                 const framework::StorageState& storage);

  // Absent: nothing to add, the reason names all there is. Requires: VolumeBinding gave the reason
  // for all of these nodes, which are at least one.
  std::optional<RowDetail> Why(std::string_view reason, NodeSpan nodes);

 private:
  struct Claim {
    api::PersistentVolumeClaimPtr claim;
    api::StorageClassPtr storage_class;  // null: it is bound
    plugins::BindingState alone;
  };
  struct Blamed {
    const Claim* claim = nullptr;
    std::vector<const framework::NodeInfo*> nodes;  // where it is to blame
    size_t others = 0;                              // claims that are to blame as well
  };

  void Add(api::PersistentVolumeClaimPtr claim, api::StorageClassPtr storage_class);
  std::optional<Blamed> Blame(uint8_t problem, NodeSpan nodes) const;
  std::optional<std::string> WhyNotBound() const;
  RowDetail NoSpace(const Blamed& blamed) const;
  std::string NoVolume(const Claim& claim, const framework::NodeInfo& node) const;
  std::string Pinned(const api::PersistentVolumeClaim& claim) const;
  std::string NoneOfTheVolumes(const Claim& claim, const framework::NodeInfo& node) const;
  std::string Elsewhere(const Claim& claim, const framework::NodeInfo& node) const;

  const api::Pod& pod_;
  const framework::Snapshot& snapshot_;
  const framework::StorageState& storage_;
  plugins::VolumeIndex volumes_;
  std::vector<std::unique_ptr<Claim>> claims_;  // in the pod's order, each once
};

}  // namespace ks::inspect
