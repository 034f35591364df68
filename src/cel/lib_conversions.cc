// SPDX-License-Identifier: Apache-2.0
// Conversions between types, `type`, `dyn` and `size`.
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "cel/library.h"
#include "cel/net.h"
#include "cel/number_text.h"
#include "cel/time_value.h"
#include "golang/utf8.h"

namespace ks::cel {
namespace {

constexpr Text kIntOverflow = Literal("integer overflow");
constexpr Text kUintOverflow = Literal("unsigned integer overflow");
constexpr Text kInvalidUtf8 = Literal("invalid UTF-8 in bytes, cannot convert to string");
constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr double kTwoTo64 = 18446744073709551616.0;

Value NotConverted(Context& context, const Value& from, std::string_view to) {
  return MakeError(context.arena(), "type conversion error from '" +
                                        std::string(RuntimeTypeName(from)) + "' to '" +
                                        std::string(to) + "'");
}

template <class T>
std::optional<T> ReadWhole(std::string_view text) {
  if (std::is_signed_v<T> && text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  T number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Value ToBool(Context& context, Arguments args) {
  if (args[0].is(Kind::kBool)) return args[0];
  for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (args[0].view() == yes) return Value::Bool(true);
  }
  for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (args[0].view() == no) return Value::Bool(false);
  }
  return NotConverted(context, args[0], "bool");
}

Value ToBytes(Context& /*context*/, Arguments args) { return Value::Bytes(args[0].text); }

Value ToDouble(Context& context, Arguments args) {
  const Value& v = args[0];
  if (v.is(Kind::kDouble)) return v;
  if (v.is(Kind::kInt)) return Value::Double(static_cast<double>(v.integer));
  if (v.is(Kind::kUint)) return Value::Double(static_cast<double>(v.natural));
  const std::optional<double> number = ReadDouble(v.view());
  return number ? Value::Double(*number) : NotConverted(context, v, "double");
}

Value ToDuration(Context& context, Arguments args) {
  if (args[0].is(Kind::kDuration)) return args[0];
  const std::optional<Value> duration = ReadDuration(args[0].view());
  return duration ? *duration : NotConverted(context, args[0], "google.protobuf.Duration");
}

Value ToTimestamp(Context& context, Arguments args) {
  if (args[0].is(Kind::kTimestamp)) return args[0];
  if (args[0].is(Kind::kInt)) return MakeTimestamp(args[0].integer, 0);
  const std::optional<Value> timestamp = ReadTimestamp(args[0].view());
  return timestamp ? *timestamp : NotConverted(context, args[0], "google.protobuf.Timestamp");
}

Value ToDyn(Context& /*context*/, Arguments args) { return args[0]; }

Value ToInt(Context& context, Arguments args) {
  const Value& v = args[0];
  switch (v.kind) {
    case Kind::kUint:
      if (v.natural >> 63 != 0) return Value::Error(&kIntOverflow);
      return Value::Int(static_cast<int64_t>(v.natural));
    case Kind::kDouble:
      if (!(v.real > -kTwoTo63 && v.real < kTwoTo63)) return Value::Error(&kIntOverflow);
      return Value::Int(static_cast<int64_t>(v.real));
    case Kind::kTimestamp:
    case Kind::kDuration:
      return Value::Int(v.integer);
    case Kind::kString: {
      const std::optional<int64_t> number = ReadWhole<int64_t>(v.view());
      return number ? Value::Int(*number) : NotConverted(context, v, "int");
    }
    default:
      return v;
  }
}

Value ToUint(Context& context, Arguments args) {
  const Value& v = args[0];
  switch (v.kind) {
    case Kind::kInt:
      if (v.integer < 0) return Value::Error(&kUintOverflow);
      return Value::Uint(static_cast<uint64_t>(v.integer));
    case Kind::kDouble:
      if (!(v.real >= 0 && v.real < kTwoTo64)) return Value::Error(&kUintOverflow);
      return Value::Uint(static_cast<uint64_t>(v.real));
    case Kind::kString: {
      const std::optional<uint64_t> number = ReadWhole<uint64_t>(v.view());
      return number ? Value::Uint(*number) : NotConverted(context, v, "uint");
    }
    default:
      return v;
  }
}

Value ToString(Context& context, Arguments args) {
  const Value& v = args[0];
  Arena& arena = context.arena();
  switch (v.kind) {
    case Kind::kBool:
      return MakeString(arena, v.boolean ? "true" : "false");
    case Kind::kInt:
      return MakeString(arena, std::to_string(v.integer));
    case Kind::kUint:
      return MakeString(arena, std::to_string(v.natural));
    case Kind::kDouble:
      return MakeString(arena, DoubleText(v.real));
    case Kind::kBytes:
      if (!golang::IsUtf8(v.view())) return Value::Error(&kInvalidUtf8);
      return Value::String(RefText(arena, v.view()));
    case Kind::kTimestamp:
      return MakeString(arena, TimestampText(v));
    case Kind::kDuration:
      return MakeString(arena, DurationText(v));
    case Kind::kIp:
      return MakeString(arena, v.ip->ToString());
    case Kind::kCidr:
      return MakeString(arena, v.cidr->ToString());
    default:
      return v;
  }
}

Value ToType(Context& context, Arguments args) {
  return Value(Kind::kType, MakeText(context.arena(), RuntimeTypeName(args[0])));
}

Value Size(Context& /*context*/, Arguments args) {
  return Value::Int(static_cast<int64_t>(SizeOf(args[0])));
}

// A copy from the other kind of text costs by its size.
template <Kind kFrom>
uint64_t CostOfCopy(Arguments args, const Value& /*result*/) {
  return args[0].is(kFrom) ? Tenth(SizeOf(args[0])) : 1;
}

constexpr Binding kConversionTable[] = {
    {OverloadId::kToBool, ToBool},
    {OverloadId::kToBytes, ToBytes, CostOfCopy<Kind::kString>},
    {OverloadId::kToDouble, ToDouble},
    {OverloadId::kToDuration, ToDuration},
    {OverloadId::kToDyn, ToDyn},
    {OverloadId::kToInt, ToInt},
    {OverloadId::kToString, ToString, CostOfCopy<Kind::kBytes>},
    {OverloadId::kToTimestamp, ToTimestamp},
    {OverloadId::kToType, ToType},
    {OverloadId::kToUint, ToUint},
    {OverloadId::kSize, Size},
};

}  // namespace

std::span<const Binding> ConversionBindings() { return kConversionTable; }

}  // namespace ks::cel
