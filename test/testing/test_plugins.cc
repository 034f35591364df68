// SPDX-License-Identifier: Apache-2.0
#include "testing/test_plugins.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace ks::testing {
namespace {

using framework::CycleState;
using framework::NodeInfo;
using framework::PodInfo;
using framework::Status;

constexpr size_t kSlots = 256;

std::array<FactorySlot::Make, kSlots>& Slots() {
  static std::array<FactorySlot::Make, kSlots> slots;
  return slots;
}

template <size_t kIndex>
Result<std::unique_ptr<framework::Plugin>> CallSlot(const config::PluginArgs& args,
                                                    framework::Handle& handle) {
  return Slots()[kIndex](args, handle);
}

template <size_t... kIndices>
constexpr std::array<framework::PluginFactory, kSlots> Factories(
    std::index_sequence<kIndices...> /*indices*/) {
  return {&CallSlot<kIndices>...};
}
constexpr auto kFactories = Factories(std::make_index_sequence<kSlots>());

// A sequence that is done at once.
class FinishedSequence final : public framework::PreBindSequence {
 public:
  framework::PreBindStep Next(const Status& /*previous*/) override {
    framework::PreBindStep step;
    step.finished = true;
    return step;
  }
};

}  // namespace

void Scripted::Log(std::string_view point, std::string_view detail) const {
  if (script_.log == nullptr) return;
  std::string line(point);
  line += " " + script_.name;
  if (!detail.empty()) line += " " + std::string(detail);
  script_.log->push_back(std::move(line));
}

Status PreEnqueues::PreEnqueue(const api::Pod& pod) {
  Log("PreEnqueue");
  return script_.pre_enqueue ? script_.pre_enqueue(pod) : Status();
}

bool QueueSorts::Less(const framework::QueuedEntity& a, const framework::QueuedEntity& b) const {
  return script_.less ? script_.less(a, b) : a.Key() < b.Key();
}

framework::PreFilterResult PreFilters::PreFilter(CycleState& /*state*/, const api::Pod& /*pod*/,
                                                 const framework::Snapshot& /*snapshot*/) {
  Log("PreFilter");
  return script_.pre_filter ? script_.pre_filter() : framework::PreFilterResult();
}

Status Hooks::AddPod(CycleState& /*state*/, const api::Pod& /*pod*/, const PodInfo& pod_to_add,
                     const NodeInfo& node) const {
  Log("AddPod", pod_to_add.pod().meta.name);
  return script_.add_pod ? script_.add_pod(pod_to_add, node) : Status();
}

Status Hooks::RemovePod(CycleState& /*state*/, const api::Pod& /*pod*/,
                        const PodInfo& pod_to_remove, const NodeInfo& node) const {
  Log("RemovePod", pod_to_remove.pod().meta.name);
  return script_.remove_pod ? script_.remove_pod(pod_to_remove, node) : Status();
}

Status Filters::Filter(const CycleState& state, const api::Pod& /*pod*/,
                       const NodeInfo& node) const {
  Log("Filter", node.name());
  return script_.filter ? script_.filter(state, node) : Status();
}

framework::PostFilterResult PostFilters::PostFilter(CycleState& /*state*/,
                                                    const api::PodPtr& /*pod*/,
                                                    const framework::NodeStatuses& /*statuses*/) {
  Log("PostFilter");
  return script_.post_filter ? script_.post_filter() : framework::PostFilterResult();
}

Status PreScores::PreScore(CycleState& /*state*/, const api::Pod& /*pod*/, NodeSpan /*nodes*/) {
  Log("PreScore");
  return script_.pre_score ? script_.pre_score() : Status();
}

Status Scores::Score(const CycleState& /*state*/, const api::Pod& /*pod*/, const NodeInfo& node,
                     int64_t* score) const {
  Log("Score", node.name());
  *score = 0;
  return script_.score ? script_.score(node, score) : Status();
}

