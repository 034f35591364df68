// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/perf_report.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "ksdev/text/figures.h"
#include "kubeschedctl/text/columns.h"

namespace ks::ctl::dev::perf {
namespace {

constexpr const char* kOurs = "kubesched";
constexpr const char* kTheirs = "kube-scheduler";

// Runs of one workload by one scheduler, of one collection.
using Group = std::vector<const Collected*>;

template <class Member>
double MedianOf(const Group& group, Member member) {
  std::vector<double> values;
  for (const Collected* one : group) values.push_back(static_cast<double>(one->*member));
  return Median(std::move(values));
}

// Nothing when some run was over before there was a window.
std::optional<double> MedianRate(const Group& group, double Throughput::*member) {
  std::vector<double> values;
  for (const Collected* one : group) {
    if (!one->throughput.measured) return std::nullopt;
    values.push_back(one->throughput.*member);
  }
  return Median(std::move(values));
}

std::string RateText(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.1f}", *rate) : "-";
}

std::vector<std::string> Cells(const std::string& workload, const std::string& scheduler,
                               double threshold, const Group& group, const Group* other) {
  const std::optional<double> average = MedianRate(group, &Throughput::average);
  const double theirs = other == nullptr ? 0 : MedianRate(*other, &Throughput::average).value_or(0);
  return {workload,
          scheduler,
          fmt::format("{:.0f}", MedianOf(group, &Collected::pods)),
          fmt::format("{:.2f}", MedianOf(group, &Collected::seconds)),
          RateText(average),
          RateText(MedianRate(group, &Throughput::p50)),
          RateText(MedianRate(group, &Throughput::p90)),
          RateText(MedianRate(group, &Throughput::p99)),
          fmt::format("{:.0f}", MedianOf(group, &Collected::attempts)),
          fmt::format("{:.2f}", MedianOf(group, &Collected::attempt_p99_ms)),
          fmt::format("{:.2f}", MedianOf(group, &Collected::cpu_ms_per_pod)),
          fmt::format("{:.0f}", MedianOf(group, &Collected::peak_mb)),
          threshold > 0 ? fmt::format("{:.0f}", threshold) : "-",
          average && theirs > 0 ? fmt::format("{:.2f}", *average / theirs) : "-"};
}

// One workload and collection.
struct Line {
  std::string name;
  double threshold = 0;
  std::map<std::string, Group> groups;  // by scheduler
};

std::vector<Line> LinesOf(const std::vector<PerfRun>& runs) {
  std::vector<Line> lines;
  std::map<std::string, size_t> places;
  for (const PerfRun& run : runs) {
    for (const Collected& one : run.collected) {
      const std::string name = run.workload + "/" + one.name;
      const auto [place, added] = places.try_emplace(name, lines.size());
      if (added) lines.push_back({.name = name, .threshold = run.threshold, .groups = {}});
      lines[place->second].groups[run.scheduler].push_back(&one);
    }
  }
  return lines;
}

std::string Failures(const std::vector<PerfRun>& runs) {
  std::string text;
  for (const PerfRun& run : runs) {
    if (run.failure.empty()) continue;
    text += fmt::format("{}failed: {}, {}: {}\n", text.empty() ? "\n" : "", run.workload,
                        run.scheduler, run.failure);
  }
  return text;
}

std::string Extras(const std::vector<PerfRun>& runs) {
  std::string text;
  for (const PerfRun& run : runs) {
    for (const Collected& one : run.collected) {
      for (const std::string& line : one.extras) {
        text += fmt::format("{}{}, {}: {}\n", text.empty() ? "\n" : "", run.workload, run.scheduler,
                            line);
      }
    }
  }
  return text;
}

}  // namespace

std::string RunLine(const PerfRun& run) {
  std::string text = fmt::format("{}  {}", run.workload, run.scheduler);
  if (!run.failure.empty()) {
    return text + ": failed: " + run.failure.substr(0, run.failure.find('\n'));
  }
  for (const Collected& one : run.collected) {
    text += fmt::format("  {}: {} pods in {:.2f} s, {} pods/s", one.name, one.pods, one.seconds,
                        one.throughput.measured ? RateText(one.throughput.average) : "-");
  }
  return text;
}

