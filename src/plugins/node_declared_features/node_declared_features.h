// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeDeclaredFeatures: rejects nodes whose kubelet does not declare a feature that the pod uses.
//
// Upstream: docs/spec/plugins-node.md 4.11.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kNodeDeclaredFeaturesName = "NodeDeclaredFeatures";

Result<std::unique_ptr<framework::Plugin>> NewNodeDeclaredFeatures(const config::PluginArgs& args,
                                                                   framework::Handle& handle);

}  // namespace ks::plugins
