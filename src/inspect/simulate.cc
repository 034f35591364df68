// SPDX-License-Identifier: Apache-2.0
#include "inspect/simulate.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "config/print/print_json.h"
#include "inspect/what_if.h"
#include "plugins/dynamic_resources/pod_claims.h"

namespace ks::inspect {
namespace {

using config::JsonBuilder;
using framework::Status;

// The copied nominations. Simulated pods are none.
class CopiedNominations final : public framework::Nominator {
 public:
  explicit CopiedNominations(const ClusterCopy& cluster) : nominated_(cluster.nominated) {}

  std::span<const framework::PodInfoPtr> NominatedPodsForNode(
      std::string_view node_name) const override {
    const auto found = nominated_.find(node_name);
    if (found == nominated_.end()) return {};
    return found->second;
  }
  bool HasNominatedPods() const override { return !nominated_.empty(); }
  void ForEachNominatedNode(
      const std::function<void(std::string_view node_name)>& visit) const override {
    for (const auto& [node, pods] : nominated_) visit(node);
  }
  uint64_t version() const override { return 1; }
  void AddNominatedPod(const api::PodPtr&,
                       const std::optional<framework::NominatingInfo>&) override {}
  void DeleteNominatedPodIfExists(const api::Pod&) override {}

 private:
  const decltype(ClusterCopy::nominated)& nominated_;
};

// Only preemption asks for pods by name.
class NoPods final : public framework::PodLister {
 public:
  api::PodPtr FindPod(std::string_view) const override { return nullptr; }
};

// Only binding asks for nodes by name.
class NoNodes final : public framework::NodeLister {
 public:
  api::NodePtr FindNode(std::string_view) const override { return nullptr; }
};

class Run {
 public:
  explicit Run(const ClusterCopy& cluster) : cluster_(cluster), nominations_(cluster) {
    for (const api::NodePtr& node : cluster.nodes) cache_.AddNode(node);
    for (const api::PodPtr& pod : cluster.pods) (void)cache_.AddPod(pod);
  }

  Result<void> Prepare(const SimulatedPods& pods) {
    owners_ = cluster_.owners;
    storage_ = cluster_.storage;
    devices_ = cluster_.devices;
    groups_ = cluster_.groups;
    for (const cache::GroupDeltas& group : pods.groups) groups_.Apply(group, {});
    for (const cache::OwnerDeltas& owner : pods.owners) owners_.Apply(owner, {});
    using ClaimDelta = api::Delta<api::ResourceClaim>;
    for (const api::ResourceClaimPtr& claim : pods.claims) {
      devices_.Apply(std::vector<ClaimDelta>{{ClaimDelta::Type::kUpsert, claim, {}}});
    }
    scheduler::SchedulerOptions options;
    options.configuration = cluster_.configuration;
    options.registry = cluster_.registry;
    options.clock = cluster_.clock;
    options.gates = cluster_.gates;
    auto made = WhatIf::Make(options,
                             {.snapshot = cache_,
                              .owners = owners_,
                              .storage = storage_,
                              .devices = devices_,
                              .groups = framework::NoPodGroupStates(),
                              .nominator = nominations_,
                              .pods = no_pods_,
                              .nodes = no_nodes_},
                             /*remember_verdicts=*/true);
    if (!made.ok()) return made.error();
    what_if_ = std::move(made).value();
    return {};
  }

  SimulatedPlacement Place(const api::PodPtr& pod) {
    SimulatedPlacement placement;
    const framework::Framework* framework = what_if_->ProfileFor(*pod);
    if (framework == nullptr) {
      placement.message = "no profile is named " + pod->spec->scheduler_name.str();
      return placement;
    }
    if (!pod->node_name.empty()) {
      Assume(*pod, pod->node_name, &placement);
      return placement;
    }
    const Status gate = framework->queue_points().RunPreEnqueuePlugins(*pod, {});
    if (!gate.ok()) {
      placement.result = Verdict::kGated;
      placement.message = gate.Message();
      return placement;
    }
    Decide(*framework, pod, &placement);
    return placement;
  }

