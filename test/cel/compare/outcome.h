// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is asked of an engine and what it answers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ks::cel::compare {

enum class Mode { kSelector, kValue, kCompile };

struct Question {
  std::string expression{};
  Mode mode = Mode::kSelector;
};

// What an engine makes of an expression.
struct Outcome {
  struct Evaluation {
    std::string value{};  // canonical text; empty if there is an error
    std::string error{};
    uint64_t cost = 0;
  };

  std::string compile_error{};
  std::string type{};
  std::vector<Evaluation> evaluations{};  // one a device
  std::string panic{};                    // of the reference
};

// In one line: "int: 42 (cost 3)", "error: …", "does not compile: …"; of several devices parted by
// " | " unless all are alike. A syntax error is not told in detail.
std::string OutcomeText(const Outcome& outcome);

// Whether the texts of two errors are alike. The reference writes one of the device's whole maps
// with its address and in an order that changes; ours need not have the same.
bool IsSameError(std::string_view reference, std::string_view ours);

// Whether the compile error is one of the grammar.
bool IsSyntaxError(std::string_view compile_error);

}  // namespace ks::cel::compare
