// SPDX-License-Identifier: Apache-2.0
// Selecting: paths into the device, fields, indices, presence.
#include <chrono>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "base/clock.h"
#include "cel/device.h"
#include "cel/net.h"
#include "cel/node.h"
#include "cel/number_text.h"
#include "cel/semver.h"
#include "cel/time_value.h"

namespace ks::cel {
namespace {

constexpr Map kEmptyMap{.of_device = true};

std::string TypeText(std::string_view name) {
  if (name == "list") return "list(dyn)";
  if (name == "map") return "map(dyn, dyn)";
  return name == "optional_type" ? "optional_type(dyn)" : std::string(name);
}

template <class Range, class Text>
std::string Joined(char open, const Range& range, char close, const Text& text) {
  std::string joined(1, open);
  for (const auto& each : range) joined += (joined.size() > 1 ? ", " : "") + text(each);
  return joined + close;
}

std::string OptionalText(const Optional& optional) {
  return optional.present ? "optional(" + ValueText(optional.value) + ")" : "optional.none()";
}

}  // namespace

std::string ValueText(const Value& value) {
  switch (value.kind) {
    case Kind::kBool:
      return value.boolean ? "true" : "false";
    case Kind::kInt:
      return std::to_string(value.integer);
    case Kind::kUint:
      return std::to_string(value.natural);
    case Kind::kDouble:
      return DoubleText(value.real);
    case Kind::kString:
      return std::string(value.view());
    case Kind::kBytes:
      return fmt::format(
          "[{}]",
          fmt::join(reinterpret_cast<const uint8_t*>(value.text->data),
                    reinterpret_cast<const uint8_t*>(value.text->data) + value.text->size, " "));
    case Kind::kType:
      return TypeText(value.view());
    case Kind::kNull:
      return "0";
    case Kind::kDuration:
      return FormatDuration(std::chrono::nanoseconds(value.integer));
    case Kind::kTimestamp:
      return LongTimestampText(value);
    case Kind::kQuantity:
      return value.quantity->ToString();
    case Kind::kSemver:
      return value.semver->ToString();
    case Kind::kUrl:
      return value.url->Text();
    case Kind::kIp:
      return value.ip->ToString();
    case Kind::kCidr:
      return value.cidr->ToString();
    case Kind::kOptional:
      return OptionalText(*value.optional);
    case Kind::kMap:
      return Joined('{', *value.map, '}', [](const Map::Entry& entry) {
        return ValueText(entry.key) + ": " + ValueText(entry.value);
      });
    case Kind::kList:
      return Joined('[', *value.list, ']', ValueText);
    default:
      return std::string(RuntimeTypeName(value));
  }
}

namespace {

Found Failed(Context& context, std::string_view message) {
  return Found{Found::Outcome::kFailed, MakeError(context.arena(), message)};
}

Found Missing(Context& context, const Value& key) {
  return Found{Found::Outcome::kMissing,
               MakeError(context.arena(), "no such key: " + ValueText(key))};
}

Found FindInList(Context& context, const List& list, const Value& key) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  int64_t index = 0;
  if (key.is(Kind::kInt)) {
    index = key.integer;
  } else if (key.is(Kind::kUint)) {
    if (key.natural >> 63 != 0) {
      return Failed(context, "unsupported index value " + ValueText(key) + " in list");
    }
    index = static_cast<int64_t>(key.natural);
  } else if (key.is(Kind::kDouble)) {
    if (std::trunc(key.real) != key.real || std::abs(key.real) >= kTwoTo63) {
      return Failed(context, "unsupported index value " + ValueText(key) + " in list");
    }
    index = static_cast<int64_t>(key.real);
  } else {
    return Failed(context,
                  "unsupported index type '" + std::string(RuntimeTypeName(key)) + "' in list");
  }
  if (index < 0 || index >= static_cast<int64_t>(list.size)) {
    return Found{Found::Outcome::kMissing,
                 MakeError(context.arena(), "index out of bounds: " + ValueText(key))};
  }
  return Found{Found::Outcome::kFound, list[static_cast<size_t>(index)]};
}

}  // namespace

