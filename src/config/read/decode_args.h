// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments of plugins from their part of a document.
//
// Upstream: docs/spec/config.md sections 2.8 and 4.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/plugin_args.h"
#include "config/text/document.h"
#include "config/text/findings.h"

namespace ks::config {

struct DecodedArgs {
  PluginArgs args;
  // Upstream's error that hides all others, without the entry's prefix; absent: none.
  std::optional<std::string> fatal;
  // Upstream's texts of unknown and duplicate fields; empty: none.
  std::vector<std::string> strict;
  // Everything that is wrong.
  std::vector<Finding> findings;
};

// The arguments of an entry of pluginConfig; `value` is null when it has none. `path` is that of
// the arguments.
DecodedArgs DecodePluginArgs(const std::string& plugin, const Value* value, Syntax syntax,
                             const std::string& path, SourceMap& source);

}  // namespace ks::config
