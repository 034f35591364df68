// SPDX-License-Identifier: Apache-2.0
#pragma once
// A time by which a connection must have got on. It is moved with every step, so moving it is
// cheap: the timer is touched only when it would fire too late.

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>

#include "base/clock.h"

namespace ks::server {

// Threads: that of the event loop. Lifetime: part of its owner.
class Deadline {
 public:
  explicit Deadline(boost::asio::io_context& io);

  // Says what happens when the deadline passes while `owner` is alive. Requires: called once,
  // before ExpireAfter.
  void Start(std::weak_ptr<void> owner, std::function<void()> on_missed);

  // Replaces the time that was set before.
  void ExpireAfter(Duration timeout);
  // There is no deadline until the next ExpireAfter.
  void Clear();
  // It has passed, and on_missed was called.
  bool missed() const { return missed_; }

 private:
  using SteadyClock = std::chrono::steady_clock;

  void Await();
  void OnTimer();

  boost::asio::steady_timer timer_;  // its expiry: when it fires; the maximum: it does not
  SteadyClock::time_point time_ = SteadyClock::time_point::max();
  std::weak_ptr<void> owner_;
  std::function<void()> on_missed_;
  bool missed_ = false;
};

}  // namespace ks::server
