// SPDX-License-Identifier: Apache-2.0
#pragma once
// The table of all plugins in this tree. Adding one is one line in registry.cc.
//
// Upstream: docs/spec/framework.md 5.1 (the names; those of plugins that do not exist here yet are
// unknown).

#include "framework/registry.h"

namespace ks::plugins {

framework::Registry InTreeRegistry();

}  // namespace ks::plugins
