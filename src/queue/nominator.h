// SPDX-License-Identifier: Apache-2.0
#pragma once
// PodNominator: which pods are expected to run on which node although they are not there yet.
//
// Upstream: docs/spec/queue.md section 11.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "base/string_map.h"
#include "framework/handle.h"

namespace ks::queue {

// Identity is the uid; a pod is nominated to one node at most. What filtering sees of a nominated
// pod is kept ready here, so that workers only read: the stored pod while the queue has it, a stub
// without priority and requests while it has not.
// Threads: the scheduling thread; workers may call the const methods of Nominator while a cycle
// runs. Lifetime: the functions outlive it.
class PodNominator final : public framework::Nominator {
 public:
  struct Sources {
    // The informer's present copy of a pod, by namespace and name; null when it knows none. An
    // empty function: nominations are taken without asking.
    std::function<api::PodPtr(const api::Pod& pod)> informer;
    // The copy in the queue's stores, by namespace and name; null when it is in none.
    std::function<api::PodPtr(const api::Pod& pod)> stored;
  };

  explicit PodNominator(Sources sources) : sources_(std::move(sources)) {}

  std::span<const framework::PodInfoPtr> NominatedPodsForNode(
      std::string_view node_name) const override;
  bool HasNominatedPods() const override { return !node_of_.empty(); }
  void ForEachNominatedNode(
      const std::function<void(std::string_view node_name)>& visit) const override {
    for (const auto& [node, pods] : nominations_) visit(node);
  }
  const framework::NominationLog& changes() const override { return changes_; }
  void AddNominatedPod(const api::PodPtr& pod,
                       const std::optional<framework::NominatingInfo>& info) override;
  void DeleteNominatedPodIfExists(const api::Pod& pod) override;

  // A stored pod was updated. An entry stays when neither version names a node: the API may echo a
  // pod without the nomination that so far only the scheduler knows.
  void Update(const api::Pod& old_pod, const api::PodPtr& new_pod);
  // The queue has taken the pod into a store, or out of all of them.
  void PodStored(const api::PodPtr& pod);
  void PodLeft(const api::Pod& pod);

  std::string_view NodeOf(std::string_view uid) const override;

 private:
  static constexpr size_t kLogged = 1024;  // changes

  // Null when the pod is not nominated.
  framework::PodInfoPtr* FindEntry(std::string_view uid);
  void Exchange(framework::PodInfoPtr& entry, framework::PodInfoPtr other);

  Sources sources_;
  StringMap<std::string> node_of_;                             // uid -> node
  StringMap<std::vector<framework::PodInfoPtr>> nominations_;  // node -> pods, in order
  framework::NominationLog changes_{kLogged};
};

}  // namespace ks::queue
