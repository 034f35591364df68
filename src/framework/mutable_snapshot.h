// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a group cycle changes of the snapshot to see what would be, and takes back before it ends:
// members that are assumed, and for preemption pods that leave and come back. Nothing is copied
// but the nodes that are touched; whoever follows the snapshot's change log sees each change.
//
// Upstream: docs/spec/cache.md 18.4.

#include "api/pod.h"
#include "base/result.h"

namespace ks::framework {

// Threads: the scheduling thread, inside one attempt. Between two attempts nothing is changed.
class MutableSnapshot {
 public:
  virtual ~MutableSnapshot() = default;

  // The pod counts on `pod->node_name`, and in its group as assumed. Requires: a listed node.
  virtual void AssumePod(const api::PodPtr& pod) = 0;
  // No longer. In the reverse order of AssumePod. Error: it was not assumed here.
  virtual Result<void> ForgetPod(const api::Pod& pod) = 0;

  // Between these two, pods may be removed and added. At the end all is as it was at the start.
  // Pods assumed meanwhile must be forgotten before. Errors: upstream's texts.
  virtual Result<void> StartMutations() = 0;
  virtual Result<void> EndMutations() = 0;
  virtual Result<void> AddPod(const api::PodPtr& pod) = 0;
  virtual Result<void> RemovePod(const api::Pod& pod) = 0;
};

}  // namespace ks::framework
