// SPDX-License-Identifier: Apache-2.0
#pragma once
// VolumeBinding: takes a pod only to nodes where its bound claims can be used and its delayed
// claims (volumeBindingMode WaitForFirstConsumer) can get a volume, existing or to be made;
// prefers nodes with much free storage; reserves and writes the choice, and binds the pod when the
// claims are bound.
//
// Upstream: docs/spec/plugins-volume.md sections 1 and 2.

#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/plugin_args.h"
#include "framework/handle.h"

namespace ks::plugins {

inline constexpr std::string_view kVolumeBindingName = "VolumeBinding";

Result<std::unique_ptr<framework::Plugin>> NewVolumeBinding(const config::PluginArgs& args,
                                                            framework::Handle& handle);

}  // namespace ks::plugins
