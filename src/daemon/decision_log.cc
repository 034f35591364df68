// SPDX-License-Identifier: Apache-2.0
#include "daemon/decision_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file_text.h"
#include "base/logging.h"
#include "inspect/decision_json.h"

namespace ks::daemon {
namespace {

// What comes within it is written together: to wake a thread and to flush a file for each decision
// costs more CPU than the decision.
constexpr Duration kLogGatherTime = std::chrono::milliseconds(100);

}  // namespace

Result<std::unique_ptr<DecisionLog>> DecisionLog::Open(DecisionLogOptions options,
                                                       metrics::Registry& metrics) {
  metrics::Counter& dropped =
      metrics
          .AddCounter({.name = "kubesched_decision_log_dropped_total",
                       .stability = metrics::Stability::kAlpha,
                       .help = "Decisions that are missing in the decision log, because the disk "
                               "was too slow, full or broken."})
          .Add({});
  std::unique_ptr<DecisionLog> log(new DecisionLog(std::move(options), dropped));
  if (Result<void> opened = log->OpenFile(); !opened.ok()) return opened.error();
  log->thread_ = std::thread([raw = log.get()] { raw->Run(); });
  return log;
}

DecisionLog::DecisionLog(DecisionLogOptions options, metrics::Counter& dropped)
    : options_(std::move(options)), dropped_(dropped) {}

DecisionLog::~DecisionLog() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    changed_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
  if (file_ != nullptr) std::fclose(file_);
}

Result<void> DecisionLog::OpenFile() {
  const int file =
      ::open(options_.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, rights_);
  file_ = file < 0 ? nullptr : ::fdopen(file, "a");
  if (file_ == nullptr) {
    return Error{"open the decision log " + options_.file + ": " + SystemErrorText(errno)};
  }
  struct stat status {};
  bytes_ = ::fstat(fileno(file_), &status) == 0 ? static_cast<size_t>(status.st_size) : 0;
  return {};
}

void DecisionLog::Add(const scheduler::Decision& decision) {
  MutexLock lock(mutex_);
  if (waiting_.size() >= options_.most_waiting) {
    ++overflown_;
    return;
  }
  waiting_.push_back(decision);
  if (waiting_.size() == 1 || waiting_.size() == options_.most_waiting / 2) changed_.NotifyOne();
}

void DecisionLog::Run() {
  for (bool ending = false; !ending;) {
    std::vector<scheduler::Decision> decisions;
    size_t overflown = 0;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !ending_) changed_.Wait(mutex_);
      if (!ending_) (void)changed_.WaitFor(mutex_, kLogGatherTime);
      decisions.swap(waiting_);
      overflown = std::exchange(overflown_, 0);
      ending = ending_;
    }
    if (overflown > 0) {
      Drop(overflown, "decisions come faster than they can be written");
    }
    Write(decisions);
  }
}

void DecisionLog::Write(const std::vector<scheduler::Decision>& decisions) {
  for (const scheduler::Decision& decision : decisions) {
    WriteLine(inspect::DecisionJson(decision) + "\n");
  }
  if (file_ != nullptr && std::fflush(file_) != 0) Drop(1, SystemErrorText(errno));
}

void DecisionLog::WriteLine(const std::string& line) {
  if (bytes_ + line.size() > options_.rotate_bytes && bytes_ > 0) Rotate();
  if (file_ == nullptr) {
    if (Result<void> opened = OpenFile(); !opened.ok()) {
      Drop(1, opened.error().message);
      return;
    }
    ::fchmod(fileno(file_), rights_);
  }
  if (std::fwrite(line.data(), 1, line.size(), file_) != line.size()) {
    Drop(1, SystemErrorText(errno));
    return;
  }
  bytes_ += line.size();
  failing_ = false;
}

void DecisionLog::Rotate() {
  if (file_ != nullptr) {
    struct stat status {};
    if (::fstat(fileno(file_), &status) == 0) rights_ = status.st_mode & 0777;
    std::fclose(file_);
  }
  file_ = nullptr;
  bytes_ = 0;
  const std::string former = options_.file + ".1";
  if (std::rename(options_.file.c_str(), former.c_str()) == 0) return;
  log::Error(SystemErrorText(errno), "The decision log cannot be rotated",
             {{"file", options_.file}, {"to", former}});
}

void DecisionLog::Drop(size_t count, const std::string& why) {
  dropped_.Increment(static_cast<double>(count));
  if (std::exchange(failing_, true)) return;
  log::Error(why, "Decisions are missing in the decision log", {{"file", options_.file}});
}

}  // namespace ks::daemon