Status Normalizes::NormalizeScore(const CycleState& /*state*/, const api::Pod& /*pod*/,
                                  NodeSpan /*nodes*/, ScoresOfNodes scores) const {
  Log("NormalizeScore");
  return script_.normalize ? script_.normalize(scores) : Status();
}

Status Reserves::Reserve(CycleState& state, const api::PodPtr& /*pod*/,
                         const std::string& /*node_name*/) {
  Log("Reserve");
  if (script_.with_state) script_.with_state(state);
  return script_.reserve ? script_.reserve() : Status();
}

void Reserves::Unreserve(CycleState& /*state*/, const api::PodPtr& /*pod*/,
                         const std::string& /*node_name*/) {
  Log("Unreserve");
}

framework::PermitResult Permits::Permit(CycleState& state, const api::PodPtr& /*pod*/,
                                        const std::string& /*node_name*/) {
  Log("Permit");
  if (script_.with_state) script_.with_state(state);
  return script_.permit ? script_.permit() : framework::PermitResult();
}

framework::PreBindPreFlightResult PreBinds::PreBindPreFlight(CycleState& /*state*/,
                                                             const api::PodPtr& /*pod*/,
                                                             const std::string& /*node_name*/) {
  Log("PreBindPreFlight");
  return script_.pre_flight ? script_.pre_flight() : framework::PreBindPreFlightResult();
}

std::unique_ptr<framework::PreBindSequence> PreBinds::PreBind(CycleState& /*state*/,
                                                              const api::PodPtr& /*pod*/,
                                                              const std::string& /*node_name*/) {
  Log("PreBind");
  if (script_.pre_bind) return script_.pre_bind();
  return std::make_unique<FinishedSequence>();
}

Status Binds::Bind(CycleState& state, const api::PodPtr& /*pod*/, const std::string& /*node_name*/,
                   Done done) {
  Log("Bind");
  if (script_.with_state) script_.with_state(state);
  return script_.bind ? script_.bind(std::move(done)) : Status();
}

void PostBinds::PostBind(CycleState& state, const api::PodPtr& /*pod*/,
                         const std::string& /*node_name*/) {
  Log("PostBind");
  if (script_.with_state) script_.with_state(state);
}

std::vector<framework::EventRegistration> Events::EventsToRegister() const {
  return script_.events;
}

Status Signs::Sign(const api::Pod& /*pod*/, std::vector<framework::SignFragment>* fragments) const {
  Log("Sign");
  return script_.sign ? script_.sign(fragments) : Status();
}

Result<void> Closes::Close() {
  Log("Close");
  return script_.close ? script_.close() : Result<void>();
}

Status PlacementGenerates::GeneratePlacements(const framework::PodGroupKey& /*group*/,
                                              const framework::Placement& /*parent*/,
                                              std::vector<framework::Placement>* /*placements*/) {
  return {};
}

Status PlacementScores::ScorePlacement(const framework::PodGroupKey& /*group*/,
                                       const framework::Placement& /*placement*/,
                                       std::span<const framework::GroupAssignment> /*assignments*/,
                                       int64_t* score) {
  *score = 0;
  return {};
}

framework::GroupPostFilterResult PodGroupPostFilters::PodGroupPostFilter(
    const framework::GroupPreemptor& /*preemptor*/) {
  return {};
}

FactorySlot::FactorySlot(Make make) : index_(0) {
  while (index_ < kSlots && Slots()[index_] != nullptr) ++index_;
  KS_CHECK(index_ < kSlots, "all factory slots are in use");
  Slots()[index_] = std::move(make);
}

FactorySlot::~FactorySlot() { Slots()[index_] = nullptr; }

framework::PluginFactory FactorySlot::factory() const { return kFactories[index_]; }

void TestRegistry::AddFactory(const std::string& name, FactorySlot::Make make) {
  // The registry keeps a view of the name: it lives on the heap with the slot.
  slots_.push_back(std::make_unique<std::pair<std::string, FactorySlot>>(
      std::piecewise_construct, std::forward_as_tuple(name),
      std::forward_as_tuple(std::move(make))));
  const auto& [kept_name, slot] = *slots_.back();
  const Result<void> registered = registry_.Register(kept_name, slot.factory());
  KS_CHECK(registered.ok(), registered.error().message);
}

