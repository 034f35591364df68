// SPDX-License-Identifier: Apache-2.0
#include "config/validate/follow_ups.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

namespace ks::config {
namespace {

// `path` is `root` or below it: "a.b" and "a[1]" are below "a", "ab" is not.
bool IsBelow(std::string_view path, std::string_view root) {
  if (!path.starts_with(root)) return false;
  return path.size() == root.size() || path[root.size()] == '.' || path[root.size()] == '[';
}

std::string_view Parent(std::string_view path) {
  const size_t end = path.find_last_of(".[");
  return end == std::string_view::npos ? std::string_view() : path.substr(0, end);
}

}  // namespace

void AllFaults::AddUnread(Faults faults) {
  Add(std::move(faults));
  unread_ = faults_.findings.size();
}

void AllFaults::Add(Faults faults) {
  if (faults_.text.empty()) faults_.text = std::move(faults.text);
  std::vector<Finding> kept;
  for (Finding& finding : faults.findings) {
    if (Follows(finding)) continue;
    if (finding.place.line == 0) finding.place = source_.Find(finding.path);
    kept.push_back(std::move(finding));
  }
  std::move(kept.begin(), kept.end(), std::back_inserter(faults_.findings));
}

bool AllFaults::Touches(std::string_view path) const {
  return std::ranges::any_of(faults_.findings, [path](const Finding& earlier) {
    return IsBelow(earlier.path, path) || IsBelow(path, earlier.path);
  });
}

Faults AllFaults::Take() {
  std::ranges::stable_sort(faults_.findings, {}, [](const Finding& finding) {
    constexpr int kLast = std::numeric_limits<int>::max();
    const Place& place = finding.place;
    return std::pair(place.line == 0 ? kLast : place.line, place.column);
  });
  return std::move(faults_);
}

bool AllFaults::Follows(const Finding& later) const {
  if (later.path.empty()) return false;
  const std::string_view parent = Parent(later.path);
  const bool written = source_.Contains(later.path);
  for (size_t i = 0; i < faults_.findings.size(); ++i) {
    const std::string& earlier = faults_.findings[i].path;
    if (earlier.empty()) continue;
    if (IsBelow(later.path, earlier) || IsBelow(earlier, later.path)) return true;
    // At the top there are many fields that have nothing to do with each other.
    if (i < unread_ && Parent(earlier) == parent && (!parent.empty() || !written)) return true;
  }
  return false;
}

}  // namespace ks::config
