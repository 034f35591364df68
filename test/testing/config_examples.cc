// SPDX-License-Identifier: Apache-2.0
#include "testing/config_examples.h"

#include <cctype>

namespace ks::testing {
namespace {

constexpr std::string_view kHead =
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// A code span without its backticks, line feeds and blanks spelled out.
std::string Code(std::string_view span) {
  const size_t ticks = span.starts_with("`` ") ? 3 : 1;
  std::string text(span.substr(ticks, span.size() - 2 * ticks));
  ReplaceAll(text, "⏎", "\n");
  ReplaceAll(text, "␠", " ");
  return text;
}

// "| a | b |" -> a, b. No cell of these tables holds " | ".
std::vector<std::string> Cells(std::string_view line) {
  std::vector<std::string> cells;
  size_t start = 2;
  for (size_t at = line.find(" |", start); at != std::string_view::npos;
       at = line.find(" |", start)) {
    cells.emplace_back(line.substr(start, at - start));
    start = at + 3;
    if (start > line.size()) break;
  }
  return cells;
}

bool IsRow(std::string_view line, char letter) {
  return line.size() > 4 && line.starts_with("| ") && line[2] == letter &&
         std::isdigit(static_cast<unsigned char>(line[3])) != 0;
}

std::string FileOf(const std::string& cell) {
  const std::string body = Code(cell);
  if (body == "(nothing)") return std::string(kHead);
  if (body == "= (empty file)") return "";
  return body.starts_with("=") ? body.substr(1) : std::string(kHead) + body;
}

}  // namespace

std::vector<ConfigExample> ReadConfigExamples(std::string_view document) {
  std::vector<ConfigExample> examples;
  while (!document.empty()) {
    const size_t end = document.find('\n');
    const std::string_view line = document.substr(0, end);
    document = end == std::string_view::npos ? "" : document.substr(end + 1);
    const std::vector<std::string> cells = Cells(line);
    if (IsRow(line, 'E') && cells.size() == 4) {
      ConfigExample example{.name = cells[0], .text = FileOf(cells[1])};
      example.accepted = cells[2] == "accept";
      if (!example.accepted) example.error = Code(cells[3]);
      examples.push_back(std::move(example));
    } else if (IsRow(line, 'M') && cells.size() == 3) {
      std::string text(kHead);
      text += "profiles: [{plugins: {" + Code(cells[1]) + "}}]\n";
      examples.push_back(
          {.name = cells[0], .text = std::move(text), .accepted = !cells[2].starts_with("error")});
    }
  }
  return examples;
}

}  // namespace ks::testing
