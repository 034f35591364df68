// SPDX-License-Identifier: Apache-2.0
#pragma once
// The plugins of one profile and what they ask for. Not for running them: that is runtime.h.
//
// Upstream: docs/spec/framework.md sections 5 and 7.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "framework/device_explainer.h"
#include "framework/events.h"
#include "framework/optional_kinds.h"
#include "framework/runtime/point_lists.h"
#include "framework/runtime/profile_builder.h"

namespace ks::framework {

// Owns the plugins. Threads: those of the framework it belongs to.
class ProfilePlugins {
 public:
  ProfilePlugins() = default;
  explicit ProfilePlugins(ResolvedProfile resolved);

  // Names in order, for one point ("PreFilter", "Score" …); Score entries as "Name weight". For
  // logs, explain and tests.
  std::vector<std::string> ListPlugins(std::string_view point) const;
  bool HasFilterPlugins() const { return !lists_.filter.empty(); }
  bool HasScorePlugins() const { return !lists_.score.empty(); }
  bool HasPostFilterPlugins() const { return !lists_.post_filter.empty(); }
  std::string_view QueueSortPluginName() const;
  // Registrations of every plugin that takes part in requeueing (docs/spec/framework.md section 7),
  // by plugin name.
  const std::map<std::string, std::vector<EventRegistration>>& event_registrations() const {
    return events_;
  }
  // What the plugins together ask for.
  OptionalKinds NeededKinds() const;
  // Whether one of them reads objects whole (api::Pod::raw, api::Node::raw).
  bool ReadsWholePods() const;
  bool ReadsWholeNodes() const;

  // The first filter that allocates devices; null: there is none.
  const DeviceExplainer* device_explainer() const;

  // Closes every plugin that is a Closer. Error: `<plugin> failed to close: …`, one line a plugin.
  Result<void> Close();

  const PointLists& lists() const { return lists_; }
  void Measure(FrameworkMetrics& metrics, const std::string& profile_name) {
    lists_.Measure(metrics, profile_name);
  }
  // The lists as sections of a configuration, for the log.
  config::Plugins Expanded() const { return ExpandedPlugins(resolved_); }

 private:
  // Constant after construction. The lists point to the plugins.
  ResolvedProfile resolved_;
  PointLists lists_;
  std::map<std::string, std::vector<EventRegistration>> events_;
};

}  // namespace ks::framework
