// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/demo_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/pod_group.h"
#include "kubeschedctl/text/printable.h"

namespace ks::ctl {
namespace {

using Json = nlohmann::json;

constexpr size_t kGroupsShown = 10;

std::string Row(const char* name, const std::string& text) {
  return fmt::format("  {:<14}{}\n", name, text);
}

std::string BoundText(const DemoSummary& summary) {
  std::string text = fmt::format("{} of {} placeable pods", summary.bound, summary.placeable);
  if (summary.bound > 1) {
    text += fmt::format(" in {:.1f} s: {:.0f} pods/s on average, {:.0f} in the best second",
                        summary.bind_seconds, summary.rate_average, summary.rate_best_second);
  }
  return text;
}

std::string LatencyText(const Latency& latency) {
  if (latency.count == 0) return "none measured";
  return fmt::format("creation to bound: p50 {}, p90 {}, p99 {}, most {}",
                     MillisecondsText(latency.p50), MillisecondsText(latency.p90),
                     MillisecondsText(latency.p99), MillisecondsText(latency.most));
}

std::string LeftPending(const DemoSummary& summary) {
  size_t pods = 0;
  for (const ReasonCount& reason : summary.left_pending) pods += reason.pods;
  std::string text = Row("left pending", fmt::format("{} of {} pods that fit nowhere", pods,
                                                     summary.pods - summary.placeable));
  for (const ReasonCount& reason : summary.left_pending) {
    text += Row("", fmt::format("{:>4}  {}", reason.pods, Printable(reason.reason)));
  }
  return text;
}

std::string GroupRows(const std::vector<GroupOutcome>& groups) {
  std::string text;
  size_t shown = 0;
  for (const GroupOutcome& group : groups) {
    if (shown++ == kGroupsShown) break;
    std::string line =
        fmt::format("{}: {}, {} of {} members bound", Printable(group.name),
                    group.condition.empty() ? "no condition" : Printable(group.condition),
                    group.bound, group.members);
    if (!group.message.empty()) line += ": " + Printable(group.message);
    text += Row(shown == 1 ? "pod groups" : "", line);
  }
  if (groups.size() > shown) {
    text += Row("", fmt::format("({} more left out)", groups.size() - kGroupsShown));
  }
  return text;
}

std::string ProcessRow(const char* name, const ProcessSummary& process, size_t pods) {
  if (!process.known) return "";
  std::string text = fmt::format("{:.2f} s CPU", process.cpu_seconds);
  if (pods > 0) {
    text +=
        fmt::format(" ({:.2f} ms a pod)", process.cpu_seconds * 1000 / static_cast<double>(pods));
  }
  return Row(name, text + fmt::format(", {:.0f} MB resident", process.resident_mb));
}

constexpr const char* kNoList = "the answer is no list of PodGroups";

}  // namespace

Result<std::vector<GroupOutcome>> ReadGroupOutcomes(std::string_view list,
                                                    const std::vector<api::PodPtr>& pods) {
  const Json answer = Json::parse(list, nullptr, false);
  if (!answer.is_object() || !answer.contains("items") || !answer["items"].is_array()) {
    return Error{kNoList};
  }
  std::vector<GroupOutcome> groups;
  for (const Json& item : answer["items"]) {
    GroupOutcome& group = groups.emplace_back();
    group.name = item.value("/metadata/name"_json_pointer, std::string());
    const std::string ns = item.value("/metadata/namespace"_json_pointer, std::string());
    for (const Json& condition : item.value("/status/conditions"_json_pointer, Json::array())) {
      if (condition.value("type", "") != api::kPodGroupInitiallyScheduled) continue;
      group.condition = condition.value("reason", "");
      group.message = condition.value("message", "");
    }
    for (const api::PodPtr& pod : pods) {
      if (pod->spec->scheduling_group != group.name || pod->meta.ns.view() != ns) continue;
      ++group.members;
      if (!pod->node_name.empty()) ++group.bound;
    }
  }
  return groups;
}

std::string SummaryText(const DemoSummary& summary) {
  std::string text = fmt::format("\n{}, {} pods, scheduled by {}\n\n", summary.title, summary.pods,
                                 summary.scheduler);
  text += Row("bound", BoundText(summary));
  text += Row("latency", LatencyText(summary.latency));
  if (summary.pods > summary.placeable) text += LeftPending(summary);
  text += GroupRows(summary.groups);
  text += Row("nodes", fmt::format("CPU {:.0f} % taken (fullest node {:.0f} %), memory {:.0f} % "
                                   "(fullest {:.0f} %)",
                                   summary.cpu_fill * 100, summary.fullest_cpu * 100,
                                   summary.memory_fill * 100, summary.fullest_memory * 100));
  text += ProcessRow("scheduler", summary.scheduler_process, summary.bound);
  text += ProcessRow("server", summary.server_process, summary.bound);
  if (summary.failures.empty()) {
    text += Row("checked", "every pod is bound once, no node is over its capacity");
    return text + "\nall that can be placed is placed\n";
  }
  text += "\n";
  for (const std::string& failure : summary.failures) {
    text += "FAILED: " + Printable(failure) + "\n";
  }
  return text;
}

}  // namespace ks::ctl
