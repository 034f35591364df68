// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/demo/demo_summary.h"

#include <fmt/format.h>

#include "kubeschedctl/text/printable.h"

namespace ks::ctl {
namespace {

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

std::string ProcessRow(const char* name, const ProcessSummary& process, size_t pods) {
  if (!process.known) return "";
  std::string text = fmt::format("{:.2f} s CPU", process.cpu_seconds);
  if (pods > 0) {
    text +=
        fmt::format(" ({:.2f} ms a pod)", process.cpu_seconds * 1000 / static_cast<double>(pods));
  }
  return Row(name, text + fmt::format(", {:.0f} MB resident", process.resident_mb));
}

}  // namespace

std::string SummaryText(const DemoSummary& summary) {
  std::string text = fmt::format("\n{}, {} pods, scheduled by {}\n\n", summary.title, summary.pods,
                                 summary.scheduler);
  text += Row("bound", BoundText(summary));
  text += Row("latency", LatencyText(summary.latency));
  if (summary.pods > summary.placeable) text += LeftPending(summary);
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
