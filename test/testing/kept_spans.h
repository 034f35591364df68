// SPDX-License-Identifier: Apache-2.0
#pragma once
// A SpanSink that keeps what it is given. Threads: one at a time.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing/span.h"

namespace ks::testing {

class KeptSpans final : public tracing::SpanSink {
 public:
  void Add(tracing::Span span) override { spans.push_back(std::move(span)); }
  uint64_t NewSpanId() override { return ++last_id_; }

  // Those of that name, in the order of their ends.
  std::vector<tracing::Span> Named(std::string_view name) const {
    std::vector<tracing::Span> named;
    std::copy_if(spans.begin(), spans.end(), std::back_inserter(named),
                 [&](const tracing::Span& span) { return span.name == name; });
    return named;
  }
  // Of the span, as text; empty: it has none.
  static std::string Get(const tracing::Span& span, std::string_view key) {
    for (const tracing::Attribute& attribute : span.attributes) {
      if (attribute.key != key) continue;
      return attribute.is_number ? std::to_string(attribute.number) : attribute.text;
    }
    return {};
  }

  std::vector<tracing::Span> spans;

 private:
  uint64_t last_id_ = 0;
};

}  // namespace ks::testing
