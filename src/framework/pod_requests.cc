// SPDX-License-Identifier: Apache-2.0
#include "framework/pod_requests.h"

#include <algorithm>
#include <atomic>
#include <string_view>
#include <vector>

namespace ks::framework {
namespace {

using api::Container;
using api::Pod;
using api::PodSpec;
using api::Quantity;
using api::ResourceList;

constexpr std::string_view kInfeasible = "Infeasible";
constexpr std::string_view kDeferred = "Deferred";

// The gates in force (SetRequestGates).
struct RequestGates {
  std::atomic<bool> pod_level{true};
  std::atomic<bool> pod_level_status{true};
};
RequestGates& Gates() {
  static RequestGates gates;
  return gates;
}
// spec.resources counts.
bool PodLevelOn() { return Gates().pod_level.load(std::memory_order_relaxed); }
// The pod's own status.resources and status.allocatedResources count.
bool PodLevelStatusOn() { return Gates().pod_level_status.load(std::memory_order_relaxed); }

// The missing-request defaults as quantities; made once.
const Quantity& DefaultCpu() {
  static const Quantity quantity = Quantity::FromMilli(kDefaultMilliCpuRequest);
  return quantity;
}
const Quantity& DefaultMemory() {
  static const Quantity quantity = Quantity::FromUnits(kDefaultMemoryRequest);
  return quantity;
}

void AddTo(ResourceList* sum, const ResourceList& list) {
  for (const auto& [name, quantity] : list) (*sum)[name] += quantity;
}

void MaxInto(ResourceList* result, const ResourceList& list) {
  for (const auto& [name, quantity] : list) {
    const Quantity* present = result->Find(name);
    if (present == nullptr || *present < quantity) result->Set(name, quantity);
  }
}

bool ResizeIs(const Pod& pod, std::string_view reason) {
  const api::Condition* condition = pod.FindCondition(api::kPodResizePending);
  return condition != nullptr && condition->reason == reason;
}
bool IsInfeasible(const Pod& pod) { return ResizeIs(pod, kInfeasible); }

// Which list stands for a container in one of the three totals (docs/spec/plugins-node.md 2.4).
enum class Source { kSpec, kAllocated, kActual, kLimits };

const api::ContainerStatus* FindStatus(const Pod& pod, std::string_view name) {
  for (const auto* list :
       {&pod.status.resources->containers, &pod.status.resources->init_containers}) {
    for (const api::ContainerStatus& status : *list) {
      if (status.name == name) return &status;
    }
  }
  return nullptr;
}

const ResourceList& ListOf(const Pod& pod, const Container& container, Source source,
                           bool infeasible) {
  static const ResourceList none;
  if (source == Source::kSpec) return container.requests;
  if (source == Source::kLimits) return container.limits;
  const api::ContainerStatus* status = FindStatus(pod, container.name);
  if (status != nullptr) {
    if (source == Source::kActual && status->resources_requests) return *status->resources_requests;
    if (status->allocated_resources) return *status->allocated_resources;
  }
  return infeasible ? none : container.requests;
}

void AddDefaults(ResourceList* sum, const ResourceList& list, const RequestOptions& options) {
  const ResourceNames& names = ResourceNames::Get();
  if (options.default_cpu && !list.Contains(names.cpu)) (*sum)[names.cpu] += DefaultCpu();
  if (options.default_memory && !list.Contains(names.memory)) {
    (*sum)[names.memory] += DefaultMemory();
  }
}

// One total: the steady sum, or the highest peak while an init container runs (2.3).
ResourceList Total(const Pod& pod, Source source, bool infeasible, const RequestOptions& options) {
  const PodSpec& spec = *pod.spec;
  ResourceList steady;
  for (const Container& container : spec.containers) {
    const ResourceList& list = ListOf(pod, container, source, infeasible);
    AddTo(&steady, list);
    AddDefaults(&steady, list, options);
  }
  if (spec.init_containers.empty()) return steady;

  ResourceList sidecars;
  ResourceList peaks;
  for (const Container& container : spec.init_containers) {
    const ResourceList& list = ListOf(pod, container, source, infeasible);
    if (container.restart_always) {
      AddTo(&sidecars, list);
      AddDefaults(&sidecars, list, options);
      MaxInto(&peaks, sidecars);
    } else {
      ResourceList running = sidecars;
      AddTo(&running, list);
      AddDefaults(&running, list, options);
      MaxInto(&peaks, running);
    }
  }
  AddTo(&steady, sidecars);
  MaxInto(&steady, peaks);
  return steady;
}

ResourceList TotalWithStatus(const Pod& pod, const RequestOptions& options) {
  const bool infeasible = IsInfeasible(pod);
  ResourceList result;
  if (!infeasible) result = Total(pod, Source::kSpec, infeasible, options);
  const api::PodResourceStatus& status = *pod.status.resources;
  if (PodLevelStatusOn() && status.allocated && status.present && status.requests) {
    MaxInto(&result, *status.allocated);
    MaxInto(&result, *status.requests);
  } else {
    MaxInto(&result, Total(pod, Source::kAllocated, infeasible, options));
    MaxInto(&result, Total(pod, Source::kActual, infeasible, options));
  }
  return result;
}

// Names that spec.resources may set for the whole pod.
bool IsPodLevelName(const Symbol& name) {
  const ResourceNames& names = ResourceNames::Get();
  return name == names.cpu || name == names.memory || IsHugePageResource(name.view());
}

bool HasPodLevelRequests(const Pod& pod) {
  if (!PodLevelOn() || !pod.spec->resource_requests) return false;
  const ResourceList& list = *pod.spec->resource_requests;
  return std::any_of(list.begin(), list.end(),
                     [](const auto& entry) { return IsPodLevelName(entry.first); });
}

void OverridePodLevel(const Pod& pod, bool use_status, ResourceList* result) {
  ResourceList with_status;
  const ResourceList* effective = &*pod.spec->resource_requests;
  const api::PodResourceStatus& status = *pod.status.resources;
  if (use_status && PodLevelStatusOn() && status.present) {
    if (!IsInfeasible(pod)) with_status = *effective;
    if (status.requests) MaxInto(&with_status, *status.requests);
    if (status.allocated) MaxInto(&with_status, *status.allocated);
    effective = &with_status;
  }
  for (const auto& [name, quantity] : *effective) {
    if (IsPodLevelName(name)) result->Set(name, quantity);
  }
}

// Most pods are one or a few plain containers: no init containers, overhead, pod-level block or
// resize.
bool IsPlain(const Pod& pod, bool use_status) {
  const PodSpec& spec = *pod.spec;
  return spec.init_containers.empty() && spec.overhead.empty() && !spec.resource_requests &&
         !(use_status && StatusAffectsRequests(pod));
}

// "pods" is no request.
Resource ToRequest(const ResourceList& list) {
  Resource request = Resource::FromList(list);
  request.allowed_pod_number = 0;
  return request;
}

// cpu or memory of a plain pod with the defaults for the containers that lack it.
Quantity WithDefaults(const PodSpec& spec, const Symbol& name, const Quantity& missing) {
  Quantity sum;
  for (const Container& container : spec.containers) {
    const Quantity* present = container.requests.Find(name);
    sum += present == nullptr ? missing : *present;
  }
  return sum;
}

AccountedRequest AccountPlainPod(const Pod& pod) {
  const ResourceNames& names = ResourceNames::Get();
  const PodSpec& spec = *pod.spec;
  AccountedRequest result;
  result.requested = PodRequest(pod);
  result.non_zero_milli_cpu = result.requested.milli_cpu;
  result.non_zero_memory = result.requested.memory;
  const auto lacks = [&spec](const Symbol& name) {
    return std::any_of(
        spec.containers.begin(), spec.containers.end(),
        [name](const Container& container) { return !container.requests.Contains(name); });
  };
  if (lacks(names.cpu)) {
    result.non_zero_milli_cpu = WithDefaults(spec, names.cpu, DefaultCpu()).MilliValue();
  }
  if (lacks(names.memory)) {
    result.non_zero_memory = WithDefaults(spec, names.memory, DefaultMemory()).Value();
  }
  return result;
}

}  // namespace

void SetRequestGates(const config::FeatureGates& gates) {
  using config::Gate;
  Gates().pod_level = gates.Enabled(Gate::kPodLevelResources);
  Gates().pod_level_status = gates.Enabled(Gate::kInPlacePodLevelResourcesVerticalScaling);
}

bool HasDeferredResize(const Pod& pod) { return ResizeIs(pod, kDeferred); }

bool StatusAffectsRequests(const Pod& pod) {
  return *pod.status.resources != api::PodResourceStatus() || IsInfeasible(pod);
}

ResourceList AggregateRequests(const Pod& pod, const RequestOptions& options) {
  ResourceList result = options.use_status && StatusAffectsRequests(pod)
                            ? TotalWithStatus(pod, options)
                            : Total(pod, Source::kSpec, false, options);
  if (options.pod_level && HasPodLevelRequests(pod)) {
    OverridePodLevel(pod, options.use_status, &result);
  }
  AddTo(&result, pod.spec->overhead);
  return result;
}

ResourceList AggregateLimits(const Pod& pod) {
  ResourceList result = Total(pod, Source::kLimits, false, {});
  if (PodLevelOn()) {
    for (const auto& [name, quantity] : pod.spec->resource_limits) {
      if (IsPodLevelName(name)) result.Set(name, quantity);
    }
  }
  for (const auto& [name, quantity] : pod.spec->overhead) {
    const Quantity* limit = result.Find(name);
    if (limit != nullptr && !limit->IsZero()) result[name] += quantity;
  }
  return result;
}

Resource PodRequest(const Pod& pod) {
  const std::vector<Container>& containers = pod.spec->containers;
  if (containers.size() == 1 && IsPlain(pod, false)) return ToRequest(containers[0].requests);
  return ToRequest(AggregateRequests(pod, {.use_status = false}));
}

AccountedRequest AccountPod(const Pod& pod) {
  if (IsPlain(pod, true)) return AccountPlainPod(pod);

  const ResourceNames& names = ResourceNames::Get();
  RequestOptions options{.use_status = true};
  const ResourceList list = AggregateRequests(pod, options);
  AccountedRequest result;
  result.requested = ToRequest(list);
  const bool pod_level = HasPodLevelRequests(pod);
  options.default_cpu = !pod_level || !list.Contains(names.cpu);
  options.default_memory = !pod_level || !list.Contains(names.memory);
  const bool any_default = options.default_cpu || options.default_memory;
  const Resource non_zero =
      any_default ? ToRequest(AggregateRequests(pod, options)) : result.requested;
  result.non_zero_milli_cpu = non_zero.milli_cpu;
  result.non_zero_memory = non_zero.memory;
  return result;
}

}  // namespace ks::framework
