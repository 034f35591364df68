// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which format a scraper gets, from its request headers, and the compression of the answer.
//
// Upstream: docs/spec/metrics.md 1.2.

#include <optional>
#include <string>
#include <string_view>

namespace ks::metrics {

struct Exposition {
  bool protobuf = false;     // else text
  std::string content_type;  // as upstream spells it
};

// `accept`: the header's value, empty when absent. OpenMetrics is not offered: text is.
Exposition Negotiate(std::string_view accept);

// Whether `accept_encoding` allows gzip.
bool AcceptsGzip(std::string_view accept_encoding);

// Absent when zlib fails, which lack of memory alone makes it do.
std::optional<std::string> Gzip(std::string_view text);

}  // namespace ks::metrics
