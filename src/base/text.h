// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small steps of reading texts: header fields, flag values, files. ASCII, whatever the locale.

#include <string>
#include <string_view>
#include <vector>

namespace ks {

// The letters A to Z in lower case; every other byte as it is.
std::string LowerCase(std::string_view text);

// Blanks of header fields and of lists in flags; and all that counts as space in a file.
inline constexpr std::string_view kBlanks = " \t";
inline constexpr std::string_view kSpace = " \t\n\v\f\r";

// Without what `blanks` has at both ends: a part of `text`.
std::string_view Trimmed(std::string_view text, std::string_view blanks = kBlanks);

// The parts between the separators, trimmed of kBlanks: one more than there are separators. They
// are parts of `text`.
std::vector<std::string_view> SplitTrimmed(std::string_view text, char separator);

}  // namespace ks
