// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which kind of object a document is: apiVersion and kind.
//
// Upstream: docs/spec/config.md sections 2.4 and 2.8.

#include <string>
#include <string_view>
#include <variant>

#include "config/text/document.h"

namespace ks::config {

// The kind of `object`, one of KnownKinds. `text` is the whole text for errors. `default_kind`
// stands in for what the object does not say (arguments of plugins), empty: nothing does. Errors:
// upstream's text, with place and hint; paths start at the object.
std::variant<std::string, Finding> KindOf(const Value& object, Syntax syntax, std::string_view text,
                                          std::string_view default_kind);

// KubeSchedulerConfiguration or a plugin's arguments, at kApiVersion.
bool IsKnownKind(std::string_view kind);

}  // namespace ks::config
