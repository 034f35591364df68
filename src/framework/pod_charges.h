// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a pod takes from its node, worked out once for the pods of a template.
//
// Upstream: docs/spec/plugins-node.md 2.5, 2.9.

#include <cstddef>
#include <memory>
#include <vector>

#include "api/pod.h"
#include "api/pod_size.h"
#include "framework/host_ports.h"
#include "framework/pod_requests.h"

namespace ks::framework {

// Threads: immutable.
struct PodCharge {
  explicit PodCharge(const api::Pod& pod)
      : request(AccountPod(pod)),
        ports(PodHostPorts(pod)),
        spec_bytes(api::RoughBytes(*pod.spec)) {}

  AccountedRequest request;
  HostPortSet ports;
  size_t spec_bytes;  // api::RoughBytes
};
using PodChargePtr = std::shared_ptr<const PodCharge>;

// Remembers the charges of templates seen lately, by the identity of what pods of a template share
// (api/decode/pod_sharing.h), which it keeps alive; not those of large specs. Threads: one.
class PodCharges {
 public:
  PodChargePtr Of(const api::Pod& pod);

 private:
  static constexpr size_t kSlots = 1024;
  static constexpr size_t kMostBytes = size_t{64} << 10;  // of a spec that is kept alive
  struct Slot {
    std::shared_ptr<const api::PodSpec> spec;
    std::shared_ptr<const api::PodResourceStatus> resources;
    PodChargePtr charge;
  };
  std::vector<Slot> slots_;
};

}  // namespace ks::framework
