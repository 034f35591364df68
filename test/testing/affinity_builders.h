// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pod (anti-)affinity terms for tests: Term("zone").App("x"), and pods that carry them.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testing/builders.h"

namespace ks::testing {

inline api::LabelSelectorSpec Selector(Texts labels,
                                       std::vector<api::SelectorRequirement> expressions = {}) {
  return {std::move(labels), std::move(expressions)};
}

// Without a selector: the null one.
class Term {
 public:
  explicit Term(std::string_view key) { term_.topology_key = Symbol(key); }
  Term& Labels(Texts labels) {
    term_.label_selector = Selector(std::move(labels));
    return *this;
  }
  Term& App(std::string app) { return Labels({{"app", std::move(app)}}); }
  Term& Everything() { return Labels({}); }
  Term& Expression(std::string key, std::string op, std::vector<std::string> values = {}) {
    if (!term_.label_selector) term_.label_selector.emplace();
    term_.label_selector->match_expressions.push_back(
        {std::move(key), std::move(op), std::move(values)});
    return *this;
  }
  Term& In(std::vector<std::string_view> namespaces) {
    for (const std::string_view name : namespaces) term_.namespaces.emplace_back(name);
    return *this;
  }
  Term& InNamespacesWith(Texts labels, std::vector<api::SelectorRequirement> expressions = {}) {
    term_.namespace_selector = Selector(std::move(labels), std::move(expressions));
    return *this;
  }
  const api::PodAffinityTerm& Obj() const { return term_; }

 private:
  api::PodAffinityTerm term_;
};

class AffinePod : public PodBuilder {
 public:
  AffinePod() = default;
  explicit AffinePod(const PodBuilder& pod) : PodBuilder(pod) {}

  AffinePod& Near(const Term& term) {
    Affinity().required.push_back(term.Obj());
    return *this;
  }
  AffinePod& Far(const Term& term) {
    AntiAffinity().required.push_back(term.Obj());
    return *this;
  }
  AffinePod& PrefersNear(int32_t weight, const Term& term) {
    Affinity().preferred.push_back({weight, term.Obj()});
    return *this;
  }
  AffinePod& PrefersFar(int32_t weight, const Term& term) {
    AntiAffinity().preferred.push_back({weight, term.Obj()});
    return *this;
  }
  // Makes the objects non-null.
  api::PodAffinity& Affinity() {
    return spec().pod_affinity ? *spec().pod_affinity : spec().pod_affinity.emplace();
  }
  api::PodAffinity& AntiAffinity() {
    return spec().pod_anti_affinity ? *spec().pod_anti_affinity
                                    : spec().pod_anti_affinity.emplace();
  }
};

}  // namespace ks::testing
