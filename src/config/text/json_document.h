// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON text as a Document: RFC 8259 with the leniencies of Go's reader (damaged UTF-8 and lone
// surrogates become U+FFFD), its error texts and the place of everything.
//
// Upstream: docs/spec/config.md section 2.2. Why no library: docs/decisions/0016.

#include <string_view>
#include <variant>

#include "config/text/document.h"

namespace ks::config {

std::variant<Document, Finding> ParseJsonDocument(std::string_view text);

}  // namespace ks::config