 private:
  void Decide(const framework::Framework& framework, const api::PodPtr& pod,
              SimulatedPlacement* placement) {
    if (Result<void> refreshed = cache_.RefreshSnapshot(); !refreshed.ok()) {
      placement->message = refreshed.error().message;
      return;
    }
    scheduler::Attempt attempt(framework, pod, spaces_);
    algorithm_.SchedulePod(attempt);
    const scheduler::ScheduleResult& result = attempt.result;
    const framework::Diagnosis& diagnosis = attempt.search->diagnosis;
    placement->feasible_nodes = result.feasible_nodes;
    if (result.status.ok()) {
      attempt.assumed = Assume(*pod, result.node->name(), placement);
      if (attempt.assumed != nullptr) Reserve(attempt, placement);
      return;
    }
    const bool rejected = result.fit_error || cache_.nodes().empty();
    placement->result = rejected ? Verdict::kUnschedulable : Verdict::kError;
    placement->message = result.fit_error ? diagnosis.Text() : result.status.ErrorText();
    placement->unschedulable_plugins.assign(diagnosis.unschedulable_plugins.begin(),
                                            diagnosis.unschedulable_plugins.end());
  }

  // The pod on its node; null: it failed.
  api::PodPtr Assume(const api::Pod& pod, const std::string& node, SimulatedPlacement* placement) {
    auto copy = std::make_shared<api::Pod>(pod);
    copy->node_name = node;
    api::PodPtr assumed = std::move(copy);
    if (Result<void> done = cache_.AssumePod(assumed); !done.ok()) {
      placement->message = done.error().message;
      return nullptr;
    }
    placement->result = Verdict::kSchedulable;
    placement->node = node;
    return assumed;
  }

  // What plugins keep for the pod, such as its volumes, the following pods see as taken.
  void Reserve(scheduler::Attempt& attempt, SimulatedPlacement* placement) {
    const framework::Framework& framework = attempt.framework;
    const Status reserved =
        framework.RunReservePluginsReserve(attempt.state, attempt.assumed, attempt.node());
    if (reserved.ok()) {
      WriteClaims(*attempt.assumed);
      return;
    }
    framework.RunReservePluginsUnreserve(attempt.state, attempt.assumed, attempt.node());
    (void)cache_.ForgetPod(*attempt.assumed);
    placement->result = reserved.IsRejected() ? Verdict::kUnschedulable : Verdict::kError;
    placement->node.clear();
    placement->message = reserved.ErrorText();
  }

  // As if the allocations had been written, so that other pods can share the claims.
  void WriteClaims(const api::Pod& pod) {
    const auto claims = plugins::ResolveClaims(devices_, pod);
    if (!claims.ok()) return;
    for (const api::ResourceClaimPtr& claim : *claims) {
      const std::string& uid = claim->meta.uid;
      const api::ClaimAllocationPtr decided = devices_.PendingAllocation(uid);
      if (decided == nullptr) continue;
      auto written = std::make_shared<api::ResourceClaim>(*claim);
      written->allocation = decided;
      if (!devices_.Assume(written).ok()) continue;
      devices_.RemovePendingAllocation(uid, framework::DeviceState::Sharers::kAll);
    }
  }

