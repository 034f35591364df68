// SPDX-License-Identifier: Apache-2.0
#include "sim/process.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "framework/nomination.h"
#include "framework/pod_requests.h"
#include "sim/invariants.h"
#include "sim/judge.h"
#include "sim/loaded_plugin.h"

namespace ks::sim {
namespace {

constexpr Duration kBlocksMost = std::chrono::milliseconds(100);
constexpr Duration kStepTakes = std::chrono::microseconds(200);

// The event loop steps the scheduler.
class LoopRunner final : public daemon::SchedulerRunner {
 public:
  void Start(scheduler::Scheduler& /*scheduler*/) override {}
  void Stop(Duration /*grace*/) override {}
};

}  // namespace

uint64_t VersionOf(const api::ObjectMeta& meta) {
  return std::strtoull(meta.resource_version.c_str(), nullptr, 10);
}

const config::FeatureGates& GatesOf(const Plan& plan) {
  using config::Gate;
  constexpr std::array kDrawn = {Gate::kInPlacePodVerticalScalingSchedulerPreemption,
                                 Gate::kGenericWorkload, Gate::kTopologyAwareWorkloadScheduling,
                                 Gate::kCompositePodGroup};
  using Wanted = std::array<bool, kDrawn.size()>;
  const Wanted wanted = {plan.resizes != 0, plan.groups != 0, plan.group_topology,
                         plan.group_trees};
  static std::map<std::pair<Wanted, std::vector<Gate>>, config::FeatureGates> made;
  const auto [gates, is_new] = made.try_emplace({wanted, plan.flipped_gates});
  if (!is_new) return gates->second;
  for (size_t i = 0; i < kDrawn.size(); ++i) gates->second.Set(kDrawn[i], wanted[i]);
  for (const Gate gate : plan.flipped_gates) gates->second.Set(gate, !gates->second.Enabled(gate));
  return gates->second;
}

config::Configuration MakeConfiguration(const Plan& plan, bool recorded) {
  config::Configuration configuration = config::DefaultConfiguration(GatesOf(plan));
  configuration.parallelism = 1;
  configuration.percentage_of_nodes_to_score = plan.percentage_of_nodes_to_score;
  configuration.client_connection.qps = plan.qps;
  configuration.client_connection.burst = plan.burst;
  config::Profile& profile = configuration.profiles[0];
  // First, so that its PostFilter is asked before the one that may preempt.
  auto& enabled = profile.plugins.multi_point.enabled;
  if (recorded) enabled.insert(enabled.begin(), {kRecorderName, 0});
  if (plan.loaded_plugin) enabled.push_back({kLoadedName, 1});
  for (config::PluginConfig& entry : profile.plugin_config) {
    auto* spread = std::get_if<config::PodTopologySpreadArgs>(&entry.args);
    if (spread != nullptr && !plan.system_defaults) spread->defaulting_type = "List";
    auto* fit = std::get_if<config::NodeResourcesFitArgs>(&entry.args);
    if (fit != nullptr && !plan.extenders.empty()) fit->ignored_resources = {kLicense};
  }
  for (config::PluginConfig& entry : profile.plugin_config) {
    auto* binding = std::get_if<config::VolumeBindingArgs>(&entry.args);
    if (binding == nullptr) continue;
    binding->bind_timeout_seconds =
        std::chrono::duration_cast<std::chrono::seconds>(plan.bind_timeout).count();
  }
  for (config::PluginConfig& entry : profile.plugin_config) {
    auto* devices = std::get_if<config::DynamicResourcesArgs>(&entry.args);
    if (devices != nullptr && plan.devices) devices->binding_timeout = plan.device_bind_timeout;
  }
  if (plan.two_profiles) {
    config::Profile second = profile;
    second.scheduler_name = "second-scheduler";
    configuration.profiles.push_back(std::move(second));
  }
  configuration.extenders = MakeExtenders(plan);
  return configuration;
}

SchedulerProcess::SchedulerProcess(World& world, ProcessOptions options)
    : world_(world),
      options_(std::move(options)),
      clock_(world.loop, options_.clock_offset, options_.clock_rate),
      random_(options_.seed),
      registry_(RegistryOf(world.plan)),
      life_([this] { FollowLife(); }) {}

SchedulerProcess::~SchedulerProcess() { Kill(); }

void SchedulerProcess::Start() {
  world_.trace.Line(world_.loop.Now(), name(), "starts, {}",
                    StandsForElection() ? "standing by" : "leading");
  Build();
  take_over_->Begin();
  Wake();
}

void SchedulerProcess::Build() {
  MakeClients();
  MakeWatches();
  KS_CHECK(registry_.Register(kRecorderName, recorder_->factory()).ok(), "one recorder");
  const config::Configuration configuration = MakeConfiguration(world_.plan, true);
  daemon::TakeOverOptions take_over;
  if (StandsForElection()) {
    fence_ = std::make_shared<client::WriteFence>(clock_);
    leadership_ =
        std::make_unique<daemon::Leadership>(daemon::Leadership::Parts{.client = *election_,
                                                                       .metrics = leader_metrics_,
                                                                       .events = life_,
                                                                       .current = current_,
                                                                       .identity = name()},
                                             configuration, options_.seed + 9);
    take_over.acquire_lease = [this] { leadership_->AcquireLease(term_->number(), fence_); };
  }
  auto made = daemon::SchedulerTerm::Make(
      PartsOfTerm(), {.configuration = configuration, .fence = fence_, .seed = options_.seed});
  KS_CHECK(made.ok(), made.ok() ? "" : made.error().message);
  term_ = std::move(made).value();
  take_over_ = std::make_unique<daemon::TakeOver>(*term_, std::move(take_over));
  scheduler().RunBlockingBy([this](scheduler::Task task) {
    Later(Duration(static_cast<int64_t>(random_.Below(kBlocksMost.count()))), std::move(task));
  });
  hint_watch_.Watch(scheduler().in_force().QueueHooks(), clock_);
}

void SchedulerProcess::MakeClients() {
  const std::weak_ptr<SchedulerProcess> weak = weak_from_this();
  timers_ = std::make_unique<VirtualTimers>(clock_, [this, weak](TimePoint when) {
    if (dead_) return;
    world_.loop.At(when, [weak] {
      const auto self = weak.lock();
      if (self != nullptr) self->Run([raw = self.get()] { raw->timers_->RunOne(); });
    });
  });
  transport_ = std::make_shared<SimTransport>(
      world_.network, name(),
      [weak](Action action) {
        if (const auto self = weak.lock()) self->Run(std::move(action));
      },
      [this](const client::HttpRequest& request) {
        const bool is_lease = request.target.find("/leases") != std::string::npos;
        if (request.method == "GET" || is_lease) return;
        CheckMayWrite(request.method + " " + request.target);
      });
  credentials_ = client::NewAnonymousCredentials();
  const client::RestOptions rest{
      .qps = world_.plan.qps, .burst = world_.plan.burst, .user_agent = "kubesched/simulation"};
  scheduling_ = std::make_unique<client::RestClient>(*transport_, *credentials_, *timers_, rest);
  events_ = std::make_unique<client::RestClient>(*transport_, *credentials_, *timers_, rest);
  election_ = std::make_unique<client::RestClient>(*transport_, *credentials_, *timers_, rest);
}

void SchedulerProcess::Later(Duration delay, std::function<void()> task) {
  world_.loop.After(delay, [weak = weak_from_this(), task = std::move(task)] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->Run([raw = self.get(), task] { raw->scheduler().Post(scheduler::Task(task)); });
  });
}

