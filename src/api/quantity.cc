// SPDX-License-Identifier: Apache-2.0
#include "api/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include <boost/multiprecision/cpp_int.hpp>

namespace ks::api {

namespace {

using BigInt = boost::multiprecision::cpp_int;

constexpr std::string_view kFormatError =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kSuffixError = "unable to parse quantity's suffix";

constexpr int kNanoScale = -9;
constexpr int kMaxFastDigits = 18;
// Two values further apart than this are added by dropping the smaller one: an exact sum would have
// as many digits, and the exponent is chosen by whoever writes the object.
constexpr int64_t kMaxSumDigits = 20000;

constexpr std::array<std::string_view, 10> kSiSuffixes = {"n", "u", "m", "",  "k",
                                                          "M", "G", "T", "P", "E"};
constexpr std::array<std::string_view, 7> kBinarySuffixes = {"",   "Ki", "Mi", "Gi",
                                                             "Ti", "Pi", "Ei"};

constexpr std::array<uint64_t, 20> kPowersOf10 = [] {
  std::array<uint64_t, 20> powers{};
  uint64_t power = 1;
  for (uint64_t& p : powers) {
    p = power;
    power *= 10;
  }
  return powers;
}();

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

uint64_t Magnitude(int64_t v) {
  return v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
}

int64_t WrapToSigned(uint64_t magnitude, bool negative) {
  return static_cast<int64_t>(negative ? uint64_t{0} - magnitude : magnitude);
}

// 10^k modulo 2^64.
uint64_t WrappedPowerOf10(int64_t k) {
  if (k >= 64) return 0;
  uint64_t power = 1;
  for (int64_t i = 0; i < k; ++i) power *= 10;
  return power;
}

BigInt BigPowerOf10(int64_t k) {
  return boost::multiprecision::pow(BigInt(10), static_cast<unsigned>(k));
}

// mantissa * 10^k when it fits.
std::optional<int64_t> ScaleUp(int64_t mantissa, int64_t k) {
  if (mantissa == 0) return 0;
  if (k > 18) return std::nullopt;
  int64_t product = 0;
  if (__builtin_mul_overflow(mantissa, static_cast<int64_t>(kPowersOf10[k]), &product)) {
    return std::nullopt;
  }
  return product;
}

// The parts of a quantity's text. Views into it.
struct Split {
  bool negative = false;
  bool plus = false;
  bool point = false;
  std::string_view integer;  // with leading zeros
  std::string_view fraction;
  std::string_view suffix;
};

std::optional<Split> SplitText(std::string_view text) {
  if (text.empty()) return std::nullopt;
  Split split;
  size_t pos = 0;
  const auto digits = [&] {
    const size_t start = pos;
    while (pos < text.size() && IsDigit(text[pos])) ++pos;
    return text.substr(start, pos - start);
  };
  if (text[0] == '+' || text[0] == '-') {
    split.negative = text[0] == '-';
    split.plus = text[0] == '+';
    ++pos;
  }
  split.integer = digits();
  if (pos < text.size() && text[pos] == '.') {
    ++pos;
    split.point = true;
    split.fraction = digits();
  }
  const size_t suffix_start = pos;
  constexpr std::string_view kLetters = "eEinumkKMGTP";
  while (pos < text.size() && kLetters.find(text[pos]) != std::string_view::npos) ++pos;
  if (pos < text.size() && (text[pos] == '+' || text[pos] == '-')) ++pos;
  digits();
  if (pos != text.size()) return std::nullopt;
  split.suffix = text.substr(suffix_start);
  return split;
}

struct Suffix {
  Quantity::Format format = Quantity::Format::kDecimalSI;
  int64_t exponent = 0;  // of 10, for binary of 2
  bool plain = true;     // spelled as the canonical text would spell it
};

// `text` is "e" or "E", an optional sign and digits.
std::optional<Suffix> ParseExponent(std::string_view text) {
  Suffix suffix{.format = Quantity::Format::kDecimalExponent};
  size_t pos = 1;
  bool negative = false;
  suffix.plain = text[0] == 'e';
  if (pos < text.size() && (text[pos] == '+' || text[pos] == '-')) {
    negative = text[pos] == '-';
    suffix.plain = suffix.plain && negative;
    ++pos;
  }
  if (pos == text.size()) return std::nullopt;
  if (text[pos] == '0') suffix.plain = false;
  for (; pos < text.size(); ++pos) {
    if (!IsDigit(text[pos])) return std::nullopt;
    suffix.exponent = suffix.exponent * 10 + (text[pos] - '0');
    if (suffix.exponent > std::numeric_limits<int32_t>::max()) return std::nullopt;
  }
  if (negative) suffix.exponent = -suffix.exponent;
  return suffix;
}

std::optional<Suffix> ParseSuffix(std::string_view text) {
  if (text.empty()) return Suffix{};
  if (text.size() == 1) {
    for (size_t i = 0; i < kSiSuffixes.size(); ++i) {
      if (text == kSiSuffixes[i]) {
        return Suffix{.exponent = static_cast<int64_t>(i) * 3 + kNanoScale};
      }
    }
    return std::nullopt;
  }
  if (text.size() == 2 && text[1] == 'i') {
    for (size_t i = 1; i < kBinarySuffixes.size(); ++i) {
      if (text == kBinarySuffixes[i]) {
        return Suffix{.format = Quantity::Format::kBinarySI,
                      .exponent = static_cast<int64_t>(i) * 10};
      }
    }
    return std::nullopt;
  }
  if (text[0] == 'e' || text[0] == 'E') return ParseExponent(text);
  return std::nullopt;
}

// Requires: few enough digits for 64 bits.
uint64_t ParseDigits(std::string_view integer, std::string_view fraction) {
  uint64_t value = 0;
  for (const char c : integer) value = value * 10 + static_cast<uint64_t>(c - '0');
  for (const char c : fraction) value = value * 10 + static_cast<uint64_t>(c - '0');
  return value;
}

BigInt ParseBigDigits(std::string_view integer, std::string_view fraction) {
  std::string digits(integer);
  digits += fraction;
  const size_t start = digits.find_first_not_of('0');  // a leading 0 would mean octal
  return start == std::string::npos ? BigInt(0) : BigInt(digits.substr(start));
}

// The decimal families' canonical text of digits * 10^exponent; `digits` is a positive integer.
std::string DecimalText(std::string digits, int64_t exponent, bool negative, bool exponent_format) {
  while (digits.size() > 1 && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  int64_t target = exponent - ((exponent % 3) + 3) % 3;
  if (!exponent_format) target = std::min<int64_t>(target, 18);
  digits.append(static_cast<size_t>(exponent - target), '0');
  std::string text = negative ? "-" : "";
  text += digits;
  if (exponent_format) {
    if (target != 0) text += "e" + std::to_string(target);
  } else {
    text += kSiSuffixes[static_cast<size_t>((target - kNanoScale) / 3)];
  }
  return text;
}

}  // namespace

struct Quantity::Extra {
  BigInt unscaled;    // slow form: value = unscaled * 10^scale, scale >= -9
  int64_t scale = 0;  // slow form
  bool nano = false;  // slow form: upstream holds it as a number of nanos whatever its scale here
  std::string text;   // as written, where ToString could not rebuild it from the fast form

