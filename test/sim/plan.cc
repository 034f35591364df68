// SPDX-License-Identifier: Apache-2.0
#include "sim/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace ks::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

int Between(Random& random, int low, int high) {
  return low + static_cast<int>(random.Below(static_cast<uint64_t>(high - low + 1)));
}

bool Chance(Random& random, double p) { return random.Unit() < p; }

// Zero most of the time, so that faults meet each other in every combination.
double Rate(Random& random, double often, double most) {
  const bool on = Chance(random, often);
  const double rate = random.Unit() * most;
  return on ? rate : 0;
}

void DrawCluster(Random& random, Plan* plan) {
  plan->nodes = Between(random, 5, 20);
  plan->zones = Between(random, 1, 4);
  plan->pods = Between(random, 10, 60);
  plan->node_changes = Chance(random, 0.7) ? Between(random, 1, 25) : 0;
  plan->pod_changes = Chance(random, 0.8) ? Between(random, 1, 40) : 0;
  plan->tainted = random.Unit() * 0.4;
  plan->impossible = random.Unit() * 0.15;
  plan->gated = random.Unit() * 0.25;
  plan->arrivals = seconds(Between(random, 1, 90));
  plan->faults_end = plan->arrivals + seconds(Between(random, 10, 60));
}

NetworkFaults DrawNetwork(Random& random) {
  NetworkFaults faults;
  faults.latency = milliseconds(Between(random, 1, 30));
  faults.jitter = milliseconds(Between(random, 1, 60));
  faults.slow = Rate(random, 0.4, 0.1);
  faults.slow_most = milliseconds(Between(random, 200, 20000));
  faults.code_before = Rate(random, 0.5, 0.3);
  faults.code_after = Rate(random, 0.4, 0.2);
  faults.lost_before = Rate(random, 0.4, 0.2);
  faults.lost_after = Rate(random, 0.4, 0.2);
  faults.repeated = Rate(random, 0.4, 0.2);
  faults.stalled = Rate(random, 0.2, 0.05);
  faults.list_failed = Rate(random, 0.3, 0.4);
  faults.stale_list = Rate(random, 0.5, 1.0);
  faults.watch_refused = Rate(random, 0.3, 0.4);
  faults.delayed = Rate(random, 0.5, 0.5);
  faults.delay_most = milliseconds(Between(random, 50, 8000));
  faults.duplicated = Rate(random, 0.4, 0.3);
  faults.cut = Rate(random, 0.5, 0.15);
  faults.silenced = Rate(random, 0.2, 0.02);
  faults.forget = Rate(random, 0.6, 1.0);
  return faults;
}

void DrawLoadedPlugin(uint64_t seed, Plan* plan) {
  Random random(seed ^ 0x6c6f61646564ULL);
  plan->loaded_plugin = Chance(random, 0.25);
}

// Gates that change how pods are queued, tried or bound, and nothing that the judge computes.
struct NamedGate {
  config::Gate gate;
  std::string_view name;
};
constexpr NamedGate kFlippable[] = {
    {config::Gate::kInterPodAffinityHostnameFastPath, "InterPodAffinityHostnameFastPath"},
    {config::Gate::kNominatedNodeNameForExpectation, "NominatedNodeNameForExpectation"},
    {config::Gate::kOpportunisticBatching, "OpportunisticBatching"},
    {config::Gate::kSchedulerAsyncPreemption, "SchedulerAsyncPreemption"},
    {config::Gate::kSchedulerPopFromBackoffQ, "SchedulerPopFromBackoffQ"},
};

void DrawGates(uint64_t seed, Plan* plan) {
  Random random(seed ^ 0x6761746573ULL);
  for (const NamedGate& each : kFlippable) {
    if (Chance(random, 0.2)) plan->flipped_gates.push_back(each.gate);
  }
}

// Clusters here are smaller than those for which it is meant.
void DrawRanking(uint64_t seed, Plan* plan) {
  Random random(seed ^ 0x72616e6b696e67ULL);
  if (Chance(random, 0.5)) plan->least_ranked_nodes = 2;
}

