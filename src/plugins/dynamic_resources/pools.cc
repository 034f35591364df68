// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/pools.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace ks::plugins {
namespace {

bool HasCompatibilityGroups(const api::Device& device) {
  return std::any_of(device.consumes_counters.begin(), device.consumes_counters.end(),
                     [](const api::CounterSet& one) { return !one.compatibility_groups.empty(); });
}

// With the gate of compatibility groups off such a slice counts as absent.
bool Dropped(const api::ResourceSlice& slice, const AllocatorFeatures& features) {
  return !features.compatibility_groups &&
         std::any_of(slice.devices.begin(), slice.devices.end(), HasCompatibilityGroups);
}

bool IsPartitioned(const api::ResourceSlice& slice) {
  return slice.per_device_node_selection.has_value() || !slice.shared_counters.empty();
}

std::string Dump(const std::vector<api::SelectorRequirement>& requirements) {
  std::string text = "[]NodeSelectorRequirement{";
  for (const api::SelectorRequirement& one : requirements) {
    text += fmt::format("NodeSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},", one.key,
                        one.op, fmt::join(one.values, " "));
  }
  return text + "}";
}

// As upstream's messages show a node selector.
std::string Dump(const api::NodeSelectorSpec& selector) {
  std::string text = "&NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{";
  for (const api::NodeSelectorTerm& term : selector.terms) {
    text += fmt::format("NodeSelectorTerm{{MatchExpressions:{},MatchFields:{},}},",
                        Dump(term.match_expressions), Dump(term.match_fields));
  }
  return text + "},}";
}

bool Concerns(const api::DeviceNodes& nodes, const api::Node& node, std::string* error) {
  if (!nodes.node_name.empty()) return nodes.node_name.view() == node.meta.name;
  if (nodes.all_nodes) return true;
  if (nodes.selector == nullptr) return false;
  if (nodes.selector->compiled.HasErrors()) {
    *error = ParseError(*nodes.selector);
    return false;
  }
  return nodes.selector->compiled.Matches(node.meta.labels, node.meta.name);
}

// Makes one pool of the slices that a node sees of it.
class PoolMaker {
 public:
  // `counted`: devices may take counters, and those that they name must be there.
  PoolMaker(const api::Node& node, bool counted, NodePools& made)
      : node_(node), counted_(counted), made_(made) {}

  // `relevant`: of one generation. `others`: further slices of this generation, of other nodes.
  void Make(SliceList relevant, SliceList others, bool complete);

 private:
  void AddCounterSets(const SliceList& slices);
  void AddDevices(const SliceEntryPtr& entry, bool relevant);
  void AddUses(const api::Device& device, uint32_t* begin, uint32_t* end);
  void Invalidate(std::string why) {
    if (pool_.state == Pool::State::kInvalid) return;
    pool_.state = Pool::State::kInvalid;
    pool_.why_invalid = std::move(why);
  }

