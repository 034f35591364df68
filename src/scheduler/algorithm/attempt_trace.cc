// SPDX-License-Identifier: Apache-2.0
#include "scheduler/algorithm/attempt_trace.h"

#include <array>
#include <cstdio>
#include <ctime>

#include "base/logging.h"

namespace ks::scheduler {
namespace {

int64_t Milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// "15:04:05.000", with "22-Nov-2026 " in front if `date`; local time.
std::string TimeText(TimePoint wall, bool date) {
  const int64_t milliseconds = Milliseconds(wall.time_since_epoch());
  const std::time_t seconds = milliseconds / 1000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), date ? "%d-%b-%Y %H:%M:%S" : "%H:%M:%S", &parts);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03d", static_cast<int>(milliseconds % 1000));
  return std::string(text.data()) + fraction.data();
}

}  // namespace

AttemptTrace::AttemptTrace(const Clock* clock, const api::Pod& pod)
    : clock_(clock), pod_(pod), active_(clock != nullptr && log::Enabled(2)) {
  if (!active_) return;
  start_ = clock_->Now();
  wall_start_ = clock_->WallNow();
}

void AttemptTrace::Step(std::string_view what) {
  if (active_) steps_.push_back({what, clock_->Now()});
}

AttemptTrace::~AttemptTrace() {
  if (!active_) return;
  const Duration total = clock_->Now() - start_;
  if (total < kSlow) return;
  // Tells the blocks of one log apart.
  const std::string head =
      "Trace[" + std::to_string(start_.time_since_epoch().count() & 0x7fffffff) + "]: ";
  std::string text = head + "\"Scheduling\" namespace:" + pod_.meta.ns.str() +
                     ",name:" + pod_.meta.name + " (" + TimeText(wall_start_, true) +
                     ") (total time: " + std::to_string(Milliseconds(total)) + "ms):\n";
  TimePoint before = start_;
  for (const Ended& step : steps_) {
    const Duration took = step.at - before;
    before = step.at;
    if (took < kSlowStep) continue;
    text.append(head).append("---\"").append(step.what).append("\" ");
    text += std::to_string(Milliseconds(took)) + "ms (" +
            TimeText(wall_start_ + (step.at - start_), false) + ")\n";
  }
  const std::string whole = "[" + FormatDuration(total) + "] ";
  log::Plain('I', text + head + whole + whole + "END");
}

}  // namespace ks::scheduler
