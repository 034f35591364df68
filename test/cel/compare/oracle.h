// SPDX-License-Identifier: Apache-2.0
#pragma once
// The reference: a process of test/controlplane/cmd/celoracle, which answers what upstream's
// environment makes of expressions.

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cel/compare/outcome.h"

namespace ks::cel::compare {

// Threads: one. Lifetime: ends the process that it started.
class Oracle {
 public:
  // `devices`: the devices of all questions, a JSON list.
  static Result<std::unique_ptr<Oracle>> Start(const std::string& program,
                                               std::string_view devices);
  ~Oracle();
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  // One outcome a question. Blocks. Fails if the process ended.
  Result<std::vector<Outcome>> Ask(const std::vector<Question>& questions);

 private:
  Oracle() = default;
  Result<void> Write(std::string_view text);
  Result<std::string> ReadLine();

  pid_t pid_ = 0;
  int requests_ = -1;
  int answers_ = -1;
  std::string unread_;
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
