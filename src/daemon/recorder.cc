// SPDX-License-Identifier: Apache-2.0
#include "daemon/recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <variant>

#include "base/file_text.h"
#include "base/logging.h"

namespace ks::daemon {
namespace {

constexpr size_t kBatchBytes = size_t{1} << 20;
constexpr size_t kMostKeptBytes = 4 * kBatchBytes;
constexpr size_t kBytesOfRound = 512;  // about; decisions included
// What comes within it, unless it is a whole batch, is written together: to wake a thread and to
// write a file for each round costs more CPU than the round.
constexpr Duration kRecordGatherTime = std::chrono::milliseconds(100);

// "2026-01-02T03:04:05Z" as "20260102T030405Z".
std::string CompactTime(TimePoint time) {
  std::string text = FormatTime(time);
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

// What the objects of a round weigh.
class Weight {
 public:
  template <class T>
  void operator()(const std::vector<api::Delta<T>>& deltas) {
    for (const api::Delta<T>& delta : deltas) {
      Add(delta.text);
      for (const api::ObjectText& text : delta.texts) Add(text);
    }
  }
  void operator()(const scheduler::OwnerDeltas& deltas) { std::visit(*this, deltas); }
  void operator()(const scheduler::StorageDeltas& deltas) { std::visit(*this, deltas); }
  void operator()(const scheduler::DeviceDeltas& deltas) { std::visit(*this, deltas); }
  void operator()(const scheduler::GroupDeltas& deltas) { std::visit(*this, deltas); }
  void operator()(const scheduler::ExtenderAnswer& answer) { bytes_ += answer.reply.body.size(); }
  template <class Other>
  void operator()(const Other& /*input*/) {
    bytes_ += kBytesOfRound;
  }
  size_t bytes() const { return bytes_; }

 private:
  void Add(const api::ObjectText& text) { bytes_ += text.text.size(); }
  size_t bytes_ = kBytesOfRound;
};

size_t WeightOf(const scheduler::StepRecord& record) {
  Weight weight;
  for (const scheduler::StepInput& input : record.inputs) std::visit(weight, input);
  return weight.bytes();
}

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::Open(RecorderOptions options,
                                                 const recording::RecordingHeader& header) {
  const std::string file = options.folder + "/kubesched-" + CompactTime(header.began) + "-" +
                           std::to_string(::getpid()) + "-" + std::to_string(header.term) +
                           ".jsonl";
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    return Error{"--record: make " + file + ": " + SystemErrorText(errno) +
                 "; it must be in a folder that exists and that kubesched may write to"};
  }
  std::unique_ptr<Recorder> recorder(new Recorder(std::move(options), file, fd));
  recorder->lines_ = recording::HeaderLine(header);
  if (!recorder->Flush()) return Error{"--record: write " + file + " failed"};
  recorder->thread_ = std::thread([raw = recorder.get()] { raw->Run(); });
  log::Info(0, "Recording what the scheduler is told and decides", {{"file", file}});
  return recorder;
}

Recorder::Recorder(RecorderOptions options, std::string file, int fd)
    : options_(std::move(options)), file_(std::move(file)), fd_(fd) {}

Recorder::~Recorder() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    changed_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
  ::close(fd_);
}

void Recorder::Add(scheduler::StepRecord record) {
  const size_t weight = WeightOf(record);
  MutexLock lock(mutex_);
  if (closed_) return;
  if (!waiting_.empty() && waiting_bytes_ + weight > options_.most_waiting_bytes) {
    closed_ = overflown_ = true;
    changed_.NotifyOne();
    return;
  }
  const bool batch_full = waiting_bytes_ < kBatchBytes && waiting_bytes_ + weight >= kBatchBytes;
  waiting_bytes_ += weight;
  waiting_.push_back(std::move(record));
  if (waiting_.size() == 1 || batch_full) changed_.NotifyOne();
}

void Recorder::Run() {
  for (bool ending = false; !ending;) {
    std::vector<scheduler::StepRecord> records;
    bool overflown = false;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !ending_ && !overflown_) changed_.Wait(mutex_);
      if (!ending_ && !overflown_ && waiting_bytes_ < kBatchBytes) {
        (void)changed_.WaitFor(mutex_, kRecordGatherTime);
      }
      records.swap(waiting_);
      waiting_bytes_ = 0;
      overflown = std::exchange(overflown_, false);
      ending = ending_;
    }
    Write(records);
    if (overflown) GiveUp("more was to be recorded than the disk takes");
  }
  if (!over_) (void)WriteAll(recording::EndLine(recording::kStopped));
}

void Recorder::Write(const std::vector<scheduler::StepRecord>& records) {
  for (const scheduler::StepRecord& record : records) {
    if (over_) return;
    const size_t whole = lines_.size();
    if (Result<void> appended = recording::AppendLines(record, &lines_); !appended.ok()) {
      lines_.resize(whole);
      if (Flush()) GiveUp(appended.error().message);
      return;
    }
    if (lines_.size() >= kBatchBytes && !Flush()) return;
  }
  (void)Flush();
  // A first list may be as large as the cluster.
  if (lines_.capacity() > kMostKeptBytes) std::string().swap(lines_);
}

bool Recorder::Flush() {
  if (over_) return false;
  if (!WriteAll(lines_)) {
    GiveUp(SystemErrorText(errno));
    return false;
  }
  last_batch_ = size_;
  size_ += static_cast<off_t>(lines_.size());
  lines_.clear();
  return true;
}

bool Recorder::WriteAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = options_.write ? options_.write(fd_, text.data(), text.size())
                                           : ::write(fd_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// The file keeps whole rounds only. If the disk is full, the last ones make room for the last line.
void Recorder::GiveUp(const std::string& why) {
  over_ = true;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    waiting_.clear();
  }
  log::Error(why, "The recording ends here", {{"file", file_}});
  for (const off_t end : {size_, last_batch_}) {
    if (end == 0 || ::ftruncate(fd_, end) != 0 || ::lseek(fd_, end, SEEK_SET) != end) continue;
    if (WriteAll(recording::EndLine(why))) return;
  }
}

}  // namespace ks::daemon
