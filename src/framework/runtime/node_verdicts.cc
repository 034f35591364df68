// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/node_verdicts.h"

#include <algorithm>
#include <utility>

#include "framework/pod_requests.h"

namespace ks::framework {
namespace {

// The limit of what all remembered specs take together.
constexpr size_t kMaxBytes = size_t{48} << 20;
constexpr size_t kBytesPerSlot = 1 + sizeof(Status) + 1 + 2 * sizeof(int64_t);
constexpr size_t kMinSpecs = 16;  // however many nodes
constexpr size_t kMaxSpecs = 1024;
constexpr size_t kSmallSpec = size_t{16} << 10;  // bytes

// A pod's status and node hardly ever matter: only around resizes of running pods.
bool SpecSaysAll(const api::Pod& pod) {
  return pod.node_name.empty() && !StatusAffectsRequests(pod) &&
         pod.FindCondition(api::kPodResizePending) == nullptr;
}

}  // namespace

void NodeVerdicts::Refresh(const Snapshot& snapshot, uint64_t outside) {
  if (snapshot.nodes().size() != nodes_ || outside != outside_) reader_.Forget();
  nodes_ = snapshot.nodes().size();
  outside_ = outside;
  reader_.Follow(snapshot, *this);
}

void NodeVerdicts::Restart(size_t slots) {
  verdicts_.clear();
  scored_.clear();
  Resize(slots);
  ranking_.ForgetAll();
  beside_nominated_.ForgetAll();
}

void NodeVerdicts::Resize(size_t slots) {
  verdicts_.resize(slots, kUnknown);
  rejections_.resize(slots);
  scored_.resize(slots, 0);
  sums_.resize(slots);
  for (std::vector<int64_t>& column : raws_) column.resize(slots);
}

void NodeVerdicts::Forget(uint32_t slot) {
  if (slot >= verdicts_.size()) Resize(slot + 1);
  verdicts_[slot] = kUnknown;
  scored_[slot] = 0;
  ranking_.Forget(slot);
  beside_nominated_.Forget(slot);
}

void NodeVerdicts::OnNode(uint32_t slot, const NodeInfo*) { Forget(slot); }
void NodeVerdicts::OnPod(uint32_t slot, const PodInfo&, int) { Forget(slot); }

void NodeVerdicts::UseScores(PluginMask plugins, size_t columns) {
  if (plugins == score_plugins_) return;
  score_plugins_ = plugins;
  std::fill(scored_.begin(), scored_.end(), 0);
  ranking_.ForgetAll();
  raws_.resize(columns);
  for (std::vector<int64_t>& column : raws_) column.resize(scored_.size());
}

bool NodeMemory::CameBefore(const api::PodSpec* spec) {
  const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(spec));
  const api::PodSpec*& seen = seen_[((address >> 4) * 0x9e3779b97f4a7c15ULL) >> (64 - 10)];
  return std::exchange(seen, spec) == spec;
}

std::shared_ptr<NodeVerdicts> NodeMemory::For(const api::Pod& pod, const Snapshot& snapshot,
                                              uint64_t outside, bool nominated) {
  if (!SpecSaysAll(pod)) return nullptr;
  if (!by_spec_.Contains(pod.spec.get()) && !CameBefore(pod.spec.get())) return nullptr;
  const size_t bytes = std::max<size_t>(1, snapshot.slots()) *
                       (kBytesPerSlot + (nominated ? NominatedVerdicts::kBytesPerSlot : 0));
  const CacheLimits limits = {
      .values = std::clamp<size_t>(kMaxBytes / bytes, kMinSpecs, kMaxSpecs),
      .bytes = std::max(kMaxBytes, kMinSpecs * bytes) + kMaxSpecs * kSmallSpec,
  };
  std::shared_ptr<NodeVerdicts> verdicts = by_spec_.GetOrMake(
      pod.spec.get(), limits, [&] { return std::make_shared<NodeVerdicts>(pod.spec); },
      [bytes](const NodeVerdicts& each) { return bytes + each.spec_bytes(); });
  verdicts->Refresh(snapshot, outside);
  if (nominated) verdicts->beside_nominated().Resize(snapshot.slots());
  return verdicts;
}

}  // namespace ks::framework
