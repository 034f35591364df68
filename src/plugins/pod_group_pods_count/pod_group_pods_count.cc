// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_group_pods_count/pod_group_pods_count.h"

#include <algorithm>
#include <span>

#include "framework/group_plugins.h"
#include "plugins/kit/group_trees.h"

namespace ks::plugins {
namespace {

using framework::Status;

class PodGroupPodsCount final : public framework::Plugin,
                                public framework::PlacementScorePlugin,
                                public framework::PlacementScoreNormalizer {
 public:
  explicit PodGroupPodsCount(framework::Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return kPodGroupPodsCountName; }

  Status ScorePlacement(const framework::PodGroupKey& group, const framework::Placement&,
                        std::span<const framework::GroupAssignment> assignments,
                        int64_t* score) override {
    *score = static_cast<int64_t>(assignments.size());
    for (const framework::PodGroupKey& leaf : LeavesBelow(handle_.pod_groups(), group)) {
      const framework::PodGroupState* state = handle_.pod_groups().Find(leaf.ns, leaf.name);
      if (state != nullptr) *score += static_cast<int64_t>(state->scheduled());
    }
    return {};
  }

  Status NormalizePlacementScores(std::span<int64_t> scores) override {
    const int64_t most = scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
    if (most == 0) {
      return Status::Error(
          "no pods from pod group are assigned to any of the candidate placements");
    }
    for (int64_t& score : scores) score = score * framework::kMaxNodeScore / most;
    return {};
  }

 private:
  const framework::Handle& handle_;
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewPodGroupPodsCount(const config::PluginArgs&,
                                                                framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<PodGroupPodsCount>(handle));
}

}  // namespace ks::plugins
