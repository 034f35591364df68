// SPDX-License-Identifier: Apache-2.0
#pragma once
// All faults of a file at once: which findings of a later step stand on their own, and which only
// follow from what an earlier step has found. Upstream stops at the first step that finds anything.
//
// A later finding follows from an earlier one that is about the same value, about something in it
// or around it. One about a field that the file does not have, or about several fields at a time,
// may also follow from an unknown or unreadable field beside it, which was meant to be the one.
// Example: `leaderElection: {leaseDuratoin: 1m, renewDeadline: 30s}`: the unknown field is told,
// not that the default of leaseDuration is too short.

#include <cstddef>
#include <string_view>

#include "config/text/findings.h"

namespace ks::config {

class AllFaults {
 public:
  // `source` outlives the list.
  explicit AllFaults(const SourceMap& source) : source_(source) {}

  // What could not be read.
  void AddUnread(Faults faults);
  // The faults of one more step, in upstream's order. The text, upstream's error of the step,
  // counts if no earlier step had one. Places are looked up where they are missing.
  void Add(Faults faults);

  bool empty() const { return faults_.text.empty(); }
  // Whether something found so far is about the value at `path` or something in it.
  bool Touches(std::string_view path) const;
  // By place in the file; what has none comes last.
  Faults Take();

 private:
  bool Follows(const Finding& later) const;

  const SourceMap& source_;
  Faults faults_;
  size_t unread_ = 0;  // so many of the findings come from AddUnread
};

}  // namespace ks::config
