// SPDX-License-Identifier: Apache-2.0
#pragma once
// ReplySlot: where a blocking caller waits for the answer of an asynchronous call.

#include <memory>
#include <optional>
#include <utility>

#include "base/mutex.h"

namespace ks::client {

// Threads: any. Lifetime: shared by the caller and the call's handler.
template <class Reply>
class ReplySlot {
 public:
  void Fill(Reply reply) KS_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    reply_ = std::move(reply);
    filled_.NotifyAll();
  }
  // Blocks until Fill. Requires: called once.
  Reply Take() KS_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (!reply_.has_value()) filled_.Wait(mutex_);
    return std::move(*reply_);
  }

 private:
  Mutex mutex_;
  CondVar filled_;
  std::optional<Reply> reply_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::client
