// SPDX-License-Identifier: Apache-2.0
#include "sim/judge.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "plugins/default_preemption/default_preemption.h"
#include "sim/invariants.h"
#include "sim/loaded_plugin.h"
#include "sim/oracle.h"

namespace ks::sim {
namespace {

// Takes down what a fresh scheduler would write, and answers nothing.
class Notes final : public framework::ApiWriter {
 public:
  void Bind(api::PodPtr pod, std::string node_name, Done /*done*/) override {
    bound.emplace_back(pod->meta.name, std::move(node_name));
  }
  void PatchPodStatus(api::PodPtr pod, api::PodStatusChange change, Done /*done*/) override {
    if (change.condition.has_value()) conditions[pod->meta.Key()] = *change.condition;
  }
  void PatchPodGroupStatus(api::PodGroupPtr group, api::Condition condition,
                           Done /*done*/) override {
    of_groups[group->meta.Key()] = std::move(condition);
  }
  void EvictPod(api::PodPtr /*pod*/, api::Condition /*condition*/, TimePoint /*decided*/,
                EvictionDone /*done*/) override {}
  void WriteVolume(api::PersistentVolumePtr /*version*/, WriteDone /*done*/) override {}
  void WriteClaim(api::PersistentVolumeClaimPtr /*version*/, WriteDone /*done*/) override {}
  void SendClaimRequest(api::ClaimRequest /*request*/, ClaimDone /*done*/) override {}
  void RecordEvent(framework::PodEvent /*event*/) override {}

