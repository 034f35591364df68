// SPDX-License-Identifier: Apache-2.0
#include "cel/compare/outcome.h"

#include <algorithm>

#include <fmt/format.h>

namespace ks::cel::compare {
namespace {

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

}  // namespace

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