  const api::Node& node_;
  const bool counted_;
  NodePools& made_;
  Pool pool_;
  std::vector<PoolDevice> devices_;
  std::map<std::pair<Symbol, Symbol>, uint32_t> counters_;
  std::set<Symbol> counter_sets_;
  std::set<Symbol> names_;
};

void PoolMaker::AddCounterSets(const SliceList& slices) {
  for (const SliceEntryPtr& entry : slices) {
    for (const api::CounterSet& set : entry->slice->shared_counters) {
      if (!counter_sets_.insert(set.name).second) {
        Invalidate(fmt::format("duplicate counter set name {}", set.name.view()));
      }
      for (const api::NamedQuantity& counter : set.counters) {
        counters_[{set.name, counter.name}] = static_cast<uint32_t>(pool_.counters.size());
        pool_.counters.push_back({.set = set.name, .name = counter.name, .total = counter.value});
      }
    }
  }
}

void PoolMaker::AddUses(const api::Device& device, uint32_t* begin, uint32_t* end) {
  *begin = static_cast<uint32_t>(pool_.uses.size());
  for (const api::CounterSet& set : device.consumes_counters) {
    if (!counter_sets_.contains(set.name)) {
      Invalidate(fmt::format("counter set {} not found", set.name.view()));
      continue;
    }
    for (const api::NamedQuantity& counter : set.counters) {
      const auto found = counters_.find({set.name, counter.name});
      if (found == counters_.end()) {
        Invalidate(fmt::format("counter {} not found in counter set {}", counter.name.view(),
                               set.name.view()));
        continue;
      }
      pool_.uses.push_back({.counter = found->second, .amount = counter.value});
    }
  }
  *end = static_cast<uint32_t>(pool_.uses.size());
}

void PoolMaker::AddDevices(const SliceEntryPtr& entry, bool relevant) {
  const api::ResourceSlice& slice = *entry->slice;
  if (!slice.shared_counters.empty()) return;
  const auto slice_index = static_cast<uint32_t>(made_.slices.size());
  const bool per_device = slice.per_device_node_selection.value_or(false);
  for (uint32_t i = 0; i < slice.devices.size(); ++i) {
    const api::Device& device = slice.devices[i];
    PoolDevice made{.device = &device,
                    .slice = slice_index,
                    .position = i,
                    .number = entry->numbers[i],
                    .pool = static_cast<uint32_t>(made_.pools.size())};
    if (counted_ && !device.consumes_counters.empty()) {
      AddUses(device, &made.uses_begin, &made.uses_end);
      pool_.consumers.push_back({.number = made.number,
                                 .uses_begin = made.uses_begin,
                                 .uses_end = made.uses_end,
                                 .device = &device});
    }
    if (!relevant) continue;
    if (!names_.insert(device.name).second) {
      Invalidate(fmt::format("duplicate device name {}", device.name.view()));
    }
    std::string error;
    made.for_node = !per_device || Concerns(device.nodes, node_, &error);
    if (!error.empty()) made.broken_selection = device.nodes.selector.get();
    pool_.binding_conditions = pool_.binding_conditions || !device.binding_conditions.empty();
    devices_.push_back(made);
  }
  made_.slices.push_back(entry);
}

void PoolMaker::Make(SliceList relevant, SliceList others, bool complete) {
  const auto by_name = [](const SliceEntryPtr& a, const SliceEntryPtr& b) {
    return a->slice->meta.name < b->slice->meta.name;
  };
  std::sort(relevant.begin(), relevant.end(), by_name);
  pool_ = Pool{.driver = relevant.front()->slice->driver,
               .name = relevant.front()->slice->pool,
               .number = relevant.front()->pool_number};
  if (!complete) {
    pool_.state = Pool::State::kIncomplete;
    made_.pools.push_back(std::move(pool_));
    return;
  }
  std::sort(others.begin(), others.end(), by_name);
  if (counted_) {
    AddCounterSets(relevant);
    AddCounterSets(others);
  }
  for (const SliceEntryPtr& entry : relevant) AddDevices(entry, true);
  for (const SliceEntryPtr& entry : others) AddDevices(entry, false);
  if (pool_.state == Pool::State::kInvalid) {
    made_.any_invalid = true;
    pool_.binding_conditions = false;  // it offers no device that could have them
  } else {
    made_.devices.insert(made_.devices.end(), devices_.begin(), devices_.end());
  }
  made_.pools.push_back(std::move(pool_));
}

// Whether the slice concerns the node; fatal texts go to made.error.
bool Relevant(const api::ResourceSlice& slice, const api::Node& node, NodePools& made) {
  constexpr std::string_view kPrefix = "gather pool information: failed to perform node selection";
  std::string error;
  made.depends_on_labels = made.depends_on_labels || slice.nodes.selector != nullptr;
  const bool nodes_named =
      !slice.nodes.node_name.empty() || slice.nodes.all_nodes || slice.nodes.selector != nullptr;
  if (nodes_named) {
    const bool concerns = Concerns(slice.nodes, node, &error);
    if (!error.empty()) {
      made.error = fmt::format("{} for slice {}: {}", kPrefix, slice.meta.name, error);
    }
    return concerns;
  }
  if (!slice.per_device_node_selection.value_or(false)) return false;
  for (const api::Device& device : slice.devices) {
    made.depends_on_labels = made.depends_on_labels || device.nodes.selector != nullptr;
  }
  for (const api::Device& device : slice.devices) {
    if (Concerns(device.nodes, node, &error)) return true;
    if (error.empty()) continue;
    made.error = fmt::format("{} for device {} in slice {}: {}", kPrefix, device.name.view(),
                             slice.meta.name, error);
    return false;
  }
  return false;
}

struct Group {
  SliceList slices;
  int64_t generation = 0;
};

using PoolSlices = std::function<const SliceList&(const Symbol&, const Symbol&)>;

struct PoolContext {
  const api::Node& node;
  const PoolSlices& pool_slices;
  const AllocatorFeatures& features;
};

void AddPool(const PoolContext& context, Group& group, NodePools& made) {
  const api::ResourceSlice& first = *group.slices.front()->slice;
  SliceList others;
  bool complete = static_cast<int64_t>(group.slices.size()) == first.pool_slice_count;
  if (!complete) {
    int64_t count = 0;
    for (const SliceEntryPtr& entry : context.pool_slices(first.driver, first.pool)) {
      const api::ResourceSlice& slice = *entry->slice;
      if (slice.pool_generation > group.generation) return;  // the node sees an old state
      if (slice.pool_generation != group.generation || Dropped(slice, context.features)) continue;
      ++count;
      const bool known =
          std::find(group.slices.begin(), group.slices.end(), entry) != group.slices.end();
      if (!known) others.push_back(entry);
    }
    complete = count == first.pool_slice_count;
  }
  PoolMaker(context.node, context.features.partitions, made)
      .Make(std::move(group.slices), std::move(others), complete);
}

// Pools with binding conditions after all others.
void PutConditionsLast(NodePools& made) {
  std::vector<uint32_t> order;
  for (const bool conditions : {false, true}) {
    for (uint32_t i = 0; i < made.pools.size(); ++i) {
      if (made.pools[i].binding_conditions == conditions) order.push_back(i);
    }
  }
  std::vector<Pool> pools;
  std::vector<PoolDevice> devices;
  for (const uint32_t old : order) {
    for (PoolDevice device : made.devices) {
      if (device.pool != old) continue;
      device.pool = static_cast<uint32_t>(pools.size());
      devices.push_back(device);
    }
    pools.push_back(std::move(made.pools[old]));
  }
  made.pools = std::move(pools);
  made.devices = std::move(devices);
}

}  // namespace

