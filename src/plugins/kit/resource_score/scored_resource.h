// SPDX-License-Identifier: Apache-2.0
#pragma once
// A resource that a profile scores by.

#include <cstdint>
#include <vector>

#include "base/symbol.h"
#include "config/plugin_args.h"

namespace ks::plugins {

struct ScoredResource {
  // kOther: a name that nodes do not account (`pods`, `foo`). It never counts on a node.
  enum class Kind : uint8_t { kMilliCpu, kMemory, kEphemeralStorage, kScalar, kOther };
  Symbol name;
  Kind kind = Kind::kScalar;
  int64_t weight = 1;
};

std::vector<ScoredResource> ScoredResources(const std::vector<config::ResourceSpec>& specs);

}  // namespace ks::plugins
