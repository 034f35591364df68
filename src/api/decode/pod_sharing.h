// SPDX-License-Identifier: Apache-2.0
#pragma once
// What pods of one template have in common is kept once: their spec, owners, what the kubelet
// reports of their resources, and which conditions they have. Of the 2.2 KB that a running pod
// takes by itself that is 1.5. For the decoder only.

#include <cstddef>
#include <memory>
#include <vector>

#include "api/pod.h"

namespace ks::api {

// Values that came lately. Remembers, but does not keep them alive. Threads: one at a time.
template <class T>
class LatelySeen {
 public:
  // An equal value that came before, or `value` as a new one.
  std::shared_ptr<const T> Share(T&& value);
  // The same. Requires: `value` was not made by make_shared (SharedValue::Mutable does not).
  void Share(SharedValue<T>& value);

 private:
  std::weak_ptr<const T>& SlotOf(const T& value);

  static constexpr size_t kSlots = 4096;
  std::vector<std::weak_ptr<const T>> slots_;
};

// Threads: one at a time.
class PodSharing {
 public:
  // Moves into `pod` what was read apart from it, and drops what nobody reads of a bound pod.
  void Finish(Pod& pod, PodSpec&& spec, PodResourceStatus&& resources, PodConditions&& conditions);

 private:
  LatelySeen<PodSpec> specs_;
  LatelySeen<PodResourceStatus> resources_;
  LatelySeen<PodConditions> conditions_;
  LatelySeen<OwnerReferences> owners_;
};

}  // namespace ks::api
