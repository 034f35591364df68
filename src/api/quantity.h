// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kubernetes resource quantities ("100m", "1.5Gi", "12e6"): exact values, the two conversions to
// int64 that scheduling uses, and the canonical text. Not a general decimal type.
//
// Upstream: docs/spec/api.md section 3 (grammar, fast and slow form, overflow, text),
// docs/spec/plugins-node.md 2.1.

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ks::api {

// An exact value with the format it was written in. A 64-bit mantissa with a decimal scale where
// that suffices ("fast form"), an arbitrary-precision decimal otherwise ("slow form"). Immutable
// but for assignment; cheap to copy. Threads: like a value.
class Quantity {
 public:
  enum class Format : uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

  // Zero, decimal SI.
  Quantity() = default;
  // A whole number of units (or of thousandths), decimal SI unless said otherwise.
  static Quantity FromUnits(int64_t units, Format format = Format::kDecimalSI);
  static Quantity FromMilli(int64_t milli);

  // Errors: upstream's texts (docs/spec/api.md 3.1). No white space is trimmed here.
  static Result<Quantity> Parse(std::string_view text);

  // Rounded away from zero to whole units / thousandths; overflow as upstream (wraps or 0), never
  // an error.
  int64_t Value() const;
  int64_t MilliValue() const;

  // The exact number of units, if it is stored as one (docs/spec/cel.md 6.2, `asInteger`): none for
  // what is too large, what is written in fractions ("1000m", "1.0"), and what is in slow form
  // ("1.5Gi").
  std::optional<int64_t> WholeUnits() const;
  // Nearly the number: upstream's roundings show in the last bits. Infinite if too large.
  double Approximate() const;

  bool IsZero() const;
  Format format() const { return format_; }
  // Upstream's canonical text.
  std::string ToString() const;
  // The same number, scale and format: 2 and 2000m are equal and are not of one form.
  bool SameForm(const Quantity& other) const;

  // Exact. The sum takes this quantity's format; if this one is zero, the other's.
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);

  // By value; the format does not matter.
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b);
  friend bool operator==(const Quantity& a, const Quantity& b);

 private:
  struct Extra;  // slow-form decimal and, where needed, the text as written; quantity.cc

  int64_t mantissa_ = 0;
  int32_t scale_ = 0;  // fast form: value = mantissa * 10^scale
  Format format_ = Format::kDecimalSI;
  bool slow_ = false;
  std::shared_ptr<const Extra> extra_;
};

}  // namespace ks::api
