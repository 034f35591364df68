// SPDX-License-Identifier: Apache-2.0
#include "framework/resource.h"

#include <string>

#include <absl/container/flat_hash_map.h>

#include "api/selector.h"
#include "golang/go_arithmetic.h"

namespace ks::framework {
namespace {

constexpr std::string_view kNativeDomain = "kubernetes.io/";
constexpr std::string_view kHugePagesPrefix = "hugepages-";
constexpr std::string_view kAttachablePrefix = "attachable-volumes-";
constexpr std::string_view kQuotaPrefix = "requests.";

bool IsPrefixedNativeResource(std::string_view name) {
  return name.find(kNativeDomain) != std::string_view::npos;
}

struct NameClass {
  bool scalar = false;
  bool extended = false;
};

constexpr size_t kMostKnown = 1024;

// Classifying parses the name; a thread meets only a handful of different ones, unless somebody
// makes them up.
NameClass ClassOf(const Symbol& name) {
  thread_local absl::flat_hash_map<Symbol, NameClass> known;
  const auto it = known.find(name);
  if (it != known.end()) return it->second;
  if (known.size() >= kMostKnown) known.clear();
  const NameClass result{IsScalarResource(name.view()), IsExtendedResource(name.view())};
  known.emplace(name, result);
  return result;
}

template <class Combine>
void MergeScalars(api::SymbolMap<int64_t>* into, const api::SymbolMap<int64_t>& from,
                  Combine combine) {
  for (const auto& [name, amount] : from) {
    int64_t& slot = (*into)[name];
    slot = combine(slot, amount);
  }
}

}  // namespace

bool IsNativeResource(std::string_view name) {
  return name.find('/') == std::string_view::npos || IsPrefixedNativeResource(name);
}

bool IsExtendedResource(std::string_view name) {
  if (IsNativeResource(name) || name.starts_with(kQuotaPrefix)) return false;
  return api::CheckLabelKey(std::string(kQuotaPrefix) + std::string(name)).empty();
}

bool IsHugePageResource(std::string_view name) { return name.starts_with(kHugePagesPrefix); }

bool IsScalarResource(std::string_view name) {
  return IsExtendedResource(name) || IsHugePageResource(name) || IsPrefixedNativeResource(name) ||
         name.starts_with(kAttachablePrefix);
}

bool IsScalarResource(const Symbol& name) { return ClassOf(name).scalar; }
bool IsExtendedResource(const Symbol& name) { return ClassOf(name).extended; }

const ResourceNames& ResourceNames::Get() {
  static const ResourceNames names{Symbol("cpu"), Symbol("memory"), Symbol("ephemeral-storage"),
                                   Symbol("pods")};
  return names;
}

Resource Resource::FromList(const api::ResourceList& list) {
  const ResourceNames& names = ResourceNames::Get();
  Resource result;
  for (const auto& [name, quantity] : list) {
    if (name == names.cpu) {
      result.milli_cpu = quantity.MilliValue();
    } else if (name == names.memory) {
      result.memory = quantity.Value();
    } else if (name == names.ephemeral_storage) {
      result.ephemeral_storage = quantity.Value();
    } else if (name == names.pods) {
      result.allowed_pod_number = quantity.Value();
    } else if (IsScalarResource(name)) {
      result.scalars.Set(name, quantity.Value());
    }
  }
  return result;
}

// Sums wrap on overflow, as upstream's do.
void Resource::Add(const Resource& other) {
  milli_cpu = golang::WrappingAdd(milli_cpu, other.milli_cpu);
  memory = golang::WrappingAdd(memory, other.memory);
  ephemeral_storage = golang::WrappingAdd(ephemeral_storage, other.ephemeral_storage);
  if (!other.scalars.empty()) MergeScalars(&scalars, other.scalars, golang::WrappingAdd);
}

void Resource::Sub(const Resource& other) {
  milli_cpu = golang::WrappingSub(milli_cpu, other.milli_cpu);
  memory = golang::WrappingSub(memory, other.memory);
  ephemeral_storage = golang::WrappingSub(ephemeral_storage, other.ephemeral_storage);
  if (!other.scalars.empty()) MergeScalars(&scalars, other.scalars, golang::WrappingSub);
}

int64_t Resource::Amount(const Symbol& name) const {
  const ResourceNames& names = ResourceNames::Get();
  if (name == names.cpu) return milli_cpu;
  if (name == names.memory) return memory;
  if (name == names.ephemeral_storage) return ephemeral_storage;
  if (name == names.pods) return allowed_pod_number;
  const int64_t* amount = scalars.Find(name);
  return amount == nullptr ? 0 : *amount;
}

}  // namespace ks::framework
