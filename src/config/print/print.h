// SPDX-License-Identifier: Apache-2.0
#pragma once
// A configuration as text: --write-config-to, /configz and the expanded plugin lists of the log.
//
// Upstream: docs/spec/config.md section 7.

#include <string>

#include "config/types.h"

namespace ks::config {

// 7.1, byte for byte. The caller has reduced pluginConfig.
std::string WriteYaml(const Configuration& configuration);

// 7.3: `{"componentconfig":{…}}`, fields in declaration order.
std::string WriteConfigz(const Configuration& configuration);

// {"Enabled":[{"Name":"…","Weight":0}],"Disabled":null}
std::string PluginSetJson(const PluginSet& set);

// 7.4: all sixteen points with the plugins that they came to have. The caller sets weights at Score
// and PlacementScore only.
std::string ExpandedPluginsJson(const Plugins& expanded);

}  // namespace ks::config
