// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a kind's changes from the store's log in order; for the controllers inside of the server.

#include <cstdint>

#include "apiserver/store/store.h"

namespace ks::apiserver {

// Threads: that of the store. Lifetime: the store outlives it.
class LogCursor {
 public:
  LogCursor(const Store& store, const KindInfo& kind) : store_(store), kind_(kind) {}

  // True: nothing was read yet, or changes were forgotten before they were read. The state must be
  // read anew after Restart().
  bool Lost() const { return !started_ || next_ < store_.FirstSequence(kind_); }
  // The changes from now on.
  void Restart() {
    started_ = true;
    next_ = store_.NextSequence(kind_);
  }
  // Null: all are read. The change lives until the next write. Requires: !Lost().
  const Change* Next() {
    const Change* change = store_.At(kind_, next_);
    if (change != nullptr) ++next_;
    return change;
  }
  bool Unread() const { return !started_ || next_ < store_.NextSequence(kind_); }

 private:
  const Store& store_;
  const KindInfo& kind_;
  uint64_t next_ = 0;
  bool started_ = false;
};

}  // namespace ks::apiserver
