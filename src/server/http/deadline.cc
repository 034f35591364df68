// SPDX-License-Identifier: Apache-2.0
#include "server/http/deadline.h"

#include <utility>

namespace ks::server {

Deadline::Deadline(boost::asio::io_context& io) : timer_(io, SteadyClock::time_point::max()) {}

void Deadline::Start(std::weak_ptr<void> owner, std::function<void()> on_missed) {
  owner_ = std::move(owner);
  on_missed_ = std::move(on_missed);
}

void Deadline::ExpireAfter(Duration timeout) {
  time_ = SteadyClock::now() + timeout;
  if (time_ < timer_.expiry()) {
    Await();
  }
}

void Deadline::Clear() { time_ = SteadyClock::time_point::max(); }

// The weak pointer: a timer that has fired cannot be canceled, and its owner may be gone.
void Deadline::Await() {
  timer_.expires_at(time_);
  timer_.async_wait([this, weak = owner_](const boost::system::error_code& error) {
    const std::shared_ptr<void> owner = weak.lock();
    if (!error && owner) {
      OnTimer();
    }
  });
}

void Deadline::OnTimer() {
  if (time_ <= SteadyClock::now()) {
    missed_ = true;
    on_missed_();
  } else if (time_ == SteadyClock::time_point::max()) {
    timer_.expires_at(time_);
  } else {
    Await();
  }
}

}  // namespace ks::server
