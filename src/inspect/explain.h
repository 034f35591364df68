// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verdict of every plugin on every node for one pod, as data. Runs the framework's own points
// over all nodes, without sampling; decides nothing and changes nothing.
//
// Upstream: docs/spec/explain.md (the form), docs/spec/cycle.md sections 6 to 12 (the rules).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod.h"
#include "framework/device_explainer.h"
#include "framework/runtime/runtime.h"
#include "inspect/explain_preemption.h"

namespace ks::inspect {

enum class Verdict : uint8_t { kSchedulable, kUnschedulable, kGated, kError };

// "Schedulable", "Unschedulable", "Gated", "Error".
std::string_view VerdictText(Verdict verdict);

// The code of a node that PreFilter's node set left out, when that is not the reason why the pod
// has no node.
inline constexpr std::string_view kNotInPreFilterResult = "NotInPreFilterResult";

// Lifetime: the name lives as long as the framework.
struct PluginScore {
  std::string_view plugin;
  int64_t raw = 0;       // what Score returned
  int64_t weighted = 0;  // after NormalizeScore, times weight
};

// What a claim would take of a device that others may use as well.
struct DeviceShare {
  struct Amount {
    std::string capacity;
    std::string asked;  // what is taken, which can be more than the request says
    std::string free;   // before the pod comes
    std::string total;
  };
  size_t claim = 0;   // index into NodeVerdict::allocations
  size_t result = 0;  // of it
  std::vector<Amount> amounts{};
};

// Lifetime: see PluginScore.
struct NodeVerdict {
  std::string name;
  bool feasible = false;
  std::string plugin;     // that rejected the node; empty: none
  std::string_view code;  // static text; empty when feasible
  std::vector<std::string> reasons;
  std::vector<PluginScore> scores;  // ascending by plugin; plugins that were skipped are not there
  int64_t total = 0;                // of a feasible node
  // Of a feasible node: what the pod's claims would get there.
  std::vector<framework::ClaimOutcome> allocations{};
  std::vector<DeviceShare> shares{};  // in the order of results; filled by ExplainDevices
};

// What the reason that a plugin gives for some nodes leaves out; one of several texts may be.
struct ReasonDetail {
  std::string plugin;
  std::string reason;
  std::string node;  // one of the nodes: the one that the text speaks of
  std::string text;
  // Those of the nodes of which the same can be told, ascending; empty: all.
  std::vector<std::string> nodes{};
};

// A change with which the pod would fit (suggest.h).
struct Suggestion {
  // Of the pod's requests (of which resource, from what to what).
  struct Change {
    std::string resource;
    std::string from;
    std::string to;
  };
  // "requests", "toleration", "nodeSelector", "nodeAffinity", "uncordon", "node".
  std::string kind;
  std::string text;  // for people
  std::string node;  // where the pod would go; kind "node": the one to be had once more
  std::vector<Change> changes{};
};

// What an attempt of the pod's group would come to, and for the pod in it.
struct GroupShare {
  std::string group;  // of the root: PodGroupKey::Text
  Verdict result = Verdict::kError;
  std::string message;  // as GroupExplanation::message and summary
  std::string summary;
  Verdict member_result = Verdict::kError;
  std::string member_node;
  std::string member_message;
  std::optional<GroupPreemptionVerdict> preemption{};  // of the group
};

// Lifetime: see PluginScore.
struct Explanation {
  std::string pod;      // namespace/name
  std::string profile;  // scheduler name
  Verdict result = Verdict::kError;
  // kUnschedulable: the text of the FailedScheduling event before PostFilter adds to it; kError:
  // the error; kGated: the plugin's reasons.
  std::string message;
  // Plugins that rejected a node or, at PreFilter, the pod or narrowed the node set; also when the
  // result is kSchedulable.
  std::set<std::string> unschedulable_plugins;
  std::vector<std::string> best_nodes;  // ascending; all nodes that share the highest total
  // Ascending by name, one per node of the snapshot; empty for kGated and kError.
  std::vector<NodeVerdict> nodes;
  // status.nominatedNodeName, when that node fits: it is chosen before all others.
  std::string nominated_node;
  // What preemption would do for a kUnschedulable pod, when asked for and the profile has
  // PostFilter plugins. Not of a member that waits: only its group preempts.
  std::optional<PreemptionVerdict> preemption;
  // Of a member that waits, by explain_group.h: the rest speaks of the pod alone. Explain leaves it
  // empty.
  std::optional<GroupShare> group{};

  // Beyond upstream's texts, by explain_volumes.h, explain_devices.h and
  // cut_requests.h; Explain leaves them empty.
  std::vector<ReasonDetail> details;
  std::vector<std::string> notes;
  // By suggest.h; Explain leaves them empty.
  std::vector<Suggestion> suggestions{};
};

// Whether Explanation::preemption is asked for.
enum class ExplainPreemption : bool { kNo, kYes };

// With one feasible node, where an attempt would not score, scores are computed all the same; if
// that fails, the node has none, and its total is 0.
// Requires: the framework's snapshot was refreshed; the pod has no node, or is one that waits there
// for its resize. Threads: the scheduling thread.
Explanation Explain(const framework::Framework& framework, const api::PodPtr& pod,
                    ExplainPreemption preemption = ExplainPreemption::kNo);

}  // namespace ks::inspect
