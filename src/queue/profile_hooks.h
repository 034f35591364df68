// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the queue needs of a profile.
//
// Upstream: docs/spec/queue.md sections 1.2 and 6, docs/spec/framework.md section 7.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/events.h"
#include "framework/queued_pod.h"
#include "framework/status.h"

namespace ks::framework {
class Framework;
}

namespace ks::queue {

// Threads: the scheduling thread.
struct ProfileHooks {
  using Registrations = std::map<std::string, std::vector<framework::EventRegistration>>;

  // QueueSort. The queue uses the one of the first profile; all are the same by validation.
  std::function<bool(const framework::QueuedEntity& a, const framework::QueuedEntity& b)> less;
  // Runs the PreEnqueue plugins, `first` before the others (it gated the pod last time; may be
  // empty). A failure carries the plugin's name. An empty function: nothing gates.
  std::function<framework::Status(const api::Pod& pod, std::string_view first)> pre_enqueue;
  // Whether the answer for a member of a pod group can change without that for the others. An empty
  // function: it can.
  std::function<bool(const api::Pod& pod)> gate_changes_alone{};
  // What each plugin registered, by plugin name.
  Registrations registrations;
};
// By scheduler name.
using ProfileHooksByName = std::map<std::string, ProfileHooks, std::less<>>;

// Lifetime: the framework outlives the hooks.
ProfileHooks HooksOf(const framework::Framework& framework);

}  // namespace ks::queue
