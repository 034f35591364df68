// SPDX-License-Identifier: Apache-2.0
#pragma once
// Follows the events of a namespace from now on, for people to read. After an interruption it
// begins anew with what comes then.

#include <functional>
#include <memory>
#include <string>

#include "kubeschedctl/cluster/cluster.h"
#include "kubeschedctl/demo/demo_state.h"

namespace ks::ctl {

// Lifetime: the cluster outlives it. `sink` is called on client threads, one call at a time, and
// not any more after destruction.
class EventWatch {
 public:
  EventWatch(Cluster& cluster, const std::string& ns, std::function<void(EventLine)> sink);
  ~EventWatch();
  EventWatch(const EventWatch&) = delete;
  EventWatch& operator=(const EventWatch&) = delete;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace ks::ctl
