// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/derived_selector.h"

#include <algorithm>

namespace ks::plugins {
namespace {

void Merge(const api::LabelMap& from, api::LabelMap* into) {
  for (const auto& [key, value] : from) into->Set(key, value);
}

// The selector of a ReplicaSet or StatefulSet; absent when it adds nothing.
template <class T>
std::optional<api::LabelSelector> RequirementsOf(const T* set) {
  if (set == nullptr || set->selector.MatchesNothing() || set->selector.Empty()) return {};
  return set->selector;
}

}  // namespace

bool HasLabels(const api::LabelMap& labels, const api::LabelMap& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const api::LabelMap::Entry& entry) {
    const Symbol* value = labels.Find(entry.first);
    return value != nullptr && *value == entry.second;
  });
}

std::vector<const api::Service*> ServicesOf(const api::Pod& pod,
                                            const framework::OwnerListers& listers) {
  std::vector<const api::Service*> services;
  for (const api::ServicePtr& service : listers.Services(pod.meta.ns)) {
    if (service->selector && HasLabels(pod.meta.labels, *service->selector)) {
      services.push_back(service.get());
    }
  }
  return services;
}

DerivedSelector DeriveSelector(const api::Pod& pod, const framework::OwnerListers& listers) {
  DerivedSelector derived;
  for (const api::Service* service : ServicesOf(pod, listers)) {
    Merge(*service->selector, &derived.labels);
  }
  const api::OwnerReference* owner = pod.meta.Controller();
  if (owner == nullptr) return derived;
  const Symbol ns = pod.meta.ns;
  if (owner->api_version == "v1" && owner->kind == "ReplicationController") {
    const auto* controller = listers.FindReplicationController(ns, owner->name);
    if (controller != nullptr) Merge(controller->selector, &derived.labels);
  } else if (owner->api_version == "apps/v1" && owner->kind == "ReplicaSet") {
    derived.requirements = RequirementsOf(listers.FindReplicaSet(ns, owner->name));
  } else if (owner->api_version == "apps/v1" && owner->kind == "StatefulSet") {
    derived.requirements = RequirementsOf(listers.FindStatefulSet(ns, owner->name));
  }
  return derived;
}

}  // namespace ks::plugins
