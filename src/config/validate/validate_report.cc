// SPDX-License-Identifier: Apache-2.0
#include "config/validate/validate_report.h"

#include <fmt/format.h>

#include <span>

#include "api/selector.h"
#include "config/print/print_json.h"
#include "config/text/nearest_name.h"
#include "golang/quote.h"

namespace ks::config {

void Report::Add(const std::string& path, std::string message) {
  findings_.push_back(
      {.path = path, .message = path + ": " + std::move(message), .place = {}, .hint = ""});
}

void Report::Invalid(const std::string& path, std::string_view value, std::string_view detail) {
  Add(path, fmt::format("Invalid value: {}: {}", value, detail));
}

void Report::InvalidText(const std::string& path, std::string_view value, std::string_view detail) {
  Invalid(path, golang::Quote(value), detail);
}

void Report::Required(const std::string& path, std::string_view detail) {
  Add(path, detail.empty() ? "Required value" : fmt::format("Required value: {}", detail));
}

void Report::Unsupported(const std::string& path, std::string_view value,
                         std::initializer_list<std::string_view> supported) {
  std::string list;
  for (const std::string_view choice : supported) {
    list += (list.empty() ? "" : ", ") + golang::Quote(choice);
  }
  // Values of enumerations are encoded as JSON, unlike plain texts.
  Add(path, fmt::format("Unsupported value: {}: supported values: {}", JsonString(value), list));
  const std::string meant = NearestName(value, std::span(supported.begin(), supported.size()));
  if (!meant.empty()) Hint("did you mean " + golang::Quote(meant) + "?");
}

void Report::Duplicate(const std::string& path, std::string_view value) {
  Add(path, fmt::format("Duplicate value: {}", value));
}

void Report::DuplicateText(const std::string& path, std::string_view value) {
  Duplicate(path, golang::Quote(value));
}

void Report::Forbidden(const std::string& path, std::string_view detail) {
  Add(path, fmt::format("Forbidden: {}", detail));
}

void Report::LabelKey(const std::string& path, std::string_view key) {
  for (const std::string& problem : api::LabelKeyProblems(key)) InvalidText(path, key, problem);
}

void Report::Range(const std::string& path, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return;
  InvalidNumber(path, value, fmt::format("not in valid range [{}, {}]", low, high));
}

std::string Indexed(std::string_view path, size_t index) {
  return fmt::format("{}[{}]", path, index);
}

}  // namespace ks::config
