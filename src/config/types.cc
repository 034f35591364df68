// SPDX-License-Identifier: Apache-2.0
#include "config/types.h"

#include <array>

namespace ks::config {

std::span<const PluginSection> PluginSections() {
  static constexpr std::array<PluginSection, 16> kSections = {{
      {"preEnqueue", "PreEnqueue", &Plugins::pre_enqueue},
      {"queueSort", "QueueSort", &Plugins::queue_sort},
      {"preFilter", "PreFilter", &Plugins::pre_filter},
      {"filter", "Filter", &Plugins::filter},
      {"postFilter", "PostFilter", &Plugins::post_filter},
      {"preScore", "PreScore", &Plugins::pre_score},
      {"score", "Score", &Plugins::score},
      {"reserve", "Reserve", &Plugins::reserve},
      {"permit", "Permit", &Plugins::permit},
      {"preBind", "PreBind", &Plugins::pre_bind},
      {"bind", "Bind", &Plugins::bind},
      {"postBind", "PostBind", &Plugins::post_bind},
      {"multiPoint", "MultiPoint", &Plugins::multi_point},
      {"placementGenerate", "PlacementGenerate", &Plugins::placement_generate},
      {"placementScore", "PlacementScore", &Plugins::placement_score},
      {"podGroupPostFilter", "PodGroupPostFilter", &Plugins::pod_group_post_filter},
  }};
  return kSections;
}

}  // namespace ks::config
