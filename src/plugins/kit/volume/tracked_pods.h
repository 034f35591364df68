// SPDX-License-Identifier: Apache-2.0
#pragma once
// TrackedPods: the pods of each listed node that matter to somebody who counts their volumes, kept
// in step with the snapshot change by change. Pods that do not matter cost one look at their spec.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "framework/change_reader.h"

namespace ks::plugins {

// `Counter` derives from this and has
//   static bool Matters(const api::Pod&);
//   void Clear(size_t slots): forget everything that was counted; Join of every pod follows.
//   void Join(uint32_t slot, Tracked&): the pod is on the node of that slot.
//   void Leave(uint32_t slot, Tracked&): it no longer is; called once a Join.
// `Tracked` is made of an api::PodPtr, has it as `pod`, and keeps its address while it is tracked.
// Threads: the scheduling thread.
template <class Counter, class Tracked>
class TrackedPods {
 protected:
  // True when everything was counted anew.
  bool FollowPods(const framework::Snapshot& snapshot) {
    return reader_.Follow(snapshot, static_cast<Counter&>(*this));
  }
  // The next FollowPods counts everything anew.
  void ForgetPods() { reader_.Forget(); }

 private:
  friend framework::ChangeReader;
  struct Slot {
    bool listed = false;
    std::vector<std::unique_ptr<Tracked>> pods;
  };

  Counter& self() { return static_cast<Counter&>(*this); }

  void Restart(size_t slots) {
    slots_.clear();
    slots_.resize(slots);
    self().Clear(slots);
  }

  void OnNode(uint32_t number, const framework::NodeInfo* node) {
    if (number >= slots_.size()) slots_.resize(number + 1);
    Slot& slot = slots_[number];
    for (const std::unique_ptr<Tracked>& tracked : slot.pods) self().Leave(number, *tracked);
    slot.pods.clear();
    slot.listed = node != nullptr;
    if (node == nullptr) return;
    for (const framework::PodInfoPtr& pod : node->pods()) Add(number, *pod);
  }

  void OnPod(uint32_t number, const framework::PodInfo& pod, int sign) {
    if (number >= slots_.size() || !slots_[number].listed) return;
    if (sign > 0) {
      Add(number, pod);
    } else {
      Remove(number, pod);
    }
  }

  void Add(uint32_t number, const framework::PodInfo& pod) {
    if (!Counter::Matters(pod.pod())) return;
    std::vector<std::unique_ptr<Tracked>>& pods = slots_[number].pods;
    pods.push_back(std::make_unique<Tracked>(pod.ptr()));
    self().Join(number, *pods.back());
  }

  void Remove(uint32_t number, const framework::PodInfo& pod) {
    if (!Counter::Matters(pod.pod())) return;
    std::vector<std::unique_ptr<Tracked>>& pods = slots_[number].pods;
    const auto found = std::find_if(pods.begin(), pods.end(),
                                    [&](const auto& tracked) { return tracked->pod == pod.ptr(); });
    KS_CHECK(found != pods.end(), "a pod leaves that did not join");
    self().Leave(number, **found);
    std::swap(*found, pods.back());
    pods.pop_back();
  }

  framework::ChangeReader reader_;
  std::vector<Slot> slots_;
};

}  // namespace ks::plugins
