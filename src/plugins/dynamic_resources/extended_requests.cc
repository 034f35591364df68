// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/extended_requests.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "framework/device_classes.h"
#include "framework/pod_requests.h"
#include "framework/resource.h"

namespace ks::plugins {
namespace {

struct NumberedContainer {
  const api::Container* container = nullptr;
  size_t number = 0;  // init containers first
};

// Init containers that run to their end, and all others.
struct ContainersByLife {
  std::vector<NumberedContainer> long_lived;
  std::vector<NumberedContainer> short_lived;
};

ContainersByLife Containers(const api::PodSpec& spec) {
  ContainersByLife containers;
  size_t number = 0;
  for (const api::Container& container : spec.init_containers) {
    auto& list = container.restart_always ? containers.long_lived : containers.short_lived;
    list.push_back({&container, number++});
  }
  for (const api::Container& container : spec.containers) {
    containers.long_lived.push_back({&container, number++});
  }
  return containers;
}

int64_t AmountOf(const NumberedContainer& of, const Symbol& resource) {
  const api::Quantity* amount = of.container->requests.Find(resource);
  return amount == nullptr ? 0 : amount->Value();
}

// `container-1-request-0`: the number of the container, and of the resource among its requests.
std::string RequestName(const NumberedContainer& of, const Symbol& resource) {
  const auto& requests = of.container->requests;
  const auto place = std::count_if(requests.begin(), requests.end(), [resource](const auto& entry) {
    return entry.first.view() < resource.view();
  });
  return "container-" + std::to_string(of.number) + "-request-" + std::to_string(place);
}

// The requests for one resource.
class ResourceRequests {
 public:
  ResourceRequests(const ServedResource& served, ExtendedRequests& made)
      : served_(served), made_(made) {}

  void AddLongLived(const NumberedContainer& container) {
    const int64_t amount = AmountOf(container, served_.resource);
    if (amount <= 0) return;
    lasting_.push_back({.container = container.number,
                        .name = RequestName(container, served_.resource),
                        .count = amount});
    Map(container, lasting_.back().name);
  }

  // Containers that are over when others start use the devices of those.
  void AddShortLived(const NumberedContainer& container) {
    int64_t missing = AmountOf(container, served_.resource);
    if (missing <= 0) return;
    for (const Request& lasting : lasting_) {
      if (lasting.container < container.number || missing <= 0) continue;
      Map(container, lasting.name);
      missing -= lasting.count;
    }
    if (missing <= 0) return;
    const Request own{.container = container.number,
                      .name = RequestName(container, served_.resource),
                      .count = missing};
    Map(container, own.name);
    own_names_.push_back(own.name);
    if (!largest_own_ || largest_own_->count < missing) largest_own_ = own;
  }

  void Finish() {
    for (const Request& lasting : lasting_) Ask(lasting);
    if (!largest_own_) return;
    Ask(*largest_own_);
    for (size_t i = first_mapping_; i < made_.mappings.size(); ++i) {
      std::string& request = made_.mappings[i].request;
      if (std::find(own_names_.begin(), own_names_.end(), request) != own_names_.end()) {
        request = largest_own_->name;
      }
    }
  }

 private:
  struct Request {
    size_t container = 0;
    std::string name;
    int64_t count = 0;
  };

  void Map(const NumberedContainer& container, const std::string& request) {
    made_.mappings.push_back({.container = container.container->name,
                              .resource = served_.resource.str(),
                              .request = request});
  }

  void Ask(const Request& request) {
    api::DeviceRequest asked{.name = request.name, .exactly = api::ExactDeviceRequest()};
    asked.exactly->device_class_name = served_.device_class;
    asked.exactly->allocation_mode = api::kExactCountMode;
    asked.exactly->count = request.count;
    made_.requests.push_back(std::move(asked));
  }

  const ServedResource served_;
  ExtendedRequests& made_;
  const size_t first_mapping_ = made_.mappings.size();
  std::vector<Request> lasting_;
  std::vector<std::string> own_names_;  // of short-lived containers
  std::optional<Request> largest_own_;
};

}  // namespace

std::vector<Symbol> ExtendedResourcesOf(const api::Pod& pod) {
  std::vector<Symbol> resources;
  for (const auto& [name, amount] : framework::AggregateRequests(pod, {})) {
    if (amount.IsZero()) continue;
    if (framework::IsExtendedResource(name) ||
        name.view().starts_with(framework::kImplicitResourcePrefix)) {
      resources.push_back(name);
    }
  }
  std::sort(resources.begin(), resources.end(),
            [](const Symbol& a, const Symbol& b) { return a.view() < b.view(); });
  return resources;
}

ExtendedRequests MakeExtendedRequests(const api::Pod& pod,
                                      const std::vector<ServedResource>& served) {
  ExtendedRequests made;
  const ContainersByLife containers = Containers(*pod.spec);
  for (const ServedResource& one : served) {
    ResourceRequests requests(one, made);
    for (const NumberedContainer& each : containers.long_lived) requests.AddLongLived(each);
    for (const NumberedContainer& each : containers.short_lived) requests.AddShortLived(each);
    requests.Finish();
  }
  std::sort(
      made.requests.begin(), made.requests.end(),
      [](const api::DeviceRequest& a, const api::DeviceRequest& b) { return a.name < b.name; });
  return made;
}

}  // namespace ks::plugins
