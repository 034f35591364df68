// SPDX-License-Identifier: Apache-2.0
#pragma once
// GangScheduling: a gang waits for enough of its pods to exist, to fit, and to be on nodes, and
// goes on together. Part of the default profile with the gate GenericWorkload.
//
// Upstream: docs/spec/plugins-crosspod.md 8.3, docs/spec/queue.md 18.8.

#include <memory>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/group_plugins.h"
#include "framework/handle.h"

namespace ks::plugins {

using framework::kGangSchedulingName;

Result<std::unique_ptr<framework::Plugin>> NewGangScheduling(const config::PluginArgs& args,
                                                             framework::Handle& handle);

}  // namespace ks::plugins