bool IsQualifier(const Value& key) {
  return key.is_number() || key.is(Kind::kString) || key.is(Kind::kBool);
}

Found FindIn(Context& context, const Value& operand, const Value& key) {
  if (!IsQualifier(key)) {
    return Failed(context, "invalid qualifier type: " + std::string(GoTypeName(key)));
  }
  if (operand.is(Kind::kList)) return FindInList(context, *operand.list, key);
  if (!operand.is(Kind::kMap)) return Missing(context, key);
  if (const Value* value = operand.map->Find(key)) {
    return Found{Found::Outcome::kFound, operand.map->of_device ? context.Fetched(*value) : *value};
  }
  if (operand.map->complete) {
    return Found{Found::Outcome::kFound, Value::Of(&kEmptyMap)};
  }
  return Missing(context, key);
}

Value DevicePathNode::Evaluate(Context& context) const {
  const Device* device = context.device();
  const Value* found = device == nullptr ? nullptr : device->Find(path_);
  context.Charge(3);
  if (mode_ == PathMode::kTest) return Value::Bool(found != nullptr);
  if (found == nullptr && mode_ == PathMode::kOptional) return None();
  context.Charge(1);
  if (mode_ == PathMode::kOptional) return MakeSome(context.arena(), context.Fetched(*found));
  return found == nullptr ? missing_ : context.Fetched(*found);
}

Value DeviceFieldNode::Evaluate(Context& context) const {
  context.Charge(2);
  const Device* device = context.device();
  if (device == nullptr) return Value();
  return driver_ ? device->driver() : device->allow_multiple_allocations();
}

Value SelectNode::Test(Context& context, const Value& operand, const Value& key, bool chained) {
  // One less than selecting; what is charged may be refunded only afterwards.
  if (!chained) {
    const Found found = FindIn(context, operand, key);
    return found.outcome == Found::Outcome::kFailed
               ? found.value
               : Value::Bool(found.outcome == Found::Outcome::kFound);
  }
  const bool present =
      operand.optional->present &&
      FindIn(context, operand.optional->value, key).outcome == Found::Outcome::kFound;
  if (!present) context.Refund(1);
  return Value::Bool(present);
}

Value SelectNode::Evaluate(Context& context) const {
  bool wrapped = false;
  return EvaluateLink(context, &wrapped);
}

// Here alone upstream has the device in hand as it was given.
constexpr std::string_view kDeviceAsKey = "invalid qualifier type: map[string]interface {}";

Value SelectNode::EvaluateLink(Context& context, bool* wrapped) const {
  bool chained = false;
  Value operand = operand_->EvaluateLink(context, &chained);
  *wrapped = chained || mode_ == PathMode::kOptional;
  if (!operand_->attribute()) context.Charge(1);
  if (operand.is_error()) {
    if (mode_ == PathMode::kTest) context.Refund(1);
    return operand;
  }
  if (mode_ == PathMode::kTest && free_) context.Refund(1);
  if (mode_ == PathMode::kTest) return Test(context, operand, *key_->constant(), chained);
  if (chained && !operand.optional->present) return operand;
  if (chained) operand = operand.optional->value;

  const Value key = key_->Evaluate(context);
  if (key_->refunded()) context.Refund(1);
  const bool optional = *wrapped;
  const Found found = key.is_error()      ? Found{Found::Outcome::kFailed, key}
                      : key_->is_device() ? Failed(context, kDeviceAsKey)
                                          : FindIn(context, operand, key);
  if (optional && found.outcome == Found::Outcome::kMissing) return None();
  // A step that fails costs less if it is an optional one.
  if (!free_ && !(optional && found.outcome == Found::Outcome::kFailed)) context.Charge(1);
  if (found.outcome != Found::Outcome::kFound || !optional) return found.value;
  return MakeSome(context.arena(), found.value);
}

}  // namespace ks::cel
