// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collects field errors in upstream's words.
//
// Upstream: docs/spec/config.md sections 3.7 and 4.9.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/text/findings.h"

namespace ks::config {

// Values in messages: texts quoted, numbers plain, everything else compact JSON.
class Report {
 public:
  // `value` is shown as it is; the two others quote or format.
  void Invalid(const std::string& path, std::string_view value, std::string_view detail);
  void InvalidText(const std::string& path, std::string_view value, std::string_view detail);
  void InvalidNumber(const std::string& path, int64_t value, std::string_view detail) {
    Invalid(path, std::to_string(value), detail);
  }
  void Required(const std::string& path, std::string_view detail = "");
  void Unsupported(const std::string& path, std::string_view value,
                   std::initializer_list<std::string_view> supported);
  void Duplicate(const std::string& path, std::string_view value);
  void DuplicateText(const std::string& path, std::string_view value);
  void Forbidden(const std::string& path, std::string_view detail);

  // One error for each way in which `key` is no label key.
  void LabelKey(const std::string& path, std::string_view key);
  void Range(const std::string& path, int64_t value, int64_t low, int64_t high);

  // The last finding's place in the file, where upstream's text names another one, and its cure.
  void At(std::string path) { findings_.back().path = std::move(path); }
  void Hint(std::string hint) { findings_.back().hint = std::move(hint); }

  void Append(Finding finding) { findings_.push_back(std::move(finding)); }
  std::vector<Finding> Take() { return std::move(findings_); }

 private:
  void Add(const std::string& path, std::string message);

  std::vector<Finding> findings_;
};

// "profiles[3]"
std::string Indexed(std::string_view path, size_t index);

}  // namespace ks::config
