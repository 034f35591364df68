// SPDX-License-Identifier: Apache-2.0
// kubeschedctl demo: made-up nodes and pods on an API server, scheduled by a real scheduler, shown
// live and checked.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "api/kinds.h"
#include "kubeschedctl/demo/arrivals.h"
#include "kubeschedctl/demo/demo.h"
#include "kubeschedctl/demo/demo_cluster.h"
#include "kubeschedctl/demo/demo_monitor.h"
#include "kubeschedctl/demo/demo_summary.h"
#include "kubeschedctl/demo/demo_ui.h"
#include "kubeschedctl/demo/demo_view.h"
#include "kubeschedctl/demo/demo_workload.h"
#include "kubeschedctl/text/status.h"
#include "kubeschedctl/text/terminal.h"
#include "kubeschedctl/ui/ui.h"

namespace ks::ctl {
namespace {

using std::chrono::steady_clock;

constexpr int kInterruptedStatus = 130;
constexpr std::chrono::milliseconds kFrame{200};
constexpr std::chrono::seconds kPlainInterval{1};
constexpr std::chrono::seconds kSyncTimeout{30};
// How long the scheduler may take to say why the pods that fit nowhere wait.
constexpr std::chrono::seconds kReasonTimeout{15};
// When every pod that is left was refused and none was bound for so long, none will be.
constexpr std::chrono::seconds kStuckAfter{30};
constexpr size_t kLogLines = 15;

void Say(const std::string& text) {
  std::fputs((text + "\n").c_str(), stdout);
  std::fflush(stdout);
}

class Demo {
 public:
  Demo(const DemoOptions& options, Signals& signals)
      : options_(options), signals_(signals), workload_(options.workload) {}

  Result<int> Run();

 private:
  Result<void> Plan();
  Result<void> Prepare();
  std::vector<std::string> SchedulerArgs() const;
  Result<void> StartSchedulerProcess();
  Result<void> StartUi();
  Result<void> Watch();
  Result<void> Follow(Arrivals& arrivals);
  std::optional<bool> Judge(const Arrivals& arrivals, SteadyTime now);
  void Show(const Arrivals& arrivals, LiveScreen* screen);
  ViewState View(const Arrivals* arrivals);
  Result<DemoSummary> Summarize();
  Result<void> CheckPlacement(DemoSummary& summary);
  Result<void> AddGroups(const std::vector<api::PodPtr>& pods, DemoSummary& summary);
  void CheckPending(DemoSummary& summary);
  void StopScheduler(DemoSummary& summary);
  Result<void> LeaveOrStay();
  std::string SchedulerName() const;
  std::string SchedulerLog() const;

