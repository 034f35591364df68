// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bounded map whose entries die: after their time, or because others were used more recently.

#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"

namespace ks::server {

// Threads: any. Lifetime: the clock outlives it.
template <class T>
class ExpiringCache {
 public:
  ExpiringCache(const Clock& clock, size_t capacity) : clock_(clock), capacity_(capacity) {}

  std::optional<T> Get(const std::string& key) KS_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    if (found->second->expires <= clock_.Now()) {
      entries_.erase(found->second);
      places_.erase(found);
      return std::nullopt;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->value;
  }

  // Nothing is kept if `life` is not positive.
  void Put(const std::string& key, T value, Duration life) KS_EXCLUDES(mutex_) {
    if (life <= Duration::zero()) return;
    const MutexLock lock(mutex_);
    if (const auto found = places_.find(key); found != places_.end()) {
      entries_.erase(found->second);
      places_.erase(found);
    }
    entries_.push_front({key, std::move(value), clock_.Now() + life});
    places_[key] = entries_.begin();
    if (entries_.size() > capacity_) {
      places_.erase(entries_.back().key);
      entries_.pop_back();
    }
  }

  size_t size() const KS_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::string key;
    T value;
    TimePoint expires;
  };

  const Clock& clock_;
  const size_t capacity_;
  mutable Mutex mutex_;
  std::list<Entry> entries_ KS_GUARDED_BY(mutex_);  // used last first
  std::map<std::string, typename std::list<Entry>::iterator> places_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::server
