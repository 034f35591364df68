// SPDX-License-Identifier: Apache-2.0
#pragma once
// By which verb volumes and claims are written: they are patched unless that was forbidden and a
// PUT worked (docs/decisions/0036).

#include <string>

#include "base/mutex.h"
#include "base/string_map.h"

namespace ks::client {

// Threads: any. Lifetime: shared by the writer and its jobs.
class StorageVerbs {
 public:
  // Whether objects of the resource ("persistentvolumes") are read and put.
  bool Puts(const std::string& resource) const {
    MutexLock lock(mutex_);
    return put_.contains(resource);
  }

  // That is how it works for the resource. False: it was known.
  bool Remember(const std::string& resource, bool puts) {
    MutexLock lock(mutex_);
    return puts ? put_.insert(resource).second : put_.erase(resource) != 0;
  }

 private:
  mutable Mutex mutex_;
  StringSet put_ KS_GUARDED_BY(mutex_);  // others are patched
};

}  // namespace ks::client