void SchedulerProcess::MakeWatches() {
  const auto fail = [this](const std::string& what) { world_.fail(name() + ": " + what); };
  preemption_ = MakePreemptionWatch();
  group_victims_ = std::make_unique<GroupVictimWatch>(GroupVictimHost{
      .fail = fail,
      .now = [this] { return clock_.Now(); },
      .is_held = [this](const auto& uid) { return recorder_->waiting().contains(uid); }});
  extender_watch_ = std::make_unique<ExtenderWatch>(world_.plan, fail);
  recorder_ = std::make_unique<Recorder>(
      RecorderHost{.plan = &world_.plan,
                   .scheduler = name(),
                   .api = &world_.api,
                   .seed = options_.seed + 7,
                   .fail = fail,
                   .trace =
                       [this](const std::string& what) {
                         world_.trace.Line(world_.loop.Now(), name(), "{}", what);
                       },
                   .says =
                       [this](const api::Pod& pod, const api::Condition& condition) {
                         const bool leads = world_.api.LeaseHolder() == name();
                         if (leads || !StandsForElection()) {
                           world_.said[pod.meta.uid] = condition.message;
                         }
                       },
                   .later = [this](Duration delay,
                                   std::function<void()> task) { Later(delay, std::move(task)); },
                   .faults_over = world_.faults_over,
                   .nodes_joined = [this] { return nodes_joined_; },
                   .preemption = preemption_.get(),
                   .extenders = extender_watch_.get(),
                   .gangs = world_.plan.groups == 0 ? nullptr : &gangs_,
                   .group_victims = group_victims_.get(),
                   .is_assumed =
                       [this](const api::Pod& pod) {
                         return scheduler().context().cluster.cache.IsAssumedPod(pod);
                       },
                   .any_pending = [this](Random& random) { return AnyPending(random); },
                   .waits_for_resize = [this](const api::Pod& pod) { return WaitsForResize(pod); },
                   .was_flushed = [this](const api::Pod& pod) { return WasFlushed(pod); },
                   .binding_failed = [this](const api::PodPtr& pod) { NoteFreed(pod); }});
}

