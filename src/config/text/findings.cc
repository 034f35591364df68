// SPDX-License-Identifier: Apache-2.0
#include "config/text/findings.h"

namespace ks::config {

Place SourceMap::Find(std::string_view path) const {
  while (!path.empty()) {
    if (const auto found = places_.find(path); found != places_.end()) return found->second;
    const size_t parent = path.find_last_of(".[");
    path = path.substr(0, parent == std::string_view::npos ? 0 : parent);
  }
  return {};
}

std::string Render(const Finding& finding, std::string_view file) {
  std::string text(file);
  if (finding.place.line > 0) {
    text += (text.empty() ? "" : ":") + std::to_string(finding.place.line);
    if (finding.place.column > 0) text += ":" + std::to_string(finding.place.column);
  }
  if (!text.empty()) text += ": ";
  if (!finding.path.empty() && !finding.message.starts_with(finding.path)) {
    text += finding.path + ": ";
  }
  text += finding.message;
  if (!finding.hint.empty()) text += " (" + finding.hint + ")";
  return text;
}

Finding FindingOf(const Error& error, const SourceMap& source) {
  return {.path = error.path,
          .message = error.message,
          .place = source.Find(error.path),
          .hint = error.hint};
}

}  // namespace ks::config