  const DemoOptions& options_;
  Signals& signals_;
  Workload workload_;
  std::vector<PlannedPod> pods_;
  std::vector<PlannedObject> objects_;
  std::vector<std::string> gates_;  // that the scheduler needs
  size_t placeable_ = 0;
  std::unique_ptr<DemoCluster> cluster_;
  std::optional<DemoUi> ui_;
  std::unique_ptr<Process> scheduler_;
  std::unique_ptr<ProcessMeter> scheduler_meter_;
  std::unique_ptr<ProcessMeter> server_meter_;
  std::unique_ptr<DemoMonitor> monitor_;
  SteadyTime start_;
  SteadyTime last_progress_;
  SteadyTime next_line_;
  std::optional<SteadyTime> all_bound_;
  size_t last_bound_ = 0;
  std::string failure_;  // why the following ended before all was placed
};

std::string Demo::SchedulerName() const {
  if (options_.no_scheduler) return "somebody else";
  return options_.scheduler.empty() ? "kubesched"
                                    : std::filesystem::path(options_.scheduler).filename().string();
}

// The end of the scheduler's log, to be put behind an error.
std::string Demo::SchedulerLog() const {
  if (!scheduler_) return "";
  cluster_->Keep();
  return "\nthe end of the scheduler's log, " + scheduler_->log_path() + ":\n" +
         LastLines(scheduler_->log_path(), kLogLines);
}

Result<void> Demo::Plan() {
  if (options_.workload_file.empty()) {
    pods_ = MakeMix({.owner = workload_.label,
                     .pods = workload_.pods,
                     .nodes = workload_.nodes,
                     .zones = workload_.zones,
                     .seed = options_.seed});
  } else {
    Result<PlannedWorkload> read =
        ReadWorkload(options_.workload_file, {.owner = workload_.label, .ns = workload_.ns});
    if (!read.ok()) return read.error();
    pods_ = std::move(read->pods);
    objects_ = std::move(read->objects);
    gates_ = std::move(read->gates);
    workload_.pods = pods_.size();
  }
  placeable_ = static_cast<size_t>(std::count_if(
      pods_.begin(), pods_.end(), [](const PlannedPod& pod) { return pod.placeable; }));
  const NodeTemplate fitting = FittingNode(pods_, workload_.nodes);
  NodeTemplate& node = workload_.node;
  if (node.cpu == 0) node.cpu = fitting.cpu;
  if (node.memory_gi == 0) node.memory_gi = fitting.memory_gi;
  if (node.pods == 0) node.pods = fitting.pods;
  return {};
}

Result<void> Demo::Prepare() {
  Result<std::unique_ptr<DemoCluster>> cluster =
      DemoCluster::Open(options_, [this] { return signals_.Stopped(); });
  if (!cluster.ok()) return cluster.error();
  cluster_ = std::move(cluster).value();
  if (EmbeddedServer* server = cluster_->server()) {
    server_meter_ = std::make_unique<ProcessMeter>(server->process());
  }
  Say(fmt::format("{}: making {} nodes of {} CPU, {} GiB in {} zones", cluster_->api().server(),
                  workload_.nodes, workload_.node.cpu, workload_.node.memory_gi, workload_.zones));
  return cluster_->Populate(workload_, objects_);
}

// With the gates that the workload needs, unless the user gives some.
std::vector<std::string> Demo::SchedulerArgs() const {
  std::vector<std::string> args = options_.scheduler_args;
  if (ui_) args.insert(args.begin(), ui_->scheduler_args.begin(), ui_->scheduler_args.end());
  const bool given = std::any_of(args.begin(), args.end(), [](const std::string& arg) {
    return arg.starts_with("--feature-gates");
  });
  if (gates_.empty() || given) return args;
  std::string text;
  for (const std::string& gate : gates_) text += (text.empty() ? "" : ",") + gate + "=true";
  args.push_back("--feature-gates=" + text);
  return args;
}

Result<void> Demo::StartSchedulerProcess() {
  if (options_.no_scheduler) return {};
  const std::string binary =
      options_.scheduler.empty() ? OwnFolder() + "/kubesched" : options_.scheduler;
  if (options_.ui) {
    auto ui = StartDemoUi(*cluster_);
    if (!ui.ok()) return ui.error();
    ui_ = std::move(ui).value();
    Say("page: " + ui_->server->url());
  }
  Result<std::unique_ptr<Process>> started =
      StartScheduler({.binary = binary,
                      .kubeconfig = cluster_->scheduler_kubeconfig(),
                      .config = options_.scheduler_config,
                      .args = SchedulerArgs(),
                      .qps = options_.qps,
                      .folder = cluster_->folder()});
  if (!started.ok()) return started.error();
  scheduler_ = std::move(started).value();
  scheduler_meter_ = std::make_unique<ProcessMeter>(*scheduler_);
  Say("started " + binary + ", log: " + scheduler_->log_path());
  if (!gates_.empty()) Say("the workload has pod groups: called with " + SchedulerArgs().back());
  return {};
}

ViewState Demo::View(const Arrivals* arrivals) {
  ViewState view;
  view.title =
      fmt::format("kubesched demo: {} nodes of {} CPU, {} GiB in {} zones", workload_.nodes,
                  workload_.node.cpu, workload_.node.memory_gi, workload_.zones);
  view.server = cluster_->api().server();
  view.hint = fmt::format("kubectl --kubeconfig {} get pods -o wide", cluster_->admin_kubeconfig());
  view.scheduler = SchedulerName();
  view.planned = pods_.size();
  view.placeable = placeable_;
  view.created = arrivals != nullptr ? arrivals->Created() : pods_.size();
  if (scheduler_meter_) view.scheduler_process = scheduler_meter_->Look();
  if (server_meter_) view.server_process = server_meter_->Look();
  monitor_->Fill(view, start_);
  return view;
}

void Demo::Show(const Arrivals& arrivals, LiveScreen* screen) {
  if (screen != nullptr) {
    screen->Draw(RenderFrame(View(&arrivals), CurrentScreen()));
    return;
  }
  if (steady_clock::now() < next_line_) return;
  next_line_ += kPlainInterval;
  Say(PlainLine(View(&arrivals)));
}

// True: everything is where it should be; false: it will not come to that (failure_ says why);
// nothing: go on.
std::optional<bool> Demo::Judge(const Arrivals& arrivals, SteadyTime now) {
  const auto fail = [this](std::string why) {
    failure_ = std::move(why);
    return false;
  };
  if (scheduler_ && !scheduler_->Running()) {
    return fail("the scheduler ended: " + scheduler_->Wait().how);
  }
  EmbeddedServer* server = cluster_->server();
  if (server != nullptr && !server->process().Running()) {
    return fail("the API server ended: " + server->process().Wait().how);
  }
  if (const std::optional<Error> error = arrivals.Failure()) return fail(error->message);
  const DemoProgress progress = monitor_->Progress();
  if (progress.placeable_bound != last_bound_ || !arrivals.Ended()) last_progress_ = now;
  last_bound_ = progress.placeable_bound;
  if (!arrivals.Ended()) return std::nullopt;
  if (progress.placeable_bound >= placeable_) {  // a Job may make more
    if (!all_bound_) all_bound_ = now;
    const bool explained = progress.unplaceable_explained == pods_.size() - placeable_;
    if (explained || now - *all_bound_ > kReasonTimeout) return true;
    return std::nullopt;
  }
  const size_t left = placeable_ - progress.placeable_bound;
  if (progress.placeable_refused == left && now - last_progress_ > kStuckAfter) {
    return fail(fmt::format("the scheduler finds no node for {} pods, and none was bound for {} s",
                            left, kStuckAfter.count()));
  }
  if (now - start_ > options_.arrival + options_.timeout) {
    return fail(fmt::format("{} of {} placeable pods were not bound {} s after the last arrived",
                            left, placeable_, options_.timeout.count()));
  }
  return std::nullopt;
}

Result<void> Demo::Follow(Arrivals& arrivals) {
  std::unique_ptr<LiveScreen> screen;
  if (!options_.plain && HasLiveTerminal()) screen = std::make_unique<LiveScreen>();
  last_progress_ = start_;
  next_line_ = start_ + kPlainInterval;
  while (!signals_.Stopped()) {
    Show(arrivals, screen.get());
    if (Judge(arrivals, steady_clock::now())) return {};
    signals_.Wait(kFrame);
  }
  return {};
}

Result<void> Demo::Watch() {
  std::unordered_set<std::string> unplaceable;
  for (const PlannedPod& pod : pods_) {
    if (!pod.placeable) unplaceable.insert(pod.name);
  }
  monitor_ = std::make_unique<DemoMonitor>(cluster_->api(), workload_.ns, workload_.label,
                                           std::move(unplaceable));
  if (Result<void> synced = monitor_->AwaitSynced(kSyncTimeout); !synced.ok()) return synced;
  Say(fmt::format("{} pods arrive within {} s; meanwhile: kubectl --kubeconfig {} get pods -o wide",
                  pods_.size(), options_.arrival.count(), cluster_->admin_kubeconfig()));
  start_ = steady_clock::now();
  Arrivals arrivals(cluster_->api(), pods_,
                    {.path = PodPath(workload_.ns),
                     .over = options_.arrival,
                     .in_flight = workload_.in_flight,
                     .seed = options_.seed});
  return Follow(arrivals);
}

// Lists everything again: what counts is what the server has.
Result<void> Demo::CheckPlacement(DemoSummary& summary) {
  const auto pods = cluster_->api().ListPods("", "");
  if (!pods.ok()) return pods.error();
  const auto nodes = cluster_->api().ListNodes("");
  if (!nodes.ok()) return nodes.error();
  std::unordered_map<std::string, Amount> taken;
  for (const api::PodPtr& pod : *pods) {
    const bool runs = !pod->node_name.empty() && !pod->IsTerminal();
    if (runs) taken[pod->node_name.str()] += AmountOf(*pod);
  }
  const auto share = [](int64_t part, int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  };
  for (const api::NodePtr& node : *nodes) {
    const Amount offered = AmountOf(node->allocatable);
    const Amount& sum = taken[node->meta.name];
    summary.fullest_cpu = std::max(summary.fullest_cpu, share(sum.cpu_milli, offered.cpu_milli));
    summary.fullest_memory =
        std::max(summary.fullest_memory, share(sum.memory_bytes, offered.memory_bytes));
  }
  const std::vector<std::string> over = OverCapacity(*nodes, *pods);
  summary.failures.insert(summary.failures.end(), over.begin(), over.end());
  return AddGroups(*pods, summary);
}

// What the scheduler told the workload's groups.
Result<void> Demo::AddGroups(const std::vector<api::PodPtr>& pods, DemoSummary& summary) {
  if (gates_.empty()) return {};
  const std::string path = fmt::format("/apis/{}/namespaces/{}/{}?labelSelector={}",
                                       api::kKindOf<api::PodGroup>.ApiVersion(), workload_.ns,
                                       api::kKindOf<api::PodGroup>.plural, Selector(workload_));
  const client::RestReply reply = cluster_->api().rest().Get(path, std::chrono::seconds(30));
  if (!reply.ok()) return Error{"listing PodGroups: " + reply.error->message};
  auto groups = ReadGroupOutcomes(reply.body, pods);
  if (!groups.ok()) return groups.error();
  summary.groups = std::move(groups).value();
  return {};
}

void Demo::CheckPending(DemoSummary& summary) {
  const std::vector<std::string> violations = monitor_->Violations();
  summary.failures.insert(summary.failures.end(), violations.begin(), violations.end());
  for (const ReasonCount& reason : monitor_->PendingUnexpected()) {
    summary.failures.push_back(
        fmt::format("{} pods that should be bound are not: {}", reason.pods, reason.reason));
  }
}

void Demo::StopScheduler(DemoSummary& summary) {
  if (!scheduler_ || !scheduler_->Running()) return;
  const Process::End end = scheduler_->Stop(std::chrono::seconds(10));
  if (!end.clean) summary.failures.push_back("the scheduler did not end by itself: " + end.how);
}

Result<DemoSummary> Demo::Summarize() {
  const ViewState view = View(nullptr);
  DemoSummary summary{.title = view.title, .scheduler = view.scheduler};
  summary.pods = view.planned;
  summary.placeable = placeable_;
  summary.bound = monitor_->Progress().placeable_bound;
  summary.bind_seconds =
      view.rate_average > 0 ? static_cast<double>(view.bound - 1) / view.rate_average : 0;
  summary.rate_average = view.rate_average;
  for (const double rate : view.rate_history) {
    summary.rate_best_second = std::max(summary.rate_best_second, rate);
  }
  summary.latency = view.latency;
  summary.cpu_fill = view.cpu_fill;
  summary.memory_fill = view.memory_fill;
  const auto figures = [](const ProcessFigures& process) {
    return ProcessSummary{.known = process.known,
                          .cpu_seconds = process.cpu_seconds,
                          .resident_mb = process.resident_mb};
  };
  summary.scheduler_process = figures(view.scheduler_process);
  summary.server_process = figures(view.server_process);
  if (!failure_.empty()) summary.failures.push_back(failure_);
  CheckPending(summary);
  if (Result<void> checked = CheckPlacement(summary); !checked.ok()) {
    if (failure_.empty()) return Error{checked.error().message + SchedulerLog()};
  }
  // What is pending and not expected to be has been told as a failure.
  if (summary.bound == placeable_) summary.left_pending = view.pending;
  const bool stays = options_.keep || options_.ui;
  if (!stays || !summary.failures.empty()) StopScheduler(summary);
  return summary;
}

Result<void> Demo::LeaveOrStay() {
  const std::string kubectl = "kubectl --kubeconfig " + cluster_->admin_kubeconfig();
  if (options_.keep || options_.ui) {
    if (ui_) Say("page: " + ui_->server->url());
    Say(fmt::format("\nserver{} stay until Ctrl-C: {} get pods -o wide",
                    scheduler_ ? " and scheduler" : "", kubectl));
    while (!signals_.Stopped()) {
      signals_.Wait(std::chrono::seconds(1));
      EmbeddedServer* server = cluster_->server();
      if (server != nullptr && !server->process().Running()) {
        return Error{"the API server ended: " + server->process().Wait().how};
      }
      if (scheduler_ && !scheduler_->Running()) {
        return Error{"the scheduler ended: " + scheduler_->Wait().how + SchedulerLog()};
      }
    }
    DemoSummary ignored;
    StopScheduler(ignored);
  }
  if (cluster_->server() != nullptr) return {};
  if (options_.clean_up) return cluster_->Remove(workload_, objects_);
  Say(fmt::format("left for you to look at: {} get pods -n {} -l {} -o wide", kubectl, workload_.ns,
                  Selector(workload_)));
  return {};
}

Result<int> Demo::Run() {
  for (Result<void> (Demo::*step)() :
       {&Demo::Plan, &Demo::Prepare, &Demo::StartSchedulerProcess, &Demo::Watch}) {
    const Result<void> done = (this->*step)();
    if (signals_.Stopped()) {
      Say("interrupted");
      return kInterruptedStatus;
    }
    if (!done.ok()) return Error{done.error().message + SchedulerLog()};
  }
  const Result<DemoSummary> summary = Summarize();
  if (!summary.ok()) return summary.error();
  Say(SummaryText(*summary));
  if (!summary->failures.empty()) {
    const std::string log = SchedulerLog();
    if (!log.empty()) std::fprintf(stderr, "%s", log.c_str() + 1);
    return 1;
  }
  if (Result<void> left = LeaveOrStay(); !left.ok()) return left.error();
  return 0;
}

}  // namespace

int RunDemo(const DemoOptions& options) {
  Signals signals;
  const Result<int> status = Demo(options, signals).Run();
  return status.ok() ? *status : Fail(status.error().message);
}

}  // namespace ks::ctl