// From a stream of its own, so that the other seeds are what they were.
void DrawPreemption(uint64_t seed, Plan* plan) {
  Random random(seed ^ 0x707265656d7074ULL);
  plan->looks_for_sleepers = Chance(random, 0.3);
  plan->activates = Chance(random, 0.1) ? random.Unit() * 0.3 : 0;
  if (!Chance(random, 0.4)) return;
  plan->preemption = true;
  // Upstream wakes nobody when a nominated pod goes elsewhere: the flush finds who could use the
  // room.
  plan->unschedulable_max = minutes(5);
  plan->looks_for_sleepers = false;
  plan->nodes = Between(random, 1, 6);
  plan->pods = Between(random, 20, 60);
  plan->important = 0.2 + random.Unit() * 0.7;
  plan->budgets = Chance(random, 0.5) ? Between(random, 1, 5) : 0;
  plan->nominations = Chance(random, 0.4) ? Between(random, 1, 12) : 0;
  plan->longest_grace =
      milliseconds(Chance(random, 0.5) ? Between(random, 1, 500) : Between(random, 500, 20000));
}

void DrawExtenders(uint64_t seed, bool calm, Plan* plan) {
  Random random(seed ^ 0x657874656e64ULL);
  if (!Chance(random, 0.2)) return;
  const int number = Between(random, 1, 3);
  bool binds = Chance(random, 0.4);
  for (int i = 0; i < number; ++i) {
    PlannedExtender& extender = plan->extenders.emplace_back();
    extender.ignorable = Chance(random, 0.5);
    extender.managed_only = Chance(random, 0.6);
    extender.whole_nodes = Chance(random, 0.3);
    extender.filters = Chance(random, 0.9);
    extender.prioritizes = Chance(random, 0.5);
    extender.preempts = plan->preemption && Chance(random, 0.6);
    extender.binds = std::exchange(binds, false);
  }
  ExtenderFaults& faults = plan->extender_faults;
  // Preemption does not ask filters: it would make room where an extender lets nobody in.
  if (!plan->preemption) faults.denies = Rate(random, 0.7, 0.5);
  if (calm) return;
  faults.lost = Rate(random, 0.4, 0.2);
  faults.refused = Rate(random, 0.4, 0.3);
  faults.failed = Rate(random, 0.4, 0.3);
  faults.wrong = Rate(random, 0.4, 0.3);
  faults.slow = Rate(random, 0.4, 0.3);
}

void DrawVolumes(uint64_t seed, bool calm, Plan* plan) {
  Random random(seed ^ 0x766f6c756d65ULL);
  if (!Chance(random, 0.3)) return;
  plan->volumes = true;
  plan->looks_for_sleepers = false;
  plan->claiming = 0.2 + random.Unit() * 0.8;
  plan->ephemeral = Chance(random, 0.5) ? random.Unit() : 0;
  plan->existing = random.Unit();
  plan->local_volumes = Between(random, 0, plan->existing > 0.5 ? 40 : 15);
  plan->shared_claims = Between(random, 0, 6);
  plan->volume_changes = Chance(random, 0.8) ? Between(random, 1, 40) : 0;
  plan->made_for_hosts = Chance(random, 0.4);
  plan->reports_capacity = Chance(random, 0.3);
  plan->volume_limits = Chance(random, 0.3) ? random.Unit() : 0;
  plan->controller_delay =
      milliseconds(Chance(random, 0.5) ? Between(random, 1, 300) : Between(random, 300, 5000));
  plan->provisioning_delay =
      milliseconds(Chance(random, 0.5) ? Between(random, 1, 500) : Between(random, 500, 12000));
  if (Chance(random, 0.6)) plan->bind_timeout = seconds(Between(random, 2, 30));
  const int outages = !calm && Chance(random, 0.4) ? Between(random, 1, 3) : 0;
  for (int i = 0; i < outages; ++i) {
    const Duration begin = seconds(Between(random, 0, 100));
    plan->outages.push_back({begin, begin + seconds(Between(random, 1, 40))});
  }
}

