// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the runtime reports what a plugin answered. Only for this folder.
//
// Upstream: docs/spec/framework.md section 3.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "framework/plugin.h"
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

// Error `<what>: plugin "<plugin>" failed with: <text of status>`.
inline Status ScoreFailure(std::string_view what, std::string_view plugin, const Status& status) {
  return Status::Error(std::string(what) + ": plugin " + golang::Quote(plugin) +
                       " failed with: " + status.ErrorText());
}

// Error of a score of the plugin that is none, at the point "Score" or "PlacementScore".
inline Status ScoreOutOfRange(std::string_view point, std::string_view plugin, int64_t score) {
  return Status::Error("applying score defaultWeights on " + std::string(point) +
                       " plugins: plugin " + golang::Quote(plugin) + " returns an invalid score " +
                       std::to_string(score) + ", it should in the range of [" +
                       std::to_string(kMinNodeScore) + ", " + std::to_string(kMaxNodeScore) +
                       "] after normalizing");
}

}  // namespace ks::framework