  // Any quantity as a decimal.
  static Extra Of(const Quantity& q) {
    Extra decimal{.unscaled = q.mantissa_, .scale = q.scale_, .nano = false, .text = {}};
    if (!q.slow_) return decimal;
    decimal.unscaled = q.extra_->unscaled;
    decimal.scale = q.extra_->scale;
    decimal.nano = q.extra_->nano;
    return decimal;
  }

  static Quantity Slow(BigInt unscaled, int64_t scale, bool nano, Format format) {
    Quantity q;
    q.slow_ = true;
    q.format_ = format;
    q.extra_ = std::make_shared<const Extra>(
        Extra{.unscaled = std::move(unscaled), .scale = scale, .nano = nano, .text = {}});
    return q;
  }

  // Drops digits below nano, away from zero. Requires: unscaled >= 0.
  static void RoundUpToNano(BigInt& unscaled, int64_t& scale) {
    if (scale >= kNanoScale) return;
    const int64_t drop = kNanoScale - scale;
    scale = kNanoScale;
    // More digits dropped than there are: the smallest magnitude, without building the power of
    // ten.
    if (unscaled != 0 && drop > static_cast<int64_t>(boost::multiprecision::msb(unscaled)) + 1) {
      unscaled = 1;
      return;
    }
    if (unscaled == 0) return;
    BigInt quotient;
    BigInt remainder;
    boost::multiprecision::divide_qr(unscaled, BigPowerOf10(drop), quotient, remainder);
    if (remainder != 0) ++quotient;
    unscaled = std::move(quotient);
  }

