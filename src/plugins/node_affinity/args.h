// SPDX-License-Identifier: Apache-2.0
#pragma once
// NodeAffinityArgs: the affinity that a profile adds to all its pods, compiled.
//
// Upstream: docs/spec/plugins-node.md 4.7, docs/spec/config.md 4.5.

#include <optional>

#include "api/selector.h"
#include "base/result.h"
#include "config/plugin_args.h"

namespace ks::plugins {

struct AddedAffinity {
  std::optional<api::NodeSelector> required;
  api::PreferredTerms preferred;  // empty: nothing added
};

// Without arguments: nothing is added. Errors: upstream's field errors, which the configuration's
// own checks have found before.
Result<AddedAffinity> AddedAffinityOf(const config::PluginArgs& args);

}  // namespace ks::plugins