daemon::TermParts SchedulerProcess::PartsOfTerm() {
  return {.scheduling = *scheduling_,
          .event_recording = *events_,
          .make_runner = [] { return std::make_unique<LoopRunner>(); },
          .extender_transport =
              [this](const std::shared_ptr<const client::WriteFence>& /*fence*/) {
                return ExtenderFactory();
              },
          .events = life_,
          .current = current_,
          .health = health_,
          .registry = registry_,
          .gates = GatesOf(world_.plan),
          .settings = {.host_name = name(),
                       .memory = {.least_ranked_nodes = world_.plan.least_ranked_nodes},
                       .pod_max_in_unschedulable = world_.plan.unschedulable_max,
                       .decisions_kept = 0},
          .informer_metrics = informer_metrics_,
          .writer_metrics = writer_metrics_,
          .observer = this,
          .wrap_writer =
              [this](framework::ApiWriter& writer) {
                watched_writer_ = recorder_->Watch(writer);
                return watched_writer_.get();
              }};
}

// ---- leader election ----

// As an event of its own: whoever posts is in the middle of something.
void SchedulerProcess::FollowLife() {
  world_.loop.After({}, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->Run([raw = self.get()] {
      while (!raw->dead_) {
        const std::optional<daemon::LifeEvent> event = raw->life_.TryNext();
        if (!event) return;
        raw->Follow(*event);
      }
    });
  });
}

void SchedulerProcess::Follow(const daemon::LifeEvent& event) {
  const auto trace = [this](const std::string& what) {
    world_.trace.Line(world_.loop.Now(), name(), "{}", what);
  };
  if (event.kind == daemon::LifeEvent::Kind::kLost) {
    trace("lost the lease: " + event.text);
    world_.loop.After({}, options_.lost);
    return;
  }
  if (event.kind == daemon::LifeEvent::Kind::kWon) {
    trace("won the lease");
    NoteInherited();
  }
  take_over_->Follow(event);
}

// What the server knows when the lease is won: a leader must know it, too, before it decides.
void SchedulerProcess::NoteInherited() {
  bound_when_won_.clear();
  for (const auto& [key, stored] : world_.api.Objects("pods")) {
    api::PodPtr pod = Decoded<api::Pod>(*stored);
    if (!pod->node_name.empty() && !pod->IsTerminal()) bound_when_won_.push_back(std::move(pod));
  }
  allocated_when_won_.clear();
  for (const auto& [key, stored] : world_.api.Objects("resourceclaims")) {
    auto claim = Decoded<api::ResourceClaim>(*stored);
    if (claim->allocation != nullptr) allocated_when_won_.push_back(std::move(claim));
  }
}

bool SchedulerProcess::Knows(const api::Pod& bound) const {
  const auto known = pods_.find(bound.meta.Key());
  if (known != pods_.end() && known->second->meta.uid == bound.meta.uid) {
    return !known->second->node_name.empty();
  }
  const auto stored = world_.api.Find("pods", bound.meta.ns.str(), bound.meta.name);
  return stored == nullptr || stored->uid != bound.meta.uid ||
         Decoded<api::Pod>(*stored)->IsTerminal();
}

