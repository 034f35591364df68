// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeResourcesFit: the node has room for the pod's requests; scores by how much stays free.
//
// Upstream: docs/spec/plugins-node.md 4.8.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "plugins/kit/resource_score/args.h"

namespace ks::plugins {

Result<std::unique_ptr<framework::Plugin>> NewNodeResourcesFit(const config::PluginArgs& args,
                                                               framework::Handle& handle);

}  // namespace ks::plugins
