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
#include <chrono>
#include <csignal>
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

namespace ks::sim {
namespace {

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
  bool quiet = false;  // no reports of failures
};

// What a worker counts, in memory that outlives it.
struct Totals {
  uint64_t seed = 0;  // at work; 0: the worker came to its end
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
  totals->seed = seed;
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
    if (flags.from == flags.to) {
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

// Every jobs-th seed. Does not return.
[[noreturn]] void Work(const Flags& flags, int number, Totals* totals) {
  InstallCrashReport(flags.quiet);
  for (uint64_t seed = flags.from + static_cast<uint64_t>(number); seed <= flags.to;
       seed += static_cast<uint64_t>(flags.jobs)) {
    RunSeed(flags, seed, totals);
    if (totals->failed != 0 && flags.stop_at_first) break;
  }
  totals->seed = 0;
  std::fflush(stdout);
  _exit(totals->failed == 0 ? 0 : 1);
}

// Waits for all workers; with stop_at_first the first failure ends the others.
void Await(const Flags& flags, std::vector<pid_t> workers, Totals* totals) {
  for (size_t left = workers.size(); left > 0; --left) {
    int status = 0;
    const pid_t pid = wait(&status);
    const bool failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    for (size_t i = 0; i < workers.size(); ++i) {
      if (workers[i] != pid) continue;
      workers[i] = 0;
      // A crash is a failure of the seed at work.
      if (failed && totals[i].failed == 0) {
        ++totals[i].failed;
        totals[i].first_failed = totals[i].seed;
        std::string("the process ended").copy(totals[i].failure.data(), 200);
      }
    }
    if (!failed || !flags.stop_at_first) continue;
    for (const pid_t worker : workers) {
      if (worker != 0) kill(worker, SIGKILL);
    }
  }
}

Totals RunAll(const Flags& flags) {
  const size_t bytes = sizeof(Totals) * static_cast<size_t>(flags.jobs);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  KS_CHECK(memory != MAP_FAILED, "memory for the workers' totals");
  auto* totals = new (memory) Totals[static_cast<size_t>(flags.jobs)];
  std::vector<pid_t> workers;
  for (int i = 0; i < flags.jobs; ++i) {
    std::fflush(stdout);
    const pid_t pid = fork();
    KS_CHECK(pid >= 0, "a process for a worker");
    if (pid == 0) Work(flags, i, &totals[i]);
    workers.push_back(pid);
  }
  Await(flags, std::move(workers), totals);
  Totals all;
  for (int i = 0; i < flags.jobs; ++i) all.Add(totals[i]);
  munmap(memory, bytes);
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
    const Totals totals = RunAll(flags);
    if (totals.failed == 0) exit_code = 1;
    const std::string text =
        totals.failed == 0 ? fmt::format("{:<24} NOT FOUND in {} seeds\n", info.name, totals.seeds)
                           : fmt::format("{:<24} found by seed {}: {}\n", info.name,
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
  app.add_option("--jobs", flags.jobs, "processes")->check(CLI::Range(1, 64));
  app.add_option("--twice-every", flags.twice_every,
                 "seeds that this divides run twice and must give the same trace; 0: none");
  app.add_flag("--trace", flags.trace, "print every line of the trace");
  app.add_flag("--logs", flags.logs, "let the scheduler's own log through, on stderr");
  app.add_flag("--stop-at-first", flags.stop_at_first, "end at the first failure");
#ifdef KS_CANARIES
  app.add_option("--canary", flags.canary, "the bug to plant, or all; ends at the first failure");
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