bool SchedulerProcess::Knows(const api::ResourceClaim& allocated) const {
  const auto known = device_claims().find(allocated.meta.Key());
  if (known != device_claims().end() && known->second->meta.uid == allocated.meta.uid &&
      known->second->allocation != nullptr) {
    return true;
  }
  // Somebody may have taken them away meanwhile.
  const auto stored =
      world_.api.Find("resourceclaims", allocated.meta.ns.str(), allocated.meta.name);
  return stored == nullptr || stored->uid != allocated.meta.uid ||
         Decoded<api::ResourceClaim>(*stored)->allocation == nullptr;
}

void SchedulerProcess::CheckKnowsInherited() {
  world_.trace.Line(world_.loop.Now(), name(), "leads");
  if (world_.api.device_watch() != nullptr) world_.api.device_watch()->Leads(name());
  for (const api::PodPtr& pod : std::exchange(bound_when_won_, {})) {
    if (Knows(*pod)) continue;
    world_.fail(fmt::format("{} leads and does not know that pod {} is on {}", name(),
                            pod->meta.name, pod->node_name.view()));
  }
  for (const auto& claim : std::exchange(allocated_when_won_, {})) {
    if (Knows(*claim)) continue;
    world_.fail(fmt::format("{} leads and does not know that claim {} has devices", name(),
                            claim->meta.name));
  }
}

// No write leaves a process while another one holds the lease: neither the process's clock nor its
// fence is asked here.
void SchedulerProcess::CheckMayWrite(const std::string& what) {
  if (!StandsForElection() || dead_) return;
  const std::string holder = world_.api.LeaseHolder();
  if (holder == name()) return;
  world_.fail(fmt::format("{}: {} is sent while {} holds the lease", name(), what,
                          holder.empty() ? "nobody" : holder));
}

std::unique_ptr<PreemptionWatch> SchedulerProcess::MakePreemptionWatch() {
  return std::make_unique<PreemptionWatch>(PreemptionHost{
      .fail = [this](const std::string& what) { world_.fail(name() + ": " + what); },
      .trace =
          [this](const std::string& what) {
            world_.trace.Line(world_.loop.Now(), name(), "{}", what);
          },
      .pod = [this](const std::string& key) -> api::PodPtr {
        const auto it = pods_.find(key);
        return it == pods_.end() ? nullptr : it->second;
      },
      .budgets = [this] { return Budgets(); },
      .now = [this] { return clock_.Now(); },
      .is_queued = [this](const api::Pod& pod) { return scheduler().context().IsQueued(pod); },
      .is_held = [this](const std::string& uid) { return recorder_->waiting().contains(uid); }});
}

framework::ExtenderTransportFactory SchedulerProcess::ExtenderFactory() {
  const auto run = [weak = weak_from_this()](Action action) {
    if (const auto self = weak.lock()) self->Run(std::move(action));
  };
  const auto bind = [this](const std::string& ns, const std::string& pod, const std::string& uid,
                           const std::string& node) {
    const apiserver::Json binding = {{"apiVersion", "v1"},
                                     {"kind", "Binding"},
                                     {"metadata", {{"name", pod}, {"uid", uid}}},
                                     {"target", {{"kind", "Node"}, {"name", node}}}};
    const auto answer =
        world_.api.Handle({.method = "POST",
                           .target = "/api/v1/namespaces/" + ns + "/pods/" + pod + "/binding",
                           .accept = "application/json",
                           .content_type = "application/json",
                           .body = binding.dump(),
                           .user = {.name = "extender", .groups = {"system:masters"}}});
    return answer.status == 201 ? std::string() : "code " + std::to_string(answer.status);
  };
  return [this, run, bind](const std::vector<config::Extender>& /*extenders*/)
             -> Result<std::shared_ptr<framework::ExtenderTransport>> {
    auto made = std::make_shared<SimExtenders>(SimExtenderHost{
        .loop = &world_.loop,
        .plan = &world_.plan,
        .seed = options_.seed + 8,
        .watch = extender_watch_.get(),
        .trace =
            [this](const std::string& what) {
              world_.trace.Line(world_.loop.Now(), name(), "{}", what);
            },
        .faults_over = world_.faults_over,
        .run = run,
        .bind_asked = [this](const std::string& pod, const std::string& uid,
                             const std::string& node) { recorder_->ExtenderBinds(pod, uid, node); },
        .may_bind =
            [this] {
              if (!MayWrite()) return false;
              CheckMayWrite("an extender's bind");
              return true;
            },
        .bind = bind});
    extenders_ = made;
    return std::shared_ptr<framework::ExtenderTransport>(std::move(made));
  };
}

