// SPDX-License-Identifier: Apache-2.0
#pragma once
// Both engines asked the same questions, and where they answer differently.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cel/compare/expression.h"
#include "cel/compare/oracle.h"
#include "cel/compare/outcome.h"
#include "cel/compare/subject.h"

namespace ks::cel::compare {

// Empty: alike. Texts of syntax errors and what comes after a panic of the reference do not count.
std::string Difference(const Outcome& reference, const Outcome& ours);

// Threads: one. Lifetime: borrows both engines.
class Comparison {
 public:
  Comparison(Oracle& reference, const Subject& subject, size_t most_shown)
      : reference_(reference), subject_(subject), most_shown_(most_shown) {}

  // Asks both. Prints what differs, the first `most_shown`. Fails if the reference ended.
  Result<void> Check(const std::vector<Question>& questions);
  // The same of random expressions, made as small as they go before they are printed.
  Result<void> CheckRandom(uint64_t seed, uint64_t count);
  // Compares with an outcome that is known; `title` stands over the report of a difference.
  Result<void> CheckKnown(const std::string& title, const Question& question,
                          const Outcome& reference);

  uint64_t compared() const { return compared_; }
  uint64_t differences() const { return differences_; }
  // "1000 expressions, 120 do not compile, …".
  std::string Summary() const;

 private:
  struct Drawn {
    Node node{};
    Question question{};
    bool damaged = false;
  };

  static Drawn Draw(Generator& generator);
  void Count(const Outcome& reference);
  // The difference that stays when the reference is asked again: the order of maps is random there.
  // On each device ours must be one of its answers.
  Result<std::string> Lasting(const Question& question, const Outcome& ours);
  // The same, of our answer; empty: there is none.
  Result<std::string> DifferenceFrom(const Outcome& reference, const Question& question);
  void Report(const std::string& title, const std::string& difference);
  Result<Drawn> Shrink(Drawn drawn);

  Oracle& reference_;
  const Subject& subject_;
  const size_t most_shown_;
  uint64_t compared_ = 0;
  uint64_t differences_ = 0;
  uint64_t compile_errors_ = 0;
  uint64_t evaluations_ = 0;
  uint64_t errors_ = 0;
};

}  // namespace ks::cel::compare
