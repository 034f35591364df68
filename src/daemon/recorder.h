// SPDX-License-Identifier: Apache-2.0
#pragma once
// The recording of a term: a file for `kubeschedctl replay` (recording/recording.h).
//
// Upstream: none; it has no such thing. The file: docs/debugging.md.

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "recording/recording.h"

namespace ks::daemon {

struct RecorderOptions {
  std::string folder;
  // The size of the objects that wait for the disk. One round may be larger, if nothing else waits.
  size_t most_waiting_bytes = size_t{256} << 20;
  std::function<ssize_t(int, const void*, size_t)> write{};  // empty: the system's
};

// Add never waits for the disk: a thread of its own writes. When the disk is full, or slower than
// what is to be recorded, the recording ends with a line that says so, and the log tells it once.
// Threads: Add one; the rest one. Lifetime: the destructor writes what waits and the last line.
class Recorder {
 public:
  // Makes FOLDER/kubesched-<time>-<process>-<term>.jsonl, readable by its owner only, as objects
  // are in it whole. Error: it cannot.
  static Result<std::unique_ptr<Recorder>> Open(RecorderOptions options,
                                                const recording::RecordingHeader& header);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void Add(scheduler::StepRecord record) KS_EXCLUDES(mutex_);
  const std::string& file() const { return file_; }

 private:
  Recorder(RecorderOptions options, std::string file, int fd);
  void Run() KS_EXCLUDES(mutex_);
  void Write(const std::vector<scheduler::StepRecord>& records);
  // Both false: the recording is over.
  bool Flush();
  bool WriteAll(std::string_view text);
  void GiveUp(const std::string& why) KS_EXCLUDES(mutex_);

  const RecorderOptions options_;
  const std::string file_;
  // The writing thread's.
  const int fd_;
  std::string lines_;     // of a batch; keeps its memory, if it is not large
  off_t size_ = 0;        // of what was written whole
  off_t last_batch_ = 0;  // where the last part of it begins
  bool over_ = false;

  Mutex mutex_;
  CondVar changed_;
  std::vector<scheduler::StepRecord> waiting_ KS_GUARDED_BY(mutex_);
  size_t waiting_bytes_ KS_GUARDED_BY(mutex_) = 0;
  bool overflown_ KS_GUARDED_BY(mutex_) = false;
  bool closed_ KS_GUARDED_BY(mutex_) = false;  // nothing is taken any more
  bool ending_ KS_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ks::daemon