size_t SchedulerProcess::asking() const {
  const auto extenders = extenders_.lock();
  return extenders == nullptr ? 0 : extenders->outstanding();
}

api::PodPtr SchedulerProcess::AnyPending(Random& random) const {
  std::vector<api::PodPtr> pending;
  for (const auto& [key, pod] : pods_) {
    if (pod->node_name.empty()) pending.push_back(pod);
  }
  return pending.empty() ? nullptr : pending[random.Below(pending.size())];
}

bool SchedulerProcess::WaitsForResize(const api::Pod& pod) const {
  const auto known = pods_.find(pod.meta.Key());
  return known != pods_.end() && known->second->meta.uid == pod.meta.uid &&
         scheduler().context().WaitsForResize(*known->second);
}

// The scheduler has nothing to do and waits for no extender: nobody stands in their line.
void SchedulerProcess::CheckExtendersLine() {
  if (asking() != 0 || !scheduler().Synced()) return;
  for (const api::PodPtr& pod : scheduler().context().queue.in_flight().Pods()) {
    if (recorder_->waiting().contains(pod->meta.uid)) continue;
    world_.fail(name() + ": pod " + pod->meta.name + " waits for extenders that nobody asks");
  }
}

std::vector<Budget> SchedulerProcess::Budgets() const {
  std::vector<Budget> budgets;
  for (const auto& [key, budget] : budgets_) {
    budgets.push_back({.object = budget, .left = budget->disruptions_allowed});
  }
  return budgets;
}

void SchedulerProcess::LookAtPreemption() {
  const uint64_t decisions = preemption_->decisions();
  const uint64_t evictions = preemption_->evictions();
  world_.preemptions += decisions - std::exchange(preemptions_, decisions);
  world_.evictions += evictions - std::exchange(evictions_, evictions);
  group_victims_->AfterStep();
  preemption_->AfterStep(
      [this](const std::string& key, const std::string& uid) -> std::optional<int64_t> {
        const framework::QueuedPod* queued = scheduler().context().queue.stores().FindPod(key);
        if (queued == nullptr || queued->pod()->meta.uid != uid) return std::nullopt;
        return queued->attempts;
      });
}

// In this step, or so it looks: whoever is parked so long is flushed at the next opportunity.
bool SchedulerProcess::WasFlushed(const api::Pod& pod) const {
  if (world_.plan.preemption || !GroupOf(pod).empty()) return false;
  const auto seen = stored_.find(pod.meta.uid);
  if (seen == stored_.end() || !seen->second.parked.has_value()) return false;
  const api::Condition* told = pod.FindCondition("PodScheduled");
  if (told == nullptr || MayOversleep(pod, told->message)) return false;
  return clock_.Now() - *seen->second.parked > world_.plan.unschedulable_max;
}

// A pod that goes, or begins to, on its way to a node gives back its room. One that got there
// before it began to keeps it until it is gone.
void SchedulerProcess::NoteTurnedBack(const api::PodPtr& before, const api::PodPtr& after) {
  if (!before->node_name.empty() || before->meta.deletion_timestamp) return;
  const bool is_there = after != nullptr && after->meta.uid == before->meta.uid;
  if (is_there && (!after->meta.deletion_timestamp || !after->node_name.empty())) return;
  const api::PodPtr reserved = recorder_->ReservedPod(before->meta.uid);
  if (reserved != nullptr) hint_watch_.Freed(reserved);
}

// The room of a pod whose binding failed is free, unless the pod went, or got there all the same.
void SchedulerProcess::NoteFreed(const api::PodPtr& assumed) {
  const auto known = pods_.find(assumed->meta.Key());
  if (known == pods_.end() || known->second->meta.uid != assumed->meta.uid) return;
  if (known->second->node_name.empty()) hint_watch_.Freed(assumed);
}

