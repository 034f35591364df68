// SPDX-License-Identifier: Apache-2.0
#pragma once
// The decision log: every decision as a line of JSON, in a file of bounded size, for audits. The
// file is its owner's alone, for it names pods of all namespaces; whoever changes that is followed
// at rotation.
//
// Upstream: none; it has no such thing. The lines: inspect/decision_json.h, docs/debugging.md.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "metrics/registry.h"
#include "scheduler/decision_ring.h"

namespace ks::daemon {

struct DecisionLogOptions {
  std::string file;
  // Beyond it the file becomes FILE.1, replacing the former one, and a new one is begun.
  size_t rotate_bytes = size_t{100} << 20;
  size_t most_waiting = 10'000;  // decisions; more are dropped
};

// Add never waits for the disk: a thread of its own writes. What cannot be written is counted
// (kubesched_decision_log_dropped_total) and told in the log, once for each time it begins.
// Threads: Add any; the rest one. Lifetime: `metrics` outlives it; the destructor writes what
// waits.
class DecisionLog {
 public:
  // Appends to the file. Error: it cannot be opened.
  static Result<std::unique_ptr<DecisionLog>> Open(DecisionLogOptions options,
                                                   metrics::Registry& metrics);
  ~DecisionLog();
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  void Add(const scheduler::Decision& decision) KS_EXCLUDES(mutex_);

 private:
  DecisionLog(DecisionLogOptions options, metrics::Counter& dropped);
  Result<void> OpenFile();
  void Run() KS_EXCLUDES(mutex_);
  void Write(const std::vector<scheduler::Decision>& decisions);
  void WriteLine(const std::string& line);
  void Rotate();
  void Drop(size_t count, const std::string& why);

  const DecisionLogOptions options_;
  metrics::Counter& dropped_;
  // The writing thread's.
  std::FILE* file_ = nullptr;
  size_t bytes_ = 0;      // of the file
  mode_t rights_ = 0600;  // of a new file; after the first one, its predecessor's
  bool failing_ = false;

  Mutex mutex_;
  CondVar changed_;
  std::vector<scheduler::Decision> waiting_ KS_GUARDED_BY(mutex_);
  size_t overflown_ KS_GUARDED_BY(mutex_) = 0;
  bool ending_ KS_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ks::daemon
