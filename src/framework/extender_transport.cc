// SPDX-License-Identifier: Apache-2.0
#include "framework/extender_transport.h"

#include <utility>

#include "base/mutex.h"

namespace ks::framework {
namespace {

// Outlives the wait: replies may come after it was given up.
struct Replies {
  Mutex mutex;
  CondVar changed;
  std::vector<ExtenderReply> received KS_GUARDED_BY(mutex);
  size_t missing KS_GUARDED_BY(mutex) = 0;

  void Wake() KS_EXCLUDES(mutex) {
    MutexLock lock(mutex);
    changed.NotifyAll();
  }
};

}  // namespace

std::optional<std::vector<ExtenderReply>> ExtenderTransport::CallAndWait(
    std::vector<ExtenderRequest> requests, const std::stop_token& stop) {
  const auto replies = std::make_shared<Replies>();
  {
    MutexLock lock(replies->mutex);
    replies->received.resize(requests.size());
    replies->missing = requests.size();
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    if (stop.stop_requested()) return std::nullopt;
    Call(std::move(requests[i]), [replies, i](ExtenderReply reply) {
      MutexLock lock(replies->mutex);
      replies->received[i] = std::move(reply);
      if (--replies->missing == 0) replies->changed.NotifyAll();
    });
  }
  const std::stop_callback wake(stop, [&replies] { replies->Wake(); });
  MutexLock lock(replies->mutex);
  while (replies->missing > 0) {
    if (stop.stop_requested()) return std::nullopt;
    replies->changed.Wait(replies->mutex);
  }
  return std::move(replies->received);
}

}  // namespace ks::framework