// Whether the pod waits for its victims on one node, and the room that the other pod left does not
// do for it (docs/decisions/0071-no-attempt-in-vain-while-victims-leave.md).
bool SchedulerProcess::IsInVain(const framework::QueuedPod& parked, const api::Pod& gone) const {
  const api::Pod& pod = *parked.pod();
  for (const std::string& plugin : parked.unschedulable_plugins) {
    if (plugin != "NodeResourcesFit" && plugin != "DefaultPreemption") return false;
  }
  const auto& context = scheduler().context();
  const std::string_view nominated = framework::NominatedNode(pod, context.nominator);
  const framework::NodeInfo* awaited = context.cluster.cache.Find(nominated);
  // Beside groups nobody looks over preemption's shoulder, and a group's priority counts. Who is
  // nominated nowhere may wait for news of a victim.
  const bool beside_groups = world_.plan.groups != 0;
  const auto may_be_victim = [&](const framework::PodInfoPtr& info) {
    return beside_groups ||
           (info->pod().meta.deletion_timestamp && info->pod().Priority() < pod.Priority());
  };
  const bool leaving = awaited == nullptr ? beside_groups
                                          : std::any_of(awaited->pods().begin(),
                                                        awaited->pods().end(), may_be_victim);
  if (!leaving && !preemption_->Awaits(pod, context.cluster.cache)) return false;
  const framework::NodeInfo* node = context.cluster.cache.Find(gone.node_name.view());
  if (node == nullptr) return true;  // room on a node that is lost
  framework::Resource rest = node->allocatable();
  const auto take = [&rest](const framework::Resource& taken) {
    rest.milli_cpu -= taken.milli_cpu;
    rest.memory -= taken.memory;
  };
  take(node->requested());
  for (const auto& info : context.nominator.NominatedPodsForNode(node->name())) {
    const api::Pod& other = info->pod();
    if (other.meta.uid != pod.meta.uid && other.Priority() >= pod.Priority()) {
      take(info->request().requested);
    }
  }
  const framework::Resource request = framework::PodRequest(pod);
  return request.milli_cpu > std::max<int64_t>(rest.milli_cpu, 0) ||
         request.memory > std::max<int64_t>(rest.memory, 0);
}

// Whoever had a reason to wake in this step did.
void SchedulerProcess::CheckAwake() {
  const WakeView view = {
      .nodes = nodes_, .namespaces = namespaces_, .queue = scheduler().context().queue};
  hint_watch_.Know(scheduler().context().cluster.devices, device_claims());
  const auto in_vain = [this](const framework::QueuedPod& parked, const api::Pod& gone) {
    return IsInVain(parked, gone);
  };
  for (const std::string& asleep :
       {wake_watch_.AfterStep(view), hint_watch_.AfterStep(scheduler().context().queue, in_vain)}) {
    if (!asleep.empty()) world_.fail(name() + ": " + asleep);
  }
  if (world_.plan.groups == 0) return;
  const std::string wrong = gangs_.AfterStep();
  if (!wrong.empty()) world_.fail(name() + ": " + wrong);
}

// A scheduler that has handled everything it was told, and that has nothing to do, has parked no
// pod that fits. But for what upstream's hints count on others for: when a node goes, no plugin
// about other pods is asked, until its pods are collected within a minute.
void SchedulerProcess::LookForSleepers() {
  constexpr Duration kPause = std::chrono::seconds(7);
  constexpr Duration kCollected = std::chrono::seconds(70);
  const TimePoint now = clock_.Now();
  if (world_.faults_over() || now - looked_at_ < kPause) return;
  // Its binding is news to come.
  if (scheduler().context().cluster.cache.counts().assumed_pods != 0 || asking() != 0) return;
  looked_at_ = now;
  if (now - node_lost_at_ < kCollected) return;
  const std::string wrong = FindParkedPodThatFits(world_, *this);
  if (!wrong.empty()) world_.fail(name() + ": " + wrong);
}

