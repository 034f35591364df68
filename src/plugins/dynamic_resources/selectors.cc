// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/selectors.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "cel/weight.h"

namespace ks::plugins {
namespace {

void AppendKey(const std::vector<api::DeviceSelector>& selectors, std::string& key) {
  key += fmt::format("{};", selectors.size());
  for (const api::DeviceSelector& selector : selectors) {
    key += fmt::format("{}:{}", selector->size(), *selector);
  }
}

size_t WeightOf(const std::vector<SelectorSet::Selector>& selectors) {
  size_t weight = 0;
  for (const SelectorSet::Selector& selector : selectors) {
    if (selector.program == nullptr) continue;
    weight = cel::AddWeights(weight, selector.program->weight());
  }
  return weight;
}

// What asking a device costs at least: looking up what is known of it.
constexpr uint64_t kLeastCost = 10;

}  // namespace

SelectorSet::SelectorSet(uint64_t number, std::string texts, std::vector<Selector> of_class,
                         std::vector<Selector> of_request)
    : number_(number),
      texts_(std::move(texts)),
      of_class_(std::move(of_class)),
      of_request_(std::move(of_request)),
      weight_(cel::AddWeights(WeightOf(of_class_), WeightOf(of_request_))) {}

size_t SelectorSet::bytes() const {
  constexpr size_t kKeys = 3;  // here and in the table of sets
  size_t bytes = sizeof(*this) + kKeys * texts_.size();
  for (const auto* selectors : {&of_class_, &of_request_}) {
    for (const Selector& selector : *selectors) {
      bytes += sizeof(selector) + selector.error.size();
      if (selector.program != nullptr) bytes += selector.program->bytes();
    }
  }
  return bytes;
}

SelectorSet::Verdict SelectorSet::AskAll(const std::vector<Selector>& selectors,
                                         const cel::Device& device, const cel::EvalOptions& options,
                                         uint64_t& budget) {
  for (const Selector& selector : selectors) {
    if (selector.program == nullptr) return Verdict::kFails;
    if (budget == 0) return Verdict::kNotAsked;
    cel::EvalOptions within = options;
    within.cost_limit = std::min(budget, options.cost_limit);
    const bool limited = within.cost_limit < options.cost_limit;
    const cel::Verdict verdict = selector.program->Evaluate(device, within);
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

std::string SelectorSet::ExplainAll(const std::vector<Selector>& selectors,
                                    const cel::Device& device, std::string_view name) {
  for (size_t i = 0; i < selectors.size(); ++i) {
    const Selector& selector = selectors[i];
    if (selector.program == nullptr) {
      return fmt::format("selector #{}: CEL compile error: {}", i, selector.error);
    }
    const cel::Verdict verdict = selector.program->Evaluate(device);
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

SelectorSet::Selector SelectorSets::CompileOne(const std::string& text,
                                               cel::Program::Wanted wanted) {
  auto program = engine_.Compile(text, wanted);
  if (program.ok()) return {.program = *program, .error = ""};
  return {.program = nullptr, .error = program.error().message};
}

SelectorSet::Selector SelectorSets::Derived(const std::string& expression) {
  return CompileOne(expression, cel::Program::Wanted::kAttribute);
}

std::vector<SelectorSet::Selector> SelectorSets::Compile(
    const std::vector<api::DeviceSelector>& selectors) {
  std::vector<SelectorSet::Selector> compiled;
  for (const api::DeviceSelector& selector : selectors) {
    KS_CHECK(selector.has_value(), "a selector without expression");
    compiled.push_back(CompileOne(*selector, cel::Program::Wanted::kSelector));
  }
  return compiled;
}

std::shared_ptr<const SelectorSet> SelectorSets::Get(
    const std::vector<api::DeviceSelector>& of_class,
    const std::vector<api::DeviceSelector>& of_request) {
  std::string key;
  AppendKey(of_class, key);
  AppendKey(of_request, key);
  const MutexLock lock(mutex_);
  const uint64_t number = next_++;  // if it is needed
  return sets_.GetOrMake(
      key, kLimits,
      [&] {
        return std::make_shared<const SelectorSet>(number, key, Compile(of_class),
                                                   Compile(of_request));
      },
      [](const SelectorSet& set) { return set.bytes(); });
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
