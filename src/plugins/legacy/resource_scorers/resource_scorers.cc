// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/resource_scorers/resource_scorers.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "framework/pod_requests.h"
#include "plugins/kit/legacy.h"
#include "plugins/kit/resource_score/strategies.h"
#include "plugins/kit/signature.h"
#include "plugins/kit/spec_cache.h"

namespace ks::plugins {
namespace {

using framework::CycleState;
using framework::NodeInfo;
using framework::Status;

constexpr int64_t kMaxWeight = 100;
constexpr int64_t kMaxUtilization = 100;
constexpr int64_t kMaxShapeScore = 10;
constexpr int64_t kAnyLow = std::numeric_limits<int32_t>::min();
constexpr int64_t kAnyHigh = std::numeric_limits<int32_t>::max();

// As NodeResourcesFit scores: status ignored, pod-level resources ignored, defaults for containers
// without requests.
constexpr framework::RequestOptions kScoringOptions{
    .use_status = false, .pod_level = false, .default_cpu = true, .default_memory = true};

// A missing weight or 0 counts as 1; no resources as cpu and memory.
std::vector<config::ResourceSpec> ReadResources(const ArgsReader& root) {
  std::vector<config::ResourceSpec> resources;
  for (const ArgsReader& item : root.Objects("resources", {"name", "weight"})) {
    config::ResourceSpec resource{item.Text("name"), item.Integer("weight", kAnyLow, kAnyHigh)};
    if (resource.weight == 0) resource.weight = 1;
    if (resource.name.empty()) {
      item.Fault("name", "is missing; give a resource, such as cpu");
    }
    if (resource.weight < 0 || resource.weight > kMaxWeight) {
      item.Fault("weight", std::to_string(resource.weight) + " is not in the range 1 to 100");
    }
    resources.push_back(std::move(resource));
  }
  if (resources.empty()) resources = {{"cpu", 1}, {"memory", 1}};
  return resources;
}

std::vector<config::UtilizationShapePoint> ReadShape(const ArgsReader& root) {
  std::vector<config::UtilizationShapePoint> shape;
  for (const ArgsReader& item : root.Objects("shape", {"utilization", "score"})) {
    const config::UtilizationShapePoint point{
        static_cast<int32_t>(item.Integer("utilization", kAnyLow, kAnyHigh)),
        static_cast<int32_t>(item.Integer("score", kAnyLow, kAnyHigh))};
    if (point.utilization < 0 || point.utilization > kMaxUtilization) {
      item.Fault("utilization",
                 std::to_string(point.utilization) + " is not in the range 0 to 100");
    }
    if (point.score < 0 || point.score > kMaxShapeScore) {
      item.Fault("score", std::to_string(point.score) + " is not in the range 0 to 10");
    }
    if (!shape.empty() && point.utilization <= shape.back().utilization) {
      item.Fault("utilization", "must be greater than that of the point before");
    }
    shape.push_back(point);
  }
  if (shape.empty()) root.Fault("shape", "is missing; give at least one point");
  return shape;
}

FitArgs ReadArgs(const config::PluginArgs& args, FitStrategy strategy, ArgsFaults* faults) {
  const nlohmann::json json = JsonOf(args);
  FitArgs read;
  read.strategy = strategy;
  if (strategy == FitStrategy::kRequestedToCapacityRatio) {
    const ArgsReader root(json, "", {"shape", "resources"}, faults);
    read.shape = ReadShape(root);
    read.resources = ReadResources(root);
  } else {
    const ArgsReader root(json, "", {"resources"}, faults);
    read.resources = ReadResources(root);
  }
  return read;
}

// For FaultsOf and ReadOrFault.
auto ReaderFor(FitStrategy strategy) {
  return [strategy](const config::PluginArgs& args, ArgsFaults* faults) {
    return ReadArgs(args, strategy, faults);
  };
}

class ResourceScorer final : public framework::Plugin,
                             public framework::PreScorePlugin,
                             public framework::ScorePlugin,
                             public framework::ScoreMethod,
                             public framework::SignPlugin,
                             public framework::NodeLocalPlugin {
 public:
  ResourceScorer(std::string_view name, const FitArgs& args, framework::Handle& handle)
      : name_(name), handle_(handle), scorer_(args), slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return name_; }
  std::string_view MethodName() const override { return StrategyName(scorer_.strategy()); }

  Status PreScore(CycleState& state, const api::Pod& pod,
                  std::span<const NodeInfo* const>) override {
    slot_.Write(state, amounts_.GetOrMake(
                           pod.spec, [&] { return std::make_shared<PodAmounts>(AmountsOf(pod)); }));
    return {};
  }

  Status Score(const CycleState& state, const api::Pod& pod, const NodeInfo& node,
               int64_t* score) const override {
    const PodAmounts* amounts = slot_.Read(state);
    *score = amounts != nullptr ? scorer_.Score(amounts->amounts, node)
                                : scorer_.Score(AmountsOf(pod).amounts, node);
    return {};
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    return SignRequests(handle_, pod, fragments);
  }

 private:
  PodAmounts AmountsOf(const api::Pod& pod) const {
    return {scorer_.resources(), framework::AggregateRequests(pod, kScoringOptions)};
  }

  const std::string_view name_;
  const framework::Handle& handle_;
  const FitScorer scorer_;
  const framework::StateSlot<PodAmounts> slot_;
  SpecCache<PodAmounts> amounts_;
};

Result<std::unique_ptr<framework::Plugin>> NewScorer(std::string_view name, FitStrategy strategy,
                                                     const config::PluginArgs& args,
                                                     framework::Handle& handle) {
  const Result<FitArgs> read = ReadOrFault(args, ReaderFor(strategy));
  if (!read.ok()) return read.error();
  WarnLegacy(name,
             "NodeResourcesFit with scoringStrategy.type " + std::string(StrategyName(strategy)),
             handle);
  return std::unique_ptr<framework::Plugin>(std::make_unique<ResourceScorer>(name, *read, handle));
}

}  // namespace

ArgsFaults ScorerArgsFaults(const config::PluginArgs& args) {
  return FaultsOf(args, ReaderFor(FitStrategy::kLeastAllocated));
}

ArgsFaults RequestedToCapacityRatioArgsFaults(const config::PluginArgs& args) {
  return FaultsOf(args, ReaderFor(FitStrategy::kRequestedToCapacityRatio));
}

Result<std::unique_ptr<framework::Plugin>> NewNodeResourcesLeastAllocated(
    const config::PluginArgs& args, framework::Handle& handle) {
  return NewScorer(kNodeResourcesLeastAllocatedName, FitStrategy::kLeastAllocated, args, handle);
}

Result<std::unique_ptr<framework::Plugin>> NewNodeResourcesMostAllocated(
    const config::PluginArgs& args, framework::Handle& handle) {
  return NewScorer(kNodeResourcesMostAllocatedName, FitStrategy::kMostAllocated, args, handle);
}

Result<std::unique_ptr<framework::Plugin>> NewRequestedToCapacityRatio(
    const config::PluginArgs& args, framework::Handle& handle) {
  return NewScorer(kRequestedToCapacityRatioName, FitStrategy::kRequestedToCapacityRatio, args,
                   handle);
}

}  // namespace ks::plugins