  std::vector<std::pair<std::string, std::string>> bound;
  std::map<std::string, api::Condition> conditions;
  std::map<std::string, api::Condition> of_groups;
  std::vector<std::string> make_room;  // pods that preempt on the node where they are
};

template <class T>
std::vector<api::Delta<T>> All(World& world, const char* plural) {
  api::Delta<T> delta;
  delta.type = api::Delta<T>::Type::kReplace;
  for (const auto& [key, stored] : world.api.Objects(plural)) {
    delta.items.push_back(Decoded<T>(
        *stored, world.plan.extenders.empty() ? api::KeepRaw::kNone : api::KeepRaw::kAll));
  }
  return {std::move(delta)};
}

scheduler::PodDeltas LivePods(World& world) {
  scheduler::PodDeltas deltas = All<api::Pod>(world, "pods");
  std::erase_if(deltas[0].items, [](const api::PodPtr& pod) { return pod->IsTerminal(); });
  return deltas;
}

// Runs a scheduler over these pods and nodes until it has nothing to do.
Notes Ask(World& world, scheduler::NodeDeltas nodes, scheduler::PodDeltas pods, uint64_t seed = 1) {
  Notes notes;
  const framework::Registry registry = RegistryOf(world.plan);
  const auto extenders = std::make_shared<TrueExtenders>(
      world.plan, [&notes](const std::string& pod, const std::string& node) {
        notes.bound.emplace_back(pod, node);
      });
  auto made = scheduler::Scheduler::Create(
      {.configuration = MakeConfiguration(world.plan, false),
       .registry = &registry,
       .api = &notes,
       .clock = &world.loop,
       .seed = seed,
       .gates = &GatesOf(world.plan),
       .extender_transport = [&extenders](const std::vector<config::Extender>& /*extenders*/) {
         return Result<std::shared_ptr<framework::ExtenderTransport>>(extenders);
       }});
  KS_CHECK(made.ok(), "the configuration is sound");
  scheduler::Scheduler& fresh = **made;
  const std::vector<api::PodPtr> all = pods[0].items;
  fresh.Post(std::move(nodes));
  fresh.Post(std::move(pods));
  fresh.Post(scheduler::OwnerDeltas(All<api::Service>(world, "services")));
  fresh.Post(
      scheduler::OwnerDeltas(All<api::ReplicationController>(world, "replicationcontrollers")));
  fresh.Post(scheduler::OwnerDeltas(All<api::ReplicaSet>(world, "replicasets")));
  fresh.Post(scheduler::OwnerDeltas(All<api::StatefulSet>(world, "statefulsets")));
  fresh.Post(scheduler::OwnerDeltas(All<api::Namespace>(world, "namespaces")));
  fresh.Post(scheduler::OwnerDeltas(All<api::PodDisruptionBudget>(world, "poddisruptionbudgets")));
  fresh.Post(scheduler::StorageDeltas(All<api::PersistentVolume>(world, "persistentvolumes")));
  fresh.Post(
      scheduler::StorageDeltas(All<api::PersistentVolumeClaim>(world, "persistentvolumeclaims")));
  fresh.Post(scheduler::StorageDeltas(All<api::StorageClass>(world, "storageclasses")));
  fresh.Post(scheduler::StorageDeltas(All<api::CsiNode>(world, "csinodes")));
  fresh.Post(scheduler::StorageDeltas(All<api::CsiDriver>(world, "csidrivers")));
  fresh.Post(scheduler::StorageDeltas(All<api::CsiStorageCapacity>(world, "csistoragecapacities")));
  fresh.Post(scheduler::StorageDeltas(All<api::VolumeAttachment>(world, "volumeattachments")));
  fresh.Post(scheduler::DeviceDeltas(All<api::ResourceClaim>(world, "resourceclaims")));
  fresh.Post(scheduler::DeviceDeltas(All<api::ResourceSlice>(world, "resourceslices")));
  fresh.Post(scheduler::DeviceDeltas(All<api::DeviceClass>(world, "deviceclasses")));
  fresh.Post(scheduler::DeviceDeltas(All<api::DeviceTaintRule>(world, "devicetaintrules")));
  if (world.plan.groups != 0) {
    fresh.Post(scheduler::GroupDeltas(All<api::PodGroup>(world, "podgroups")));
    fresh.Post(scheduler::GroupDeltas(All<api::CompositePodGroup>(world, "compositepodgroups")));
  }
  for (int i = 0; i < 100000 && (fresh.Step() || extenders->AnswerAll()); ++i) {
  }
  // Those whose claims it has begun to bind, which nobody carries out.
  for (const api::PodPtr& pod : all) {
    if (!fresh.context().cluster.cache.IsAssumedPod(*pod)) continue;
    const std::pair<std::string, std::string> bound{
        pod->meta.name, (*fresh.context().cluster.cache.GetPod(*pod))->node_name.str()};
    if (std::find(notes.bound.begin(), notes.bound.end(), bound) == notes.bound.end()) {
      notes.bound.push_back(bound);
    }
  }
  // Their evictions are never answered, so that they are held.
  KS_CHECK(fresh.context().cluster.cache.RefreshSnapshot().ok(),
           "a cache at rest agrees with itself");
  for (const api::PodPtr& pod : all) {
    const auto profile = fresh.context().profiles.find(pod->spec->scheduler_name.str());
    if (profile == fresh.context().profiles.end() || !fresh.context().WaitsForResize(*pod))
      continue;
    const framework::Status gate = profile->second->queue_points().RunPreEnqueuePlugins(*pod, {});
    if (gate.plugin() == plugins::kDefaultPreemptionName) {
      notes.make_room.push_back(pod->meta.name);
    }
  }
  return notes;
}

std::string JudgeConditions(World& world, const Notes& notes) {
  const scheduler::PodDeltas live = LivePods(world);
  for (const api::PodPtr& pod : live[0].items) {
    const auto wanted = notes.conditions.find(pod->meta.Key());
    if (wanted == notes.conditions.end()) continue;
    const api::Condition* found = pod->FindCondition("PodScheduled");
    if (found == nullptr) return "pod " + pod->meta.name + " has no PodScheduled condition";
    // Which member found no node hangs on whose turn it was.
    if (!GroupOf(*pod).empty()) continue;
    // Devices go from hand to hand there for ever; what a pod says of them is of one moment.
    const bool of_devices = found->message.find("claim") != std::string::npos;
    if (of_devices && world.plan.waits_in_vain()) continue;
    if (found->status != "False" || found->reason != wanted->second.reason ||
        found->message != wanted->second.message) {
      return fmt::format("pod {} says {}: {}; a fresh scheduler says {}: {}", pod->meta.name,
                         found->reason, found->message, wanted->second.reason,
                         wanted->second.message);
    }
  }
  return {};
}

// A pod that is held back and whose status names a node where the scheduler does not count it any
// more: the node went or came to refuse the pod, or the patch that ends the nomination was lost.
// Its next attempt says so; a scheduler without a past goes by the status.
bool SomebodyIsNominatedInVain(SchedulerProcess& process, const std::vector<api::PodPtr>& pods) {
  queue::SchedulingQueue& queue = process.scheduler().context().queue;
  return std::any_of(pods.begin(), pods.end(), [&queue](const api::PodPtr& pod) {
    const std::string& named = pod->status.nominated_node_name.str();
    if (!pod->node_name.empty() || named.empty()) return false;
    if (queue.nominator().NodeOf(pod->meta.uid) == named) return false;
    const framework::QueuedPod* const queued = queue.stores().FindPod(pod->meta.Key());
    return queued == nullptr || !queued->gating_plugin.empty();
  });
}

// A member of a gang that preempted holds its room in the memory of the scheduler alone where the
// news of it was lost; if the gang then loses members it is gated, and neither tried again nor
// forgotten (docs/spec/queue.md section 11). A scheduler without a past is told.
void NominateGatedPods(SchedulerProcess& process, std::vector<api::PodPtr>* pods) {
  queue::SchedulingQueue& queue = process.scheduler().context().queue;
  for (api::PodPtr& pod : *pods) {
    const std::string_view node = queue.nominator().NodeOf(pod->meta.uid);
    if (node.empty() || pod->status.nominated_node_name == node) continue;
    const framework::QueuedPod* const queued = queue.stores().FindPod(pod->meta.Key());
    if (queued == nullptr || queued->gating_plugin.empty()) continue;
    auto nominated = std::make_shared<api::Pod>(*pod);
    nominated->status.nominated_node_name = Symbol(node);
    pod = std::move(nominated);
  }
}

// A group that preempted and does not fit all the same: those of its members that find a node in
// the first placement, in the order of their queueing, lose their nominations, and the others keep
// theirs. A scheduler without a past tries members and placements in another order.
bool HasNominatedMember(const std::vector<api::PodPtr>& pods,
                        const std::function<bool(const api::Pod&)>& counts) {
  return std::any_of(pods.begin(), pods.end(), [&](const api::PodPtr& pod) {
    return pod->node_name.empty() && !GroupOf(*pod).empty() &&
           !pod->status.nominated_node_name.empty() && counts(*pod);
  });
}

// Nodes that are as good as each other are drawn, and a gang that one scheduler gets in another one
// may not.
bool IsBoundByAll(World& world, const scheduler::PodDeltas& pods, const std::string& name) {
  for (uint64_t seed = 2; seed < 7; ++seed) {
    const Notes notes = Ask(world, All<api::Node>(world, "nodes"), pods, seed);
    const bool bound = std::any_of(notes.bound.begin(), notes.bound.end(),
                                   [&](const auto& it) { return it.first == name; });
    if (!bound) return false;
  }
  return true;
}

template <class T>
std::string Compare(const View<T>& view, const std::vector<std::shared_ptr<const T>>& server,
                    const char* what) {
  for (const auto& object : server) {
    const auto known = view.find(object->meta.Key());
    if (known == view.end()) return fmt::format("{} {} is not known", what, object->meta.name);
    if (known->second->meta.resource_version != object->meta.resource_version) {
      return fmt::format("{} {} is known at version {}, the server has {}", what, object->meta.name,
                         known->second->meta.resource_version, object->meta.resource_version);
    }
  }
  if (view.size() != server.size()) {
    return fmt::format("{} {}s are known, the server has {}", view.size(), what, server.size());
  }
  return {};
}

// A pod that nothing woke, long after the faults: what those say that the flush tried before it is
// true again after the next flush only.
bool FlushHasJustFoundOne(const World& world) {
  constexpr Duration kUsual = std::chrono::minutes(2);  // until all is quiet
  const TimePoint found = world.api.last_bind();
  if (found < world.loop.start() + world.plan.faults_end + kUsual) return false;
  return world.loop.Now() < found + world.plan.unschedulable_max + std::chrono::minutes(1);
}

}  // namespace

bool MayOversleep(const api::Pod& pod, const std::string& message) {
  const auto& repels = pod.spec->pod_anti_affinity;
  const bool selects =
      repels.has_value() &&
      std::any_of(repels->required.begin(), repels->required.end(),
                  [](const auto& term) { return term.namespace_selector.has_value(); });
  if (selects && message.find("didn't match pod anti-affinity rules") != std::string::npos) {
    return true;
  }
  // Nodes whose other labels change come to count for it, or no longer
  // (docs/spec/plugins-crosspod.md 4.10).
  if (!pod.spec->node_selector.empty() &&
      message.find("didn't match pod topology spread constraints") != std::string::npos) {
    return true;
  }
  constexpr std::array kReasons = {
      "didn't match pod affinity rules",
      "didn't satisfy existing pods anti-affinity rules",
      "didn't find available persistent volumes to bind",
      "exceed max volume count",
      "cannot allocate all claims",
      "cannot schedule extended resource claim",  // no hint when that claim is deleted
      "in the process of being allocated",
      "device binding timeout",
  };
  return std::any_of(kReasons.begin(), kReasons.end(),
                     [&](const char* reason) { return message.find(reason) != std::string::npos; });
}

std::string JudgeServer(World& world, const std::vector<SchedulerProcess*>& processes) {
  const scheduler::PodDeltas live = LivePods(world);
  scheduler::PodDeltas nominated = live;
  for (SchedulerProcess* const process : processes) {
    if (process->leading()) NominateGatedPods(*process, &nominated[0].items);
  }
  const Notes notes = Ask(world, All<api::Node>(world, "nodes"), nominated);
  if (world.api.volume_watch() != nullptr) {
    if (std::string wrong = world.api.volume_watch()->AtEnd(); !wrong.empty()) return wrong;
  }
  if (world.api.device_watch() != nullptr) {
    if (std::string wrong = world.api.device_watch()->AtEnd(); !wrong.empty()) return wrong;
  }
  if (world.api.gang_watch() != nullptr) {
    std::string wrong = world.api.gang_watch()->AtEnd(notes.of_groups, nominated[0].items);
    if (!wrong.empty()) return wrong;
  }
  bool some_may_wait = false;  // who takes room from others where a scheduler has no past
  for (const auto& [name, node] : notes.bound) {
    const auto pod =
        std::find_if(live[0].items.begin(), live[0].items.end(),
                     [&name = name](const api::PodPtr& it) { return it->meta.name == name; });
    // The pod itself may not know it: a patch that failed is not sent again.
    const auto said = world.said.find((*pod)->meta.uid);
    const std::string message = said == world.said.end() ? "nothing" : said->second;
    const bool may_wait = !world.plan.conditions_current() || world.plan.waits_in_vain();
    // Its devices were taken from it a moment ago, and it has not been tried since.
    const bool goes_round =
        world.plan.waits_in_vain() &&
        message.find("deallocation of ResourceClaim completed") != std::string::npos;
    const auto keeps_room = [&node = node, &pod = **pod](const api::Pod& member) {
      return member.status.nominated_node_name == node && member.Priority() >= pod.Priority();
    };
    if ((!GroupOf(**pod).empty() && !IsBoundByAll(world, nominated, name)) ||
        HasNominatedMember(nominated[0].items, keeps_room) || goes_round ||
        (may_wait && MayOversleep(**pod, message))) {
      some_may_wait = true;
      continue;
    }
    return fmt::format("pod {} waits although it fits on {}; the scheduler said: {}", name, node,
                       message);
  }
  if (!world.plan.conditions_current()) return {};
  // Nobody but the flush wakes a pod because others came to its node without a scheduler.
  if (!notes.make_room.empty()) {
    return "pod " + notes.make_room.front() +
           " waits for its resize and does not preempt those who are in its way";
  }
  for (SchedulerProcess* const process : processes) {
    if (process->leading() && SomebodyIsNominatedInVain(*process, live[0].items)) return {};
  }
  if (some_may_wait || FlushHasJustFoundOne(world)) return {};
  if (HasNominatedMember(live[0].items, [](const api::Pod&) { return true; })) return {};
  return JudgeConditions(world, notes);
}

namespace {

template <class T>
std::vector<api::Delta<T>> Everything(std::vector<std::shared_ptr<const T>> items) {
  api::Delta<T> delta;
  delta.type = api::Delta<T>::Type::kReplace;
  delta.items = std::move(items);
  return {std::move(delta)};
}

// As the scheduler thinks of it: where it assumes the pod, where it takes it to be nominated, and
// held back unless it is parked.
api::PodPtr AsThoughtOf(SchedulerProcess& process, const api::PodPtr& seen) {
  if (!seen->node_name.empty()) return seen;
  const Result<api::PodPtr> assumed = process.scheduler().context().cluster.cache.GetPod(*seen);
  if (assumed.ok()) return *assumed;
  auto pod = std::make_shared<api::Pod>(*seen);
  queue::SchedulingQueue& queue = process.scheduler().context().queue;
  // A nomination that is only gone here is news to come.
  const std::string_view nominated = queue.nominator().NodeOf(pod->meta.uid);
  if (!nominated.empty()) pod->status.nominated_node_name = Symbol(nominated);
  const framework::QueuedPod* queued = queue.stores().FindPod(pod->meta.Key());
  const bool parked = queue.stores().StoreOf(pod->meta.Key()) == queue::Store::kUnschedulable &&
                      queued->gating_plugin.empty();
  if (parked) return pod;
  auto spec = std::make_shared<api::PodSpec>(*pod->spec);
  spec->scheduling_gates.emplace_back("example.com/not-parked");
  pod->spec = std::move(spec);
  return pod;
}

}  // namespace

namespace {

// Whether somebody but the cluster keeps the pod waiting, or it may oversleep.
bool HasReasonToSleep(const World& world, SchedulerProcess& process,
                      const framework::QueuedPod& queued) {
  const api::Condition* told = queued.pod()->FindCondition("PodScheduled");
  if (told == nullptr || MayOversleep(*queued.pod(), told->message)) return true;
  // The patch of the last attempt may be under way.
  const auto said = world.said.find(queued.pod()->meta.uid);
  if (said != world.said.end() && MayOversleep(*queued.pod(), said->second)) return true;
  // Permit said no: a fault of the simulation, which a scheduler without the recorder does not
  // have.
  if (queued.unschedulable_plugins.contains(kRecorderName)) return true;
  // Spread constraints do not count pods that are terminating, and no event says so until they are
  // gone (docs/spec/plugins-crosspod.md 4.10).
  const auto& pods = process.pods();
  return queued.unschedulable_plugins.contains("PodTopologySpread") &&
         std::any_of(pods.begin(), pods.end(), [](const auto& known) {
           return !known.second->node_name.empty() && known.second->meta.deletion_timestamp;
         });
}

}  // namespace

std::string FindParkedPodThatFits(World& world, SchedulerProcess& process) {
  scheduler::PodDeltas pods = Everything<api::Pod>({});
  for (const auto& [key, pod] : process.pods()) {
    pods[0].items.push_back(AsThoughtOf(process, pod));
  }
  scheduler::NodeDeltas nodes = Everything<api::Node>({});
  for (const auto& [key, node] : process.nodes()) nodes[0].items.push_back(node);
  const Notes notes = Ask(world, std::move(nodes), std::move(pods));
  for (const auto& [name, node] : notes.bound) {
    std::string why;
    for (const auto& queued :
         process.scheduler().context().queue.stores().PodsIn(queue::Store::kUnschedulable)) {
      if (queued->pod()->meta.name != name) continue;
      if (HasReasonToSleep(world, process, *queued)) continue;
      for (const std::string& plugin : queued->unschedulable_plugins) why += " " + plugin;
    }
    if (why.empty()) continue;
    return fmt::format("pod {} is parked because of{}, although it fits on {}", name, why, node);
  }
  return {};
}

std::string JudgeProcess(World& world, SchedulerProcess& process) {
  std::string wrong = Compare(process.nodes(), All<api::Node>(world, "nodes")[0].items, "node");
  if (wrong.empty()) wrong = Compare(process.pods(), LivePods(world)[0].items, "pod");
  if (wrong.empty()) {
    wrong = Compare(process.volumes(),
                    All<api::PersistentVolume>(world, "persistentvolumes")[0].items, "volume");
  }
  if (wrong.empty()) {
    wrong =
        Compare(process.claims(),
                All<api::PersistentVolumeClaim>(world, "persistentvolumeclaims")[0].items, "claim");
  }
  if (wrong.empty() && world.plan.devices) {
    wrong = Compare(process.device_claims(),
                    All<api::ResourceClaim>(world, "resourceclaims")[0].items, "claim of devices");
    if (wrong.empty()) {
      wrong = Compare(process.slices(), All<api::ResourceSlice>(world, "resourceslices")[0].items,
                      "slice");
    }
  }
  if (wrong.empty() && world.plan.groups != 0) {
    wrong = Compare(process.groups(), All<api::PodGroup>(world, "podgroups")[0].items, "group");
    if (wrong.empty()) {
      wrong = Compare(process.composites(),
                      All<api::CompositePodGroup>(world, "compositepodgroups")[0].items,
                      "group of groups");
    }
  }
  if (wrong.empty()) wrong = CheckQuiet(process);
  if (wrong.empty()) return {};
  return process.name() + ": " + wrong;
}

}  // namespace ks::sim
