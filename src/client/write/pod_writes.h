// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is under way of each pod, so that its binding and its status patches never overtake each
// other: two in flight could arrive in either order, and a bound pod must not be told afterwards
// that it is unschedulable. So of one pod at most one patch is queued and one in flight; a binding
// waits for the latter, drops the former, and while it is under way there are no patches.
//
// Upstream: docs/spec/api.md section 9.2.

#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/string_map.h"
#include "framework/api_writer.h"

namespace ks::client {

class PatchJob;

// Pods go by their uid. Threads: any. Lifetime: shared by the writer and its jobs. A patch leaves
// it, by EndPatch, before it is destroyed.
class PodWrites {
 public:
  // A binding is queued: the queued patch, if any, is not sent any more. True: there was one.
  bool AddBinding(const std::string& uid);
  // No patch of the pod is in flight.
  bool MayBind(const std::string& uid) const;
  // It is over, sent or not.
  void EndBinding(const std::string& uid);

  // Nothing is under way of the pod.
  bool IsIdle(const std::string& uid) const;

  // A patch is to be queued. Not empty: it need not be, because the binding says more, or because
  // the queued one has taken over its change; it is the callback, which may be null, of the call
  // that was superseded.
  std::optional<framework::ApiWriter::Done> AddPatch(PatchJob& patch);
  // No patch of its pod is in flight.
  bool MayStart(const PatchJob& patch) const;
  // The patch leaves the queue and is in flight.
  void StartPatch(PatchJob& patch);
  // It is over, sent or not.
  void EndPatch(const PatchJob& patch);

 private:
  bool IsPatching(const std::string& uid) const KS_REQUIRES(mutex_) {
    return !in_flight_.empty() && in_flight_.contains(uid);
  }

  mutable Mutex mutex_;
  StringMap<PatchJob*> queued_ KS_GUARDED_BY(mutex_);
  StringMap<const PatchJob*> in_flight_ KS_GUARDED_BY(mutex_);
  StringSet binding_ KS_GUARDED_BY(mutex_);  // queued and in flight
};

}  // namespace ks::client