std::string PerfText(const std::vector<PerfRun>& runs) {
  const std::vector<Line> lines = LinesOf(runs);
  Columns columns("llrrrrrrrrrrrr");
  columns.Add({"workload", "scheduler", "pods", "seconds", "pods/s", "p50", "p90", "p99",
               "attempts", "p99 ms", "CPU ms/pod", "peak MB", "threshold", "ratio"});
  for (const Line& line : lines) {
    const auto theirs = line.groups.find(kTheirs);
    for (const auto& [scheduler, group] : line.groups) {
      const bool compare = scheduler == kOurs && theirs != line.groups.end();
      columns.Add(
          Cells(line.name, scheduler, line.threshold, group, compare ? &theirs->second : nullptr));
    }
  }
  return (lines.empty() ? std::string() : columns.Text("")) + Extras(runs) + Failures(runs);
}

namespace {

// Kubesched's figure and kube-scheduler's.
struct Pair {
  double ours = 0;
  double theirs = 0;

  double ratio() const { return theirs > 0 ? ours / theirs : 0; }
};

struct Compared {
  Pair rate;
  bool whole = false;  // not of windows
  Pair cpu_ms;
  Pair peak_mb;
};

double WholeRate(const Group& group) {
  const double seconds = MedianOf(group, &Collected::seconds);
  return seconds > 0 ? MedianOf(group, &Collected::pods) / seconds : 0;
}

Compared Compare(const Group& ours, const Group& theirs) {
  const std::optional<double> our_rate = MedianRate(ours, &Throughput::average);
  const std::optional<double> their_rate = MedianRate(theirs, &Throughput::average);
  const bool whole = !our_rate || !their_rate;
  const auto both = [&](double Collected::*member) {
    return Pair{.ours = MedianOf(ours, member), .theirs = MedianOf(theirs, member)};
  };
  return {.rate = whole ? Pair{.ours = WholeRate(ours), .theirs = WholeRate(theirs)}
                        : Pair{.ours = *our_rate, .theirs = *their_rate},
          .whole = whole,
          .cpu_ms = both(&Collected::cpu_ms_per_pod),
          .peak_mb = both(&Collected::peak_mb)};
}

std::string GeometricMean(const std::vector<Compared>& all, Pair Compared::*member) {
  double sum = 0;
  size_t count = 0;
  for (const Compared& one : all) {
    const double ratio = (one.*member).ratio();
    if (ratio <= 0) continue;
    sum += std::log(ratio);
    ++count;
  }
  return count == 0 ? "-" : fmt::format("{:.3g}", std::exp(sum / static_cast<double>(count)));
}

std::string MarkdownRow(const Line& line, const Compared& one) {
  const char* star = one.whole ? "*" : "";
  return fmt::format(
      "| {} | {:.0f}{} | {:.0f}{} | {:.1f} | {:.2f} | {:.2f} | {:.3f} | {:.0f} | {:.0f} | {} |\n",
      line.name, one.rate.theirs, star, one.rate.ours, star, one.rate.ratio(), one.cpu_ms.theirs,
      one.cpu_ms.ours, one.cpu_ms.ratio(), one.peak_mb.theirs, one.peak_mb.ours,
      line.threshold > 0 ? fmt::format("{:.0f}", line.threshold) : "");
}

}  // namespace

std::string PerfMarkdown(const std::vector<PerfRun>& runs) {
  std::string text =
      "| workload | pods/s, kube-scheduler | kubesched | ratio | CPU ms a pod, kube-scheduler | "
      "kubesched | ratio | peak MB, kube-scheduler | kubesched | threshold |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n";
  std::vector<Compared> all;
  for (const Line& line : LinesOf(runs)) {
    const auto ours = line.groups.find(kOurs);
    const auto theirs = line.groups.find(kTheirs);
    if (ours == line.groups.end() || theirs == line.groups.end()) continue;
    if (MedianOf(ours->second, &Collected::pods) == 0) continue;
    all.push_back(Compare(ours->second, theirs->second));
    text += MarkdownRow(line, all.back());
  }
  return text +
         fmt::format("\nGeometric means of {} rows: pods/s {}, CPU a pod {}, peak memory {}.\n",
                     all.size(), GeometricMean(all, &Compared::rate),
                     GeometricMean(all, &Compared::cpu_ms), GeometricMean(all, &Compared::peak_mb));
}

}  // namespace ks::ctl::dev::perf
