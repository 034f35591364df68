// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/selectors.h"

#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace ks::plugins {
namespace {

void AppendKey(const std::vector<api::DeviceSelector>& selectors, std::string& key) {
  key += fmt::format("{};", selectors.size());
  for (const api::DeviceSelector& selector : selectors) {
    key += fmt::format("{}:{}", selector->size(), *selector);
  }
}

}  // namespace

SelectorSet::Verdict SelectorSet::AskAll(const std::vector<Selector>& selectors,
                                         const cel::Device& device) {
  for (const Selector& selector : selectors) {
    if (selector.program == nullptr) return Verdict::kFails;
    const cel::Verdict verdict = selector.program->Evaluate(device);
    if (!verdict.ok()) return Verdict::kFails;
    if (!verdict.matches) return Verdict::kNo;
  }
  return Verdict::kYes;
}

SelectorSet::Verdict SelectorSet::Ask(const cel::Device& device) const {
  const Verdict verdict = AskAll(of_class_, device);
  return verdict == Verdict::kYes ? AskAll(of_request_, device) : verdict;
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
  if (AskAll(of_class_, device) == Verdict::kFails) {
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
  const auto found = sets_.find(key);
  if (found != sets_.end()) return found->second;
  if (sets_.size() >= kMaxSets) sets_.clear();
  auto set = std::make_shared<const SelectorSet>(next_++, Compile(of_class), Compile(of_request));
  sets_.emplace(std::move(key), set);
  return set;
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
