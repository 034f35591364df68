// SPDX-License-Identifier: Apache-2.0
#include "plugins/node_resources/balanced_allocation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "framework/pod_requests.h"
#include "golang/go_arithmetic.h"
#include "plugins/kit/resource_score/args.h"
#include "plugins/kit/resource_score/scored_resources.h"
#include "plugins/kit/signature.h"
#include "plugins/kit/spec_cache.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::CycleState;
using framework::NodeInfo;
using framework::Status;

// Fractions in use of the resources that count on a node. Two are usual; the array serves all
// configurations but absurd ones without allocating.
class Fractions {
 public:
  void Add(int64_t used, int64_t capacity) {
    const double fraction =
        std::min(static_cast<double>(used) / static_cast<double>(capacity), 1.0);
    if (count_ < first_.size()) {
      first_[count_] = fraction;
    } else {
      more_.push_back(fraction);
    }
    ++count_;
  }

  // 100 when all are equal, less the further they lie apart.
  int64_t Balance() const {
    return golang::Truncated((1 - Deviation()) * static_cast<double>(framework::kMaxNodeScore));
  }

 private:
  double Deviation() const {
    if (count_ < 2) return 0;
    if (count_ == 2) return std::fabs((first_[0] - first_[1]) / 2);
    double sum = 0;
    for (size_t i = 0; i < count_; ++i) sum += At(i);
    const double mean = sum / static_cast<double>(count_);
    double squares = 0;
    for (size_t i = 0; i < count_; ++i) squares += (At(i) - mean) * (At(i) - mean);
    return std::sqrt(squares / static_cast<double>(count_));
  }
  double At(size_t i) const { return i < first_.size() ? first_[i] : more_[i - first_.size()]; }

  std::array<double, 8> first_;
  size_t count_ = 0;
  std::vector<double> more_;
};

class NodeResourcesBalancedAllocation final : public framework::Plugin,
                                              public framework::PreScorePlugin,
                                              public framework::ScorePlugin,
                                              public framework::SignPlugin,
                                              public framework::OptionalKindReader,
                                              public framework::NodeLocalPlugin {
 public:
  NodeResourcesBalancedAllocation(const std::vector<config::ResourceSpec>& resources,
                                  framework::Handle& handle)
      : handle_(handle),
        resources_(ScoredResources(resources)),
        devices_(handle, resources_),
        pre_score_slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return kNodeResourcesBalancedAllocationName; }
  uint64_t OutsideVersion() const override { return devices_.Version(); }
  framework::OptionalKinds NeededKinds() const override { return devices_.NeededKinds(); }

  // Best-effort pods are not balanced: nothing of them would show.
  Status PreScore(CycleState& state, const api::Pod& pod,
                  std::span<const NodeInfo* const>) override {
    const auto make = [&] { return std::make_shared<PodAmounts>(AmountsOf(pod)); };
    std::shared_ptr<PodAmounts> amounts =
        framework::StatusAffectsRequests(pod) ? make() : amounts_.GetOrMake(pod.spec, make);
    if (amounts->all_zero) return skip_;
    devices_.CatchUp();
    pre_score_slot_.Write(state, std::move(amounts));
    return {};
  }

  Status Score(const CycleState& state, const api::Pod& pod, const NodeInfo& node,
               int64_t* score) const override {
    const PodAmounts* amounts = pre_score_slot_.Read(state);
    *score = amounts != nullptr ? ScoreOf(*amounts, node) : ScoreOf(AmountsOf(pod), node);
    return {};
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    return SignRequests(handle_, pod, fragments);
  }

 private:
  PodAmounts AmountsOf(const api::Pod& pod) const {
    return {resources_, framework::AggregateRequests(pod, {.use_status = true})};
  }

  int64_t ScoreOf(const PodAmounts& amounts, const NodeInfo& node) const {
    if (amounts.all_zero) return 0;
    Fractions with;
    Fractions without;
    ForEachCounted(resources_, amounts.amounts, node, false, &devices_,
                   [&](int64_t used, int64_t capacity, int64_t amount, int64_t) {
                     with.Add(golang::WrappingAdd(used, amount), capacity);
                     without.Add(used, capacity);
                   });
    constexpr int64_t kHalf = framework::kMaxNodeScore / 2;
    const int64_t gain =
        golang::WrappingSub(golang::WrappingAdd(kHalf, with.Balance()), without.Balance());
    return golang::WrappingAdd(kHalf, gain / 2);
  }

  const framework::Handle& handle_;
  const std::vector<ScoredResource> resources_;
  DeviceTally devices_;
  const framework::StateSlot<PodAmounts> pre_score_slot_;
  const Status skip_{Code::kSkip, {}, std::string(kNodeResourcesBalancedAllocationName)};
  SpecCache<PodAmounts> amounts_;
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewNodeResourcesBalancedAllocation(
    const config::PluginArgs& args, framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(
      std::make_unique<NodeResourcesBalancedAllocation>(BalancedResourcesOf(args), handle));
}

}  // namespace ks::plugins
