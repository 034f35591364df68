// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/tolerations.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace ks::plugins {
namespace {

// Canonical decimal integers only: no plus sign, no leading zero, no "-0"; nothing that does not
// fit.
std::optional<int64_t> CanonicalInteger(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.starts_with('0') && text != "0") return std::nullopt;
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// The taint is the left operand.
bool Compares(const api::Toleration& toleration, const api::Taint& taint) {
  const bool less = toleration.op == "Lt";
  if (!less && toleration.op != "Gt") return false;
  const std::optional<int64_t> left = CanonicalInteger(taint.value.view());
  const std::optional<int64_t> right = CanonicalInteger(toleration.value.view());
  if (!left || !right) return false;
  return less ? *left < *right : *left > *right;
}

}  // namespace

LtAndGt LtAndGtOf(const config::FeatureGates& gates) {
  return gates.Enabled(config::Gate::kTaintTolerationComparisonOperators) ? LtAndGt::kCompare
                                                                          : LtAndGt::kNeverMatch;
}

bool Tolerates(const api::Toleration& toleration, const api::Taint& taint, LtAndGt lt_and_gt) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == "Equal") return toleration.value == taint.value;
  if (toleration.op == "Exists") return true;
  return lt_and_gt == LtAndGt::kCompare && Compares(toleration, taint);
}

bool Tolerated(std::span<const api::Toleration> tolerations, const api::Taint& taint,
               LtAndGt lt_and_gt) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&taint, lt_and_gt](const api::Toleration& toleration) {
                       return Tolerates(toleration, taint, lt_and_gt);
                     });
}

}  // namespace ks::plugins