// Share of the seeds without preemption that have devices.
constexpr double kWithDevices = 0.35;

// Devices free nobody's room, so that seeds about preemption stay what they are.
void DrawDevices(uint64_t seed, bool calm, Plan* plan) {
  Random random(seed ^ 0x646576696365ULL);
  if (!Chance(random, kWithDevices) || plan->preemption) return;
  plan->devices = true;
  plan->looks_for_sleepers = false;
  plan->devices_of_a_node = Between(random, 2, 4);
  plan->device_claiming = 0.3 + random.Unit() * 0.7;
  plan->device_templates = random.Unit();
  plan->extended_resources = Chance(random, 0.6) ? random.Unit() * 0.5 : 0;
  plan->shared_device_claims = Between(random, 0, 6);
  plan->device_changes = Chance(random, 0.8) ? Between(random, 1, 40) : 0;
  plan->device_delay =
      milliseconds(Chance(random, 0.5) ? Between(random, 1, 300) : Between(random, 300, 5000));
  plan->device_ready_delay =
      milliseconds(Chance(random, 0.5) ? Between(random, 1, 500) : Between(random, 500, 12000));
  plan->device_bind_timeout =
      Chance(random, 0.6) ? Duration(seconds(Between(random, 2, 30))) : Duration(minutes(10));
  // Longer than a lease.
  if (plan->standby && Chance(random, 0.4)) plan->network.claims_lag = seconds(40);
  const int outages = !calm && Chance(random, 0.4) ? Between(random, 1, 3) : 0;
  for (int i = 0; i < outages; ++i) {
    const Duration begin = seconds(Between(random, 0, 100));
    plan->device_outages.push_back({begin, begin + seconds(Between(random, 1, 40))});
  }
}

// Share of the seeds that have groups of pods.
constexpr double kWithGroups = 0.35;

void DrawGroups(uint64_t seed, Plan* plan) {
  Random random(seed ^ 0x67726f757073ULL);
  if (!Chance(random, kWithGroups)) return;
  plan->groups = Between(random, 2, 10);
  plan->group_changes = Chance(random, 0.8) ? Between(random, 1, 30) : 0;
  plan->group_late = random.Unit();
  plan->group_twins = Chance(random, 0.4) ? random.Unit() * 0.6 : 0;
  plan->group_topology = Chance(random, 0.5);
  plan->group_trees = plan->group_topology && Chance(random, 0.6);
  plan->group_delay =
      milliseconds(Chance(random, 0.5) ? Between(random, 1, 300) : Between(random, 300, 5000));
  // Upstream wakes no group that was held back by a member that is gone: the flush finds it.
  plan->unschedulable_max = minutes(5);
  plan->looks_for_sleepers = false;
  // Few enough single pods that groups find room now and then.
  plan->pods = plan->pods * Between(random, 20, 100) / 100;
}

void DrawResizes(uint64_t seed, Plan* plan) {
  Random random(seed ^ 0x726573697a65ULL);
  const bool on = Chance(random, plan->preemption ? 0.3 : 0.1);
  const int number = Between(random, 3, 30);
  // A preemptor that is on its node already says nothing: the watch knows its choice only where no
  // extender may change it.
  if (on && plan->extenders.empty()) plan->resizes = number;
}

void DrawNamespaces(uint64_t seed, Plan* plan) {
  Random random(seed ^ 0x6e616d6573ULL);
  const bool on = Chance(random, 0.3);
  const int number = Between(random, 1, 12);
  if (on && !plan->preemption) plan->namespace_changes = number;
}

// Without the faults after which the server can hold more of ours than we know of.
void MakeStrict(Plan* plan) {
  plan->strict_capacity = true;
  plan->foreign = false;
  plan->standby = false;
  plan->kills = 0;
  plan->server_restarts = 0;
  plan->resizes = 0;
  plan->network.lost_after = 0;
  plan->network.code_after = 0;
  plan->network.repeated = 0;
  plan->network.stalled = 0;
}

}  // namespace