  static Quantity Parse(const Split& split, Suffix suffix) {
    BigInt unscaled = ParseBigDigits(split.integer, split.fraction);
    int64_t scale = -static_cast<int64_t>(split.fraction.size());
    const bool binary = suffix.format == Format::kBinarySI;
    if (binary) {
      unscaled <<= static_cast<unsigned>(suffix.exponent);
    } else {
      scale += suffix.exponent;
    }
    RoundUpToNano(unscaled, scale);
    if (binary) {
      const BigInt one = BigPowerOf10(-scale);  // a binary value never has a positive scale
      const BigInt limit = BigInt(std::numeric_limits<int64_t>::max()) * one;
      if (unscaled > limit) unscaled = limit;
      if (unscaled > 0 && unscaled < one) suffix.format = Format::kDecimalSI;
    }
    if (split.negative) unscaled = -unscaled;
    return Slow(std::move(unscaled), scale, true, suffix.format);
  }

  // The value times 10^extra_power as int64: low 64 bits, fractions as docs/spec/api.md 3.3 says
  // for the slow form.
  int64_t ScaledInt64(int64_t extra_power) const {
    const int64_t k = scale + extra_power;
    BigInt integer = unscaled;
    if (k < 0) {
      BigInt remainder;
      boost::multiprecision::divide_qr(unscaled, BigPowerOf10(-k), integer, remainder);
      if (remainder != 0) ++integer;  // upstream adds 1 for negative values, too
    }
    const bool negative = integer < 0;
    if (negative) integer = -integer;
    const uint64_t low = static_cast<uint64_t>(integer & std::numeric_limits<uint64_t>::max());
    return WrapToSigned(low * WrappedPowerOf10(std::max<int64_t>(k, 0)), negative);
  }

  // Upper bound of the number of decimal digits before the point, at most two above it. Requires:
  // unscaled != 0.
  int64_t Order() const {
    const BigInt magnitude = abs(unscaled);
    return static_cast<int64_t>(boost::multiprecision::msb(magnitude)) * 30103 / 100000 + 1 + scale;
  }

  static int Compare(const Extra& a, const Extra& b) {
    const int sign_a = a.unscaled.sign();
    const int sign_b = b.unscaled.sign();
    if (sign_a != sign_b) return sign_a < sign_b ? -1 : 1;
    if (sign_a == 0) return 0;
    const int64_t order_a = a.Order();
    const int64_t order_b = b.Order();
    if (std::max(order_a, order_b) - std::min(order_a, order_b) > 2) {
      return (order_a < order_b) == (sign_a > 0) ? -1 : 1;
    }
    if (a.scale >= b.scale) {
      return BigInt(a.unscaled * BigPowerOf10(a.scale - b.scale)).compare(b.unscaled);
    }
    return a.unscaled.compare(BigInt(b.unscaled * BigPowerOf10(b.scale - a.scale)));
  }

  static Quantity Sum(const Extra& a, const Extra& b, Format format) {
    const bool nano = a.nano || b.nano;
    if (a.unscaled == 0) return Slow(b.unscaled, b.scale, nano, format);
    if (b.unscaled == 0) return Slow(a.unscaled, a.scale, nano, format);
    const Extra& high = a.scale >= b.scale ? a : b;
    const Extra& low = a.scale >= b.scale ? b : a;
    const int64_t distance = high.scale - low.scale;
    if (distance > kMaxSumDigits) return Slow(high.unscaled, high.scale, nano, format);
    BigInt sum = high.unscaled * BigPowerOf10(distance) + low.unscaled;
    return Slow(std::move(sum), low.scale, nano, format);
  }

  // The whole number this is, if it is one. Requires: scale <= kMaxSumDigits.
  std::optional<BigInt> Integral() const {
    if (scale >= 0) return BigInt(unscaled * BigPowerOf10(scale));
    BigInt quotient;
    BigInt remainder;
    boost::multiprecision::divide_qr(unscaled, BigPowerOf10(-scale), quotient, remainder);
    if (remainder != 0) return std::nullopt;
    return quotient;
  }

