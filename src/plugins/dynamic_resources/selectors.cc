// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/selectors.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "cel/weight.h"

namespace ks::plugins {
namespace {

void AppendKey(const SelectorSets::Texts& texts, std::string& key) {
  key += fmt::format("{};", texts.size());
  for (const api::DeviceSelector& text : texts) key += fmt::format("{}:{}", text->size(), *text);
}

std::string KeyOf(const SelectorSets::Texts& of_class, const SelectorSets::Texts& of_request) {
  std::string key;
  AppendKey(of_class, key);
  AppendKey(of_request, key);
  return key;
}

size_t WeightOf(const SelectorSet::Selectors& selectors) {
  size_t weight = 0;
  for (const Expression& selector : selectors) {
    weight = cel::AddWeights(weight, selector.weight());
  }
  return weight;
}

// What asking a device costs at least: looking up what is known of it.
constexpr uint64_t kLeastCost = 10;

}  // namespace

SelectorSet::SelectorSet(uint64_t number, std::string texts, Selectors of_class,
                         Selectors of_request)
    : number_(number),
      texts_(std::move(texts)),
      of_class_(std::move(of_class)),
      of_request_(std::move(of_request)),
      weight_(cel::AddWeights(WeightOf(of_class_), WeightOf(of_request_))) {}

size_t SelectorSet::bytes() const {
  constexpr size_t kKeys = 3;  // here and in the table of sets
  size_t bytes = sizeof(*this) + kKeys * texts_.size();
  for (const auto* selectors : {&of_class_, &of_request_}) {
    for (const Expression& selector : *selectors) bytes += selector.bytes();
  }
  return bytes;
}

size_t SelectorSet::left_bytes() const {
  size_t bytes = 0;
  for (const auto* selectors : {&of_class_, &of_request_}) {
    for (const Expression& selector : *selectors) bytes += selector.left_bytes();
  }
  return bytes;
}

SelectorSet::Verdict SelectorSet::AskAll(const Selectors& selectors, const cel::Device& device,
                                         const cel::EvalOptions& options, uint64_t& budget) {
  for (const Expression& selector : selectors) {
    const Expression::ProgramPtr program = selector.program();
    if (program == nullptr) return Verdict::kFails;
    if (budget == 0) return Verdict::kNotAsked;
    cel::EvalOptions within = options;
    within.cost_limit = std::min(budget, options.cost_limit);
    const bool limited = within.cost_limit < options.cost_limit;
    const cel::Verdict verdict = program->Evaluate(device, within);
    budget -= std::min(budget, verdict.cost);
    if (verdict.over_limit && limited) return Verdict::kNotAsked;
    if (!verdict.ok()) return Verdict::kFails;
    if (!verdict.matches) return Verdict::kNo;
  }
  return Verdict::kYes;
}

SelectorSet::Verdict SelectorSet::Ask(const cel::Device& device, const cel::EvalOptions& options,
                                      uint64_t& budget) const {
  const Verdict verdict = AskAll(of_class_, device, options, budget);
  return verdict == Verdict::kYes ? AskAll(of_request_, device, options, budget) : verdict;
}

SelectorSet::Verdict SelectorSet::Ask(const cel::Device& device,
                                      const cel::EvalOptions& options) const {
  uint64_t unlimited = UINT64_MAX;
  return Ask(device, options, unlimited);
}

SelectorSet::Verdict SelectorSet::AskWithin(const cel::Device& device, uint64_t& budget) const {
  budget -= std::min(budget, kLeastCost);
  return Ask(device, {}, budget);
}

std::string SelectorSet::ExplainAll(const Selectors& selectors, const cel::Device& device,
                                    std::string_view name) {
  for (size_t i = 0; i < selectors.size(); ++i) {
    const Expression::ProgramPtr program = selectors[i].program();
    if (program == nullptr) {
      return fmt::format("selector #{}: CEL compile error: {}", i, selectors[i].error());
    }
    const cel::Verdict verdict = program->Evaluate(device);
    if (verdict.ok()) continue;
    return fmt::format("selector #{} on device {}: CEL runtime error: {}", i, name, verdict.error);
  }
  return "";
}

SelectorSet::Failure SelectorSet::Explain(const cel::Device& device, std::string_view name) const {
  uint64_t unlimited = UINT64_MAX;
  if (AskAll(of_class_, device, {}, unlimited) == Verdict::kFails) {
    return {.of_class = true, .text = ExplainAll(of_class_, device, name)};
  }
  return {.of_class = false, .text = ExplainAll(of_request_, device, name)};
}

Expression SelectorSets::Derived(const std::string& expression) {
  return {engine_, expression, cel::Program::Wanted::kAttribute};
}

SelectorSet::Selectors SelectorSets::Compile(const Texts& texts) {
  SelectorSet::Selectors compiled;
  compiled.reserve(texts.size());
  for (const api::DeviceSelector& text : texts) {
    KS_CHECK(text.has_value(), "a selector without expression");
    compiled.emplace_back(engine_, *text, cel::Program::Wanted::kSelector);
  }
  return compiled;
}

SelectorSets::SetPtr SelectorSets::Find(const std::string& key) {
  const MutexLock lock(mutex_);
  return sets_.Find(key);
}

SelectorSets::SetPtr SelectorSets::Find(const Texts& of_class, const Texts& of_request) {
  return Find(KeyOf(of_class, of_request));
}

SelectorSets::SetPtr SelectorSets::Get(const Texts& of_class, const Texts& of_request) {
  const std::string key = KeyOf(of_class, of_request);
  if (SetPtr known = Find(key)) return known;
  auto made =
      std::make_shared<const SelectorSet>(next_++, key, Compile(of_class), Compile(of_request));
  const MutexLock lock(mutex_);
  return sets_.GetOrMake(
      key, kLimits, [&] { return made; }, [](const SelectorSet& set) { return set.bytes(); });
}

std::shared_ptr<SliceVerdicts::Verdicts> SliceVerdicts::Of(const SelectorSet& set, size_t devices) {
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i].set != set.number()) continue;
    if (i != 0) std::swap(kept_[i], kept_[i - 1]);  // what is asked for often moves to the front
    return kept_[i == 0 ? 0 : i - 1].verdicts;
  }
  if (kept_.size() == kMaxSets) kept_.pop_back();
  kept_.push_back({.set = set.number(), .verdicts = std::make_shared<Verdicts>(devices)});
  return kept_.back().verdicts;
}

}  // namespace ks::plugins
