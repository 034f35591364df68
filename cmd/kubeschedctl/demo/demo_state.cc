// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/demo_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "kubeschedctl/cluster/pod_manifest.h"

namespace ks::ctl {
namespace {

constexpr size_t kMostEvents = 64;
constexpr size_t kMostViolations = 20;
constexpr size_t kHistorySeconds = 120;
constexpr const char* kNotTold = "not looked at yet";

double Fraction(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double Rank(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1];
}

// "3 Insufficient cpu, 497 node(s) had …" without the counts, in alphabetical order.
std::string WithoutCounts(std::string_view causes) {
  std::set<std::string> parts;
  size_t begin = 0;
  while (begin < causes.size()) {
    size_t end = causes.find(", ", begin);
    while (end != std::string_view::npos &&
           (end + 2 >= causes.size() || causes[end + 2] < '0' || causes[end + 2] > '9')) {
      end = causes.find(", ", end + 2);
    }
    std::string_view part = causes.substr(begin, end - begin);
    const size_t word = part.find_first_not_of("0123456789");
    if (word != std::string_view::npos && word > 0 && part[word] == ' ') {
      part.remove_prefix(word + 1);
    }
    parts.emplace(part);
    begin = end == std::string_view::npos ? causes.size() : end + 2;
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// What the members of a group that waits have in common, without how far its attempt came and what
// preemption says: "minCount (4) cannot be satisfied", "0/3 placements are available".
std::string_view GroupReason(std::string_view text) {
  constexpr std::string_view kUnschedulable = "pod group is unschedulable, ";
  if (text.starts_with(kUnschedulable)) text.remove_prefix(kUnschedulable.size());
  for (const std::string_view detail : {", first placement status: ", ", pod group preemption: "}) {
    text = text.substr(0, text.find(detail));
  }
  return text.starts_with("minCount (") ? text.substr(0, text.find(": ")) : text;
}

void Count(std::vector<ReasonCount>& counts, const std::string& reason) {
  for (ReasonCount& count : counts) {
    if (count.reason == reason) {
      ++count.pods;
      return;
    }
  }
  counts.push_back({.reason = reason, .pods = 1});
}

}  // namespace

Latency LatencyOf(std::vector<double> milliseconds) {
  if (milliseconds.empty()) return {};
  std::sort(milliseconds.begin(), milliseconds.end());
  return {.count = milliseconds.size(),
          .p50 = Rank(milliseconds, 0.5),
          .p90 = Rank(milliseconds, 0.9),
          .p99 = Rank(milliseconds, 0.99),
          .most = milliseconds.back()};
}

std::string PendingReason(const api::Pod& pod) {
  const api::Condition* condition = pod.FindCondition(api::kPodScheduled);
  if (!pod.spec->scheduling_gates.empty()) return "held back by a scheduling gate";
  if (condition == nullptr || condition->status == "True") return "";
  std::string_view text = condition->message;
  constexpr std::string_view kAvailable = "nodes are available: ";
  const size_t start = text.find(kAvailable);
  if (start == std::string_view::npos) {
    return text.empty() ? condition->reason : std::string(GroupReason(text));
  }
  text.remove_prefix(start + kAvailable.size());
  const size_t end = text.find(". ");
  if (end != std::string_view::npos) text = text.substr(0, end);
  if (text.ends_with('.')) text.remove_suffix(1);
  return WithoutCounts(text);
}

DemoState::DemoState(const std::string& owner, std::unordered_set<std::string> unplaceable)
    : label_key_(kOwnerLabel), label_value_(owner), unplaceable_(std::move(unplaceable)) {}

void DemoState::ApplyPods(const std::vector<api::Delta<api::Pod>>& deltas, SteadyTime now) {
  using Type = api::Delta<api::Pod>::Type;
  for (const api::Delta<api::Pod>& delta : deltas) {
    if (delta.type == Type::kUpsert) {
      ApplyPod(*delta.object, now);
    } else if (delta.type == Type::kDelete) {
      Forget(delta.object->meta.uid);
    } else {
      std::unordered_set<std::string> there;
      for (const api::PodPtr& pod : delta.items) {
        there.insert(pod->meta.uid);
        ApplyPod(*pod, now);
      }
      std::vector<std::string> gone;
      for (const auto& [uid, entry] : pods_) {
        if (!there.contains(uid)) gone.push_back(uid);
      }
      for (const std::string& uid : gone) Forget(uid);
    }
    ++version_;
  }
}

void DemoState::ApplyPod(const api::Pod& pod, SteadyTime now) {
  const auto [found, is_new] = pods_.try_emplace(pod.meta.uid);
  PodEntry& entry = found->second;
  if (is_new) {
    const Symbol* label = pod.meta.labels.Find(label_key_);
    entry.name = pod.meta.name;
    entry.ours = label != nullptr && *label == label_value_;
    entry.placeable = !unplaceable_.contains(entry.name);
    entry.amount = AmountOf(pod);
    entry.seen = now;
  }
  if (entry.node != pod.node_name) NoteBinding(entry, pod, is_new, now);
  const bool occupies = !pod.node_name.empty() && !pod.IsTerminal();
  if (occupies != entry.occupies) {
    entry.occupies = occupies;
    Occupy(entry, occupies);
  }
  const bool running = entry.ours && pod.status.phase.view() == "Running";
  if (running != entry.running) {
    running_ = running ? running_ + 1 : running_ - 1;
    entry.running = running;
  }
  entry.reason = pod.node_name.empty() ? PendingReason(pod) : std::string();
}

void DemoState::NoteBinding(PodEntry& entry, const api::Pod& pod, bool is_new, SteadyTime now) {
  if (!entry.node.empty()) {
    if (violations_.size() < kMostViolations) {
      violations_.push_back(fmt::format("pod {} went from {} to {}", entry.name, entry.node,
                                        pod.node_name.empty() ? "no node" : pod.node_name.view()));
    }
    return;  // one binding is counted
  }
  entry.node = pod.node_name.str();
  if (!entry.ours) return;
  ++bound_;
  bind_times_.push_back(now);
  if (!is_new) {
    latencies_.push_back(std::chrono::duration<double, std::milli>(now - entry.seen).count());
  }
  if (entry.placeable) return;
  ++unplaceable_bound_;
  if (violations_.size() < kMostViolations) {
    violations_.push_back(
        fmt::format("pod {}, which should fit nowhere, is bound to {}", entry.name, entry.node));
  }
}

void DemoState::Occupy(const PodEntry& entry, bool on) {
  Amount& sum = taken_[entry.node];
  on ? sum += entry.amount : sum -= entry.amount;
  const auto node = nodes_.find(entry.node);
  if (node != nodes_.end()) node->second.taken = sum;
}

// What was bound stays counted: the pod has had its binding.
void DemoState::Forget(const std::string& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  if (found->second.occupies) Occupy(found->second, false);
  if (found->second.running) --running_;
  pods_.erase(found);
}

void DemoState::ApplyNodes(const std::vector<api::Delta<api::Node>>& deltas) {
  using Type = api::Delta<api::Node>::Type;
  const auto note = [this](const api::Node& node) {
    const Symbol* zone = node.meta.labels.Find(Symbol(kZoneLabel));
    nodes_[node.meta.name] = {.zone = zone != nullptr ? zone->str() : "",
                              .offered = AmountOf(node.allocatable),
                              .taken = taken_[node.meta.name]};
  };
  for (const api::Delta<api::Node>& delta : deltas) {
    if (delta.type == Type::kUpsert) {
      note(*delta.object);
    } else if (delta.type == Type::kDelete) {
      nodes_.erase(delta.object->meta.name);
    } else {
      nodes_.clear();
      for (const api::NodePtr& node : delta.items) note(*node);
    }
  }
}

void DemoState::AddEvent(EventLine line) {
  events_.push_front(std::move(line));
  if (events_.size() > kMostEvents) events_.pop_back();
}

size_t DemoState::UnplaceableExplained() const {
  return static_cast<size_t>(std::count_if(pods_.begin(), pods_.end(), [](const auto& pod) {
    const PodEntry& entry = pod.second;
    return entry.ours && !entry.placeable && entry.node.empty() && !entry.reason.empty();
  }));
}

size_t DemoState::PlaceableRefused() const {
  return static_cast<size_t>(std::count_if(pods_.begin(), pods_.end(), [](const auto& pod) {
    const PodEntry& entry = pod.second;
    return entry.ours && entry.placeable && entry.node.empty() && !entry.reason.empty();
  }));
}

std::vector<ReasonCount> DemoState::CountReasons(bool unexpected_only) const {
  std::vector<ReasonCount> counts;
  for (const auto& [uid, entry] : pods_) {
    if (!entry.ours || !entry.node.empty() || (unexpected_only && !entry.placeable)) continue;
    Count(counts, entry.reason.empty() ? kNotTold : entry.reason);
  }
  std::sort(counts.begin(), counts.end(), [](const ReasonCount& a, const ReasonCount& b) {
    return a.pods != b.pods ? a.pods > b.pods : a.reason < b.reason;
  });
  return counts;
}

std::vector<ReasonCount> DemoState::Pending() const { return CountReasons(false); }

std::vector<ReasonCount> DemoState::PendingUnexpected() const { return CountReasons(true); }

void DemoState::Fill(ViewState& view, SteadyTime start, SteadyTime now) const {
  view.seconds = std::chrono::duration<double>(now - start).count();
  view.bound = bound_;
  view.running = running_;
  view.pending = Pending();
  view.latency = BindLatency();
  view.events.assign(events_.begin(), events_.end());
  FillRates(view, start, now);
  FillNodes(view);
}

void DemoState::FillRates(ViewState& view, SteadyTime start, SteadyTime now) const {
  const std::chrono::duration<double> since = now - start;
  view.rate_history.assign(static_cast<size_t>(std::max(0.0, since.count())), 0);
  for (const SteadyTime time : bind_times_) {
    const std::chrono::duration<double> at = time - start;
    const auto second = static_cast<size_t>(std::max(0.0, at.count()));
    if (second < view.rate_history.size()) ++view.rate_history[second];
  }
  std::vector<double>& history = view.rate_history;
  const size_t last = std::min<size_t>(3, history.size());
  view.rate_now = 0;
  for (size_t i = history.size() - last; i < history.size(); ++i) view.rate_now += history[i];
  if (last > 0) view.rate_now /= static_cast<double>(last);
  if (history.size() > kHistorySeconds) {
    history.erase(history.begin(), history.end() - static_cast<ptrdiff_t>(kHistorySeconds));
  }
  view.rate_average = 0;
  if (bind_times_.size() > 1 && bind_times_.front() != bind_times_.back()) {
    const std::chrono::duration<double> span = bind_times_.back() - bind_times_.front();
    view.rate_average = static_cast<double>(bind_times_.size() - 1) / span.count();
  }
}

void DemoState::FillNodes(ViewState& view) const {
  Amount offered;
  Amount taken;
  std::map<std::string, std::pair<int64_t, int64_t>> zones;  // CPU taken, offered
  view.nodes = nodes_.size();
  view.nodes_by_cpu = {};
  for (const auto& [name, node] : nodes_) {
    offered += node.offered;
    taken += node.taken;
    auto& zone = zones[node.zone];
    zone.first += node.taken.cpu_milli;
    zone.second += node.offered.cpu_milli;
    const double fill = Fraction(node.taken.cpu_milli, node.offered.cpu_milli);
    const auto bucket = static_cast<size_t>(std::max(0.0, std::ceil(fill * 10) - 1));
    ++view.nodes_by_cpu[std::min(bucket, view.nodes_by_cpu.size() - 1)];
  }
  view.cpu_fill = Fraction(taken.cpu_milli, offered.cpu_milli);
  view.memory_fill = Fraction(taken.memory_bytes, offered.memory_bytes);
  view.pods_fill = Fraction(taken.pods, offered.pods);
  view.zones.clear();
  for (const auto& [name, fill] : zones) {
    if (!name.empty()) view.zones.push_back({name, Fraction(fill.first, fill.second)});
  }
}

}  // namespace ks::ctl
