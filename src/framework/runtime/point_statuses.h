// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the runtime reports what a plugin answered. Only for this folder.
//
// Upstream: docs/spec/framework.md section 3.

#include <string>
#include <string_view>
#include <utility>

#include "framework/status.h"
#include "golang/quote.h"

namespace ks::framework {

// Error `<what> "<plugin>": <text of status>`, without plugin name.
inline Status Wrapped(std::string_view what, std::string_view plugin, const Status& status) {
  std::string text(what);
  text += ' ';
  text += golang::Quote(plugin);
  text += ": ";
  text += status.ErrorText();
  return Status::Error(std::move(text));
}

// A rejection with the plugin's name, anything else as Wrapped.
inline Status RejectedOrWrapped(std::string_view what, std::string_view plugin,
                                const Status& status) {
  return status.IsRejected() ? status.WithPlugin(plugin) : Wrapped(what, plugin, status);
}

}  // namespace ks::framework
