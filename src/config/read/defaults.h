// SPDX-License-Identifier: Apache-2.0
#pragma once
// Completes a configuration: profiles, plugin sets, plugin arguments, values whose zero means
// "default".
//
// Upstream: docs/spec/config.md sections 3 to 6.

#include <functional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/gates/feature_gates.h"
#include "config/text/findings.h"
#include "config/types.h"

namespace ks::config {

// The default multiPoint list with weights; depends on the gates (5.1).
Plugins DefaultPlugins(const FeatureGates& gates);

// Merges each section of a user's plugins with the defaults (5.2). The disabled list of the user
// stays, followed by that of the defaults.
Plugins MergePlugins(const Plugins& defaults, const Plugins& user);
PluginSet MergePluginSet(const PluginSet& defaults, const PluginSet& user);

// Everything of sections 3 to 6 that is a default, merged plugin sets and default pluginConfig
// entries included. Logs the replaced default plugins as upstream does. Not idempotent: call once.
void SetDefaults(Configuration* configuration, const FeatureGates& gates);

// One default profile, everything else at its default.
Configuration DefaultConfiguration(const FeatureGates& gates = {});

// The default arguments of a plugin that has an argument type, else monostate.
PluginArgs DefaultArgs(std::string_view plugin, const FeatureGates& gates);

// The build-time effects of extenders (section 6): checks their TLS material and lets resources
// that extenders ignore replace NodeResourcesFit's ignoredResources in all profiles. Errors start
// with `couldn't build extenders: ` where upstream's do.
Result<void> ApplyExtenders(Configuration* configuration);
// Its two halves: everything that is wrong with the TLS material, in upstream's order …
std::vector<Finding> CheckExtenders(const Configuration& configuration);
// … and the resources.
Result<void> ApplyIgnoredResources(Configuration* configuration);

// Reduces and sorts pluginConfig as upstream does once the profiles are built (7.1): entries with
// arguments whose plugin is enabled and `registered`.
void ReducePluginConfig(Configuration* configuration,
                        const std::function<bool(std::string_view)>& registered);

}  // namespace ks::config
