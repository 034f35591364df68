// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plugin arguments as JSON.
//
// Upstream: docs/spec/config.md section 7.

#include <string>

#include "config/plugin_args.h"
#include "config/print/print_json.h"

namespace ks::config {

// Typed arguments with kind and apiVersion, others as given, none as null. Fields in declaration
// order.
void AppendArgs(const PluginArgs& args, JsonBuilder& out);

// As error messages show arguments: compact JSON with the capitalised names of upstream's internal
// types and nothing left out (3.7).
std::string GoArgsJson(const PluginArgs& args);

}  // namespace ks::config
