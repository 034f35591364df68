// SPDX-License-Identifier: Apache-2.0
#include "cel/compare/compare.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "golang/utf8.h"

namespace ks::cel::compare {
namespace {

constexpr size_t kBatch = 200;
constexpr int kAskedAgain = 12;
// Where the answers differ from each other: enough to meet one in ten of them.
constexpr int kAskedWhereItVaries = 200;
constexpr int kShrinkSteps = 2000;

std::string Shown(const Outcome::Evaluation& evaluation) {
  return evaluation.error.empty() ? fmt::format("{} (cost {})", evaluation.value, evaluation.cost)
                                  : "error: " + evaluation.error;
}

std::string Pair(std::string_view what, std::string_view reference, std::string_view ours) {
  return fmt::format("{}\n    reference: {}\n    ours:      {}", what, reference, ours);
}

}  // namespace

namespace {

std::string DifferenceOfCompiling(const Outcome& reference, const Outcome& ours) {
  if (reference.compile_error != ours.compile_error) {
    if (IsSyntaxError(reference.compile_error) && IsSyntaxError(ours.compile_error)) return "";
    return Pair("compile error", reference.compile_error, ours.compile_error);
  }
  if (reference.type != ours.type) return Pair("type", reference.type, ours.type);
  return "";
}

bool IsAlike(const Outcome::Evaluation& reference, const Outcome::Evaluation& ours) {
  if (reference.error.starts_with("panic: ")) return true;
  if (!reference.error.empty()) return IsSameError(reference.error, ours.error);
  return ours.error.empty() && reference.value == ours.value && reference.cost == ours.cost;
}

// The first device on which they differ and that is not in `known`, to which the alike are added.
std::string DifferenceOfEvaluating(const Outcome& reference, const Outcome& ours,
                                   std::vector<bool>& known) {
  std::string difference;
  for (size_t i = 0; i < reference.evaluations.size(); ++i) {
    const Outcome::Evaluation& wanted = reference.evaluations[i];
    const Outcome::Evaluation& is = ours.evaluations.at(i);
    known[i] = known[i] || IsAlike(wanted, is);
    if (known[i] || !difference.empty()) continue;
    difference = Pair(fmt::format("device {}", i), Shown(wanted), Shown(is));
  }
  return difference;
}

}  // namespace

std::string Difference(const Outcome& reference, const Outcome& ours) {
  if (!reference.panic.empty()) return "";
  std::string difference = DifferenceOfCompiling(reference, ours);
  std::vector<bool> known(reference.evaluations.size());
  return difference.empty() ? DifferenceOfEvaluating(reference, ours, known) : difference;
}

void Comparison::Count(const Outcome& reference) {
  ++compared_;
  if (!reference.compile_error.empty()) ++compile_errors_;
  for (const Outcome::Evaluation& evaluation : reference.evaluations) {
    ++evaluations_;
    if (!evaluation.error.empty()) ++errors_;
  }
}

Result<std::string> Comparison::Lasting(const Question& question, const Outcome& ours) {
  std::string difference;
  std::string first;
  bool varies = false;
  std::vector<bool> known(ours.evaluations.size());
  for (int i = 0; i < (varies ? kAskedWhereItVaries : kAskedAgain); ++i) {
    auto again = reference_.Ask({question});
    if (!again.ok()) return again.error();
    difference = Difference(again->front(), ours);
    if (difference.empty()) break;
    if (!DifferenceOfCompiling(again->front(), ours).empty()) continue;
    difference = DifferenceOfEvaluating(again->front(), ours, known);
    if (difference.empty()) break;
    const std::string text = OutcomeText(again->front());
    if (i == 0) first = text;
    varies = varies || text != first;
  }
  return difference;
}

void Comparison::Report(const std::string& title, const std::string& difference) {
  if (++differences_ <= most_shown_) fmt::print("{}\n  {}\n", title, difference);
}

Result<std::string> Comparison::DifferenceFrom(const Outcome& reference, const Question& question) {
  const Outcome ours = subject_.Answer(question);
  if (Difference(reference, ours).empty()) return std::string();
  return Lasting(question, ours);
}

Result<void> Comparison::Check(const std::vector<Question>& questions) {
  auto outcomes = reference_.Ask(questions);
  if (!outcomes.ok()) return outcomes.error();
  for (size_t i = 0; i < questions.size(); ++i) {
    const Result<void> checked = CheckKnown(questions[i].expression, questions[i], (*outcomes)[i]);
    if (!checked.ok()) return checked;
  }
  return {};
}

Result<void> Comparison::CheckKnown(const std::string& title, const Question& question,
                                    const Outcome& reference) {
  Count(reference);
  const auto difference = DifferenceFrom(reference, question);
  if (!difference.ok()) return difference.error();
  if (!difference->empty()) Report(title, *difference);
  return {};
}

Comparison::Drawn Comparison::Draw(Generator& generator) {
  Drawn drawn;
  if (generator.random().Below(2) == 0) {
    drawn.node = generator.Selector();
    drawn.question.mode = Mode::kSelector;
  } else {
    drawn.node = generator.AnyValue();
    drawn.question.mode = Mode::kValue;
  }
  drawn.question.expression = drawn.node.Text();
  if (generator.random().Below(25) == 0) {
    std::string damaged = generator.Damage(drawn.question.expression);
    if (golang::IsUtf8(damaged)) {
      drawn.question.expression = std::move(damaged);
      drawn.damaged = true;
    }
  }
  return drawn;
}

Result<Comparison::Drawn> Comparison::Shrink(Drawn drawn) {
  int steps = 0;
  for (bool smaller = !drawn.damaged; smaller && steps < kShrinkSteps;) {
    smaller = false;
    for (Node& candidate : Smaller(drawn.node)) {
      const Question question{candidate.Text(), Mode::kValue};
      auto reference = reference_.Ask({question});
      if (!reference.ok()) return reference.error();
      if (++steps >= kShrinkSteps) break;
      const auto difference = DifferenceFrom(reference->front(), question);
      if (!difference.ok()) return difference.error();
      if (difference->empty()) continue;
      drawn = {std::move(candidate), question, false};
      smaller = true;
      break;
    }
  }
  return drawn;
}

Result<void> Comparison::CheckRandom(uint64_t seed, uint64_t count) {
  Generator generator(seed);
  for (uint64_t done = 0; done < count; done += kBatch) {
    std::vector<Drawn> drawn;
    std::vector<Question> questions;
    for (size_t i = 0; i < std::min<uint64_t>(kBatch, count - done); ++i) {
      drawn.push_back(Draw(generator));
      questions.push_back(drawn.back().question);
    }
    auto outcomes = reference_.Ask(questions);
    if (!outcomes.ok()) return outcomes.error();
    for (size_t i = 0; i < questions.size(); ++i) {
      Count((*outcomes)[i]);
      const auto difference = DifferenceFrom((*outcomes)[i], questions[i]);
      if (!difference.ok()) return difference.error();
      if (difference->empty()) continue;
      if (differences_ >= most_shown_) {
        ++differences_;
        continue;
      }
      auto small = Shrink(std::move(drawn[i]));
      if (!small.ok()) return small.error();
      auto shown = Lasting(small->question, subject_.Answer(small->question));
      if (!shown.ok()) return shown.error();
      Report(small->question.expression, *shown);
    }
  }
  return {};
}

std::string Comparison::Summary() const {
  return fmt::format(
      "{} expressions, {} do not compile; {} evaluations, {} with an error; {} differences",
      compared_, compile_errors_, evaluations_, errors_, differences_);
}

}  // namespace ks::cel::compare
