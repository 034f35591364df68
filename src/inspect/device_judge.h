// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a device does not do for a request, judged as if the request were the only one. Internal to
// explain_devices.
//
// Upstream: none; docs/spec/plugins-dra.md section 6.3 for the tests. What stays true whoever else
// uses devices is told first.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "api/devices.h"
#include "cache/device_stores.h"
#include "plugins/dynamic_resources/allocated_state.h"
#include "plugins/dynamic_resources/compatibility.h"
#include "plugins/dynamic_resources/counters.h"
#include "plugins/dynamic_resources/plan.h"
#include "plugins/dynamic_resources/pools.h"
#include "plugins/dynamic_resources/selectors.h"

namespace ks::inspect {

// The claims that use devices as their own. Lifetime: the stores' claims may go meanwhile.
class DeviceUsers {
 public:
  struct User {
    std::string claim;     // namespace/name
    bool pending = false;  // it is being bound
  };
  explicit DeviceUsers(const cache::DeviceStores& devices);

  // Null: nobody. Of several the one with the smallest name.
  const User* Find(const Symbol& driver, const Symbol& pool, const Symbol& device) const;

 private:
  using Key = std::tuple<Symbol, Symbol, Symbol>;
  std::map<Key, User> users_;
};

struct DeviceFault {
  enum class Kind : uint8_t {
    kNotOfClass,
    kNotAskedFor,  // not among those that a request for all devices means
    kNotNow,
  };
  Kind kind = Kind::kNotNow;
  std::string one;        // "does not match …": follows the number 1
  std::string many;       // follows other numbers
  std::string amounts{};  // of this device: "10Gi asked, 5Gi left of 40Gi"
  api::Quantity left{};   // of several devices that with the most is told of
  std::string claim{};    // that uses it
};

// Devices of one node. Threads: one. Lifetime: all that it is given outlives it.
class DeviceJudge {
 public:
  struct World {
    const plugins::NodePools& pools;
    const plugins::AllocatedState& allocated;
    plugins::SelectorSets& selectors;
    const DeviceUsers& users;
    plugins::AllocatorFeatures features;
  };
  explicit DeviceJudge(const World& world)
      : world_(world),
        counters_(world.pools, world.allocated),
        compatibility_(world.pools, world.allocated) {}

  // Absent: it does. `device`: index of NodePools::devices. Requires: the alternative has no error.
  std::optional<DeviceFault> Judge(const plugins::AlternativePlan& alternative, uint32_t device);

 private:
  using Selectors = std::vector<api::DeviceSelector>;

  std::optional<DeviceFault> ByContent(const plugins::AlternativePlan& alternative,
                                       const plugins::PoolDevice& device);
  std::optional<DeviceFault> BySelectors(const Selectors& selectors, bool of_class,
                                         const plugins::PoolDevice& device);
  std::optional<DeviceFault> ByUse(const plugins::AlternativePlan& alternative,
                                   const plugins::PoolDevice& device) const;
  std::optional<DeviceFault> ByCounters(const plugins::PoolDevice& device);

  const World world_;
  plugins::CounterLedger counters_;
  plugins::CompatibilityLedger compatibility_;
};

}  // namespace ks::inspect
