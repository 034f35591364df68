// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a seed stands for: the size of the cluster, the load, which faults happen how often, and
// what may be asked of the end.

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "config/gates/feature_gates.h"

namespace ks::sim {

// Chances are per request or per delivered watch message, 0 to 1.
struct NetworkFaults {
  Duration latency = std::chrono::milliseconds(2);
  Duration jitter = std::chrono::milliseconds(1);
  double slow = 0;  // the answer takes up to `slow_most` longer
  Duration slow_most{};
  // Writes (bindings, patches, events).
  double code_before = 0;  // 404, 409, 429, 500, 503, 504 and nothing happened
  double code_after = 0;   // 500, 503, 504 although it happened
  double lost_before = 0;  // connection reset, nothing happened
  double lost_after = 0;   // connection reset although it happened
  double repeated = 0;     // a kept connection died; the transport sent the request twice
  double stalled = 0;      // no answer until the timeout; it may have happened
  // Reads.
  double list_failed = 0;
  double stale_list = 0;  // of those that allow it: resourceVersion=0
  double watch_refused = 0;
  // Watch messages.
  double delayed = 0;
  Duration delay_most{};
  double duplicated = 0;
  double cut = 0;         // the stream breaks, in the middle of a message or between two
  double silenced = 0;    // nothing more comes, until the timeout
  Duration claims_lag{};  // longest, of what watches of device claims say, besides
  // How often a broken stream comes with a forgotten history: then the rest is lost for good and
  // only a list shows it.
  double forget = 0;
};

// What extenders do to requests: chances for each.
struct ExtenderFaults {
  double lost = 0;     // no answer until the timeout; a binding may have taken effect
  double refused = 0;  // no connection
  double failed = 0;   // 500
  double wrong = 0;    // an answer that means nothing
  double slow = 0;     // takes up to the timeout
  double denies = 0;   // no fault: chance that a pod may not go to a node
};

struct PlannedExtender {
  bool ignorable = false;
  bool managed_only = false;  // asked only about pods with a certain resource
  bool whole_nodes = false;   // not nodeCacheCapable
  bool filters = true;
  bool prioritizes = false;
  bool preempts = false;
  bool binds = false;  // one at most
};

// From the beginning of the simulation.
struct PlannedOutage {
  Duration begin{};
  Duration end{};
};

struct Plan {
  uint64_t seed = 0;

  int nodes = 5;
  int zones = 1;
  int pods = 10;
  int node_changes = 0;
  int pod_changes = 0;
  double tainted = 0.2;
  double impossible = 0.05;
  double gated = 0.1;
  Duration arrivals = std::chrono::seconds(60);  // pods arrive within
  Duration faults_end = std::chrono::seconds(120);

  NetworkFaults network;
  int server_restarts = 0;
  int kills = 0;
  bool standby = false;  // a second scheduler, with clocks that disagree
  int freezes = 0;       // a process stands still, as long as a lease or longer
  int partitions = 0;    // a process is cut off from the server
  bool foreign = false;  // another scheduler binds its own pods on the same nodes
  double reserve_fails = 0;
  double permit_waits = 0;
  double permit_times_out = 0;

  std::vector<config::Gate> flipped_gates;  // set to what is not their default

  // Preemption: a small cluster, full of pods of several priorities, and nodes that let pods start
  // and end.
  bool preemption = false;
  double important = 0;      // pods with a PriorityClass that preempts
  int budgets = 0;           // PodDisruptionBudgets
  int nominations = 0;       // by somebody else, set or cleared
  double activates = 0;      // chance that a pod that got through activates another one
  Duration longest_grace{};  // from a deletion to the end of the pod

  // Resizes of pods that run: with the gate InPlacePodVerticalScalingSchedulerPreemption, which is
  // off where this is 0.
  int resizes = 0;

  // Volumes: classes, volumes, claims that pods use, and a controller that binds and provisions
  // (volume_model.h).
  bool volumes = false;
  double claiming = 0;          // pods that use claims
  double ephemeral = 0;         // claims of one pod that are those of its ephemeral volumes
  double existing = 0;          // claims of classes whose volumes somebody makes
  int local_volumes = 0;        // that somebody made, at the beginning
  int shared_claims = 0;        // that several pods name
  int volume_changes = 0;       // deletions, new ones, provisioning that fails
  bool made_for_hosts = false;  // a provisioned volume is reached from its node alone, not its zone
  bool reports_capacity = false;
  double volume_limits = 0;       // nodes with a limit of the driver's volumes
  Duration controller_delay{};    // longest, from a change to what the controller makes of it
  Duration provisioning_delay{};  // besides
  std::vector<PlannedOutage> outages{};  // of the controller
  Duration bind_timeout = std::chrono::minutes(10);

  // Devices: of three kinds on every node, claims of pods, and the controllers that serve them
  // (device_model.h).
  bool devices = false;
  int devices_of_a_node = 2;      // of each kind
  double device_claiming = 0;     // pods that name claims
  double device_templates = 0;    // of their own claims those that a template makes
  double extended_resources = 0;  // pods that ask for devices as for other resources
  int shared_device_claims = 0;   // that several pods name
  int device_changes = 0;         // of claims, slices, taint rules; drivers that fail
  Duration device_delay{};        // longest, from a change to what a controller makes of it
  Duration device_ready_delay{};  // from the allocation to the driver's word
  Duration device_bind_timeout{};
  std::vector<PlannedOutage> device_outages{};  // of those controllers

  // Groups of pods: with the gate GenericWorkload, which is off where this is 0.
  int groups = 0;
  int group_changes = 0;        // of groups, their minCount and their members
  double group_late = 0;        // groups that come after their members
  double group_twins = 0;       // pairs of gangs of which either could take every node
  bool group_topology = false;  // gate TopologyAwareWorkloadScheduling
  bool group_trees = false;     // gate CompositePodGroup
  Duration group_delay{};       // longest, from a change to what the controller makes of it

  bool loaded_plugin = false;  // one that is loaded from a shared object (loaded_plugin.h)

  // The labels of the namespace, which terms of pods then select by.
  int namespace_changes = 0;

  std::vector<PlannedExtender> extenders{};
  ExtenderFaults extender_faults;

  // Now and then an idle scheduler is asked whether it parks a pod that fits.
  bool looks_for_sleepers = false;

  // How the schedulers are configured.
  bool two_profiles = false;
  int percentage_of_nodes_to_score = 0;
  size_t least_ranked_nodes = 1000;  // from so many on the best node is found by blocks
  bool system_defaults = true;       // PodTopologySpread's, which ask for Services and owners
  bool events = false;               // the schedulers' events are sent, too
  float qps = 50;
  int burst = 100;
  Duration unschedulable_max = std::chrono::minutes(5);
  Duration clock_offset{};
  double clock_rate = 1;

  // No write of ours can be at the server without our knowing, and nodes neither shrink nor go:
  // then no node may ever hold more than it has.
  bool strict_capacity = false;
  // Every pod is looked at again after the last fault, so that its condition must be of today.
  bool conditions_current() const { return unschedulable_max <= std::chrono::minutes(5); }
  // No pod whose devices have to become ready is ever bound: each attempt ends after its wait.
  bool waits_in_vain() const { return device_ready_delay > device_bind_timeout; }

  std::string Text() const;
};

Plan DrawPlan(uint64_t seed);

}  // namespace ks::sim