bool DeclaresOptionalOperations(const api::Node& node) {
  constexpr std::string_view kFeature = "DRAOptionalNodeOperations";
  const auto& features = node.declared_features;
  return std::find(features.begin(), features.end(), kFeature) != features.end();
}

std::string ParseError(const api::DeviceNodeSelector& selector) {
  return fmt::format("failed to parse node selector {}: {}", Dump(selector.spec),
                     selector.compiled.ErrorText());
}

NodePools MakeNodePools(const api::Node& node, const SliceList& relevant,
                        const PoolSlices& pool_slices, AllocatorFeatures features) {
  NodePools made;
  made.operations_optional = features.optional_node_operations ? DeclaresOptionalOperations(node)
                                                               : !features.experimental();
  std::map<std::pair<std::string_view, std::string_view>, Group> groups;
  for (const SliceEntryPtr& entry : relevant) {
    const api::ResourceSlice& slice = *entry->slice;
    if (Dropped(slice, features) || (!features.partitions && IsPartitioned(slice))) continue;
    const bool concerns = Relevant(slice, node, made);
    if (!made.error.empty()) return made;
    if (!concerns) continue;
    Group& group = groups[{slice.driver.view(), slice.pool.view()}];
    if (!group.slices.empty() && slice.pool_generation < group.generation) continue;
    if (slice.pool_generation > group.generation) group.slices.clear();
    group.generation = slice.pool_generation;
    group.slices.push_back(entry);
  }
  const PoolContext context{.node = node, .pool_slices = pool_slices, .features = features};
  for (auto& [key, group] : groups) AddPool(context, group, made);
  const bool any_conditions = std::any_of(made.pools.begin(), made.pools.end(),
                                          [](const Pool& p) { return p.binding_conditions; });
  if (any_conditions) PutConditionsLast(made);
  return made;
}

}  // namespace ks::plugins