void SchedulerProcess::OnDeltas(const scheduler::PodDeltas& deltas) {
  if (dead_) return;
  nominations_.Heard(deltas);
  ApplyDeltas(deltas, pods_);
}

void SchedulerProcess::OnDeltas(const scheduler::NodeDeltas& deltas) {
  if (!dead_) ApplyDeltas(deltas, nodes_);
}

void SchedulerProcess::OnDeltas(const scheduler::OwnerDeltas& deltas) {
  using Budgets = std::vector<api::Delta<api::PodDisruptionBudget>>;
  using Namespaces = std::vector<api::Delta<api::Namespace>>;
  if (dead_) return;
  if (const auto* budgets = std::get_if<Budgets>(&deltas)) ApplyDeltas(*budgets, budgets_);
  if (const auto* namespaces = std::get_if<Namespaces>(&deltas)) {
    ApplyDeltas(*namespaces, namespaces_);
  }
}

void SchedulerProcess::OnDeltas(const scheduler::StorageDeltas& deltas) {
  if (dead_) return;
  std::visit(
      [this]<class T>(const std::vector<api::Delta<T>>& of_kind) {
        ApplyDeltas(of_kind, std::get<View<T>>(storage_));
      },
      deltas);
}

void SchedulerProcess::OnDeltas(const scheduler::DeviceDeltas& deltas) {
  // Without devices there is nothing to see, and nothing to trace.
  if (dead_ || !world_.plan.devices) return;
  std::visit(
      [this]<class T>(const std::vector<api::Delta<T>>& of_kind) {
        ApplyDeltas(of_kind, std::get<View<T>>(devices_));
      },
      deltas);
}

void SchedulerProcess::OnDeltas(const scheduler::GroupDeltas& deltas) {
  if (dead_ || world_.plan.groups == 0) return;
  std::visit(
      [this]<class T>(const std::vector<api::Delta<T>>& of_kind) {
        ApplyDeltas(of_kind, std::get<View<T>>(groups_));
      },
      deltas);
}

bool SchedulerProcess::IsOurs(const api::Pod& pod) const {
  const auto& profiles = scheduler().context().profiles;
  return profiles.find(pod.spec->scheduler_name.str()) != profiles.end();
}

// ---- what the streams told ----

// An object never goes back to an older state.
template <class T>
void SchedulerProcess::CheckOrder(const View<T>& view, const T& object) {
  const auto known = view.find(object.meta.Key());
  if (known == view.end()) return;
  const uint64_t before = VersionOf(known->second->meta);
  const uint64_t now = VersionOf(object.meta);
  if (now >= before) return;
  world_.fail(fmt::format("{}: {} went back from version {} to {}", name(), object.meta.Key(),
                          before, now));
}

template <class T>
void SchedulerProcess::ApplyDeltas(const std::vector<api::Delta<T>>& deltas, View<T>& view) {
  using Type = typename api::Delta<T>::Type;
  for (const api::Delta<T>& delta : deltas) {
    if (delta.type == Type::kReplace) {
      ApplyList(delta.items, view);
      continue;
    }
    const bool deleted = delta.type == Type::kDelete;
    world_.trace.Line(world_.loop.Now(), name(), "event: {} {} at {}", deleted ? "no" : "see",
                      delta.object->meta.Key(), delta.object->meta.resource_version);
    CheckOrder(view, *delta.object);
    std::shared_ptr<const T>& known = view[delta.object->meta.Key()];
    ApplyObject(known, deleted ? nullptr : delta.object);
    if (deleted) {
      view.erase(delta.object->meta.Key());
    } else {
      if (known == nullptr && std::is_same_v<T, api::Node>) ++nodes_joined_;
      known = delta.object;
    }
  }
}

template <class T>
void SchedulerProcess::ApplyList(const std::vector<std::shared_ptr<const T>>& items,
                                 View<T>& view) {
  world_.trace.Line(world_.loop.Now(), name(), "list of {} objects", items.size());
  View<T> fresh;
  for (const auto& item : items) {
    CheckOrder(view, *item);
    fresh[item->meta.Key()] = item;
  }
  for (const auto& [key, known] : view) {
    if (!fresh.contains(key)) ApplyObject<T>(known, nullptr);
  }
  for (const auto& [key, item] : fresh) {
    const auto known = view.find(key);
    ApplyObject<T>(known == view.end() ? nullptr : known->second, item);
  }
  view = std::move(fresh);
}

