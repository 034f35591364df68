// SPDX-License-Identifier: Apache-2.0
#include "cel/compare/outcome.h"

#include <algorithm>

#include <fmt/format.h>

namespace ks::cel::compare {
namespace {

constexpr std::string_view kBeforeAddress = "} 0x";

std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else {
      line += c;
    }
  }
  return line;
}

// What stands before the address in "{MAP} 0xc000123456"; the whole text if there is none.
std::string_view WithoutAddress(std::string_view text) {
  const size_t brace = text.rfind(kBeforeAddress);
  return brace == text.npos ? text : text.substr(0, brace + 1);
}

// Takes the text up to the brace that closes, with the entries of maps in the order of their texts
// and without addresses.
std::string TakeMap(std::string_view& rest) {
  std::vector<std::string> entries(1);
  int lists = 0;
  while (!rest.empty()) {
    const char c = rest[0];
    rest.remove_prefix(1);
    if (c == '}') break;
    lists += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == '{') {
      entries.back() += TakeMap(rest);
    } else if (c == ',' && lists == 0) {
      entries.emplace_back();
    } else if (c != ' ' || !entries.back().empty()) {
      entries.back() += c;
    }
  }
  if (const std::string_view map = WithoutAddress(entries[0]);
      entries.size() == 1 && map.size() < entries[0].size()) {
    return std::string(map);
  }
  std::sort(entries.begin(), entries.end());
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

std::string WithOrderedMaps(std::string_view text) {
  std::string ordered;
  while (!text.empty()) {
    const char c = text[0];
    text.remove_prefix(1);
    if (c == '{') {
      ordered += TakeMap(text);
    } else {
      ordered += c;
    }
  }
  return ordered;
}

}  // namespace

bool IsSameError(std::string_view reference, std::string_view ours) {
  if (reference == ours) return true;
  return reference.find(kBeforeAddress) != reference.npos &&
         WithOrderedMaps(reference) == WithOrderedMaps(ours);
}

bool IsSyntaxError(std::string_view compile_error) {
  return compile_error.find(": Syntax error: ") != std::string_view::npos;
}

std::string OutcomeText(const Outcome& outcome) {
  if (!outcome.panic.empty()) return "panic";
  if (IsSyntaxError(outcome.compile_error)) return "does not compile: Syntax error";
  if (!outcome.compile_error.empty()) return "does not compile: " + OneLine(outcome.compile_error);
  std::vector<std::string> texts;
  for (const Outcome::Evaluation& evaluation : outcome.evaluations) {
    texts.push_back(evaluation.error.empty()
                        ? fmt::format("{} (cost {})", evaluation.value, evaluation.cost)
                        : "error: " + OneLine(evaluation.error));
  }
  if (std::all_of(texts.begin(), texts.end(), [&](const auto& text) { return text == texts[0]; })) {
    texts.resize(std::min<size_t>(texts.size(), 1));
  }
  return fmt::format("{}: {}", outcome.type, fmt::join(texts, " | "));
}

}  // namespace ks::cel::compare
