// SPDX-License-Identifier: Apache-2.0
#pragma once
// What happens to a daemon while it lives, in order: signals, and the steps of leadership. Posted
// from anywhere, taken by one thread, which alone begins and ends terms.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "api/kinds.h"
#include "base/mutex.h"

namespace ks::daemon {

// What a new leader must know as its predecessor left it.
enum class Inherited : uint8_t { kPods, kClaims, kGroups };

// Calls `use` with a null pointer to the type of its objects.
template <class Use>
decltype(auto) WithType(Inherited what, Use use) {
  switch (what) {
    case Inherited::kClaims:
      return use(static_cast<const api::ResourceClaim*>(nullptr));
    case Inherited::kGroups:
      return use(static_cast<const api::PodGroup*>(nullptr));
    case Inherited::kPods:
      break;
  }
  return use(static_cast<const api::Pod*>(nullptr));
}
inline const api::KindInfo& KindOf(Inherited what) {
  return WithType(what, []<class T>(const T*) -> const api::KindInfo& { return api::kKindOf<T>; });
}

struct LifeEvent {
  enum class Kind : uint8_t {
    kReload,          // SIGHUP
    kDump,            // SIGUSR2
    kTerminate,       // SIGTERM, SIGINT; text: the number
    kSynced,          // the caches of the term's scheduler are filled
    kWon,             // the lease is ours
    kVersionKnown,    // text: what the version of `of` was after the lease was won
    kVersionUnknown,  // text: why it could not be read
    kAskAgain,        // it is time to
    kCatchUpSlow,     // the stream of `of` has not come to that version yet
    kCaughtUp,        // it has
    kLost,            // text: why
    kCalledBack,      // the lease is wanted for another; text: for whom
  };
  Kind kind = Kind::kTerminate;
  uint64_t term = 0;  // which it is about; events of former terms are out of date
  std::string text{};
  Inherited of = Inherited::kPods;
};

// Threads: any. Lifetime: outlives whoever posts.
class LifeEvents {
 public:
  // `on_post`: called after each event, for a loop that does not block for them. May be empty.
  explicit LifeEvents(std::function<void()> on_post = {}) : on_post_(std::move(on_post)) {}

  void Post(LifeEvent event) KS_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      events_.push_back(std::move(event));
      posted_.NotifyAll();
    }
    if (on_post_) on_post_();
  }
  // Blocks for the next one.
  LifeEvent Next() KS_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (events_.empty()) posted_.Wait(mutex_);
    return Take();
  }
  // Absent: there is none now.
  std::optional<LifeEvent> TryNext() KS_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (events_.empty()) return std::nullopt;
    return Take();
  }

 private:
  LifeEvent Take() KS_REQUIRES(mutex_) {
    LifeEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  const std::function<void()> on_post_;
  Mutex mutex_;
  CondVar posted_;
  std::deque<LifeEvent> events_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::daemon
