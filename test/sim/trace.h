// SPDX-License-Identifier: Apache-2.0
#pragma once
// What happened in a simulation, line by line: a hash of all lines (the same seed must give the
// same one), the last lines for a failure's report, or everything as it happens.

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"

namespace ks::sim {

// Threads: one.
class Trace {
 public:
  // `print`: every line goes to stdout at once.
  explicit Trace(bool print) : print_(print) { Current() = this; }
  ~Trace() { Current() = nullptr; }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // The latest one; null when it is gone. For reports of crashes.
  static const Trace* current() { return Current(); }

  // One line: virtual time since start, who, what.
  template <class... Args>
  void Line(TimePoint now, std::string_view who, fmt::format_string<Args...> format,
            Args&&... args) {
    if (start_ == TimePoint{}) start_ = now;
    line_.clear();
    fmt::format_to(std::back_inserter(line_), "{:>14.6f} {:<9} ",
                   static_cast<double>((now - start_).count()) / 1e9, who);
    fmt::format_to(std::back_inserter(line_), format, std::forward<Args>(args)...);
    Keep();
  }

  uint64_t hash() const { return hash_; }
  uint64_t lines() const { return lines_; }
  const std::deque<std::string>& last() const { return last_; }

 private:
  static Trace*& Current() {
    static Trace* current = nullptr;
    return current;
  }

  static constexpr size_t kLast = 60;

  void Keep() {
    for (const char c : line_) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    hash_ = (hash_ ^ '\n') * 0x100000001b3ULL;
    ++lines_;
    if (print_) std::printf("%s\n", line_.c_str());
    if (last_.size() < kLast) {
      last_.push_back(line_);
      return;
    }
    std::string reused = std::move(last_.front());
    last_.pop_front();
    reused = line_;
    last_.push_back(std::move(reused));
  }

  const bool print_;
  TimePoint start_{};
  std::string line_;
  uint64_t hash_ = 0xcbf29ce484222325ULL;
  uint64_t lines_ = 0;
  std::deque<std::string> last_;
};

}  // namespace ks::sim
