// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/perf.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <regex>
#include <utility>
#include <vector>

#include "ksdev/compare/programs.h"
#include "ksdev/perf/case_file.h"
#include "ksdev/perf/perf_report.h"
#include "ksdev/perf/perf_run.h"
#include "ksdev/text/fail.h"
#include "kubeschedctl/cluster/scheduler_run.h"
#include "kubeschedctl/text/columns.h"

namespace ks::ctl::dev::perf {
namespace {

Result<std::vector<PerfCase>> Selected(const PerfOptions& options) {
  std::regex filter;
  try {
    filter = std::regex(options.filter);
  } catch (const std::regex_error& error) {
    return Error{"--filter: " + std::string(error.what())};
  }
  const auto topics = Topics(options.suite);
  if (!topics.ok()) return topics.error();
  std::vector<PerfCase> selected;
  for (const std::string& topic : *topics) {
    const auto cases = ReadCaseFile(options.suite, topic);
    if (!cases.ok()) return cases.error();
    for (const PerfCase& one : *cases) {
      const bool wanted =
          LabelsMatch(one.labels, options.labels) && std::regex_search(WorkloadName(one), filter);
      if (wanted) selected.push_back(one);
    }
  }
  if (selected.empty()) return Error{"no workload has these labels and this name"};
  return selected;
}

int List(const std::vector<PerfCase>& cases) {
  Columns columns("lrrl");
  columns.Add({"workload", "operations", "threshold", "labels"});
  std::string faults;
  for (const PerfCase& one : cases) {
    const auto operations = OperationsOf(one);
    if (!operations.ok()) faults += operations.error().message + "\n";
    columns.Add({WorkloadName(one), operations.ok() ? std::to_string(operations->size()) : "fault",
                 one.threshold > 0 ? fmt::format("{:.0f}", one.threshold) : "-",
                 fmt::format("{}", fmt::join(one.labels, ","))});
  }
  std::fputs(columns.Text("").c_str(), stdout);
  std::fputs(faults.c_str(), stdout);
  return 0;
}

struct Turn {
  std::string scheduler;
  std::string binary;
};

// Who comes first changes from run to run.
std::vector<Turn> Turns(const PerfOptions& options, int run) {
  std::vector<Turn> turns;
  for (int i = 0; i < 2; ++i) {
    const bool ours = (run + i) % 2 == 1;
    const std::string name = ours ? "kubesched" : "kube-scheduler";
    if (options.scheduler != "both" && options.scheduler != name) continue;
    turns.push_back(
        {.scheduler = name, .binary = ours ? options.kubesched : options.kube_scheduler});
  }
  return turns;
}

int RunAll(const PerfOptions& options, const std::vector<PerfCase>& cases,
           TemporaryFolder& folder) {
  std::vector<PerfRun> runs;
  bool failed = false;
  for (size_t i = 0; i < cases.size(); ++i) {
    for (int run = 1; run <= options.runs; ++run) {
      for (const Turn& turn : Turns(options, run)) {
        runs.push_back(RunWorkload(cases[i], {.scheduler = turn.scheduler,
                                              .binary = turn.binary,
                                              .embedded_server = options.embedded_server,
                                              .controlplane_tool = options.controlplane_tool,
                                              .server_folder = options.folder,
                                              .folder = folder.path(),
                                              .timeout = options.timeout}));
        const bool bad = !runs.back().failure.empty();
        failed = failed || bad;
        if (bad) folder.Keep();
        std::fprintf(stderr, "%zu/%zu  %s\n", i + 1, cases.size(), RunLine(runs.back()).c_str());
      }
    }
  }
  std::fputs(PerfText(runs).c_str(), stdout);
  return failed ? 1 : 0;
}

}  // namespace

int RunPerf(PerfOptions options) {
  const Result<std::vector<PerfCase>> cases = Selected(options);
  if (!cases.ok()) return Fail(cases.error().message);
  if (options.list) return List(*cases);
  const Result<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::Make();
  if (!folder.ok()) return Fail(folder.error().message);
  if (Result<void> found = FindPrograms(options, (*folder)->path()); !found.ok()) {
    return Fail(found.error().message);
  }
  return RunAll(options, *cases, **folder);
}

}  // namespace ks::ctl::dev::perf
