// SPDX-License-Identifier: Apache-2.0
#include "sim/report.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>

#include "sim/trace.h"

namespace ks::sim {
namespace {

constexpr unsigned kMostSeconds = 300;

struct Current {
  uint64_t seed = 0;
  std::string canary;
  bool quiet = false;
};

Current& Now() {
  static Current current;
  return current;
}

// "v0.1.0-12-gabcdef", or the version number outside of a repository.
std::string Commit() {
  FILE* git = popen("git -C '" KS_SOURCE_DIR "' describe --always --dirty 2>/dev/null", "r");
  if (git == nullptr) return KS_VERSION;
  std::array<char, 128> line{};
  const bool any = fgets(line.data(), line.size(), git) != nullptr;
  pclose(git);
  std::string text = any ? line.data() : KS_VERSION;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void Print(const std::string& failure, const std::deque<std::string>& lines) {
  const Current& now = Now();
  const std::string program = now.canary.empty() ? "ks_sim" : "ks_sim_canary";
  const std::string planted = now.canary.empty() ? "" : " --canary " + now.canary;
  std::string text = fmt::format("\nFAILED: seed {} at {}: {}\n", now.seed, Commit(), failure);
  for (const std::string& line : lines) text += "  " + line + "\n";
  text += fmt::format("replay: build/bin/{} --seed {}{} --trace\n", program, now.seed, planted);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// Not async-signal-safe, and the process is lost anyway.
void OnSignal(int signal) {
  std::signal(signal, SIG_DFL);
  if (Now().quiet) _exit(1);
  const Trace* trace = Trace::current();
  const char* what = signal == SIGALRM   ? "it takes minutes"
                     : signal == SIGABRT ? "a check failed (--logs says which)"
                                         : "the process crashed";
  Print(what, trace == nullptr ? std::deque<std::string>() : trace->last());
  _exit(1);
}

}  // namespace

void BeginReport(uint64_t seed, const std::string& canary) {
  Now().seed = seed;
  Now().canary = canary;
  alarm(kMostSeconds);
}

void ReportFailure(const Outcome& outcome) { Print(outcome.failure, outcome.last_lines); }

void InstallCrashReport(bool quiet) {
  Now().quiet = quiet;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
    std::signal(signal, OnSignal);
  }
}

}  // namespace ks::sim
