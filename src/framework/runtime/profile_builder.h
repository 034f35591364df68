// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a profile's configuration to plugin instances and one list per extension point. Not for
// running them: that is runtime.h.
//
// Upstream: docs/spec/framework.md sections 5.3 to 5.7.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/types.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "framework/registry.h"

namespace ks::framework {

// In the order in which lists are built, which decides the error that is reported first.
enum class Point : uint8_t {
  kPreFilter,
  kFilter,
  kPostFilter,
  kReserve,
  kPreScore,
  kScore,
  kPreBind,
  kBind,
  kPostBind,
  kPermit,
  kPreEnqueue,
  kQueueSort,
  kPlacementGenerate,
  kPlacementScore,
  kPodGroupPostFilter,
};
inline constexpr size_t kPointCount = 15;

// "PreFilter", "Filter" …
std::string_view PointName(Point point);

// The number of bits in a PluginMask.
inline constexpr size_t kMaxPluginsPerProfile = 64;

// A profile's plugins. lists[p] holds indices into `plugins`, in the order of the point.
struct ResolvedProfile {
  struct Instance {
    std::string name;  // as configured; the plugin's own Name() may differ
    std::unique_ptr<Plugin> plugin;
  };
  std::vector<Instance> plugins;
  std::array<std::vector<uint32_t>, kPointCount> lists;
  // By configured name, every plugin that can score; never 0.
  std::map<std::string, int64_t, std::less<>> score_weights;
  std::map<std::string, int64_t, std::less<>> placement_score_weights;

  const std::vector<uint32_t>& List(Point point) const { return lists[static_cast<size_t>(point)]; }
};

// The lists as sections of a configuration, weights at Score and PlacementScore only: for the log.
config::Plugins ExpandedPlugins(const ResolvedProfile& resolved);

// Makes every enabled plugin once and builds the lists. With several broken plugins the first one
// in configuration order (multiPoint, then the points) is reported; upstream's choice is random.
// Errors: the texts of 5.2 and 5.4 to 5.7. `handle` outlives the plugins. `faults`, unless null,
// gets everything that is wrong, in upstream's order, each fault by itself; paths count entries as
// they are in `profile`.
Result<ResolvedProfile> ResolveProfile(const Registry& registry, const config::Profile& profile,
                                       Handle& handle, std::vector<Error>* faults = nullptr);

}  // namespace ks::framework
