// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/resource_score/device_tally.h"

#include <algorithm>
#include <utility>

#include "framework/resource.h"
#include "plugins/kit/device_content.h"

namespace ks::plugins {
namespace {

bool MayBeServed(const Symbol& resource) {
  return framework::IsExtendedResource(resource) ||
         resource.view().starts_with(framework::kImplicitResourcePrefix);
}

bool IsFor(const api::DeviceNodes& nodes, const api::Node& node, bool otherwise) {
  if (nodes.all_nodes) return true;
  if (!nodes.node_name.empty()) return nodes.node_name.view() == node.meta.name;
  if (nodes.selector == nullptr) return otherwise;
  return nodes.selector->compiled.Matches(node.meta.labels, node.meta.name);
}

}  // namespace

DeviceTally::DeviceTally(const framework::Handle& handle, std::span<const ScoredResource> resources)
    : handle_(handle),
      counts_(handle.gates().Enabled(config::Gate::kDRAExtendedResource) &&
              std::any_of(resources.begin(), resources.end(), [](const ScoredResource& resource) {
                return MayBeServed(resource.name);
              })) {}

framework::OptionalKinds DeviceTally::NeededKinds() const {
  using framework::OptionalKind;
  if (!counts_) return {};
  return {OptionalKind::kDeviceClass, OptionalKind::kResourceSlice, OptionalKind::kResourceClaim};
}

uint64_t DeviceTally::Version() const {
  if (!counts_) return 0;
  return handle_.devices().changes().end() + handle_.devices().allocation_changes().end();
}

void DeviceTally::CatchUp() {
  if (!counts_) return;
  TakeSlices();
  TakeAllocations();
}

// Slices change rarely.
void DeviceTally::TakeSlices() {
  const framework::ObjectLog& log = handle_.devices().changes();
  bool changed = !slices_position_ || !log.Holds(*slices_position_);
  for (uint64_t i = slices_position_.value_or(0); !changed && i < log.end(); ++i) {
    changed = log.At(i).kind == framework::OptionalKind::kResourceSlice;
  }
  slices_position_ = log.end();
  if (!changed) return;
  by_node_.clear();
  others_.clear();
  for (const api::ResourceSlicePtr& slice : handle_.devices().Slices()) {
    Slice entry{.slice = slice, .content = {}};
    for (const api::Device& device : slice->devices) {
      entry.content.push_back(engine_.Intern(DeviceContentOf(slice->driver, device)));
    }
    const Symbol node = slice->nodes.node_name;
    (node.empty() ? others_ : by_node_[node]).push_back(std::move(entry));
  }
}

void DeviceTally::TakeAllocations() {
  const framework::AllocationLog& log = handle_.devices().allocation_changes();
  if (!allocations_position_ || !log.Holds(*allocations_position_)) {
    in_use_.clear();
    for (const api::ClaimAllocationPtr& allocation : handle_.devices().Allocations()) {
      CountAllocation(*allocation, 1);
    }
  } else {
    for (uint64_t i = *allocations_position_; i < log.end(); ++i) {
      if (log.At(i).removed != nullptr) CountAllocation(*log.At(i).removed, -1);
      if (log.At(i).added != nullptr) CountAllocation(*log.At(i).added, 1);
    }
  }
  allocations_position_ = log.end();
}

void DeviceTally::CountAllocation(const api::ClaimAllocation& allocation, int by) {
  for (const api::DeviceResult& result : allocation.results) {
    if (result.admin_access) continue;
    const DeviceKey key{result.driver, result.pool, result.device};
    int& claims = in_use_[key];
    claims += by;
    if (claims <= 0) in_use_.erase(key);
  }
}

std::optional<DeviceTally::Programs> DeviceTally::SelectorsOf(
    const api::DeviceClass& device_class) const {
  Programs programs;
  for (const api::DeviceSelector& selector : device_class.selectors) {
    if (!selector) return std::nullopt;
    auto program = engine_.Compile(*selector);
    if (!program.ok()) return std::nullopt;
    programs.push_back(*program);
  }
  return programs;
}

bool DeviceTally::Add(const Slice& slice, const Programs& selectors, const api::Node& node,
                      DeviceCount& count) const {
  const bool per_device = slice.slice->per_device_node_selection.value_or(false);
  if (!per_device && !IsFor(slice.slice->nodes, node, true)) return true;
  for (size_t i = 0; i < slice.content.size(); ++i) {
    const api::Device& device = slice.slice->devices[i];
    if (per_device && !IsFor(device.nodes, node, false)) continue;
    bool matches = true;
    for (const auto& program : selectors) {
      const cel::Verdict verdict = program->Evaluate(*slice.content[i]);
      if (!verdict.ok()) return false;
      matches = matches && verdict.matches;
      if (!matches) break;
    }
    if (!matches) continue;
    ++count.devices;
    if (in_use_.contains({slice.slice->driver, slice.slice->pool, device.name})) ++count.in_use;
  }
  return true;
}

DeviceCount DeviceTally::Count(const Symbol& resource, const api::Node& node) const {
  if (!counts_) return {};
  const std::string* name = handle_.device_classes().ClassServing(resource);
  if (name == nullptr) return {};
  const api::DeviceClassPtr device_class = handle_.devices().FindDeviceClass(*name);
  if (device_class == nullptr) return {};
  const std::optional<Programs> selectors = SelectorsOf(*device_class);
  if (!selectors) return {};
  DeviceCount count;
  const auto own = by_node_.find(Symbol(node.meta.name));
  if (own != by_node_.end()) {
    for (const Slice& slice : own->second) {
      if (!Add(slice, *selectors, node, count)) return {};
    }
  }
  for (const Slice& slice : others_) {
    if (!Add(slice, *selectors, node, count)) return {};
  }
  return count;
}

}  // namespace ks::plugins
