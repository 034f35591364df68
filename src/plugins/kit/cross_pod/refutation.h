// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a selector as written can match labels at all, without compiling it: for hints, which are
// asked about every parked pod of a spec of its own at each event and nearly always say no. "No" is
// final; after "perhaps" the compiled selector decides. For selectors that look sound only: others
// must be compiled, for their error.

#include <algorithm>
#include <optional>

#include "api/labels.h"
#include "api/pod.h"
#include "api/selector.h"

namespace ks::plugins {

// Whether compiling it gives no error, but for keys and values that the API server would refuse.
inline bool LooksSound(const std::optional<api::LabelSelectorSpec>& selector) {
  if (!selector.has_value()) return true;
  const auto& expressions = selector->match_expressions;
  return std::all_of(expressions.begin(), expressions.end(), [](const auto& expression) {
    if (expression.op == "In" || expression.op == "NotIn") return !expression.values.empty();
    return (expression.op == "Exists" || expression.op == "DoesNotExist") &&
           expression.values.empty();
  });
}

// An absent selector matches nothing.
inline bool CannotMatch(const std::optional<api::LabelSelectorSpec>& selector,
                        const api::LabelMap& labels) {
  if (!selector.has_value()) return true;
  const auto& wanted = selector->match_labels;
  return std::any_of(wanted.begin(), wanted.end(), [&labels](const auto& want) {
    return std::none_of(labels.begin(), labels.end(), [&want](const auto& label) {
      return label.first.view() == want.first && label.second.view() == want.second;
    });
  });
}

// `term` belongs to a pod of namespace `ns`.
inline bool CannotMatch(const api::PodAffinityTerm& term, const Symbol& ns, const api::Pod& pod) {
  if (!term.namespace_selector.has_value()) {
    const auto& listed = term.namespaces;
    const bool here = listed.empty()
                          ? pod.meta.ns == ns
                          : std::find(listed.begin(), listed.end(), pod.meta.ns) != listed.end();
    if (!here) return true;
  }
  return CannotMatch(term.label_selector, pod.meta.labels);
}

}  // namespace ks::plugins
