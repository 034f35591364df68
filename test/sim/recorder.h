// SPDX-License-Identifier: Apache-2.0
#pragma once
// Looks over a scheduler's shoulder: a plugin that sees Reserve, Unreserve, Permit and PostBind,
// and a writer in front of the real one that sees Bind. Checks what must hold at these moments, and
// now and then makes an attempt fail or wait.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/random.h"
#include "framework/api_writer.h"
#include "framework/plugin.h"
#include "framework/registry.h"
#include "sim/api_model.h"
#include "sim/gang_steps.h"
#include "sim/group_victim_watch.h"
#include "sim/preemption_watch.h"
#include "sim/sim_extenders.h"
#include "testing/test_plugins.h"

namespace ks::sim {

inline constexpr const char* kRecorderName = "SimRecorder";

// What a recorder needs from the process around it.
struct RecorderHost {
  const Plan* plan = nullptr;
  std::string scheduler{};  // name of the process
  ApiModel* api = nullptr;
  uint64_t seed = 0;
  std::function<void(const std::string& what)> fail;
  std::function<void(const std::string& what)> trace;
  std::function<void(const api::Pod& pod, const api::Condition& condition)> says;
  // Runs on the process's scheduling thread, after that time.
  std::function<void(Duration delay, std::function<void()> task)> later;
  std::function<bool()> faults_over;
  std::function<uint64_t()> nodes_joined;  // so far, as the process was told
  PreemptionWatch* preemption = nullptr;
  ExtenderWatch* extenders = nullptr;
  GangSteps* gangs = nullptr;  // null: there are no groups
  GroupVictimWatch* group_victims = nullptr;
  // Whether the pod has its node in the scheduler's cache, not only in an attempt of its group.
  std::function<bool(const api::Pod& pod)> is_assumed;
  // Some pod without a node, as the process was told; null: there is none.
  std::function<api::PodPtr(Random& random)> any_pending;
  // Whether the pod is on a node and queued all the same, as the process was told.
  std::function<bool(const api::Pod& pod)> waits_for_resize;
  // Whether nothing but the flush of those who wait too long made the queue look at the pod again.
  std::function<bool(const api::Pod& pod)> was_flushed;
  // Is told of each pod, as it was assumed, that is unreserved after its Permit was passed.
  std::function<void(const api::PodPtr& pod)> binding_failed;
};

// Threads: one. Lifetime: outlives the frameworks built with its plugin.
class Recorder {
 public:
  explicit Recorder(RecorderHost host);

  framework::PluginFactory factory() const { return slot_.factory(); }
  // A writer that checks and passes on. Lifetime: `real` outlives it.
  std::unique_ptr<framework::ApiWriter> Watch(framework::ApiWriter& real);

  // By uid: between Reserve and Unreserve or PostBind, with the node.
  const std::map<std::string, std::string>& reserved() const { return reserved_; }
  // As it was reserved; null: it is not.
  api::PodPtr ReservedPod(const std::string& uid) const {
    const auto found = reserved_pods_.find(uid);
    return found == reserved_pods_.end() ? nullptr : found->second;
  }
  // Pods (uid by key) that a plugin asked to activate since the last call.
  std::map<std::string, std::string> TakeActivated() { return std::exchange(activated_, {}); }
  // An extender is asked to bind the pod; if it cannot, the plugins may be.
  void ExtenderBinds(const std::string& name, const std::string& uid, const std::string& node);
  // After PostBind.
  const std::map<std::string, std::string>& bound() const { return bound_; }
  // Members (name by uid) that an attempt of their group tries on a node.
  const std::map<std::string, std::string>& tried() const { return tried_; }
  // Between two steps.
  void AfterStep() { taken_off_.clear(); }
  // Some reserved pod uses the claim, "namespace/name".
  bool IsClaimReserved(const std::string& claim) const;
  // The same of a claim of devices.
  bool IsDeviceClaimReserved(const std::string& claim) const;
  // A request about it has no answer yet.
  bool IsDeviceClaimAsked(const std::string& claim) const { return asked_claims_.contains(claim); }
  // The process ends.
  void Die();
  // Reserved, and their Bind has not been called.
  const std::set<std::string>& waiting() const { return waiting_; }
  // Pods (uid by key) that Permit rejected since the last call although a node had joined while
  // they waited: they must be tried again.
  std::map<std::string, std::string> TakeToRetry() { return std::exchange(to_retry_, {}); }

 private:
  class Part;
  class Writer;

  framework::Status Reserve(framework::Handle& handle, const api::PodPtr& pod,
                            const std::string& node);
  bool IsTrial(const api::Pod& pod) const {
    return host_.gangs != nullptr && !GroupOf(pod).empty() && !host_.is_assumed(pod);
  }
  framework::Status Try(framework::Handle& handle, const api::Pod& pod, const std::string& node);
  void CheckReserved(framework::Handle& handle, const api::Pod& pod, const std::string& node);
  void CheckWrite(const api::PersistentVolume& version);
  void CheckWrite(const api::PersistentVolumeClaim& version);
  framework::ApiWriter::ClaimDone SendsClaim(const api::ClaimRequest& request,
                                             framework::ApiWriter::ClaimDone done);
  framework::ApiWriter::Done SaysOfGroup(const api::PodGroupPtr& group,
                                         const api::Condition& condition,
                                         framework::ApiWriter::Done done);
  void Unreserve(const api::PodPtr& assumed);
  framework::PermitResult Permit(framework::Handle& handle, const api::Pod& pod);
  void Activate(framework::CycleState& state);
  void PostBind(const api::Pod& pod, const std::string& node);
  void CheckSaid(const api::Pod& pod);
  void CheckBind(const std::string& name, const std::string& uid, const std::string& node);
  bool Chance(double p) { return p > 0 && !host_.faults_over() && random_.Unit() < p; }

  const RecorderHost host_;
  Random random_;
  testing::FactorySlot slot_;
  std::map<std::string, std::string> reserved_;
  std::map<std::string, api::PodPtr> reserved_pods_;  // by uid, as reserved_
  std::map<std::string, std::string> bound_;
  std::map<std::string, std::string> tried_;
  // Uids of those who were tried since the last step and are no more: nominations that the
  // scheduler had given up, and whose end it has not seen, came back with them.
  std::set<std::string> taken_off_;
  std::set<std::string> waiting_;
  std::multiset<std::string> asked_claims_;        // "namespace/name", by request
  std::set<std::string> binding_;                  // by uid: reserved, and Permit is past or waits
  std::map<std::string, uint64_t> joined_before_;  // by uid, at Permit
  std::map<std::string, std::string> to_retry_;
  std::map<std::string, std::string> activated_;
  std::set<std::string> asked_to_bind_;  // by an extender
  bool dead_ = false;
};

}  // namespace ks::sim
