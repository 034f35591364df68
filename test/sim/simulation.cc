// SPDX-License-Identifier: Apache-2.0
#include "sim/simulation.h"

#include <array>
#include <memory>
#include <vector>

#include "sim/judge.h"
#include "sim/process.h"
#include "sim/workload.h"

namespace ks::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// 2026-01-01T00:00:00Z
constexpr TimePoint kStart = TimePoint(seconds(1767225600));
constexpr uint64_t kMostEvents = 3000000;

// Everything of one seed. Members end in reverse order: processes before the server and the loop.
class Simulation {
 public:
  Simulation(const Plan& plan, bool print)
      : plan_(plan),
        trace_(print),
        loop_(kStart),
        api_(loop_, trace_, plan_, [this](const std::string& what) { Fail(what); }),
        network_{loop_, api_, trace_, plan_.network, Random(plan.seed ^ 0x6e6574ULL)},
        world_{loop_,
               trace_,
               plan_,
               api_,
               network_,
               [this](const std::string& what) { Fail(what); },
               [this] { return healed_; }},
        random_(plan.seed ^ 0x73696dULL),
        workload_(world_) {}

  Outcome Run() {
    trace_.Line(loop_.Now(), "plan", "seed {}: {}", plan_.seed, plan_.Text());
    workload_.Start();
    for (int i = 0; i < (plan_.standby ? 2 : 1); ++i) StartProcess(i);
    PlanFaults();
    RunUntil(loop_.start() + plan_.faults_end);
    Heal();
    Settle();
    return Finish();
  }

 private:
  struct Slot {
    std::shared_ptr<SchedulerProcess> process;
    int incarnations = 0;
  };

  void Fail(const std::string& what) {
    trace_.Line(loop_.Now(), "FAILURE", "{}", what);
    if (failure_.empty()) failure_ = what;
  }

  void StartProcess(int number);
  void StopProcess(int number);
  void PlanFaults();
  void RestartServer();
  void RememberLists();
  void RunUntil(TimePoint limit);
  void Heal();
  void Settle();
  std::string Judge();
  Outcome Finish();

  Duration Any(Duration most) {
    return Duration(static_cast<int64_t>(random_.Below(static_cast<uint64_t>(most.count()))));
  }
  int AnySlot() { return static_cast<int>(random_.Below(plan_.standby ? 2 : 1)); }

  const Plan plan_;
  Trace trace_;
  EventLoop loop_;
  ApiModel api_;
  Network network_;
  World world_;
  Random random_;
  Workload workload_;
  std::array<Slot, 2> slots_;
  uint64_t steps_ = 0;  // of processes that are gone
  bool healed_ = false;
  std::string failure_;
};

void Simulation::StartProcess(int number) {
  Slot& slot = slots_[static_cast<size_t>(number)];
  ++slot.incarnations;
  ProcessOptions options;
  options.name = fmt::format("s{}#{}", number, slot.incarnations);
  options.seed = random_.Next();
  options.clock_offset = number == 0 ? plan_.clock_offset : -plan_.clock_offset;
  options.clock_rate = number == 0 ? plan_.clock_rate : 2 - plan_.clock_rate;
  if (plan_.standby) {
    options.lost = [this, number, incarnation = slot.incarnations] {
      if (slots_[static_cast<size_t>(number)].incarnations == incarnation) StopProcess(number);
    };
  }
  slot.process = std::make_shared<SchedulerProcess>(world_, options);
  slot.process->Start();
}

// And starts it again soon, as a node's supervisor would.
void Simulation::StopProcess(int number) {
  Slot& slot = slots_[static_cast<size_t>(number)];
  if (slot.process == nullptr) return;
  slot.process->Kill();
  steps_ += slot.process->steps();
  slot.process.reset();
  loop_.After(milliseconds(100) + Any(seconds(5)), [this, number] { StartProcess(number); });
}

void Simulation::RestartServer() {
  trace_.Line(loop_.Now(), "server", "goes down");
  api_.set_up(false);
  api_.Restart();
  for (const Slot& slot : slots_) {
    if (slot.process != nullptr) slot.process->transport().BreakConnections();
  }
  loop_.After(milliseconds(50) + Any(seconds(8)), [this] {
    trace_.Line(loop_.Now(), "server", "is up");
    api_.set_up(true);
  });
}

