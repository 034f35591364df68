// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the node-local plugins of a profile said about pods of one spec, node by node. A replica of
// a pod that was just decided asks them only about the nodes that changed since.
//
// Design: docs/decisions/0021-remembered-verdicts.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "api/pod.h"
#include "api/pod_size.h"
#include "base/bounded_cache.h"
#include "framework/change_reader.h"
#include "framework/cycle_state.h"
#include "framework/runtime/nominated_nodes.h"
#include "framework/runtime/spec_ranking.h"
#include "framework/status.h"

namespace ks::framework {

// What is remembered about pods of one spec. Slots are those of the snapshot (Snapshot::slots()).
// Threads: Refresh by the scheduling thread; workers may remember and read different slots.
class NodeVerdicts {
 public:
  explicit NodeVerdicts(std::shared_ptr<const api::PodSpec> spec)
      : spec_(std::move(spec)), spec_bytes_(api::RoughBytes(*spec_)) {}

  size_t spec_bytes() const { return spec_bytes_; }  // api::RoughBytes

  static constexpr uint8_t kUnknown = NodeRanking::kUnknown;
  static constexpr uint8_t kFits = NodeRanking::kFits;
  static constexpr uint8_t kRejected = NodeRanking::kRejected;  // + position of the plugin

  // Forgets the nodes that changed since the last time; all of them when `outside`, the version of
  // what the plugins read besides pod and node, is another one.
  void Refresh(const Snapshot& snapshot, uint64_t outside);

  // The verdict of the filters that are remembered.
  uint8_t verdict(uint32_t slot) const { return verdicts_[slot]; }
  // Requires: verdict(slot) >= kRejected.
  const Status& rejection(uint32_t slot) const { return rejections_[slot]; }
  void Fits(uint32_t slot) { verdicts_[slot] = kFits; }
  void Rejected(uint32_t slot, size_t position, const Status& status) {
    rejections_[slot] = status;
    verdicts_[slot] = static_cast<uint8_t>(kRejected + position);
  }

  // Scores: one weighted sum of the plugins whose raw scores are final, and `columns` raw scores
  // that other plugins normalize. `plugins` is the set they come from: scores of another set are
  // forgotten.
  void UseScores(PluginMask plugins, size_t columns);
  bool HasScores(uint32_t slot) const { return scored_[slot] != 0; }
  void SetScores(uint32_t slot, int64_t sum) {
    sums_[slot] = sum;
    scored_[slot] = 1;
  }
  int64_t sum(uint32_t slot) const { return sums_[slot]; }
  int64_t& raw(size_t column, uint32_t slot) { return raws_[column][slot]; }
  const std::vector<int64_t>& raws(size_t column) const { return raws_[column]; }

  // The same nodes in the order of the list.
  SpecRanking& ranking() { return ranking_; }

  // The filters' verdicts of nodes with their nominated pods.
  NominatedVerdicts& beside_nominated() { return beside_nominated_; }

 private:
  friend ChangeReader;
  void Restart(size_t slots);
  void OnNode(uint32_t slot, const NodeInfo* node);
  void OnPod(uint32_t slot, const PodInfo& pod, int sign);
  void Forget(uint32_t slot);
  void Resize(size_t slots);

  const std::shared_ptr<const api::PodSpec> spec_;  // its address stands for it while this lives
  const size_t spec_bytes_;
  ChangeReader reader_;
  size_t nodes_ = 0;  // in the snapshot: some scores depend on it
  uint64_t outside_ = 0;
  std::vector<uint8_t> verdicts_;   // by slot, as everything below
  std::vector<Status> rejections_;  // valid where the verdict is a rejection
  PluginMask score_plugins_ = 0;
  std::vector<uint8_t> scored_;
  std::vector<int64_t> sums_;
  std::vector<std::vector<int64_t>> raws_;  // by column, then slot
  SpecRanking ranking_;
  NominatedVerdicts beside_nominated_;
};

// The NodeVerdicts of the specs that were decided lately. Threads: the scheduling thread.
class NodeMemory {
 public:
  // Up to date with the snapshot; null when the pod's verdicts depend on more than its spec, and
  // for the first pod of a spec: many a spec comes once, and tables of all nodes would be made in
  // vain. `nominated`: there are nominated pods.
  std::shared_ptr<NodeVerdicts> For(const api::Pod& pod, const Snapshot& snapshot, uint64_t outside,
                                    bool nominated);

 private:
  bool CameBefore(const api::PodSpec* spec);

  BoundedCache<const api::PodSpec*, NodeVerdicts> by_spec_;
  // Addresses of specs that came once, each in its place; the next one there takes it. That another
  // spec may have got an address since does no harm.
  std::array<const api::PodSpec*, 1024> seen_{};
};

}  // namespace ks::framework
