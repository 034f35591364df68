// SPDX-License-Identifier: Apache-2.0
#pragma once
// Configuration files where people keep them: as they are, or in a key of a ConfigMap that stands
// among other objects, as charts and guides publish them. For kubeschedctl; the daemon, as
// upstream, reads the file that --config names and nothing in it.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/text/findings.h"

namespace ks::config {

// The text of one configuration (or Policy, or of an older version) and where it stands.
struct Embedded {
  std::string text;
  std::string object{};  // "ConfigMap kube-system/scheduler"; empty: the file itself
  std::string key{};     // "scheduler.yaml"; empty: the file itself, or a document of it
  Place place{};         // of the text in the file
  // Lines of the text are lines of the file, this many columns to the right; -1: they are not
  // (quoted, folded or encoded texts).
  int indent = 0;

  // "", "document at line 12" or "key scheduler.yaml of ConfigMap kube-system/scheduler".
  std::string Name() const;
  // A place in the text as one in the file; where there is none, the place of the text.
  Place InFile(Place place_in_text) const;
};

// All of them, in the order of the file. A file whose first document is a configuration, or that
// holds none, is one text, the whole.
std::vector<Embedded> FindConfigurations(std::string_view file);

// The one with that key, of that object where several have the key: "KEY" or "NAME/KEY". Without a
// key there must be one only. Errors name what there is.
Result<Embedded> ChooseConfiguration(std::string_view file, const std::string& key);

}  // namespace ks::config
