// SPDX-License-Identifier: Apache-2.0
// ks_sim: sweeps seeds of the simulation, or replays one (docs/simulation.md). Compiled with
// KS_CANARIES it is ks_sim_canary, which can plant bugs and must find them.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "base/canary.h"
#include "base/check.h"
#include "base/logging.h"
#include "sim/canaries.h"
#include "sim/report.h"
#include "sim/simulation.h"

#ifdef KS_COVERAGE  // the tree of tools/sim_coverage.py
extern "C" void __gcov_dump();
#endif

namespace ks::sim {
namespace {

constexpr int kMostJobs = 64;

struct Flags {
  std::string seeds = "1..1";
  uint64_t from = 1;
  uint64_t to = 1;
  int jobs = 1;
  bool trace = false;
  bool logs = false;
  bool stop_at_first = false;
  uint64_t twice_every = 20;  // these seeds run twice and must give the same trace; 0: none
  std::string canary{};
  bool search = false;  // planted bugs: from the first seed, whatever is known to find them
  bool quiet = false;   // no reports of failures
};

// What a worker counts.
struct Totals {
  uint64_t seeds = 0;
  uint64_t failed = 0;
  uint64_t first_failed = 0;
  uint64_t events = 0;
  uint64_t steps = 0;
  uint64_t binds = 0;
  uint64_t exceeded_seeds = 0;
  int64_t virtual_ns = 0;
  std::array<char, 256> failure{};  // of first_failed

  void Add(const Totals& other) {
    seeds += other.seeds;
    failed += other.failed;
    if (other.failed != 0 && (first_failed == 0 || other.first_failed < first_failed)) {
      first_failed = other.first_failed;
      failure = other.failure;
    }
    events += other.events;
    steps += other.steps;
    binds += other.binds;
    exceeded_seeds += other.exceeded_seeds;
    virtual_ns += other.virtual_ns;
  }
};

bool ParseSeeds(Flags* flags) {
  const size_t dots = flags->seeds.find("..");
  char* end = nullptr;
  flags->from = std::strtoull(flags->seeds.c_str(), &end, 10);
  if (dots == std::string::npos) {
    flags->to = flags->from;
    return *end == '\0' && end != flags->seeds.c_str();
  }
  if (end != flags->seeds.c_str() + dots) return false;
  flags->to = std::strtoull(flags->seeds.c_str() + dots + 2, &end, 10);
  return *end == '\0' && flags->from <= flags->to;
}

void RunSeed(const Flags& flags, uint64_t seed, Totals* totals) {
  const Plan plan = DrawPlan(seed);
  BeginReport(seed, flags.canary);
  Outcome outcome = Simulate(plan, flags.trace);
  const bool twice = flags.twice_every != 0 && seed % flags.twice_every == 0;
  if (outcome.failure.empty() && twice) {
    const Outcome again = Simulate(plan, false);
    if (again.trace_hash != outcome.trace_hash) {
      outcome.failure = "the same seed gave another trace";
    }
  }
  ++totals->seeds;
  totals->events += outcome.events;
  totals->steps += outcome.steps;
  totals->binds += outcome.binds;
  totals->exceeded_seeds += outcome.exceeded != 0 ? 1 : 0;
  totals->virtual_ns += outcome.virtual_time.count();
  if (outcome.failure.empty()) {
    if (flags.from == flags.to && !flags.quiet) {
      std::printf("seed %llu: fine, trace hash %016llx, %llu lines\n",
                  static_cast<unsigned long long>(seed),
                  static_cast<unsigned long long>(outcome.trace_hash),
                  static_cast<unsigned long long>(outcome.trace_lines));
    }
    return;
  }
  ++totals->failed;
  if (totals->first_failed == 0) {
    totals->first_failed = seed;
    outcome.failure.copy(totals->failure.data(), totals->failure.size() - 1);
  }
  if (!flags.quiet) ReportFailure(outcome);
}

// In memory that outlives the worker.
struct Worker {
  std::atomic<uint64_t> seed = 0;  // at work; 0: the worker came to its end
  Totals totals;
};

// With stop_at_first each worker goes on until its seeds are beyond the lowest that failed
// anywhere: which seed is named must not depend on who is faster.
struct Shared {
  std::atomic<uint64_t> lowest_failed = UINT64_MAX;
  std::array<Worker, kMostJobs> workers;

