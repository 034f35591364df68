// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cluster/capacity_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "api/storage.h"
#include "base/symbol.h"

namespace ks::ctl {
namespace {

constexpr size_t kMostTexts = 20;

struct Symbols {
  Symbol cpu{"cpu"};
  Symbol memory{"memory"};
  Symbol pods{"pods"};
};

const Symbols& Names() {
  static const auto* names = new Symbols();
  return *names;
}

void Add(const api::ResourceList& what, api::ResourceList& sum) {
  for (const auto& [name, quantity] : what) sum[name] += quantity;
}

void RaiseTo(const api::ResourceList& least, api::ResourceList& sum) {
  for (const auto& [name, quantity] : least) {
    api::Quantity& value = sum[name];
    if (value < quantity) value = quantity;
  }
}

// Sums by node name.
using Taken = std::map<std::string, api::ResourceList>;

void CompareNode(const api::Node& node, const api::ResourceList& taken,
                 std::vector<std::string>& texts) {
  for (const auto& [name, sum] : taken) {
    const api::Quantity* offered = node.allocatable.Find(name);
    if ((offered != nullptr ? *offered : api::Quantity()) >= sum) continue;
    texts.push_back(fmt::format("node {}: {} {} requested, {} allocatable", node.meta.name,
                                sum.ToString(), name.view(),
                                offered != nullptr ? offered->ToString() : "0"));
  }
}

}  // namespace

Amount& Amount::operator+=(const Amount& other) {
  cpu_milli += other.cpu_milli;
  memory_bytes += other.memory_bytes;
  pods += other.pods;
  return *this;
}

Amount& Amount::operator-=(const Amount& other) {
  cpu_milli -= other.cpu_milli;
  memory_bytes -= other.memory_bytes;
  pods -= other.pods;
  return *this;
}

Amount AmountOf(const api::ResourceList& resources) {
  Amount amount;
  if (const api::Quantity* cpu = resources.Find(Names().cpu)) {
    amount.cpu_milli = cpu->MilliValue();
  }
  if (const api::Quantity* memory = resources.Find(Names().memory)) {
    amount.memory_bytes = memory->Value();
  }
  if (const api::Quantity* pods = resources.Find(Names().pods)) {
    amount.pods = pods->Value();
  }
  return amount;
}

Amount AmountOf(const api::Pod& pod) {
  Amount amount = AmountOf(RequestsOf(pod));
  amount.pods = 1;
  return amount;
}

api::ResourceList RequestsOf(const api::Pod& pod) {
  api::ResourceList running;
  for (const api::Container& container : pod.spec->containers) Add(container.requests, running);
  api::ResourceList sidecars;
  api::ResourceList starting;  // the largest step
  for (const api::Container& container : pod.spec->init_containers) {
    if (container.restart_always) {
      Add(container.requests, sidecars);
      RaiseTo(sidecars, starting);
      continue;
    }
    api::ResourceList step = sidecars;
    Add(container.requests, step);
    RaiseTo(step, starting);
  }
  Add(sidecars, running);
  RaiseTo(starting, running);
  if (pod.spec->resource_requests) {
    for (const auto& [name, quantity] : *pod.spec->resource_requests) running[name] = quantity;
  }
  Add(pod.spec->overhead, running);
  return running;
}

std::vector<std::string> OverCapacity(const std::vector<api::NodePtr>& nodes,
                                      const std::vector<api::PodPtr>& pods) {
  Taken taken;
  for (const api::PodPtr& pod : pods) {
    if (pod->node_name.empty() || pod->IsTerminal()) continue;
    api::ResourceList& sum = taken[pod->node_name.str()];
    Add(RequestsOf(*pod), sum);
    sum[Names().pods] += api::Quantity::FromUnits(1);
  }
  std::vector<std::string> texts;
  for (const api::NodePtr& node : nodes) {
    const auto found = taken.find(node->meta.name);
    if (found == taken.end()) continue;
    CompareNode(*node, found->second, texts);
    taken.erase(found);
  }
  for (const auto& [node, sum] : taken) {
    texts.push_back(fmt::format("{} pods are bound to {}, which does not exist",
                                sum.Find(Names().pods)->ToString(), node));
  }
  if (texts.size() > kMostTexts) texts.resize(kMostTexts);
  return texts;
}

std::vector<std::string> OverVolumeLimit(const std::vector<api::PodPtr>& pods, size_t most) {
  std::map<std::string, size_t> used;  // by node
  for (const api::PodPtr& pod : pods) {
    const bool uses =
        std::any_of(pod->spec->volumes.begin(), pod->spec->volumes.end(), api::MeansClaim);
    if (uses && !pod->node_name.empty() && !pod->IsTerminal()) ++used[pod->node_name.str()];
  }
  std::vector<std::string> texts;
  for (const auto& [node, count] : used) {
    if (count <= most || texts.size() == kMostTexts) continue;
    texts.push_back(fmt::format("node {}: {} volumes, at most {}", node, count, most));
  }
  return texts;
}

}  // namespace ks::ctl
