// SPDX-License-Identifier: Apache-2.0
// Equality, order and hashes of values.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "base/text_hash.h"
#include "cel/net.h"
#include "cel/semver.h"
#include "cel/value.h"

namespace ks::cel {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr double kTwoTo64 = 18446744073709551616.0;

template <class T>
int Sign(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

double AsDouble(const Value& v) {
  if (v.is(Kind::kInt)) return static_cast<double>(v.integer);
  return v.is(Kind::kUint) ? static_cast<double>(v.natural) : v.real;
}

// Upstream compares integers with doubles as doubles. Requires: numbers, no NaN.
int CompareNumbers(const Value& a, const Value& b) {
  if (a.is(Kind::kDouble) || b.is(Kind::kDouble)) return Sign(AsDouble(a), AsDouble(b));
  if (a.kind == b.kind) {
    return a.is(Kind::kInt) ? Sign(a.integer, b.integer) : Sign(a.natural, b.natural);
  }
  if (a.is(Kind::kUint)) return -CompareNumbers(b, a);
  return a.integer < 0 ? -1 : Sign(static_cast<uint64_t>(a.integer), b.natural);
}

bool EqualNumbers(const Value& a, const Value& b) {
  if (a.is(Kind::kDouble) || b.is(Kind::kDouble)) return AsDouble(a) == AsDouble(b);
  return CompareNumbers(a, b) == 0;
}

Value EqualLists(const List& a, const List& b) {
  if (a.size != b.size) return Value::Bool(false);
  for (size_t i = 0; i < a.size; ++i) {
    if (Equal(a[i], b[i]).is_false()) return Value::Bool(false);  // upstream ignores errors here
  }
  return Value::Bool(true);
}

Value EqualMaps(const Map& a, const Map& b) {
  if (a.size != b.size) return Value::Bool(false);
  for (const Map::Entry& entry : a) {
    const Value* other = b.Find(entry.key);
    if (other == nullptr || Equal(entry.value, *other).is_false()) return Value::Bool(false);
  }
  return Value::Bool(true);
}

Value EqualOptionals(const Optional& a, const Optional& b) {
  if (!a.present || !b.present) return Value::Bool(a.present == b.present);
  return Equal(a.value, b.value);
}

// Values of libraries refuse to be compared with anything else.
bool Refuses(Kind kind) {
  return kind == Kind::kQuantity || kind == Kind::kSemver || kind == Kind::kUrl ||
         kind == Kind::kIp || kind == Kind::kCidr || kind == Kind::kFormat;
}

}  // namespace

Value Equal(const Value& a, const Value& b) {
  if (a.kind != b.kind) {
    if (a.is_number() && b.is_number()) return Value::Bool(EqualNumbers(a, b));
    return Refuses(a.kind) && !b.is(Kind::kNull) ? NoSuchOverload() : Value::Bool(false);
  }
  switch (a.kind) {
    case Kind::kNull:
      return Value::Bool(true);
    case Kind::kBool:
      return Value::Bool(a.boolean == b.boolean);
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDuration:
      return Value::Bool(a.integer == b.integer);
    case Kind::kDouble:
      return Value::Bool(a.real == b.real);
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
      return Value::Bool(a.view() == b.view());
    case Kind::kTimestamp:
      return Value::Bool(a.integer == b.integer && a.nanos == b.nanos);
    case Kind::kList:
      return EqualLists(*a.list, *b.list);
    case Kind::kMap:
      return EqualMaps(*a.map, *b.map);
    case Kind::kOptional:
      return EqualOptionals(*a.optional, *b.optional);
    case Kind::kMessage:
      return Value::Bool(a.message->type_name == b.message->type_name);
    case Kind::kDevice:
      return Value::Bool(a.device == b.device);
    case Kind::kQuantity:
      return b.offset != 0 ? NoSuchOverload() : Value::Bool(*a.quantity == *b.quantity);
    case Kind::kSemver:
      return Value::Bool(*a.semver == *b.semver);
    case Kind::kUrl:
      return Value::Bool(a.url->Text() == b.url->Text());
    case Kind::kIp:
      return Value::Bool(*a.ip == *b.ip);
    case Kind::kCidr:
      return Value::Bool(*a.cidr == *b.cidr);
    case Kind::kFormat:
      return Value::Bool(a.format == b.format);
    case Kind::kError:
      return a;
  }
  return NoSuchOverload();
}

std::optional<int> Compare(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return CompareNumbers(a, b);
  if (a.kind != b.kind) return std::nullopt;
  switch (a.kind) {
    case Kind::kBool:
      return Sign(a.boolean, b.boolean);
    case Kind::kString:
    case Kind::kBytes: {
      const int order = a.view().compare(b.view());
      return Sign(order, 0);
    }
    case Kind::kDuration:
      return Sign(a.integer, b.integer);
    case Kind::kTimestamp:
      return a.integer != b.integer ? Sign(a.integer, b.integer) : Sign(a.nanos, b.nanos);
    default:
      return std::nullopt;
  }
}

bool SameKey(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is(Kind::kDouble) == b.is(Kind::kDouble)) return EqualNumbers(a, b);
    const double real = a.is(Kind::kDouble) ? a.real : b.real;
    const Value& whole = a.is(Kind::kDouble) ? b : a;
    if (!(std::trunc(real) == real)) return false;
    if (whole.is(Kind::kInt)) {
      return real >= -kTwoTo63 && real < kTwoTo63 && static_cast<int64_t>(real) == whole.integer;
    }
    return real >= 0 && real < kTwoTo64 && static_cast<uint64_t>(real) == whole.natural;
  }
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::kList:
      return a.list == b.list && a.nanos == b.nanos;
    case Kind::kMap:
      return a.map == b.map && a.nanos == b.nanos;
    case Kind::kQuantity:
      return a.quantity == b.quantity;
    case Kind::kUrl:
      return a.url == b.url;
    case Kind::kOptional:
      return !a.optional->present && !b.optional->present;
    default:
      return Equal(a, b).is_true();
  }
}

size_t HashKey(const Value& value) {
  const auto mix = [](uint64_t bits) {
    bits *= 0x9e3779b97f4a7c15U;
    return static_cast<size_t>(bits ^ bits >> 32);
  };
  switch (value.kind) {
    case Kind::kBool:
      return value.boolean ? 1 : 0;
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDuration:
    case Kind::kTimestamp:
      return mix(value.natural);
    case Kind::kDouble:
      if (value.real >= -kTwoTo63 && value.real < kTwoTo63) {
        return mix(static_cast<uint64_t>(static_cast<int64_t>(value.real)));
      }
      if (value.real >= 0 && value.real < kTwoTo64) return mix(static_cast<uint64_t>(value.real));
      return 2;
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
      return HashText(value.view());
    default:
      return 3;
  }
}

}  // namespace ks::cel
