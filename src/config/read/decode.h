// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the bytes of a file to a Configuration as written: nothing defaulted beyond the member
// initializers, nothing validated.
//
// Upstream: docs/spec/config.md section 2.

#include <string_view>

#include "config/text/findings.h"
#include "config/types.h"

namespace ks::config {

struct Decoding {
  // Whether the text has a syntax, and a kind that is ours.
  bool understood = false;
  // As far as it could be read: what is wrong is as if it were absent.
  Configuration configuration{};
  SourceMap source{};
  // Syntax, routing, type, argument and strictness errors, in upstream's precedence (2.9); the
  // findings list all of them that can be told apart, with places and hints. Without a text: none.
  Faults faults{};
};

Decoding DecodeConfiguration(std::string_view text);

}  // namespace ks::config
