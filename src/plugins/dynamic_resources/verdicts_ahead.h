// SPDX-License-Identifier: Apache-2.0
#pragma once
// Device selectors that are expensive are compiled and asked before an attempt needs them, on a
// thread of their own: one that may cost as much as the API server allows, asked about each device
// of a large cluster, takes seconds in which no other pod would be decided, and so does reading as
// many long ones as a claim may have. The pod waits at PreEnqueue.
//
// Upstream: none; it asks in Filter. Decision 0067.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "api/pod.h"
#include "base/blocking_pool.h"
#include "base/string_map.h"
#include "framework/handle.h"
#include "plugins/dynamic_resources/device_memory.h"
#include "plugins/dynamic_resources/pod_claims.h"

namespace ks::plugins {

// Threads: the scheduling thread. Lifetime: owned by shared pointers, for answers that come after
// its end. The parts outlive it.
class VerdictsAhead : public std::enable_shared_from_this<VerdictsAhead> {
 public:
  struct Parts {
    const framework::DeviceState& devices;
    DeviceMemory& memory;
    framework::TaskInbox& tasks;
    framework::PodActivator& activator;
    const framework::PodLister& pods;
  };
  explicit VerdictsAhead(const Parts& parts) : parts_(parts) {}
  ~VerdictsAhead();
  VerdictsAhead(const VerdictsAhead&) = delete;
  VerdictsAhead& operator=(const VerdictsAhead&) = delete;

  // Whether all that an attempt may ask about the claims is known, or cheap, or nobody attends to
  // tasks. If not, the pod is activated when it is. Brings the memory up to date.
  bool Ready(const api::Pod& pod, const ClaimList& claims);

  // Pods that wait, some of which may be gone.
  size_t waiting() const { return waits_for_.size(); }

 private:
  using SetPtr = SelectorSets::SetPtr;
  // The texts of a set. The claim, or the class, that has them outlives it.
  struct Texts {
    api::DeviceClassPtr of_class;
    const SelectorSets::Texts* of_request;
  };
  // What is done elsewhere: a set is asked, or a pod's sets are compiled.
  struct Job {
    size_t key = 0;  // of those that wait for it
    SetPtr set{};    // null: to compile
    DeviceRowPtr row{};
    std::shared_ptr<VerdictTable> table{};  // of it
    ClaimList claims{};
    std::vector<Texts> texts{};  // of the claims, to compile
    std::atomic<bool> cancelled{false};

    void Run(SelectorSets& sets);
  };
  // Names instead of the objects, so that nothing large is kept for pods that are gone.
  struct WaitingPod {
    std::string key;
    std::string uid;
  };

  // Of the claims that have no devices yet. What is wrong with them the attempt says.
  std::vector<Texts> TextsOf(const ClaimList& claims) const;
  struct Compiled {
    std::vector<SetPtr> sets;
    std::vector<Texts> others;  // that somebody else should compile
  };
  Compiled CompileShortOnes(const std::vector<Texts>& all);
  // Whether an attempt may ask them about all devices itself.
  bool Cheap(const std::vector<SetPtr>& sets);
  std::shared_ptr<VerdictTable> TableOf(const SelectorSet& set);
  bool AskAtOnce(const SelectorSet& set, VerdictTable& table, uint64_t& budget);
  // The job is begun if there is no other one.
  void Wait(const api::Pod& pod, const std::shared_ptr<Job>& job);
  void Start(const std::shared_ptr<Job>& job);
  void Finished(const std::shared_ptr<Job>& job);
  // Still, and for this.
  bool Waits(const WaitingPod& pod, size_t key) const;
  api::PodPtr Find(const WaitingPod& pod) const;  // null: it is gone
  void Wake(const WaitingPod& pod, size_t key);
  void WakeFirst();
  void DropGonePods();

  const Parts parts_;
  // Sets are told apart by the hash of their texts, and those to compile by that of their pod:
  // pods that share one are woken together.
  std::deque<size_t> line_;                                       // of keys
  absl::flat_hash_map<size_t, std::vector<WaitingPod>> waiting_;  // by key; also pods that are gone
  StringMap<size_t> waits_for_;                                   // by uid: the key
  size_t next_cleaning_ = 0;                                      // when so many wait
  std::shared_ptr<Job> running_;
  BlockingPool pool_{1};
};

}  // namespace ks::plugins
