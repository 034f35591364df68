// SPDX-License-Identifier: Apache-2.0
// ksdev soak: a scheduler under faults for a long time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "ksdev/soak/soak.h"
#include "ksdev/soak/soak_pods.h"
#include "ksdev/soak/soak_rules.h"
#include "ksdev/text/fail.h"
#include "ksdev/text/memory_trend.h"
#include "kubeschedctl/cluster/capacity_check.h"
#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/cluster/embedded_server.h"
#include "kubeschedctl/cluster/scheduler_run.h"
#include "kubeschedctl/demo/demo_workload.h"
#include "kubeschedctl/text/terminal.h"

namespace ks::ctl::dev {
namespace {

using std::chrono::steady_clock;

constexpr int kInterruptedStatus = 130;
constexpr size_t kPlannedPods = 1000;  // they come again and again
constexpr std::chrono::milliseconds kStep{20};
constexpr std::chrono::seconds kSampleInterval{5};
constexpr std::chrono::seconds kReportInterval{30};
// What is kept for a time fills until then: the scheduler remembers events for up to 12 minutes.
constexpr std::chrono::minutes kWarmUp{12};
constexpr std::chrono::minutes kLeastJudged{9};  // after the warm-up
constexpr size_t kLogLines = 15;

void Say(const std::string& text) {
  std::fputs((text + "\n").c_str(), stdout);
  std::fflush(stdout);
}

class Soak {
 public:
  Soak(const SoakOptions& options, Signals& signals)
      : options_(options), signals_(signals), workload_(options.workload) {}

  Result<int> Run();

 private:
  Result<void> MakeFolder();
  Result<void> StartServer();
  Result<void> StartSchedulerProcess();
  Result<void> Drive();
  bool Settled(SteadyTime now) const;
  Result<void> LookAtProcesses();
  void Report(SteadyTime now);
  void CheckCapacity();
  std::string JudgeMemory(const char* name, const std::vector<double>& samples_mb);
  int Judge();
  Error WithLogs(const std::string& text) const;
  std::string Log(const char* name) const { return folder_ + "/" + name; }

