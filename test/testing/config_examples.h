// SPDX-License-Identifier: Apache-2.0
#pragma once
// The worked examples of docs/spec/config.md, read from its tables: E1 … of section 13 and the
// merge table M1 … of section 5.8.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ks::testing {

struct ConfigExample {
  std::string name;  // "E17"
  std::string text;  // the whole file
  bool accepted = true;
  // The whole error; absent for accepted files and where the table quotes a part only.
  std::optional<std::string> error;
};

// `document` is the text of docs/spec/config.md.
std::vector<ConfigExample> ReadConfigExamples(std::string_view document);

}  // namespace ks::testing