Plan DrawPlan(uint64_t seed) {
  Random random(seed);
  Plan plan;
  plan.seed = seed;
  DrawCluster(random, &plan);
  // Some seeds have no faults at all, some only those of the network.
  const bool calm = Chance(random, 0.1);
  const NetworkFaults network = DrawNetwork(random);
  if (!calm) plan.network = network;
  if (!calm && Chance(random, 0.3)) plan.server_restarts = Between(random, 1, 3);
  if (!calm && Chance(random, 0.3)) plan.kills = Between(random, 1, 3);
  plan.standby = !calm && Chance(random, 0.3);
  if (!calm && Chance(random, plan.standby ? 0.7 : 0.1)) plan.freezes = Between(random, 1, 2);
  if (!calm && Chance(random, plan.standby ? 0.4 : 0.1)) plan.partitions = Between(random, 1, 2);
  plan.foreign = Chance(random, 0.25);
  plan.reserve_fails = calm ? 0 : Rate(random, 0.3, 0.2);
  plan.permit_waits = Rate(random, 0.3, 0.4);

  plan.two_profiles = Chance(random, 0.3);
  plan.percentage_of_nodes_to_score = Chance(random, 0.3) ? Between(random, 1, 100) : 0;
  plan.system_defaults = Chance(random, 0.3);
  plan.events = Chance(random, 0.15);
  if (Chance(random, 0.2)) {
    plan.qps = static_cast<float>(Between(random, 5, 20));
    plan.burst = Between(random, 1, 10);
  }
  // An hour: nothing hides a wake that was lost.
  plan.unschedulable_max = Chance(random, 0.6) ? minutes(60) : minutes(5);
  if (plan.conditions_current()) plan.permit_times_out = Rate(random, 0.5, 0.3);
  plan.clock_offset = milliseconds(Between(random, -60000, 60000));
  plan.clock_rate = 1 + (random.Unit() - 0.5) * 0.1;
  DrawPreemption(seed, &plan);
  DrawExtenders(seed, calm, &plan);
  DrawVolumes(seed, calm, &plan);
  DrawDevices(seed, calm, &plan);
  DrawGroups(seed, &plan);
  DrawResizes(seed, &plan);
  DrawNamespaces(seed, &plan);
  DrawRanking(seed, &plan);
  DrawLoadedPlugin(seed, &plan);
  DrawGates(seed, &plan);
  if (Chance(random, 0.25)) MakeStrict(&plan);
  return plan;
}

namespace {

// A letter for each property.
std::string TextOf(const std::vector<PlannedExtender>& extenders) {
  std::string text;
  for (const PlannedExtender& extender : extenders) {
    text += '[';
    if (extender.ignorable) text += 'i';
    if (extender.managed_only) text += 'm';
    if (extender.whole_nodes) text += 'w';
    if (extender.filters) text += 'f';
    if (extender.prioritizes) text += 's';
    if (extender.preempts) text += 'p';
    if (extender.binds) text += 'b';
    text += ']';
  }
  return text.empty() ? "none" : text;
}

std::string TextOf(const std::vector<config::Gate>& flipped) {
  std::string text = flipped.empty() ? "" : " | flipped";
  for (const config::Gate gate : flipped) {
    const auto* named = std::find_if(std::begin(kFlippable), std::end(kFlippable),
                                     [gate](const NamedGate& each) { return each.gate == gate; });
    text += ' ';
    text += named->name;
  }
  return text;
}

std::string TextOfVolumes(const Plan& plan) {
  if (!plan.volumes) return {};
  return fmt::format(
      " | volumes claiming {:.3f} ephemeral {:.3f} existing {:.3f} local {} shared {} changes {} "
      "for hosts {} capacity {} limits {:.3f} controller {} provisioning {} outages {} timeout {}",
      plan.claiming, plan.ephemeral, plan.existing, plan.local_volumes, plan.shared_claims,
      plan.volume_changes, plan.made_for_hosts, plan.reports_capacity, plan.volume_limits,
      FormatDuration(plan.controller_delay), FormatDuration(plan.provisioning_delay),
      plan.outages.size(), FormatDuration(plan.bind_timeout));
}

std::string TextOfDevices(const Plan& plan) {
  if (!plan.devices) return {};
  return fmt::format(
      " | devices {} claiming {:.3f} templates {:.3f} extended {:.3f} shared {} changes {} "
      "controller {} ready {} outages {} timeout {} lag {}",
      plan.devices_of_a_node, plan.device_claiming, plan.device_templates, plan.extended_resources,
      plan.shared_device_claims, plan.device_changes, FormatDuration(plan.device_delay),
      FormatDuration(plan.device_ready_delay), plan.device_outages.size(),
      FormatDuration(plan.device_bind_timeout), FormatDuration(plan.network.claims_lag));
}

std::string TextOfGroups(const Plan& plan) {
  if (plan.groups == 0) return {};
  return fmt::format(
      " | groups {} changes {} late {:.3f} twins {:.3f} topology {} trees {} delay {}", plan.groups,
      plan.group_changes, plan.group_late, plan.group_twins, plan.group_topology, plan.group_trees,
      FormatDuration(plan.group_delay));
}

}  // namespace