  const SoakOptions& options_;
  Signals& signals_;
  Workload workload_;
  std::vector<PlannedPod> plan_;
  std::unique_ptr<TemporaryFolder> temporary_;
  std::string folder_;
  std::unique_ptr<EmbeddedServer> server_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Process> scheduler_;
  std::unique_ptr<SoakPods> pods_;
  SteadyTime start_;
  SteadyTime next_sample_;
  SteadyTime next_report_;
  size_t capacity_checks_ = 0;
  ProcessUsage scheduler_usage_{};
  ProcessUsage server_usage_{};
  std::vector<double> scheduler_mb_;
  std::vector<double> server_mb_;
  std::vector<std::string> failures_;
};

Error Soak::WithLogs(const std::string& text) const {
  std::string message = text;
  for (const Process* process : {scheduler_.get(), server_ ? &server_->process() : nullptr}) {
    if (process == nullptr) continue;
    message +=
        "\nthe end of " + process->log_path() + ":\n" + LastLines(process->log_path(), kLogLines);
  }
  return Error{message};
}

Result<void> Soak::MakeFolder() {
  if (options_.folder.empty()) {
    Result<std::unique_ptr<TemporaryFolder>> made = TemporaryFolder::Make();
    if (!made.ok()) return made.error();
    temporary_ = std::move(made).value();
    folder_ = temporary_->path();
    return {};
  }
  folder_ = options_.folder;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return Error{"cannot make the folder " + folder_ + ": " + error.message()};
  return {};
}

Result<void> Soak::StartServer() {
  std::string faults = options_.faults_file;
  if (faults.empty()) {
    faults = Log("faults.json");
    std::ofstream file(faults);
    file << SoakFaultRules();
    file.close();
    if (!file) return Error{"cannot write " + faults};
  }
  Result<std::unique_ptr<EmbeddedServer>> server = EmbeddedServer::Start(
      {.folder = folder_,
       .log = Log("apiserver.log"),
       .program = OwnFolder() + "/kubeschedctl",
       // What is kept is full soon: an hour of events would look like a leak.
       .flags = {"--agents", "--faults=" + faults, "--event-ttl=1m", "--history=5000",
                 "--seed=" + std::to_string(options_.seed)}},
      [this] { return signals_.Stopped(); });
  if (!server.ok()) return server.error();
  server_ = std::move(server).value();
  Result<std::unique_ptr<Cluster>> cluster = Cluster::Open(server_->admin_kubeconfig());
  if (!cluster.ok()) return cluster.error();
  cluster_ = std::move(cluster).value();
  plan_ = MakeMix({.owner = workload_.label,
                   .pods = kPlannedPods,
                   .nodes = workload_.nodes,
                   .zones = workload_.zones,
                   .seed = options_.seed});
  workload_.node = FittingNode(plan_, workload_.nodes);
  for (const PriorityClassBody& priority : DemoPriorityClasses(workload_.label)) {
    const client::RestReply reply = cluster_->rest().Post(kPriorityClassPath, priority.body);
    if (!reply.ok()) return Error{"creating " + priority.name + ": " + reply.error->message};
  }
  return CreateNodes(*cluster_, workload_);
}

Result<void> Soak::StartSchedulerProcess() {
  Result<std::unique_ptr<Process>> started = StartScheduler(
      {.binary = options_.scheduler.empty() ? OwnFolder() + "/kubesched" : options_.scheduler,
       .kubeconfig = server_->scheduler_kubeconfig(),
       .qps = options_.qps,
       .folder = folder_});
  if (!started.ok()) return started.error();
  scheduler_ = std::move(started).value();
  return {};
}

// Both must run on; their memory is sampled.
Result<void> Soak::LookAtProcesses() {
  if (!scheduler_->Running()) {
    return WithLogs("the scheduler ended: " + scheduler_->Wait().how);
  }
  if (!server_->process().Running()) {
    return WithLogs("the API server ended: " + server_->process().Wait().how);
  }
  const Result<ProcessUsage> scheduler = scheduler_->Usage();
  const Result<ProcessUsage> server = server_->process().Usage();
  if (!scheduler.ok() || !server.ok()) return {};  // ends just now: the next look tells
  scheduler_usage_ = *scheduler;
  server_usage_ = *server;
  scheduler_mb_.push_back(static_cast<double>(scheduler->resident_bytes) / 1e6);
  server_mb_.push_back(static_cast<double>(server->resident_bytes) / 1e6);
  return {};
}

void Soak::Report(SteadyTime now) {
  const SoakCounts counts = pods_->Counts();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
  Say(fmt::format(
      "{:3}:{:02}  {:6} created  {:6} bound  {:5} there  {:4} pending  scheduler {:.1f} MB  "
      "server {:.1f} MB",
      seconds / 60, seconds % 60, counts.created, counts.bound, counts.there, counts.pending,
      scheduler_mb_.empty() ? 0 : scheduler_mb_.back(),
      server_mb_.empty() ? 0 : server_mb_.back()));
}

// One list is one state of the server, so no pod may be too many in it.
void Soak::CheckCapacity() {
  const auto pods = cluster_->ListPods(workload_.ns, "");
  const auto nodes = cluster_->ListNodes("");
  if (!pods.ok() || !nodes.ok()) {
    failures_.push_back("listing: " + (pods.ok() ? nodes.error() : pods.error()).message);
    return;
  }
  ++capacity_checks_;
  const std::vector<std::string> over = OverCapacity(*nodes, *pods);
  failures_.insert(failures_.end(), over.begin(), over.end());
}

bool Soak::Settled(SteadyTime now) const {
  return now - start_ >= options_.duration && pods_->Counts().pending == 0;
}

Result<void> Soak::Drive() {
  pods_ = std::make_unique<SoakPods>(*cluster_, plan_,
                                     SoakPodOptions{.ns = workload_.ns,
                                                    .rate = options_.rate,
                                                    .lifetime = options_.lifetime,
                                                    .seed = options_.seed});
  start_ = steady_clock::now();
  next_sample_ = start_;
  next_report_ = start_ + kReportInterval;
  while (!signals_.Stopped()) {
    const SteadyTime now = steady_clock::now();
    pods_->Step(now, now - start_ < options_.duration);
    if (const std::optional<Error> failure = pods_->Failure()) return *failure;
    if (now >= next_sample_) {
      next_sample_ += kSampleInterval;
      if (Result<void> looked = LookAtProcesses(); !looked.ok()) return looked;
    }
    if (now >= next_report_) {
      next_report_ += kReportInterval;
      Report(now);
      CheckCapacity();
    }
    if (Settled(now) || now - start_ > options_.duration + options_.settle) return {};
    signals_.Wait(kStep);
  }
  return {};
}

// Samples are taken at equal intervals.
std::string Soak::JudgeMemory(const char* name, const std::vector<double>& samples_mb) {
  constexpr size_t kSkipped = std::chrono::seconds(kWarmUp) / kSampleInterval;
  constexpr size_t kLeast = std::chrono::seconds(kLeastJudged) / kSampleInterval;
  if (samples_mb.size() < kSkipped + kLeast) {
    return fmt::format("{:.1f} MB at the end, too short a run to judge",
                       samples_mb.empty() ? 0 : samples_mb.back());
  }
  const MemoryTrend trend = TrendOf({samples_mb.begin() + kSkipped, samples_mb.end()});
  if (!trend.Flat()) failures_.push_back(std::string("the memory of the ") + name + " grows");
  return trend.Text();
}

int Soak::Judge() {
  CheckCapacity();
  const SoakCounts counts = pods_->Counts();
  const std::string scheduler = JudgeMemory("scheduler", scheduler_mb_);
  const std::string server = JudgeMemory("server", server_mb_);
  for (const ReasonCount& reason : pods_->Pending()) {
    failures_.push_back(fmt::format("{} pods were not bound within {} s after the last came: {}",
                                    reason.pods, options_.settle.count(), reason.reason));
  }
  const std::vector<std::string> violations = pods_->Violations();
  failures_.insert(failures_.end(), violations.begin(), violations.end());
  const Process::End end = scheduler_->Stop(std::chrono::seconds(20));
  if (!end.clean) failures_.push_back("the scheduler did not end by itself: " + end.how);
  const client::RestReply faults = cluster_->rest().Get("/kubesched/faults");
  Say(fmt::format("\n{} s under faults, {} nodes, {} pods a second, seed {}",
                  options_.duration.count(), workload_.nodes, options_.rate, options_.seed));
  Say(fmt::format(
      "  pods       {} created, {} bound, {} deleted while pending, {} preempted, {} there at the "
      "end",
      counts.created, counts.bound, counts.deleted_pending, counts.preempted, counts.there));
  Say(fmt::format("  scheduler  {}; {:.1f} s CPU", scheduler, scheduler_usage_.cpu_seconds));
  Say(fmt::format("  server     {}; {:.1f} s CPU", server, server_usage_.cpu_seconds));
  Say(fmt::format("  faults     {}", faults.ok() ? FaultCounts(faults.body) : "not told"));
  if (failures_.empty()) {
    Say(fmt::format(
        "  checked    every pod was bound once, no node was over its capacity ({} times)",
        capacity_checks_));
    return 0;
  }
  for (const std::string& failure : failures_) Say("FAILED: " + failure);
  if (temporary_) temporary_->Keep();
  std::fprintf(stderr, "%s\n", WithLogs("logs are in " + folder_).message.c_str());
  return 1;
}

Result<int> Soak::Run() {
  for (Result<void> (Soak::*step)() :
       {&Soak::MakeFolder, &Soak::StartServer, &Soak::StartSchedulerProcess, &Soak::Drive}) {
    const Result<void> done = (this->*step)();
    if (signals_.Stopped()) {
      Say("interrupted");
      return kInterruptedStatus;
    }
    if (done.ok()) continue;
    if (temporary_) temporary_->Keep();
    return done.error();
  }
  return Judge();
}

}  // namespace

int RunSoak(const SoakOptions& options) {
  Signals signals;
  const Result<int> status = Soak(options, signals).Run();
  return status.ok() ? *status : Fail(status.error().message);
}

}  // namespace ks::ctl::dev
