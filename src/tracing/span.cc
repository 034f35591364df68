// SPDX-License-Identifier: Apache-2.0
#include "tracing/span.h"

#include <utility>

namespace ks::tracing {
namespace {

thread_local SpanContext current;

void AppendHex(uint64_t number, std::string& text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(number >> shift) & 15];
}

}  // namespace

void Span::Add(std::string_view key, std::string value) {
  attributes.emplace_back(key, std::move(value));
}

void Span::Add(std::string_view key, int64_t value) { attributes.emplace_back(key, value); }

std::string TraceIdText(const SpanContext& context) {
  std::string text;
  for (const uint64_t half : context.trace) AppendHex(half, text);
  return text;
}

std::string Traceparent(const SpanContext& context) {
  std::string text = "00-" + TraceIdText(context) + "-";
  AppendHex(context.span, text);
  return text + "-01";
}

const SpanContext& CurrentSpan() { return current; }

CurrentSpanScope::CurrentSpanScope(const SpanContext& context)
    : former_(std::exchange(current, context)) {}

CurrentSpanScope::~CurrentSpanScope() { current = former_; }

}  // namespace ks::tracing
