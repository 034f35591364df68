// SPDX-License-Identifier: Apache-2.0
#pragma once
// Resource pools as one node sees them: which slices concern it, whether a pool is complete and
// valid, and its devices in the order in which they are tried.
//
// Upstream: docs/spec/plugins-dra.md section 3.2.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/devices.h"
#include "api/node.h"
#include "cel/device.h"
#include "plugins/dynamic_resources/features.h"
#include "plugins/dynamic_resources/selectors.h"

namespace ks::plugins {

// A slice with what is computed of it once. Immutable but for the verdicts that it remembers.
struct SliceEntry {
  api::ResourceSlicePtr slice;
  uint64_t serial = 0;                                      // never given twice in a process
  uint32_t pool_number = 0;                                 // DeviceNumbers'
  std::vector<uint32_t> numbers;                            // of its devices
  std::vector<std::shared_ptr<const cel::Device>> content;  // of its devices
  mutable SliceVerdicts verdicts;
};
using SliceEntryPtr = std::shared_ptr<const SliceEntry>;
using SliceList = std::vector<SliceEntryPtr>;

// A candidate.
struct PoolDevice {
  const api::Device* device = nullptr;
  uint32_t slice = 0;     // index into NodePools::slices
  uint32_t position = 0;  // in the slice
  uint32_t number = 0;    // DeviceNumbers
  uint32_t pool = 0;      // index into NodePools::pools
  bool for_node = true;   // its own node selection (per-device) matches
  // Its own selection does not parse, which is fatal to whoever asks for it; else null.
  const api::DeviceNodeSelector* broken_selection = nullptr;
  // Counters of the pool that it takes, as [begin, end) of Pool::uses.
  uint32_t uses_begin = 0;
  uint32_t uses_end = 0;
};

struct Pool {
  enum class State : uint8_t { kValid, kIncomplete, kInvalid };
  struct Counter {
    Symbol set;
    Symbol name;
    api::Quantity total;
  };
  struct CounterUse {
    uint32_t counter = 0;  // index into `counters`
    api::Quantity amount;
  };
  // A device that takes counters, also one of another node.
  struct Consumer {
    uint32_t number = 0;
    uint32_t uses_begin = 0;
    uint32_t uses_end = 0;
    const api::Device* device = nullptr;
  };

  Symbol driver;
  Symbol name;
  uint32_t number = 0;  // DeviceNumbers'
  State state = State::kValid;
  std::string why_invalid{};
  bool binding_conditions = false;  // some device for the node has them
  std::vector<Counter> counters{};
  std::vector<CounterUse> uses{};
  std::vector<Consumer> consumers{};
};

// Immutable once shared. Lifetime: keeps the slices that it points into.
struct NodePools {
  std::string error{};  // fatal: `gather pool information: …`; the rest is empty then
  std::vector<Pool> pools{};
  std::vector<PoolDevice> devices{};  // pool after pool, in the order in which they are tried
  SliceList slices{};
  bool any_invalid = false;
  bool depends_on_labels = false;
  // Devices of slices with skipNodeOperations can be used.
  bool operations_optional = false;
};

// Whether the node can do without operations of drivers.
bool DeclaresOptionalOperations(const api::Node& node);

// Why a selector does not parse. Requires: it does not.
std::string ParseError(const api::DeviceNodeSelector& selector);

// `relevant`: slices of the node and those without a node name. `pool_slices` gives all slices of
// the cluster with this driver and pool name.
NodePools MakeNodePools(
    const api::Node& node, const SliceList& relevant,
    const std::function<const SliceList&(const Symbol&, const Symbol&)>& pool_slices,
    AllocatorFeatures features);

}  // namespace ks::plugins
