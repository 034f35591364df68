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

Result<std::regex> ParseRegex(const char* flag, const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error& error) {
    return Error{std::string(flag) + ": " + error.what()};
  }
}

Result<std::vector<PerfCase>> Selected(const PerfOptions& options) {
  const Result<std::regex> filter = ParseRegex("--filter", options.filter);
  if (!filter.ok()) return filter.error();
  const auto topics = Topics(options.suite);
  if (!topics.ok()) return topics.error();
  std::vector<PerfCase> selected;
  for (const std::string& topic : *topics) {
    const auto cases = ReadCaseFile(options.suite, topic);
    if (!cases.ok()) return cases.error();
    for (const PerfCase& one : *cases) {
      const bool wanted =
          LabelsMatch(one.labels, options.labels) && std::regex_search(WorkloadName(one), *filter);
      if (wanted) selected.push_back(one);
    }
  }
  if (selected.empty()) return Error{"no workload has these labels and this name"};
  return ShardOf(std::move(selected), options.shard);
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

// Whether a failure is one that is known of kube-scheduler.
bool Known(const PerfRun& run, const std::string& may_fail) {
  return run.scheduler == "kube-scheduler" && !may_fail.empty() &&
         std::regex_search(run.workload, std::regex(may_fail));
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
        failed = failed || (bad && !Known(runs.back(), options.may_fail));
        if (bad) folder.Keep();
        std::fprintf(stderr, "%zu/%zu  %s\n", i + 1, cases.size(), RunLine(runs.back()).c_str());
      }
    }
  }
  std::fputs((options.markdown ? PerfMarkdown(runs) : PerfText(runs)).c_str(), stdout);
  return failed ? 1 : 0;
}

}  // namespace

Result<std::vector<PerfCase>> ShardOf(std::vector<PerfCase> cases, const std::string& shard) {
  std::smatch parts;
  const bool form = std::regex_match(shard, parts, std::regex("([0-9]{1,4})/([0-9]{1,4})"));
  const size_t number = form ? std::stoul(parts[1]) : 0;
  const size_t shards = form ? std::stoul(parts[2]) : 0;
  if (number == 0 || number > shards) {
    return Error{"--shard: " + shard + ": must be 1/N to N/N"};
  }
  std::vector<PerfCase> own;
  for (size_t i = number - 1; i < cases.size(); i += shards) own.push_back(std::move(cases[i]));
  return own;
}

int RunPerf(PerfOptions options) {
  const Result<std::regex> may_fail = ParseRegex("--may-fail", options.may_fail);
  if (!may_fail.ok()) return Fail(may_fail.error().message);
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
