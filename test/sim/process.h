// SPDX-License-Identifier: Apache-2.0
#pragma once
// One scheduler process of a simulation: the daemon's own term and take-over (src/daemon), with
// virtual time and a simulated network below, and an event loop in the place of threads. It can be
// killed between any two events; what it sent stays under way.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "client/election/leader_metrics.h"
#include "client/rest/rest_client.h"
#include "client/watch/informer_metrics.h"
#include "client/write/writer_metrics.h"
#include "daemon/current_scheduler.h"
#include "daemon/feeds.h"
#include "daemon/leader_election.h"
#include "daemon/life_events.h"
#include "daemon/scheduler_term.h"
#include "daemon/take_over.h"
#include "scheduler/scheduler.h"
#include "sim/event_loop.h"
#include "sim/gang_steps.h"
#include "sim/hint_watch.h"
#include "sim/nomination_watch.h"
#include "sim/preemption_watch.h"
#include "sim/recorder.h"
#include "sim/sim_extenders.h"
#include "sim/sim_transport.h"
#include "sim/wake_watch.h"

namespace ks::sim {

struct ProcessOptions {
  std::string name;
  uint64_t seed = 0;
  Duration clock_offset{};
  double clock_rate = 1;
  // Not empty: it decides only while it holds the lease, and this is told when it lost it and has
  // to end itself. Runs as an event of its own.
  Action lost{};
};

// What all processes share. Threads: one. Lifetime: outlives the processes.
struct World {
  EventLoop& loop;
  Trace& trace;
  const Plan& plan;
  ApiModel& api;
  Network& network;
  std::function<void(const std::string& what)> fail;
  std::function<bool()> faults_over;
  // By uid: the message of the last condition that a scheduler set out to write.
  std::map<std::string, std::string> said{};
  uint64_t preemptions = 0;  // decided
  uint64_t evictions = 0;
};

// What a process was told of one kind so far, by key; applied as the simulation understands deltas.
template <class T>
using View = std::map<std::string, std::shared_ptr<const T>>;

// Threads: one. Lifetime: shared; events under way hold weak references.
class SchedulerProcess : public daemon::DeltaObserver,
                         public std::enable_shared_from_this<SchedulerProcess> {
 public:
  SchedulerProcess(World& world, ProcessOptions options);
  ~SchedulerProcess() override;

  void Start();
  // The end of the process. Its parts are destroyed; nothing of it runs afterwards.
  void Kill();
  // Nothing of it runs before that time.
  void FreezeUntil(TimePoint until) { frozen_until_ = std::max(frozen_until_, until); }
  // Runs an action as this process: now, when it wakes up, or never.
  void Run(Action action);

  const std::string& name() const { return options_.name; }
  bool dead() const { return dead_; }
  // It decides: it stands by for nobody, and may write.
  bool leading() const { return scheduler().Leads(); }
  uint64_t steps() const { return steps_; }
  const ProcessClock& clock() const { return clock_; }
  SimTransport& transport() { return *transport_; }
  scheduler::Scheduler& scheduler() const { return term_->scheduler(); }
  client::WriterStats writes() const { return term_->writes(); }
  Recorder& recorder() { return *recorder_; }
  // Questions to extenders without an answer.
  size_t asking() const;
  bool IsAskedAbout(const api::Pod& pod) const { return HasExtender(world_.plan, pod); }
  const View<api::Pod>& pods() const { return pods_; }
  const View<api::Node>& nodes() const { return nodes_; }
  const View<api::PersistentVolume>& volumes() const {
    return std::get<View<api::PersistentVolume>>(storage_);
  }
  const View<api::PersistentVolumeClaim>& claims() const {
    return std::get<View<api::PersistentVolumeClaim>>(storage_);
  }
  const View<api::ResourceClaim>& device_claims() const {
    return std::get<View<api::ResourceClaim>>(devices_);
  }
  const View<api::ResourceSlice>& slices() const {
    return std::get<View<api::ResourceSlice>>(devices_);
  }
  const View<api::PodGroup>& groups() const { return std::get<View<api::PodGroup>>(groups_); }
  const View<api::CompositePodGroup>& composites() const {
    return std::get<View<api::CompositePodGroup>>(groups_);
  }
  World& world() { return world_; }
  bool IsOurs(const api::Pod& pod) const;
  // What was seen of each stored pod, by uid, when the scheduler was last looked at.
  struct Stored {
    int64_t attempts = 0;
    std::optional<TimePoint> parked;  // since when; absent: not, or gated
  };
  std::map<std::string, Stored>& stored() { return stored_; }
  // Whether this count of changes is not that of the last question.
  bool HasNewAllocations(uint64_t changes) {
    return std::exchange(allocations_seen_, changes) != changes;
  }

  // DeltaObserver.
  void OnDeltas(const scheduler::PodDeltas& deltas) override;
  void OnDeltas(const scheduler::NodeDeltas& deltas) override;
  void OnDeltas(const scheduler::OwnerDeltas& deltas) override;
  void OnDeltas(const scheduler::StorageDeltas& deltas) override;
  void OnDeltas(const scheduler::DeviceDeltas& deltas) override;
  void OnDeltas(const scheduler::GroupDeltas& deltas) override;

 private:
  void Build();
  void MakeClients();
  // Runs the task on the scheduling thread after that time.
  void Later(Duration delay, std::function<void()> task);
  void MakeWatches();
  daemon::TermParts PartsOfTerm();
  bool StandsForElection() const { return static_cast<bool>(options_.lost); }
  bool MayWrite() const { return fence_ == nullptr || fence_->IsOpen(); }
  void FollowLife();
  void Follow(const daemon::LifeEvent& event);
  void CheckMayWrite(const std::string& what);
  void NoteInherited();
  bool Knows(const api::Pod& bound) const;
  bool Knows(const api::ResourceClaim& allocated) const;
  // It leads since its last step.
  void CheckKnowsInherited();
  std::unique_ptr<PreemptionWatch> MakePreemptionWatch();
  bool IsInVain(const framework::QueuedPod& parked, const api::Pod& gone) const;
  framework::ExtenderTransportFactory ExtenderFactory();
  api::PodPtr AnyPending(Random& random) const;
  bool WaitsForResize(const api::Pod& pod) const;
  void CheckExtendersLine();
  std::vector<Budget> Budgets() const;
  void LookAtPreemption();
  void LookForSleepers();
  void NoteTurnedBack(const api::PodPtr& before, const api::PodPtr& after);
  void NoteFreed(const api::PodPtr& assumed);
  void CheckAwake();
  bool WasFlushed(const api::Pod& pod) const;
  void Wake();
  void WakeAt(TimePoint when);
  void Step();
  void TakeDown();
  template <class T>
  void ApplyDeltas(const std::vector<api::Delta<T>>& deltas, View<T>& view);
  template <class T>
  void ApplyList(const std::vector<std::shared_ptr<const T>>& items, View<T>& view);
  template <class T>
  void ApplyObject(const std::shared_ptr<const T>& before, const std::shared_ptr<const T>& after);
  template <class T>
  void CheckOrder(const View<T>& view, const T& object);

  World& world_;
  ProcessOptions options_;
  ProcessClock clock_;
  bool dead_ = false;
  TimePoint frozen_until_{};
  uint64_t steps_ = 0;
  uint64_t nodes_joined_ = 0;
  TimePoint node_lost_at_{};
  TimePoint looked_at_{};     // for sleepers
  uint64_t preemptions_ = 0;  // that the world has been told of
  uint64_t evictions_ = 0;
  uint64_t allocations_seen_ = 0;
  uint64_t wake_ = 0;  // number of the wake that counts
  std::optional<TimePoint> wake_at_;
  Random random_;
  View<api::Pod> pods_;
  View<api::Node> nodes_;
  View<api::PodDisruptionBudget> budgets_;
  View<api::Namespace> namespaces_;
  std::tuple<View<api::PersistentVolume>, View<api::PersistentVolumeClaim>, View<api::StorageClass>,
             View<api::CsiNode>, View<api::CsiDriver>, View<api::CsiStorageCapacity>,
             View<api::VolumeAttachment>>
      storage_;
  std::tuple<View<api::ResourceClaim>, View<api::ResourceSlice>, View<api::DeviceClass>,
             View<api::DeviceTaintRule>>
      devices_;
  std::tuple<View<api::PodGroup>, View<api::CompositePodGroup>> groups_;
  std::map<std::string, Stored> stored_;
  // At the server.
  std::vector<api::PodPtr> bound_when_won_;
  std::vector<api::ResourceClaimPtr> allocated_when_won_;

  std::unique_ptr<VirtualTimers> timers_;
  std::shared_ptr<SimTransport> transport_;
  std::unique_ptr<client::Credentials> credentials_;
  std::unique_ptr<client::RestClient> scheduling_;
  std::unique_ptr<client::RestClient> events_;
  std::unique_ptr<client::RestClient> election_;
  std::unique_ptr<PreemptionWatch> preemption_;
  std::unique_ptr<GroupVictimWatch> group_victims_;
  WakeWatch wake_watch_;
  HintWatch hint_watch_;
  NominationWatch nominations_{*this};
  GangSteps gangs_{*this};
  std::unique_ptr<ExtenderWatch> extender_watch_;
  std::weak_ptr<SimExtenders> extenders_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<framework::ApiWriter> watched_writer_;
  framework::Registry registry_;
  metrics::Registry metrics_;
  client::InformerMetrics informer_metrics_{metrics_};
  client::WriterMetrics writer_metrics_{metrics_};
  client::LeaderMetrics leader_metrics_{metrics_};
  server::SchedulerHealth health_;
  daemon::CurrentScheduler current_;
  daemon::LifeEvents life_;
  std::shared_ptr<client::WriteFence> fence_;  // null: there is no other scheduler
  std::unique_ptr<daemon::Leadership> leadership_;
  std::unique_ptr<daemon::SchedulerTerm> term_;
  std::unique_ptr<daemon::TakeOver> take_over_;
};

// The gates and the configuration that a plan's schedulers run with. The gates live as long as the
// process.
const config::FeatureGates& GatesOf(const Plan& plan);
config::Configuration MakeConfiguration(const Plan& plan, bool recorded);

// The number that the resourceVersion is, as the API server makes them.
uint64_t VersionOf(const api::ObjectMeta& meta);

}  // namespace ks::sim
