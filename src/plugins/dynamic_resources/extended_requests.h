// SPDX-License-Identifier: Apache-2.0
#pragma once
// Extended resources that devices serve: the requests of the claim that is made for a pod which
// asks for such resources.
//
// Upstream: docs/spec/plugins-dra.md sections 10.2 and 10.3.

#include <vector>

#include "api/devices.h"
#include "api/json/encode.h"
#include "api/pod.h"

namespace ks::plugins {

// What a claim has to ask for, and for which containers.
struct ExtendedRequests {
  std::vector<api::DeviceRequest> requests;            // ascending by name
  std::vector<api::ExtendedResourceMapping> mappings;  // resource after resource
};

// A resource that devices of a class serve on a node.
struct ServedResource {
  Symbol resource;
  Symbol device_class;

  friend bool operator==(const ServedResource&, const ServedResource&) = default;
};

// Extended resources of which the pod asks for some amount, ascending by name.
std::vector<Symbol> ExtendedResourcesOf(const api::Pod& pod);

// `served`: ascending by resource name.
ExtendedRequests MakeExtendedRequests(const api::Pod& pod,
                                      const std::vector<ServedResource>& served);

}  // namespace ks::plugins
