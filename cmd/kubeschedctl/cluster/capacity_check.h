// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks a placement by sums of its own: what the bound pods of a node ask for against what the
// node offers. Shares no arithmetic with the scheduler, because the scheduler is what is checked.
//
// Upstream: docs/spec/plugins-node.md section 2 (what a pod asks for).

#include <cstdint>
#include <string>
#include <vector>

#include "api/node.h"
#include "api/pod.h"

namespace ks::ctl {

// What is taken or offered, in thousandths of a CPU, bytes and pods.
struct Amount {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t pods = 0;

  Amount& operator+=(const Amount& other);
  Amount& operator-=(const Amount& other);
  friend bool operator==(const Amount&, const Amount&) = default;
};

// CPU, memory and pods of a list; zero for what is not in it.
Amount AmountOf(const api::ResourceList& resources);

// What a pod occupies on its node: the larger of its containers with its sidecars together and each
// step of its start, and its overhead; a request of the pod as a whole takes their place. One pod.
Amount AmountOf(const api::Pod& pod);
// The same for all resources.
api::ResourceList RequestsOf(const api::Pod& pod);

// Every resource that bound pods ask for, on every node. Returns a text for each node and resource
// that is over, and for each pod on a node that does not exist; at most 20.
std::vector<std::string> OverCapacity(const std::vector<api::NodePtr>& nodes,
                                      const std::vector<api::PodPtr>& pods);

// Returns a text for each node with more than `most` pods that use a claim; at most 20. Each such
// pod has a volume of its own.
std::vector<std::string> OverVolumeLimit(const std::vector<api::PodPtr>& pods, size_t most);

}  // namespace ks::ctl
