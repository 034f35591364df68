// SPDX-License-Identifier: Apache-2.0
// kubeschedctl demo: made-up nodes and pods on a real API server, scheduled by kubesched, checked.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <future>
#include <memory>
#include <system_error>
#include <utility>

#include "commands.h"
#include "pod_tracker.h"
#include "process.h"
#include "scheduler_run.h"

namespace ks::ctl {
namespace {

using std::chrono::steady_clock;

class Demo {
 public:
  explicit Demo(const DemoOptions& options)
      : options_(options),
        binary_(options.kubesched.empty() ? OwnFolder() + "/kubesched" : options.kubesched),
        workload_(options.workload) {}

  Result<void> Run();
  bool passed() const { return passed_; }

 private:
  Result<void> Prepare();
  Result<void> StartKubesched();
  Result<void> SchedulePods();
  bool Tick(size_t bound);
  Result<void> Check(double cpu_seconds, int64_t resident_bytes);
  Error WithLog(const std::string& text);

  const DemoOptions& options_;
  const std::string binary_;
  const Workload& workload_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::unique_ptr<Process> scheduler_;
  std::unique_ptr<PodTracker> tracker_;
  SteadyTime start_;
  size_t last_bound_ = 0;
  std::atomic<bool> creation_failed_ = false;
  bool passed_ = false;
};

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

double SecondsSince(SteadyTime start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

Error Demo::WithLog(const std::string& text) {
  if (!scheduler_) {
    return Error{text};
  }
  folder_->Keep();
  return Error{text + "\nthe end of its log, " + scheduler_->log_path() + ":\n" +
               LastLines(scheduler_->log_path(), 10)};
}

Result<void> Demo::Prepare() {
  if (!options_.no_scheduler && ::access(binary_.c_str(), X_OK) != 0) {
    return Error{"cannot run " + binary_ + ": " + std::generic_category().message(errno)};
  }
  Result<std::unique_ptr<Cluster>> cluster = Cluster::Open(options_.kubeconfig);
  if (!cluster.ok()) {
    return cluster.error();
  }
  cluster_ = std::move(cluster).value();
  Result<std::unique_ptr<TemporaryFolder>> folder = TemporaryFolder::Make();
  if (!folder.ok()) {
    return folder.error();
  }
  folder_ = std::move(folder).value();
  if (Result<void> removed = RemoveWorkload(*cluster_, workload_); !removed.ok()) {
    return removed;
  }
  Say(fmt::format("{}: making {} nodes in {} zones", cluster_->server(), workload_.nodes,
                  workload_.zones));
  return CreateNodes(*cluster_, workload_);
}

Result<void> Demo::StartKubesched() {
  if (options_.no_scheduler) {
    return {};
  }
  const std::string& kubeconfig =
      options_.scheduler_kubeconfig.empty() ? options_.kubeconfig : options_.scheduler_kubeconfig;
  Result<std::unique_ptr<Process>> started =
      StartScheduler(binary_, kubeconfig, options_.qps, folder_->path());
  if (!started.ok()) {
    return started.error();
  }
  scheduler_ = std::move(started).value();
  Say("started " + binary_);
  return {};
}

// Prints the progress; false ends the waiting.
bool Demo::Tick(size_t bound) {
  Say(fmt::format("{:5.0f} s  {:6}/{} pods bound  {:5} pods/s", SecondsSince(start_), bound,
                  workload_.pods, bound - last_bound_));
  last_bound_ = bound;
  return !creation_failed_ && (!scheduler_ || scheduler_->Running());
}

Result<void> Demo::SchedulePods() {
  tracker_ = std::make_unique<PodTracker>(*cluster_, workload_);
  if (Result<void> synced = tracker_->AwaitSynced(std::chrono::seconds(30)); !synced.ok()) {
    return synced;
  }
  Say(fmt::format("making {} pods", workload_.pods));
  start_ = steady_clock::now();
  std::future<Result<void>> creation = std::async(std::launch::async, [this] {
    Result<void> created = CreatePods(*cluster_, workload_);
    creation_failed_ = !created.ok();
    return created;
  });
  const bool all = tracker_->AwaitBound(workload_.pods, start_ + options_.timeout,
                                        [this](size_t bound) { return Tick(bound); });
  if (Result<void> created = creation.get(); !created.ok()) {
    return created;
  }
  if (scheduler_ && !scheduler_->Running()) {
    return WithLog("the scheduler ended: " + scheduler_->Wait().how);
  }
  if (!all) {
    return WithLog(fmt::format("only {} of {} pods were bound within {} s", tracker_->Bound(),
                               workload_.pods, options_.timeout.count()));
  }
  return {};
}

Result<void> Demo::Check(double cpu_seconds, int64_t resident_bytes) {
  const Result<std::vector<std::string>> violations = VerifyPlacement(*cluster_, workload_);
  if (!violations.ok()) {
    return violations.error();
  }
  const BindTimes times = tracker_->Times();
  const Pace pace = PaceOf(times);
  const std::chrono::duration<double> span = times.back() - times.front();
  Say(fmt::format(
      "\n{} pods bound on {} nodes in {:.2f} s: {:.0f} pods/s on average, {:.0f} in the "
      "median second",
      times.size(), workload_.nodes, span.count(), pace.average, pace.median_per_second));
  if (scheduler_) {
    Say(fmt::format("scheduler: {:.2f} s CPU ({:.3f} ms a pod), {:.0f} MB resident", cpu_seconds,
                    cpu_seconds * 1000 / static_cast<double>(times.size()),
                    static_cast<double>(resident_bytes) / 1e6));
  }
  std::vector<std::string> all = tracker_->Moved();
  all.insert(all.end(), violations->begin(), violations->end());
  for (const std::string& violation : all) {
    Say("WRONG: " + violation);
  }
  passed_ = all.empty();
  if (passed_) {
    Say("checked: every pod is bound once, no node is over its CPU, memory or number of pods");
  }
  return {};
}

Result<void> Demo::Run() {
  if (Result<void> done = Prepare(); !done.ok()) {
    return done;
  }
  if (Result<void> done = StartKubesched(); !done.ok()) {
    return done;
  }
  if (Result<void> done = SchedulePods(); !done.ok()) {
    return done;
  }
  int64_t resident_bytes = 0;
  double cpu_seconds = 0;
  if (scheduler_) {
    const Result<ProcessUsage> usage = scheduler_->Usage();
    resident_bytes = usage.ok() ? usage->resident_bytes : 0;
    const Process::End end = scheduler_->Stop(std::chrono::seconds(10));
    cpu_seconds = end.cpu_seconds;
    if (!end.clean) {
      return WithLog("the scheduler did not end by itself: " + end.how);
    }
  }
  if (Result<void> checked = Check(cpu_seconds, resident_bytes); !checked.ok()) {
    return checked;
  }
  if (options_.clean_up) {
    return RemoveWorkload(*cluster_, workload_);
  }
  Say(fmt::format("left for you to look at: kubectl get pods -n {} -l {} -o wide", workload_.ns,
                  Selector(workload_)));
  return {};
}

}  // namespace

int Fail(const std::string& text) {
  std::fprintf(stderr, "kubeschedctl: %s\n", text.c_str());
  return 1;
}

int RunDemo(const DemoOptions& options) {
  Demo demo(options);
  const Result<void> done = demo.Run();
  if (!done.ok()) {
    return Fail(done.error().message);
  }
  return demo.passed() ? 0 : 1;
}

}  // namespace ks::ctl
