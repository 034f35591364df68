// SPDX-License-Identifier: Apache-2.0
// TimeWindow: pods with the label batch=true are held once they have a node, until a daily window
// (UTC) opens; then all of them go on. In C++.
//
//   pluginConfig:
//   - name: TimeWindow
//     args: {opens: "22:00", closes: "06:00"}
//
// A pod waits at most 15 minutes at a time, keeping what its node has for it; then it is tried
// anew.
//
//   g++ -std=c++20 -shared -fPIC -Iinclude examples/plugins/time_window.cc -o time_window.so
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "kubesched/plugin.hpp"

namespace {

constexpr int64_t kNsPerMinute = 60'000'000'000;
constexpr int kMinutesPerDay = 24 * 60;
constexpr int64_t kMostMs = 15LL * 60 * 1000;

// Minutes after midnight of "HH:MM" behind the key. The host writes arguments as compact JSON.
int MinuteOf(std::string_view args, const std::string& key) {
  const size_t at = args.find("\"" + key + "\":\"");
  if (at == std::string_view::npos) throw std::invalid_argument(key + " is missing: give HH:MM");
  const std::string text(args.substr(at + key.size() + 4, 6));
  int hour = 0;
  int minute = 0;
  char quote = 0;
  if (std::sscanf(text.c_str(), "%2d:%2d%c", &hour, &minute, &quote) != 3 || quote != '"' ||
      hour < 0 || hour > 23 || minute < 0 || minute > 59) {
    throw std::invalid_argument(key + " must be a time of day, HH:MM");
  }
  return hour * 60 + minute;
}

class TimeWindow final : public kubesched::PermitPlugin, public kubesched::ReservePlugin {
 public:
  // The wait of a pod ends by itself; no event could help one that it rejected.
  static constexpr ks_event kEvents[] = {{KS_EVENT_TARGET_POD, KS_ACTION_UPDATE_POD_LABEL}};

  TimeWindow(const kubesched::Host& host, std::string_view args)
      : host_(host),
        batch_(host.Name("batch")),
        opens_(MinuteOf(args, "opens")),
        closes_(MinuteOf(args, "closes")),
        thread_([this] { LetGo(); }) {}
  ~TimeWindow() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  kubesched::Status Permit(kubesched::Call, kubesched::Pod pod, std::string_view,
                           int64_t* timeout_ms) override {
    if (pod.Label(batch_) != "true" || IsOpen()) return {};
    {
      const std::lock_guard lock(mutex_);
      waiting_.insert(std::string(pod.Uid()));
    }
    changed_.notify_all();
    *timeout_ms = kMostMs;
    host_.Count("held");
    return KS_WAIT;
  }

  kubesched::Status Reserve(kubesched::Call, kubesched::Pod, std::string_view) override {
    return {};
  }
  // Given up: nobody needs to let it go.
  void Unreserve(kubesched::Call, kubesched::Pod pod, std::string_view) override {
    const std::lock_guard lock(mutex_);
    waiting_.erase(std::string(pod.Uid()));
  }

 private:
  // A window that closes earlier than it opens goes over midnight. The scheduler's clock is asked,
  // which is not always the machine's.
  bool IsOpen() const {
    const int minute = static_cast<int>(host_.NowNs() / kNsPerMinute % kMinutesPerDay);
    if (opens_ <= closes_) return minute >= opens_ && minute < closes_;
    return minute >= opens_ || minute < closes_;
  }

  void LetGo() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      if (!waiting_.empty() && IsOpen()) {
        for (const std::string& uid : std::exchange(waiting_, {})) host_.Allow(uid);
      }
      if (waiting_.empty()) {
        changed_.wait(lock);
      } else {
        changed_.wait_for(lock, std::chrono::milliseconds(100));
      }
    }
  }

  const kubesched::Host host_;
  const ks_name batch_;
  const int opens_;
  const int closes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> waiting_;  // by uid
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace

KUBESCHED_MODULE("time-window", "1.0", 0, KUBESCHED_PLUGIN("TimeWindow", TimeWindow));
