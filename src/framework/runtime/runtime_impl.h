// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a Framework holds. Only for runtime.cc and runtime_filter.cc.
//
// Upstream: docs/spec/framework.md section 3.

#include <memory>
#include <optional>
#include <vector>

#include "framework/runtime/node_verdicts.h"
#include "framework/runtime/nominated_nodes.h"
#include "framework/runtime/place_wise.h"
#include "framework/runtime/runtime.h"

namespace ks::framework {

struct Framework::Impl {
  Impl(const config::Profile& profile, const FrameworkOptions& options, const PluginsRunner& runner)
      : handle(
            options.parts,
            {.name = profile.name(),
             .parallelism = options.parallelism,
             .preemption_metrics =
                 options.metrics == nullptr ? nullptr : &options.metrics->preemption(),
             .volume_metrics = options.metrics == nullptr ? nullptr : &options.metrics->volumes(),
             .device_metrics = options.metrics == nullptr ? nullptr : &options.metrics->devices()},
            runner),
        meters(options.metrics, profile.name(), options.parts.clock, options.watch),
        percentage_of_nodes_to_score(profile.percentage_of_nodes_to_score) {}

  Handle handle;
  const ProfileMeters meters;
  const std::optional<int32_t> percentage_of_nodes_to_score;
  ProfilePlugins plugins;  // constant once the framework is built
  bool closed = false;

  mutable std::unique_ptr<NodeMemory> memory;  // null: nothing is remembered
  mutable NominatedSlots nominated_slots;
  mutable PlaceSpace place_space;

  const QueuePoints queue_points{plugins.lists(), meters};
  const ScorePoints score_points{plugins.lists(), meters};
  const BindingPoints binding_points{plugins.lists(), meters};
  const GroupPoints group_points{plugins.lists(), meters};
};

}  // namespace ks::framework
