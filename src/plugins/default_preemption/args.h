// SPDX-License-Identifier: Apache-2.0
#pragma once
// DefaultPreemptionArgs: checked, so that a wrong file fails at start; not used while nothing is
// preempted.
//
// Upstream: docs/spec/preemption.md section 1, docs/spec/config.md 4.1.

#include "base/result.h"
#include "config/plugin_args.h"

namespace ks::plugins {

Result<void> CheckDefaultPreemptionArgs(const config::PluginArgs& args);

}  // namespace ks::plugins
