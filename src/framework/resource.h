// SPDX-License-Identifier: Apache-2.0
#pragma once
// The resource vector that filtering and scoring compute with: quantities rounded to int64.
//
// Upstream: docs/spec/plugins-node.md 2.1, 2.2; docs/spec/cache.md 3.1.

#include <cstdint>
#include <string_view>

#include "api/labels.h"

namespace ks::framework {

// Classes of resource names (docs/spec/plugins-node.md 2.2).
bool IsNativeResource(std::string_view name);
bool IsExtendedResource(std::string_view name);
bool IsHugePageResource(std::string_view name);
bool IsScalarResource(std::string_view name);
// The same, remembered per symbol. Threads: any.
bool IsScalarResource(const Symbol& name);
bool IsExtendedResource(const Symbol& name);

// Interned names of the native resources.
struct ResourceNames {
  const Symbol &cpu, memory, ephemeral_storage, pods;
  static const ResourceNames& Get();
};

// Threads: like a value.
struct Resource {
  int64_t milli_cpu = 0;
  int64_t memory = 0;               // bytes
  int64_t ephemeral_storage = 0;    // bytes
  int64_t allowed_pod_number = 0;   // meaningful in allocatable only
  api::SymbolMap<int64_t> scalars;  // whole units; entries stay at 0 after their last user left

  // From a list: MilliValue of cpu, Value of the rest; names that are neither native nor scalar are
  // dropped.
  static Resource FromList(const api::ResourceList& list);

  // Sums without the pod number.
  void Add(const Resource& other);
  void Sub(const Resource& other);
  // The amount of any resource by name, 0 when absent.
  int64_t Amount(const Symbol& name) const;

  friend bool operator==(const Resource&, const Resource&) = default;
};

}  // namespace ks::framework
