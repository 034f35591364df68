// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/provisioning.h"

#include <algorithm>

namespace ks::plugins {
namespace {

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

bool Holds(const api::TopologySelectorTerm::Expression& expression, const api::LabelMap& labels) {
  const Symbol* value = labels.Find(expression.key);
  return value != nullptr && std::find(expression.values.begin(), expression.values.end(),
                                       *value) != expression.values.end();
}

// A term without expressions matches nothing; one with an expression without values cannot hold.
bool Matches(const api::TopologySelectorTerm& term, const api::LabelMap& labels) {
  return !term.expressions.empty() &&
         std::all_of(term.expressions.begin(), term.expressions.end(),
                     [&](const auto& expression) { return Holds(expression, labels); });
}

bool IsAllowed(const api::StorageClass& storage_class, const api::LabelMap& labels) {
  const auto& terms = storage_class.allowed_topologies;
  return terms.empty() ||
         std::any_of(terms.begin(), terms.end(),
                     [&](const api::TopologySelectorTerm& term) { return Matches(term, labels); });
}

bool ReportsCapacity(const framework::StorageState& storage, const std::string& provisioner) {
  const api::CsiDriverPtr driver = storage.FindCsiDriver(provisioner);
  return driver != nullptr && driver->storage_capacity.value_or(false);
}

}  // namespace

Provisioning::Provisioning(const framework::StorageState& storage,
                           const api::PersistentVolumeClaim& claim,
                           api::StorageClassPtr storage_class)
    : class_(std::move(storage_class)) {
  provisions_ = !class_->provisioner.empty() && class_->provisioner != kNoProvisioner;
  if (!provisions_ || !claim.requested || !ReportsCapacity(storage, class_->provisioner)) return;
  asks_for_capacity_ = true;
  FindCapacities(storage, claim.requested->Value());
}

void Provisioning::FindCapacities(const framework::StorageState& storage, int64_t requested) {
  for (const api::CsiStorageCapacityPtr& capacity : storage.CapacitiesOf(class_->meta.name)) {
    const std::optional<api::Quantity>& limit = capacity->Limit();
    if (!limit || limit->Value() < requested || capacity->node_topology.MatchesNothing()) continue;
    const std::vector<api::Requirement>& requirements = capacity->node_topology.requirements();
    const auto common =
        std::find_if(requirements.begin(), requirements.end(), [](const api::Requirement& one) {
          return one.op == api::Requirement::Op::kIn && one.many_values == nullptr;
        });
    capacities_by_node_.Insert(static_cast<uint32_t>(capacities_.size()),
                               common == requirements.end() ? nullptr : &*common);
    capacities_.push_back(&capacity);
  }
}

ProvisioningVerdict Provisioning::On(const api::LabelMap& node_labels,
                                     api::CsiStorageCapacityPtr* capacity) const {
  if (!provisions_ || !IsAllowed(*class_, node_labels)) return ProvisioningVerdict::kImpossible;
  if (!asks_for_capacity_) return ProvisioningVerdict::kPossible;
  const uint32_t* found = capacities_by_node_.First(
      node_labels, [](uint32_t) { return false; },
      [&](uint32_t position) {
        return (*capacities_[position])->node_topology.Matches(node_labels);
      });
  if (found == nullptr) return ProvisioningVerdict::kNotEnoughSpace;
  *capacity = *capacities_[*found];
  return ProvisioningVerdict::kPossible;
}

}  // namespace ks::plugins
