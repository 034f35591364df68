// SPDX-License-Identifier: Apache-2.0
#pragma once
// CycleState: what plugins remember between the extension points of one scheduling attempt. Typed
// slots by index instead of a string map.
//
// Upstream: docs/spec/framework.md section 4.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/pod.h"
#include "base/mutex.h"

namespace ks::framework {

class NodeInfo;

// One datum. The default Clone shares it: right for data that AddPod/RemovePod never change.
class StateData {
 public:
  virtual ~StateData() = default;
  virtual std::shared_ptr<StateData> Clone(const std::shared_ptr<StateData>& self) const {
    return self;
  }
  // The datum as it is now, for this node, until the attempt ends: for Filter and Reserve there,
  // again and again, and for AddPod/RemovePod on any node. The default is the datum itself: right
  // for data that refer to no counts which go on following the snapshot, and that Reserve leaves.
  virtual std::shared_ptr<StateData> Fix(const std::shared_ptr<StateData>& self,
                                         const NodeInfo& /*node*/) {
    return self;
  }
};

// Pods that plugins want moved to the active queue when the pod of this cycle got through: at the
// end of a scheduling cycle that passed Permit, and of a successful binding cycle. Nothing happens
// to them when it failed. Threads: any, so that plugins may fill it from pool threads.
class PodsToActivate {
 public:
  // One pod per "namespace/name": the last one counts.
  void Add(api::PodPtr pod) KS_EXCLUDES(mutex_);
  // Empties the set; in the order of the keys.
  std::vector<api::PodPtr> Take() KS_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  std::map<std::string, api::PodPtr> pods_ KS_GUARDED_BY(mutex_);
};

class NodeVerdicts;
struct PreemptionInquiry;

// Bit i stands for the plugin with index i in its profile.
using PluginMask = uint64_t;
inline constexpr size_t kMaxPlugins = 64;  // of one profile

// Threads: one attempt's thread; workers read while a search runs. A clone may be changed by one
// worker.
class CycleState {
 public:
  CycleState() = default;
  CycleState(CycleState&&) = default;
  CycleState& operator=(CycleState&&) = default;

  // Every datum is cloned by its own rule; masks, flags and the pods-to-activate map are copied or
  // shared.
  CycleState Clone() const;
  // From now on good for this node only, but whatever becomes of the snapshot.
  void Fix(const NodeInfo& node);
  // Back to a fresh state; keeps the capacity of the slot table.
  void Reset();

  PluginMask skip_filter = 0;        // PreFilter said Skip
  PluginMask skip_score = 0;         // PreScore said Skip
  PluginMask skip_pre_bind = 0;      // PreBindPreFlight said Skip
  PluginMask parallel_pre_bind = 0;  // PreBind may run in a group
  bool record_plugin_metrics = false;
  bool skip_all_post_filter = false;
  // Shared by all clones. Null in a state that no scheduling cycle belongs to.
  std::shared_ptr<PodsToActivate> pods_to_activate;
  // What is remembered about pods like this one; null: nothing, or not to be used. Clones have
  // none: they are for nodes that are not as the snapshot shows them.
  std::shared_ptr<NodeVerdicts> verdicts;
  // What PostFilter has asked extenders; null: nothing. Clones have none.
  std::shared_ptr<PreemptionInquiry> preemption_inquiry;

 private:
  friend class StateSlotBase;
  std::vector<std::shared_ptr<StateData>> slots_;
};

// A plugin's key into CycleState, obtained once from Handle::NewStateSlot.
class StateSlotBase {
 public:
  explicit StateSlotBase(uint32_t index) : index_(index) {}

 protected:
  StateData* Get(const CycleState& state) const {
    return index_ < state.slots_.size() ? state.slots_[index_].get() : nullptr;
  }
  void Put(CycleState& state, std::shared_ptr<StateData> data) const {
    if (state.slots_.size() <= index_) state.slots_.resize(index_ + 1);
    state.slots_[index_] = std::move(data);
  }

 private:
  uint32_t index_;
};

// T derives from StateData. Each slot holds one type only, so the cast is exact.
template <class T>
class StateSlot : public StateSlotBase {
 public:
  using StateSlotBase::StateSlotBase;

  // Null when nothing was written ("not found").
  const T* Read(const CycleState& state) const { return static_cast<const T*>(Get(state)); }
  T* Mutable(CycleState& state) const { return static_cast<T*>(Get(state)); }
  void Write(CycleState& state, std::shared_ptr<T> data) const { Put(state, std::move(data)); }
  void Erase(CycleState& state) const { Put(state, nullptr); }
};

}  // namespace ks::framework
