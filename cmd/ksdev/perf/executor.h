// SPDX-License-Identifier: Apache-2.0
#pragma once
// Carries out the operations of one workload on a cluster with one scheduler.
//
// Upstream: test/integration/scheduler_perf, README.md and the comments of its operations, v1.37.1.

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "ksdev/perf/case_file.h"
#include "ksdev/perf/collector.h"
#include "ksdev/perf/measured_scheduler.h"
#include "ksdev/perf/object_client.h"
#include "ksdev/perf/operations.h"
#include "ksdev/perf/pod_objects.h"
#include "ksdev/perf/pod_watch.h"
#include "ksdev/perf/workers.h"
#include "kubeschedctl/cluster/cluster.h"

namespace ks::ctl::dev::perf {

struct ExecutorOptions {
  const PerfCase& perf_case;
  bool embedded_server = false;       // instead of kube-apiserver, set up as upstream's
  std::chrono::seconds timeout{600};  // of each waiting for pods
};

// Threads: one, which blocks. Lifetime: borrows all.
class Executor {
 public:
  Executor(Cluster& cluster, PodWatch& pods, MeasuredScheduler& scheduler,
           const ExecutorOptions& options);

  // What goes on in the background ends with it. Error: of the first operation that fails, with
  // its number.
  Result<void> Run(const std::vector<Operation>& operations);

  const std::vector<Collected>& collected() const { return collector_.collected(); }

 private:
  Result<void> Do(const CreateNodes& nodes, size_t index);
  Result<void> Do(const CreateNamespaces& namespaces, size_t index);
  Result<void> Do(const CreatePods& pods, size_t index);
  Result<void> Do(const CreateAny& any, size_t index);
  Result<void> Do(const UpdateAny& any, size_t index);
  Result<void> Do(const DeletePods& pods, size_t index);
  Result<void> Do(const Churn& churn, size_t index);
  Result<void> Do(const Barrier& barrier, size_t index);
  Result<void> Do(const Sleep& sleep, size_t index);
  Result<void> Do(const StartCollecting& start, size_t index);
  Result<void> Do(const StopCollecting& stop, size_t index);
  Result<void> Do(const AllocateClaims& claims, size_t index);

  Result<void> UpdateOne(const UpdateAny& any, const nlohmann::json& object);
  // Calls work(0) … work(count - 1), so many a second; 0: as fast as it goes.
  Result<void> Paced(size_t count, size_t per_second,
                     const std::function<Result<void>(size_t)>& work);
  Result<void> CreateOne(const PodObjects& objects, const std::string& ns, size_t index,
                         size_t count);
  Result<void> CreateMany(const PodObjects& objects, const std::string& ns, size_t count);
  Result<void> KeepSteady(const PodObjects& objects, const std::string& ns, const CreatePods& pods);
  Result<void> Await(const PodSelection& selection, size_t count, bool attempted);

  const ExecutorOptions options_;
  PodWatch& pods_;
  MeasuredScheduler& scheduler_;
  ObjectClient objects_;
  Collector collector_;
  size_t nodes_ = 0;                       // created so far
  std::map<std::string, size_t> awaited_;  // pods that barriers wait for, by namespace
  Background background_;
};

}  // namespace ks::ctl::dev::perf