void Simulation::RememberLists() {
  if (healed_) return;
  api_.RememberLists();
  loop_.After(milliseconds(500) + Any(seconds(5)), [this] { RememberLists(); });
}

void Simulation::PlanFaults() {
  const Duration end = plan_.faults_end;
  for (int i = 0; i < plan_.server_restarts; ++i) {
    loop_.After(Any(end), [this] {
      if (api_.up()) RestartServer();
    });
  }
  for (int i = 0; i < plan_.kills; ++i) {
    loop_.After(Any(end), [this] { StopProcess(AnySlot()); });
  }
  for (int i = 0; i < plan_.freezes; ++i) {
    loop_.After(Any(end), [this] {
      const Slot& slot = slots_[static_cast<size_t>(AnySlot())];
      const Duration time = seconds(1) + Any(seconds(40));
      if (slot.process == nullptr) return;
      trace_.Line(loop_.Now(), slot.process->name(), "freezes for {}", FormatDuration(time));
      slot.process->FreezeUntil(loop_.Now() + time);
    });
  }
  for (int i = 0; i < plan_.partitions; ++i) {
    loop_.After(Any(end), [this] {
      const Slot& slot = slots_[static_cast<size_t>(AnySlot())];
      const Duration time = seconds(1) + Any(seconds(40));
      if (slot.process == nullptr) return;
      trace_.Line(loop_.Now(), slot.process->name(), "is cut off for {}", FormatDuration(time));
      slot.process->transport().CutOffUntil(loop_.Now() + time);
    });
  }
  if (plan_.network.stale_list > 0) RememberLists();
}

void Simulation::RunUntil(TimePoint limit) {
  while (failure_.empty() && loop_.RunNext(limit)) {
    if (loop_.executed() > kMostEvents) Fail("it never comes to rest");
  }
}

void Simulation::Heal() {
  if (!failure_.empty()) return;
  trace_.Line(loop_.Now(), "plan", "faults end");
  healed_ = true;
  const NetworkFaults before = network_.faults;
  network_.faults = {.latency = before.latency, .jitter = before.jitter};
}

std::string Simulation::Judge() {
  std::vector<SchedulerProcess*> processes;
  for (const Slot& slot : slots_) {
    if (slot.process == nullptr) continue;
    std::string wrong = JudgeProcess(world_, *slot.process);
    if (!wrong.empty()) return wrong;
    processes.push_back(slot.process.get());
  }
  return JudgeServer(world_, processes);
}

// Looks now and then whether everything is as it should be, for 15 minutes.
void Simulation::Settle() {
  constexpr std::array<int, 8> kLooks = {10, 20, 40, 80, 160, 320, 600, 900};
  const TimePoint healed = loop_.Now();
  std::string wrong;
  for (const int look : kLooks) {
    RunUntil(healed + seconds(look));
    if (!failure_.empty()) return;
    wrong = Judge();
    if (wrong.empty()) {
      trace_.Line(loop_.Now(), "plan", "all is well");
      return;
    }
    trace_.Line(loop_.Now(), "plan", "not yet: {}", wrong);
  }
  Fail("at the end: " + wrong);
}

Outcome Simulation::Finish() {
  Outcome outcome;
  outcome.failure = failure_;
  outcome.virtual_time = loop_.Now() - loop_.start();
  outcome.events = loop_.executed();
  outcome.binds = api_.binds();
  outcome.exceeded = api_.exceeded();
  for (Slot& slot : slots_) {
    if (slot.process == nullptr) continue;
    steps_ += slot.process->steps();
    slot.process->Kill();
    slot.process.reset();
  }
  outcome.steps = steps_;
  outcome.trace_hash = trace_.hash();
  outcome.trace_lines = trace_.lines();
  outcome.last_lines = trace_.last();
  return outcome;
}

}  // namespace

Outcome Simulate(const Plan& plan, bool print) { return Simulation(plan, print).Run(); }

}  // namespace ks::sim
