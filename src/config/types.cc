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

std::string Extender::ShownUrl() const {
  const size_t scheme = url_prefix.find("://");
  const size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  const size_t at = url_prefix.substr(0, url_prefix.find('/', begin)).rfind('@');
  if (at == std::string::npos || at < begin) return url_prefix;
  return url_prefix.substr(0, begin) + url_prefix.substr(at + 1);
}

bool AcceptsProtobuf(const ClientConnection& connection) {
  const std::string& accepted = connection.accept_content_types.empty()
                                    ? connection.content_type
                                    : connection.accept_content_types;
  return accepted.find(kProtobufType) != std::string::npos;
}

}  // namespace ks::config
