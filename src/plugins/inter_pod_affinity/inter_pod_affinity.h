// SPDX-License-Identifier: Apache-2.0
#pragma once
// InterPodAffinity: pods that must, must not, or would rather share a topology domain with certain
// other pods, and the same wishes of the pods that are there already.
//
// Upstream: docs/spec/plugins-crosspod.md sections 2 and 3.

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kInterPodAffinityName = "InterPodAffinity";

Result<std::unique_ptr<framework::Plugin>> NewInterPodAffinity(const config::PluginArgs& args,
                                                               framework::Handle& handle);
// The same with another number of terms, of which each may concern a pod, from which on they are
// not asked one by one (IncomingSums). For tests.
Result<std::unique_ptr<framework::Plugin>> NewInterPodAffinityOfMany(const config::PluginArgs& args,
                                                                     framework::Handle& handle,
                                                                     size_t many_terms);

}  // namespace ks::plugins