  void NoteFailed(uint64_t seed) {
    uint64_t known = lowest_failed;
    while (seed < known && !lowest_failed.compare_exchange_weak(known, seed)) {
    }
  }
};

// Every jobs-th seed. Does not return.
[[noreturn]] void Work(const Flags& flags, int number, Shared* shared) {
  InstallCrashReport(flags.quiet);
  Worker& worker = shared->workers[static_cast<size_t>(number)];
  for (uint64_t seed = flags.from + static_cast<uint64_t>(number); seed <= flags.to;
       seed += static_cast<uint64_t>(flags.jobs)) {
    if (flags.stop_at_first && seed > shared->lowest_failed) break;
    worker.seed = seed;
    RunSeed(flags, seed, &worker.totals);
    if (worker.totals.failed == 0) continue;
    shared->NoteFailed(worker.totals.first_failed);
    if (flags.stop_at_first) break;
  }
  worker.seed = 0;
  std::fflush(stdout);
#ifdef KS_COVERAGE
  __gcov_dump();
#endif
  _exit(worker.totals.failed == 0 ? 0 : 1);
}

// Waits for all workers; with stop_at_first those whose seeds do not matter any more are ended.
void Await(const Flags& flags, const std::vector<pid_t>& pids, Shared* shared) {
  std::vector<bool> over(pids.size());
  std::vector<bool> ended(pids.size());
  for (size_t left = pids.size(); left > 0; --left) {
    int status = 0;
    const pid_t pid = wait(&status);
    const bool failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    for (size_t i = 0; i < pids.size(); ++i) {
      if (pids[i] != pid) continue;
      over[i] = true;
      Worker& worker = shared->workers[i];
      // A crash is a failure of the seed at work.
      if (failed && !ended[i] && worker.totals.failed == 0) {
        ++worker.totals.failed;
        worker.totals.first_failed = worker.seed;
        std::string("the process ended").copy(worker.totals.failure.data(), 200);
        shared->NoteFailed(worker.seed);
      }
    }
    if (!flags.stop_at_first) continue;
    for (size_t i = 0; i < pids.size(); ++i) {
      if (over[i] || ended[i] || shared->workers[i].seed <= shared->lowest_failed) continue;
      ended[i] = true;
      kill(pids[i], SIGKILL);
    }
  }
}

Totals RunAll(const Flags& flags) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  KS_CHECK(memory != MAP_FAILED, "memory for the workers' totals");
  auto* shared = new (memory) Shared;
  std::vector<pid_t> pids;
  for (int i = 0; i < flags.jobs; ++i) {
    std::fflush(stdout);
    const pid_t pid = fork();
    KS_CHECK(pid >= 0, "a process for a worker");
    if (pid == 0) Work(flags, i, shared);
    pids.push_back(pid);
  }
  Await(flags, pids, shared);
  Totals all;
  for (int i = 0; i < flags.jobs; ++i) all.Add(shared->workers[static_cast<size_t>(i)].totals);
  munmap(memory, sizeof(Shared));
  return all;
}

int Sweep(const Flags& flags) {
  const auto begin = std::chrono::steady_clock::now();
  const Totals totals = RunAll(flags);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const std::string text = fmt::format(
      "{} seeds in {:.1f} s ({:.1f} a second), {} failed; {:.0f} virtual hours, {} events, {} "
      "steps, {} bindings; {} seeds with a node beyond its capacity, where that may be\n",
      totals.seeds, took.count(), static_cast<double>(totals.seeds) / took.count(), totals.failed,
      static_cast<double>(totals.virtual_ns) / 3.6e12, totals.events, totals.steps, totals.binds,
      totals.exceeded_seeds);
  std::fputs(text.c_str(), stdout);
  return totals.failed == 0 ? 0 : 1;
}

#ifdef KS_CANARIES
// The seed that is known to find the planted bug, and all of them if it does not.
Totals Find(const CanaryInfo& info, const Flags& flags) {
  if (!flags.search && info.seed >= flags.from && info.seed <= flags.to) {
    Flags known = flags;
    known.from = known.to = info.seed;
    known.jobs = 1;
    const Totals totals = RunAll(known);
    if (totals.failed != 0) return totals;
  }
  return RunAll(flags);
}

// Plants every bug in turn, or one. Exit code 0: all were found.
int FindCanaries(Flags flags) {
  int exit_code = 0;
  bool known = false;
  const bool all = flags.canary == "all";
  for (const CanaryInfo& info : kCanaries) {
    if (!all && flags.canary != info.name) continue;
    known = true;
    flags.canary = info.name;
    flags.stop_at_first = true;
    flags.quiet = all;
    canary::g_planted = info.name;
    const Totals totals = Find(info, flags);
    if (totals.failed == 0) exit_code = 1;
    const std::string text =
        totals.failed == 0 ? fmt::format("{:<50} NOT FOUND in {} seeds\n", info.name, totals.seeds)
                           : fmt::format("{:<50} found by seed {}: {}\n", info.name,
                                         totals.first_failed, totals.failure.data());
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
  if (known) return exit_code;
  std::printf("--canary: %s is neither all nor one of these:", flags.canary.c_str());
  for (const CanaryInfo& info : kCanaries) std::printf(" %s", info.name);
  std::printf("\n");
  return 2;
}
#endif

}  // namespace
}  // namespace ks::sim

int main(int argc, char** argv) {
  ks::sim::Flags flags;
  CLI::App app("Deterministic simulation of the scheduler with faults.");
  app.add_option("--seeds,--seed", flags.seeds, "A..B or one seed")->capture_default_str();
  app.add_option("--jobs", flags.jobs, "processes")->check(CLI::Range(1, ks::sim::kMostJobs));
  app.add_option("--twice-every", flags.twice_every,
                 "seeds that this divides run twice and must give the same trace; 0: none");
  app.add_flag("--trace", flags.trace, "print every line of the trace");
  app.add_flag("--logs", flags.logs, "let the scheduler's own log through, on stderr");
  app.add_flag("--stop-at-first", flags.stop_at_first, "end at the first failure");
#ifdef KS_CANARIES
  app.add_option("--canary", flags.canary, "the bug to plant, or all; ends at the first failure");
  app.add_flag("--search", flags.search,
               "look for the lowest seed that finds it, instead of trying the known one first");
#endif
  CLI11_PARSE(app, argc, argv);
  if (!ks::sim::ParseSeeds(&flags)) {
    std::fprintf(stderr, "--seeds: \"%s\" is neither a seed nor A..B\n", flags.seeds.c_str());
    return 2;
  }
  if (flags.logs) ks::log::SetVerbosity(5);
  if (!flags.logs) dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
#ifdef KS_CANARIES
  if (!flags.canary.empty()) return ks::sim::FindCanaries(flags);
#endif
  return ks::sim::Sweep(flags);
}