template <class T>
void SchedulerProcess::ApplyObject(const std::shared_ptr<const T>& before,
                                   const std::shared_ptr<const T>& after) {
  if (after == nullptr && std::is_same_v<T, api::Node>) node_lost_at_ = clock_.Now();
  if constexpr (std::is_same_v<T, api::Pod>) {
    if (before != nullptr) NoteTurnedBack(before, after);
  }
  if constexpr (requires { hint_watch_.Changed(before, after); }) {
    if (before != nullptr || after != nullptr) hint_watch_.Changed(before, after);
  }
}

// ---- the loop ----

void SchedulerProcess::Run(Action action) {
  if (dead_) return;
  if (world_.loop.Now() < frozen_until_) {
    world_.loop.At(frozen_until_, [weak = weak_from_this(), action = std::move(action)] {
      if (const auto self = weak.lock()) self->Run(action);
    });
    return;
  }
  action();
  if (!dead_) Wake();
}

void SchedulerProcess::Wake() { WakeAt(world_.loop.Now() + kStepTakes / 4); }

void SchedulerProcess::WakeAt(TimePoint when) {
  if (wake_at_.has_value() && *wake_at_ <= when) return;
  wake_at_ = when;
  world_.loop.At(when, [weak = weak_from_this(), number = ++wake_] {
    const auto self = weak.lock();
    if (self == nullptr || self->dead_ || number != self->wake_) return;
    if (self->world_.loop.Now() < self->frozen_until_) {
      self->wake_at_.reset();
      return self->WakeAt(self->frozen_until_);
    }
    self->wake_at_.reset();
    self->Step();
  });
}

void SchedulerProcess::Step() {
  ++steps_;
  const bool led = scheduler().leading();
  const bool worked = scheduler().Step();
  recorder_->AfterStep();
  if (!led && scheduler().leading()) CheckKnowsInherited();
  if (const std::string wrong = nominations_.AfterStep(); !wrong.empty()) {
    world_.fail(name() + ": " + wrong);
  }
  LookAtPreemption();
  CheckAwake();
  if (worked) {
    if (const std::string wrong = CheckScheduler(*this); !wrong.empty()) {
      world_.fail(name() + ": " + wrong);
    }
    const auto extra = static_cast<int64_t>(random_.Below(kStepTakes.count() + 1));
    WakeAt(world_.loop.Now() + kStepTakes / 2 + Duration(extra));
    return;
  }
  if (leading()) {
    CheckExtendersLine();
    if (world_.plan.looks_for_sleepers && scheduler().Synced()) LookForSleepers();
  }
  if (const auto next = scheduler().NextTimer()) WakeAt(clock_.TrueTime(*next));
}

// ---- the end ----

void SchedulerProcess::Kill() {
  if (dead_) return;
  dead_ = true;
  if (term_ == nullptr) return;
  world_.trace.Line(world_.loop.Now(), name(), "dies");
  recorder_->Die();
  TakeDown();
}

// The client's parts wait in their destructors for callbacks that nobody would make any more. So
// time goes on for this process alone, in a world where every connection is refused, until all of
// them only wait for timers.
void SchedulerProcess::TakeDown() {
  constexpr Duration kLong = std::chrono::minutes(2);
  constexpr Duration kQuiet = std::chrono::seconds(3);
  transport_->Die();
  leadership_.reset();
  clock_.Detach();
  TimePoint earliest = clock_.Now() + kLong;
  while (true) {
    bool any = transport_->RefuseAll();
    while (timers_->RunOne()) any = true;
    if (any) continue;
    const client::WriterStats stats = writes();
    const uint64_t pending = stats.binds_pending + stats.patches_pending + stats.events_pending;
    if (pending != 0) earliest = clock_.Now() + kLong;
    const std::optional<TimePoint> next = timers_->NextDue();
    if (!next.has_value()) break;
    if (clock_.Now() >= earliest && *next - clock_.Now() >= kQuiet) break;
    clock_.Advance(*next);
  }
  take_over_.reset();
  term_.reset();
  election_.reset();
  events_.reset();
  scheduling_.reset();
}

}  // namespace ks::sim