  // Canonical text of a binary quantity; nothing when it is printed as decimal SI.
  std::optional<std::string> BinaryText() const {
    if (scale > kMaxSumDigits) return std::nullopt;
    std::optional<BigInt> integer = Integral();
    if (!integer || abs(*integer) < 1024) return std::nullopt;
    size_t power = 0;
    while (power + 1 < kBinarySuffixes.size() && (*integer % 1024) == 0) {
      *integer /= 1024;
      ++power;
    }
    return integer->str() + std::string(kBinarySuffixes[power]);
  }
};

Quantity Quantity::FromUnits(int64_t units, Format format) {
  Quantity q;
  q.mantissa_ = units;
  q.format_ = format;
  return q;
}

Quantity Quantity::FromMilli(int64_t milli) {
  Quantity q;
  q.mantissa_ = milli;
  q.scale_ = -3;
  return q;
}

Result<Quantity> Quantity::Parse(std::string_view text) {
  const std::optional<Split> split = SplitText(text);
  if (!split) return Error{std::string(kFormatError)};
  const std::optional<Suffix> suffix = ParseSuffix(split->suffix);
  if (!suffix) return Error{std::string(kSuffixError)};

  std::string_view integer = split->integer;
  while (!integer.empty() && integer.front() == '0') integer.remove_prefix(1);
  const std::string_view fraction = split->fraction;
  const int64_t digits = static_cast<int64_t>(std::max<size_t>(integer.size(), 1)) +
                         static_cast<int64_t>(fraction.size());
  const bool binary = suffix->format == Format::kBinarySI;
  const int64_t scale = binary ? 0 : suffix->exponent - static_cast<int64_t>(fraction.size());
  const bool fast = binary ? fraction.empty() && digits + suffix->exponent * 3 / 10 <= 14
                           : digits <= kMaxFastDigits && scale >= kNanoScale;
  if (!fast) return Extra::Parse(*split, *suffix);

  Quantity q;
  const uint64_t value = ParseDigits(integer, fraction);
  q.scale_ = static_cast<int32_t>(scale);  // of zero, too: 0.0 is not a whole number
  if (value == 0) return q;
  q.format_ = suffix->format;
  q.mantissa_ = WrapToSigned(binary ? value << suffix->exponent : value, split->negative);
  const bool printed_as_written =
      !integer.empty() && (binary ? value % 8 != 0 : scale % 3 == 0 && value % 1000 != 0);
  const bool rebuildable =
      !split->plus && !split->point && suffix->plain && integer.size() == split->integer.size();
  if (printed_as_written && !rebuildable) {
    q.extra_ = std::make_shared<const Extra>(
        Extra{.unscaled = {}, .scale = 0, .nano = false, .text = std::string(text)});
  }
  return q;
}

namespace {

// The fast form times 10^k as int64 (docs/spec/api.md 3.3).
int64_t FastScaled(int64_t mantissa, int64_t k) {
  if (mantissa == 0) return 0;
  if (k >= 0) {
    if (const std::optional<int64_t> exact = ScaleUp(mantissa, k)) return *exact;
    const bool wraps = k == 1 || k == 2 || k == 3 || k == 6 || k == 9;
    return wraps ? static_cast<int64_t>(static_cast<uint64_t>(mantissa) * kPowersOf10[k]) : 0;
  }
  if (k < -18) return mantissa < 0 ? -1 : 1;
  const int64_t divisor = static_cast<int64_t>(kPowersOf10[-k]);
  const int64_t quotient = mantissa / divisor;
  if (mantissa % divisor == 0) return quotient;
  return mantissa < 0 ? quotient - 1 : quotient + 1;
}

}  // namespace

int64_t Quantity::Value() const {
  return slow_ ? extra_->ScaledInt64(0) : FastScaled(mantissa_, scale_);
}

int64_t Quantity::MilliValue() const {
  return slow_ ? extra_->ScaledInt64(3) : FastScaled(mantissa_, int64_t{scale_} + 3);
}

std::optional<int64_t> Quantity::WholeUnits() const {
  if (slow_ || scale_ < 0) return std::nullopt;
  return ScaleUp(mantissa_, scale_);
}

namespace {

// 10^n as upstream has it: from 32 on a product of two powers, each of them rounded. Requires:
// n >= -9.
double RoundedPowerOf10(int64_t n) {
  constexpr double kSmall[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10,
                               1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
                               1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31};
  constexpr double kLarge[] = {1e0, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288};
  if (n > std::numeric_limits<double>::max_exponent10) {
    return std::numeric_limits<double>::infinity();
  }
  return n < 0 ? 1 / kSmall[-n] : kLarge[n / 32] * kSmall[n % 32];
}

// The nearest double; infinite if too large.
double Nearest(const BigInt& mantissa, int64_t exponent) {
  const std::string text = mantissa.str() + "e" + std::to_string(exponent);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc::result_out_of_range) return value;
  const double huge = std::numeric_limits<double>::infinity();
  return mantissa < 0 ? -huge : huge;
}

}  // namespace

double Quantity::Approximate() const {
  if (!slow_) {  // of a zero times what is too large it is NaN, as upstream
    return static_cast<double>(mantissa_) * RoundedPowerOf10(scale_);
  }
  const int64_t scale = extra_->nano ? kNanoScale : extra_->scale;
  return Nearest(extra_->unscaled, extra_->scale - scale) * RoundedPowerOf10(scale);
}

bool Quantity::IsZero() const { return slow_ ? extra_->unscaled == 0 : mantissa_ == 0; }

std::string Quantity::ToString() const {
  if (IsZero()) return "0";
  if (!slow_ && extra_) return extra_->text;
  if (format_ == Format::kBinarySI) {
    if (std::optional<std::string> text = Extra::Of(*this).BinaryText()) return *std::move(text);
  }
  const bool exponent_format = format_ == Format::kDecimalExponent;
  if (slow_) {
    const bool negative = extra_->unscaled < 0;
    return DecimalText(BigInt(abs(extra_->unscaled)).str(), extra_->scale, negative,
                       exponent_format);
  }
  return DecimalText(std::to_string(Magnitude(mantissa_)), scale_, mantissa_ < 0, exponent_format);
}

bool Quantity::SameForm(const Quantity& other) const {
  if (format_ != other.format_ || slow_ != other.slow_) return false;
  if (!slow_) return mantissa_ == other.mantissa_ && scale_ == other.scale_;
  return extra_->scale == other.extra_->scale && extra_->unscaled == other.extra_->unscaled;
}

Quantity& Quantity::operator+=(const Quantity& other) {
  const Format format = IsZero() ? other.format_ : format_;
  if (!slow_ && !other.slow_) {
    // Of a zero the scale does not count, unless both are.
    const int32_t scale = other.mantissa_ == 0 ? scale_
                          : mantissa_ == 0     ? other.scale_
                                               : std::min(scale_, other.scale_);
    const std::optional<int64_t> a = ScaleUp(mantissa_, int64_t{scale_} - scale);
    const std::optional<int64_t> b = ScaleUp(other.mantissa_, int64_t{other.scale_} - scale);
    int64_t sum = 0;
    if (a && b && !__builtin_add_overflow(*a, *b, &sum)) {
      mantissa_ = sum;
      scale_ = scale;
      format_ = format;
      extra_.reset();
      return *this;
    }
  }
  *this = Extra::Sum(Extra::Of(*this), Extra::Of(other), format);
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  if (!other.slow_ && other.mantissa_ != std::numeric_limits<int64_t>::min()) {
    Quantity negated;
    negated.mantissa_ = -other.mantissa_;
    negated.scale_ = other.scale_;
    negated.format_ = other.format_;
    return *this += negated;
  }
  Extra negated = Extra::Of(other);
  negated.unscaled = -negated.unscaled;
  return *this +=
         Extra::Slow(std::move(negated.unscaled), negated.scale, negated.nano, other.format_);
}

std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
  if (a.slow_ || b.slow_) {
    return Quantity::Extra::Compare(Quantity::Extra::Of(a), Quantity::Extra::Of(b)) <=> 0;
  }
  if (a.scale_ == b.scale_) return a.mantissa_ <=> b.mantissa_;
  const int sign_a = (a.mantissa_ > 0) - (a.mantissa_ < 0);
  const int sign_b = (b.mantissa_ > 0) - (b.mantissa_ < 0);
  if (sign_a != sign_b || sign_a == 0) return sign_a <=> sign_b;
  const bool a_is_high = a.scale_ > b.scale_;
  const int64_t distance = a_is_high ? int64_t{a.scale_} - b.scale_ : int64_t{b.scale_} - a.scale_;
  const int64_t high = a_is_high ? a.mantissa_ : b.mantissa_;
  const int64_t low = a_is_high ? b.mantissa_ : a.mantissa_;
  // From 19 zeros on the one with the higher scale is the larger in magnitude whatever the
  // mantissas are.
  std::strong_ordering order = sign_a <=> 0;
  if (distance < 20) {
    const __int128 scaled =
        static_cast<__int128>(high) * static_cast<__int128>(kPowersOf10[distance]);
    order = scaled == low ? std::strong_ordering::equal : scaled <=> static_cast<__int128>(low);
  }
  return a_is_high ? order : 0 <=> order;
}

bool operator==(const Quantity& a, const Quantity& b) { return (a <=> b) == 0; }

}  // namespace ks::api
