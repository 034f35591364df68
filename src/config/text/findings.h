// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong with a configuration: upstream's text, and beyond it one finding per fault with its
// place in the file and a cure.
//
// Upstream: docs/spec/config.md sections 2.9, 3.7 and 3.8 (texts); places and hints are our own.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ks::config {

// Where a value stands in the file; line and column count from 1, 0: unknown.
struct Place {
  int line = 0;
  int column = 0;
};

// Path of a field ("profiles[0].plugins.filter.enabled[2].name") -> where its key (for a list
// element: the element) starts.
class SourceMap {
 public:
  void Add(std::string path, Place place) { places_.emplace(std::move(path), place); }
  // The place of `path` or of its nearest ancestor that is in the file; {} when there is none.
  Place Find(std::string_view path) const;
  bool Contains(std::string_view path) const { return places_.find(path) != places_.end(); }
  const std::map<std::string, Place, std::less<>>& places() const { return places_; }

 private:
  std::map<std::string, Place, std::less<>> places_;
};

struct Finding {
  std::string path;     // empty: the file as a whole
  std::string message;  // one fault, in upstream's words where there are any
  Place place;
  std::string hint;  // cure, e.g. `did you mean "preFilter"?`; may be empty
};

// "FILE:LINE:COLUMN: PATH: MESSAGE (HINT)", parts that are unknown left out. A message that already
// starts with the path does not get it twice.
std::string Render(const Finding& finding, std::string_view file);

// The finding for a failure of a later step, such as building the profiles.
Finding FindingOf(const Error& error, const SourceMap& source);

// `text` is upstream's whole error, byte for byte at the levels of docs/spec/config.md. `findings`
// may list more than upstream reports: upstream stops at the first kind of fault.
struct Faults {
  std::string text;
  std::vector<Finding> findings;
};

}  // namespace ks::config
