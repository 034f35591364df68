// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a KubeSchedulerConfiguration v1 file (YAML or JSON): parse, route by version and kind,
// decode strictly, default, apply the flags' overlay, validate. Fails with upstream's text plus
// places and hints for every fault.
//
// Upstream: docs/spec/config.md sections 2 to 6.

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/gates/feature_gates.h"
#include "config/text/findings.h"
#include "config/types.h"

namespace ks::config {

struct LoadOptions {
  const FeatureGates* gates = nullptr;  // null: the defaults of the newest version
  // Applied between defaulting and validation (leader-election flags). May be empty.
  std::function<void(Configuration&)> overlay;
};

struct Loaded {
  Configuration configuration;
  SourceMap source;
  // Not errors: what upstream drops or ignores silently (arguments of plugins that are not enabled,
  // disabled names that match nothing, protobuf served by JSON …).
  std::vector<Finding> warnings;
};

using LoadResult = std::variant<Loaded, Faults>;

// A file however wrong it is, so that the steps behind reading can say what is wrong for them, too.
struct Reading {
  // Whether there is a configuration at all: the text has a syntax, and a kind that is ours.
  bool understood = false;
  Configuration written{};        // what the file says, as far as it could be read
  Configuration configuration{};  // complete; what the file means only if nothing is wrong with it
  SourceMap source{};
  std::vector<Finding> warnings{};  // as those of Loaded; none of a file with faults
  // Without a text: none.
  Faults unread{};   // found by decoding
  Faults invalid{};  // found by validation; of a file with unread parts also what follows from them
};

// The bytes of a file. Errors of the operating system are upstream's: `open FILE: no such file or
// directory`.
Result<std::string> ReadConfigurationFile(const std::string& file);

Reading ReadConfiguration(const std::string& file, const LoadOptions& options = {});
Reading ReadConfigurationText(std::string_view text, const LoadOptions& options = {});

// A file without faults, or those of the first step that finds any.
LoadResult LoadConfiguration(const std::string& file, const LoadOptions& options = {});

// The same from memory.
LoadResult ParseConfiguration(std::string_view text, const LoadOptions& options = {});

}  // namespace ks::config