std::string Plan::Text() const {
  const NetworkFaults& n = network;
  const std::string pods_resized = resizes == 0 ? "" : fmt::format(" | resizes {}", resizes);
  const std::string relabeled =
      namespace_changes == 0 ? "" : fmt::format(" | namespaces {}", namespace_changes);
  return fmt::format(
      "nodes {} zones {} pods {} node_changes {} pod_changes {} arrivals {} faults_end {} | "
      "latency {}+{} slow {:.3f} before {:.3f}/{:.3f} after {:.3f}/{:.3f} repeated {:.3f} stalled "
      "{:.3f} list {:.3f} stale {:.3f} watch {:.3f} delayed {:.3f} dup {:.3f} cut {:.3f} silenced "
      "{:.3f} forget {:.3f} | restarts {} kills {} standby {} freezes {} partitions {} foreign {} "
      "reserve {:.3f} permit {:.3f}/{:.3f} | profiles {} percent {} ranked {} owners {} events {} "
      "qps {} max "
      "{} rate {:.4f} strict {} | preemption {} important {:.3f} budgets {} nominations {} "
      "activates {:.3f} grace {} sleepers {} | extenders {} denies {:.3f} lost {:.3f} refused "
      "{:.3f} "
      "failed {:.3f} wrong {:.3f} slow {:.3f}{}{}{}{}{}{}{}",
      nodes, zones, pods, node_changes, pod_changes, FormatDuration(arrivals),
      FormatDuration(faults_end), FormatDuration(n.latency), FormatDuration(n.jitter), n.slow,
      n.code_before, n.lost_before, n.code_after, n.lost_after, n.repeated, n.stalled,
      n.list_failed, n.stale_list, n.watch_refused, n.delayed, n.duplicated, n.cut, n.silenced,
      n.forget, server_restarts, kills, standby, freezes, partitions, foreign, reserve_fails,
      permit_waits, permit_times_out, two_profiles ? 2 : 1, percentage_of_nodes_to_score,
      least_ranked_nodes, system_defaults, events, qps, FormatDuration(unschedulable_max),
      clock_rate, strict_capacity, preemption, important, budgets, nominations, activates,
      FormatDuration(longest_grace), looks_for_sleepers, TextOf(extenders), extender_faults.denies,
      extender_faults.lost, extender_faults.refused, extender_faults.failed, extender_faults.wrong,
      extender_faults.slow, TextOfVolumes(*this), TextOfDevices(*this), TextOfGroups(*this),
      pods_resized, relabeled, loaded_plugin ? " | loaded plugin" : "", TextOf(flipped_gates));
}

}  // namespace ks::sim
