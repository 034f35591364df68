// SPDX-License-Identifier: Apache-2.0
#include "queue/profile_hooks.h"

#include "framework/runtime/runtime.h"

namespace ks::queue {

ProfileHooks HooksOf(const framework::Framework& framework) {
  const framework::Framework* const borrowed = &framework;
  return {
      .less =
          [borrowed](const framework::QueuedEntity& a, const framework::QueuedEntity& b) {
            return borrowed->queue_points().QueueSortLess(a, b);
          },
      .pre_enqueue =
          [borrowed](const api::Pod& pod, std::string_view first) {
            return borrowed->queue_points().RunPreEnqueuePlugins(pod, first);
          },
      .gate_changes_alone =
          [borrowed](const api::Pod& pod) {
            return borrowed->queue_points().GateChangesAlone(pod);
          },
      .registrations = framework.plugins().event_registrations(),
  };
}

}  // namespace ks::queue