  const ClusterCopy& cluster_;
  const CopiedNominations nominations_;
  const NoPods no_pods_;
  const NoNodes no_nodes_;
  cache::Cache cache_;
  cache::OwnerStores owners_;
  cache::StorageStores storage_;
  cache::DeviceStores devices_;
  cache::GroupStores groups_;
  scheduler::Parallelizer parallelizer_{1};
  scheduler::SchedulingAlgorithm algorithm_{cache_, parallelizer_, 100};
  scheduler::SearchSpaces spaces_;
  std::unique_ptr<WhatIf> what_if_;
};

void AddSource(JsonBuilder& json, const Simulation& simulation,
               const SimulatedPods::Source& source) {
  std::map<std::string_view, size_t> nodes;
  size_t placed = 0;
  for (size_t i = source.begin; i < source.begin + source.count; ++i) {
    const SimulatedPlacement& placement = simulation.placements[i];
    if (placement.node.empty()) continue;
    ++placed;
    ++nodes[placement.node];
  }
  json.BeginObject();
  json.Key("source").Text(source.title);
  json.Key("pods").Number(source.count);
  json.Key("placed").Number(placed);
  json.Key("nodes").BeginArray();
  for (const auto& [node, pods] : nodes) {
    json.BeginObject().Key("node").Text(node).Key("pods").Number(pods).EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void AddPlacement(JsonBuilder& json, const api::Pod& pod, std::string_view source,
                  const SimulatedPlacement& placement) {
  json.BeginObject();
  json.Key("pod").Text(pod.meta.Key());
  json.Key("source").Text(source);
  json.Key("result").Text(VerdictText(placement.result));
  if (!placement.node.empty()) json.Key("node").Text(placement.node);
  if (placement.feasible_nodes != 0) json.Key("feasibleNodes").Number(placement.feasible_nodes);
  if (!placement.message.empty()) json.Key("message").Text(placement.message);
  if (!placement.unschedulable_plugins.empty()) {
    json.Key("rejectedBy").BeginArray();
    for (const std::string& plugin : placement.unschedulable_plugins) json.Text(plugin);
    json.EndArray();
  }
  json.EndObject();
}

}  // namespace

std::variant<ClusterCopy, Refusal> CopyCluster(scheduler::Scheduler& scheduler) {
  if (!scheduler.Synced()) {
    return Refusal{503, "the scheduler has not read the cluster yet; ask again in a moment"};
  }
  cache::Cache& cache = scheduler.context().cluster.cache;
  if (Result<void> refreshed = cache.RefreshSnapshot(); !refreshed.ok()) {
    return Refusal{500, refreshed.error().message};
  }
  const scheduler::SchedulerOptions& options = scheduler.options();
  ClusterCopy copy{.time = options.clock->Now(),
                   .configuration = options.configuration,
                   .registry = options.registry,
                   .clock = options.clock,
                   .gates = options.gates};
  copy.nodes.reserve(cache.nodes().size());
  copy.pods.reserve(cache.counts().pods);
  for (const framework::NodeInfo* node : cache.nodes()) {
    copy.nodes.push_back(node->node_ptr());
    for (const framework::PodInfoPtr& pod : node->pods()) copy.pods.push_back(pod->ptr());
  }
  const queue::PodNominator& nominator = scheduler.context().queue.nominator();
  nominator.ForEachNominatedNode([&](std::string_view node) {
    const auto pods = nominator.NominatedPodsForNode(node);
    copy.nominated.emplace(node, std::vector<framework::PodInfoPtr>(pods.begin(), pods.end()));
  });
  copy.owners = scheduler.context().cluster.owners;
  copy.storage = scheduler.context().cluster.storage;
  copy.devices = scheduler.context().cluster.devices;
  copy.groups = scheduler.context().cluster.groups;
  return copy;
}

Result<Simulation> Simulate(const ClusterCopy& cluster, const SimulatedPods& pods) {
  Run run(cluster);
  if (Result<void> prepared = run.Prepare(pods); !prepared.ok()) return prepared.error();
  Simulation simulation{.time = cluster.time,
                        .extenders_left_out = !cluster.configuration.extenders.empty()};
  for (const api::PodPtr& pod : pods.pods) simulation.placements.push_back(run.Place(pod));
  return simulation;
}

std::string SimulationJson(const Simulation& simulation, const SimulatedPods& pods,
                           const AnsweringReplica& replica) {
  JsonBuilder json;
  json.BeginObject();
  json.Key("time").Text(FormatMicroTime(simulation.time));
  json.Key("standby").Bool(replica.standby);
  if (!replica.identity.empty()) json.Key("identity").Text(replica.identity);
  json.Key("notes").BeginArray();
  if (simulation.extenders_left_out) {
    json.Text("extenders are not asked: their verdicts and scores are missing");
  }
  json.EndArray();
  json.Key("sources").BeginArray();
  for (const SimulatedPods::Source& source : pods.sources) AddSource(json, simulation, source);
  json.EndArray();
  json.Key("pods").BeginArray();
  for (const SimulatedPods::Source& source : pods.sources) {
    for (size_t i = source.begin; i < source.begin + source.count; ++i) {
      AddPlacement(json, *pods.pods[i], source.title, simulation.placements[i]);
    }
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace ks::inspect
