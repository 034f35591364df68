// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the legacy plugins have in common. They exist for users who bring old configurations along,
// are in no default profile, and do nothing unless a profile names them (docs/legacy.md).
//
// Upstream: none in v1.37; docs/spec/plugins-crosspod.md section 7.

#include <string>
#include <string_view>
#include <vector>

#include "base/symbol.h"
#include "config/plugin_args.h"
#include "framework/handle.h"
#include "plugins/kit/args_reader.h"

namespace ks::plugins {

// One warning in the log. `replacement`: what to use instead.
void WarnLegacy(std::string_view plugin, std::string_view replacement,
                const framework::Handle& handle);

// For plugins without arguments: every field is a fault.
ArgsFaults NoArgsFaults(const config::PluginArgs& args);

// A list of label keys; each that is none is a fault.
std::vector<Symbol> ReadLabelKeys(const ArgsReader& root, std::string_view field);

}  // namespace ks::plugins
