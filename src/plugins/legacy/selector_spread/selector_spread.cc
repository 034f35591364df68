// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/selector_spread/selector_spread.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "plugins/kit/derived_selector.h"
#include "plugins/kit/legacy.h"

namespace ks::plugins {
namespace {

using framework::CycleState;
using framework::NodeInfo;
using framework::OptionalKind;
using framework::Status;

// The zone's part of a score; the node's is the rest. The difference 1 - 2/3 is not the double 1/3,
// and one score in a few shows it.
constexpr double kZoneWeight = 2.0 / 3.0;

struct SpreadState final : framework::StateData {
  DerivedSelector selector;
};

// Region and zone; both empty: none.
using Zone = std::pair<Symbol, Symbol>;

Symbol LabelOr(const api::LabelMap& labels, const Symbol& key, const Symbol& old_key) {
  const Symbol* value = labels.Find(key);
  if (value == nullptr) value = labels.Find(old_key);
  return value == nullptr ? Symbol() : *value;
}

Zone ZoneOf(const NodeInfo& node) {
  static const Symbol region("topology.kubernetes.io/region");
  static const Symbol zone("topology.kubernetes.io/zone");
  static const Symbol old_region("failure-domain.beta.kubernetes.io/region");
  static const Symbol old_zone("failure-domain.beta.kubernetes.io/zone");
  const api::LabelMap& labels = node.node()->meta.labels;
  return {LabelOr(labels, region, old_region), LabelOr(labels, zone, old_zone)};
}

// 100 for no pods, 0 for the most.
double Emptiness(int64_t count, int64_t most) {
  double part = framework::kMaxNodeScore;
  if (most > 0) part = part * static_cast<double>(most - count) / static_cast<double>(most);
  return part;
}

class SelectorSpread final : public framework::Plugin,
                             public framework::PreScorePlugin,
                             public framework::ScorePlugin,
                             public framework::ScoreNormalizer,
                             public framework::OptionalKindReader {
 public:
  explicit SelectorSpread(framework::Handle& handle)
      : handle_(handle), slot_(handle.NewStateSlot()) {}

  std::string_view Name() const override { return kSelectorSpreadName; }

  framework::OptionalKinds NeededKinds() const override {
    return {OptionalKind::kService, OptionalKind::kReplicationController, OptionalKind::kReplicaSet,
            OptionalKind::kStatefulSet};
  }

  // Skip for pods that bring their own constraints: those are PodTopologySpread's.
  Status PreScore(CycleState& state, const api::Pod& pod,
                  std::span<const NodeInfo* const>) override {
    if (!pod.spec->topology_spread_constraints.empty()) {
      return {framework::Code::kSkip, {}, std::string(kSelectorSpreadName)};
    }
    auto spread = std::make_shared<SpreadState>();
    spread->selector = DeriveSelector(pod, handle_.owner_listers());
    slot_.Write(state, std::move(spread));
    return {};
  }

  Status Score(const CycleState& state, const api::Pod& pod, const NodeInfo& node,
               int64_t* score) const override {
    *score = 0;
    if (!pod.spec->topology_spread_constraints.empty()) return {};
    const SpreadState* spread = slot_.Read(state);
    *score = spread != nullptr ? Count(spread->selector, pod, node)
                               : Count(DeriveSelector(pod, handle_.owner_listers()), pod,
                                       node);  // PreScore is not enabled
    return {};
  }

  Status NormalizeScore(const CycleState&, const api::Pod& pod,
                        std::span<const NodeInfo* const> nodes,
                        std::span<int64_t> scores) const override {
    if (!pod.spec->topology_spread_constraints.empty()) return {};
    int64_t most = 0;
    std::vector<Zone> zones;
    std::map<Zone, int64_t> by_zone;
    for (size_t i = 0; i < scores.size(); ++i) {
      most = std::max(most, scores[i]);
      zones.push_back(ZoneOf(*nodes[i]));
      if (zones.back() != Zone()) by_zone[zones.back()] += scores[i];
    }
    int64_t most_in_zone = 0;
    for (const auto& [zone, count] : by_zone) most_in_zone = std::max(most_in_zone, count);
    for (size_t i = 0; i < scores.size(); ++i) {
      double result = Emptiness(scores[i], most);
      if (zones[i] != Zone()) {
        result =
            result * (1.0 - kZoneWeight) + kZoneWeight * Emptiness(by_zone[zones[i]], most_in_zone);
      }
      scores[i] = static_cast<int64_t>(result);
    }
    return {};
  }

 private:
  static int64_t Count(const DerivedSelector& selector, const api::Pod& pod, const NodeInfo& node) {
    if (selector.Empty()) return 0;
    return std::count_if(node.pods().begin(), node.pods().end(),
                         [&](const framework::PodInfoPtr& info) {
                           const api::ObjectMeta& other = info->pod().meta;
                           return other.ns == pod.meta.ns && !other.deletion_timestamp &&
                                  selector.Matches(other.labels);
                         });
  }

  const framework::Handle& handle_;
  const framework::StateSlot<SpreadState> slot_;
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewSelectorSpread(const config::PluginArgs& args,
                                                             framework::Handle& handle) {
  if (const ArgsFaults faults = NoArgsFaults(args); !faults.empty()) return FirstOf(faults);
  WarnLegacy(kSelectorSpreadName, "PodTopologySpread", handle);
  return std::unique_ptr<framework::Plugin>(std::make_unique<SelectorSpread>(handle));
}

}  // namespace ks::plugins