void AddFakeDefaultPlugins(TestRegistry& registry) {
  registry.Add<PreEnqueues>({.name = "SchedulingGates"});
  registry.Add<QueueSorts>({.name = "PrioritySort"});
  for (const char* name : {"NodeName", "NodeUnschedulable", "NodePorts", "VolumeRestrictions",
                           "NodeVolumeLimits", "VolumeZone", "NodeDeclaredFeatures"}) {
    registry.Add<PreFilters, Filters>({.name = name});
  }
  for (const char* name :
       {"TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity"}) {
    registry.Add<PreFilters, Filters, PreScores, Scores, Normalizes>({.name = name});
  }
  registry.Add<PreFilters, Filters, PreScores, Scores, PlacementScores>(
      {.name = "NodeResourcesFit"});
  registry.Add<PreFilters, Filters, PreScores, Scores, Reserves, PreBinds>(
      {.name = "VolumeBinding"});
  registry.Add<PreEnqueues, PreFilters, Filters, PostFilters, Scores, Reserves, PreBinds,
               PodGroupPostFilters>({.name = "DynamicResources"});
  registry.Add<PreEnqueues, PostFilters, PodGroupPostFilters>({.name = "DefaultPreemption"});
  registry.Add<PreScores, Scores>({.name = "NodeResourcesBalancedAllocation"});
  registry.Add<Scores>({.name = "ImageLocality"});
  registry.Add<Binds>({.name = "DefaultBinder"});
  registry.Add<PreEnqueues, Permits>({.name = "GangScheduling"});
  registry.Add<PlacementGenerates>({.name = "TopologyPlacementGenerator"});
  registry.Add<PlacementScores>({.name = "PodGroupPodsCount"});
}

config::Plugins UpstreamDefaultPlugins() {
  config::Plugins plugins;
  plugins.multi_point.enabled = {
      {"SchedulingGates", {}},
      {"PrioritySort", {}},
      {"NodeName", {}},
      {"NodeUnschedulable", {}},
      {"TaintToleration", 3},
      {"NodeAffinity", 2},
      {"NodePorts", {}},
      {"NodeResourcesFit", 1},
      {"VolumeRestrictions", {}},
      {"NodeVolumeLimits", {}},
      {"VolumeBinding", {}},
      {"VolumeZone", {}},
      {"PodTopologySpread", 2},
      {"InterPodAffinity", 2},
      {"DynamicResources", 2},
      {"DefaultPreemption", {}},
      {"NodeResourcesBalancedAllocation", 1},
      {"ImageLocality", 1},
      {"DefaultBinder", {}},
      {"NodeDeclaredFeatures", {}},
  };
  return plugins;
}

TestProfile::TestProfile() {
  profile_.scheduler_name = "default-scheduler";
  registry_.Add<QueueSorts>({.name = "Sort"});
  registry_.Add<Binds>({.name = "Bind"});
  profile_.plugins.queue_sort.enabled = {{"Sort", {}}};
  profile_.plugins.bind.enabled = {{"Bind", {}}};
}

TestProfile& TestProfile::WithoutBind() {
  profile_.plugins.bind.enabled.clear();
  return *this;
}

framework::HandleParts LastingParts(const framework::OfflineParts::Given& given) {
  static std::vector<std::unique_ptr<framework::OfflineParts>> all;
  return all.emplace_back(std::make_unique<framework::OfflineParts>(given))->parts();
}

std::unique_ptr<framework::Framework> TestProfile::Build(const Options& options) const {
  auto framework = framework::Framework::Create(registry_.registry(), profile_,
                                                {.parts = LastingParts(options.parts),
                                                 .metrics = options.metrics,
                                                 .remember_verdicts = options.remember_verdicts});
  KS_CHECK(framework.ok(), framework.error().message);
  return std::move(framework).value();
}

}  // namespace ks::testing
