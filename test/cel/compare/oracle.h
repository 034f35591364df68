// SPDX-License-Identifier: Apache-2.0
#pragma once
// The reference: a process of test/controlplane/cmd/celoracle, which answers what upstream's
// environment makes of expressions.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cel/compare/outcome.h"
#include "testing/line_process.h"

namespace ks::cel::compare {

// Threads: one. Lifetime: ends the process that it started.
class Oracle {
 public:
  // `devices`: the devices of all questions, a JSON list.
  static Result<std::unique_ptr<Oracle>> Start(const std::string& program,
                                               std::string_view devices);

  // One outcome a question. Blocks. Fails if the process ended.
  Result<std::vector<Outcome>> Ask(const std::vector<Question>& questions);

 private:
  explicit Oracle(std::unique_ptr<testing::LineProcess> process) : process_(std::move(process)) {}

  std::unique_ptr<testing::LineProcess> process_;
};

// A line of `celoracle -conformance`.
struct ConformanceTest {
  std::string name{};
  std::string left_out{};  // why there is nothing to compare
  Question question{};
  Outcome outcome{};
  bool agrees = false;  // the reference with the official expectation
};
Result<ConformanceTest> ReadConformanceTest(const std::string& line);

}  // namespace ks::cel::compare
