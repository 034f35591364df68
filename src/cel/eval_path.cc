// SPDX-License-Identifier: Apache-2.0
// Selecting: paths into the device, fields, indices, presence.
#include <chrono>
#include <cmath>
#include <string>

#include "base/clock.h"
#include "cel/device.h"
#include "cel/net.h"
#include "cel/node.h"
#include "cel/number_text.h"

namespace ks::cel {
namespace {

constexpr Map kEmptyMap{.of_device = true};

}  // namespace

std::string KeyText(const Value& key) {
  switch (key.kind) {
    case Kind::kBool:
      return key.boolean ? "true" : "false";
    case Kind::kInt:
      return std::to_string(key.integer);
    case Kind::kUint:
      return std::to_string(key.natural);
    case Kind::kDouble:
      return DoubleText(key.real);
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
      return std::string(key.view());
    case Kind::kNull:
      return "0";
    case Kind::kDuration:
      return FormatDuration(std::chrono::nanoseconds(key.integer));
    case Kind::kIp:
      return key.ip->ToString();
    case Kind::kCidr:
      return key.cidr->ToString();
    case Kind::kOptional:
      return "optional.none()";
    case Kind::kMap: {
      std::string text = "{";
      for (const Map::Entry& entry : *key.map) {
        text += (text.size() > 1 ? ", " : "") + KeyText(entry.key) + ": " + KeyText(entry.value);
      }
      return text + "}";
    }
    case Kind::kList: {
      std::string text = "[";
      for (const Value& item : *key.list) text += (text.size() > 1 ? ", " : "") + KeyText(item);
      return text + "]";
    }
    default:
      return std::string(RuntimeTypeName(key));
  }
}

namespace {

Found Failed(Context& context, const std::string& message) {
  return Found{Found::Outcome::kFailed, MakeError(context.arena(), message)};
}

Found Missing(Context& context, const Value& key) {
  return Found{Found::Outcome::kMissing,
               MakeError(context.arena(), "no such key: " + KeyText(key))};
}

Found FindInList(Context& context, const List& list, const Value& key) {
  constexpr double kTwoTo53 = 9007199254740992.0;
  int64_t index = 0;
  if (key.is(Kind::kInt)) {
    index = key.integer;
  } else if (key.is(Kind::kUint)) {
    if (key.natural >> 63 != 0) {
      return Failed(context, "unsupported index value " + KeyText(key) + " in list");
    }
    index = static_cast<int64_t>(key.natural);
  } else if (key.is(Kind::kDouble)) {
    if (std::trunc(key.real) != key.real || std::abs(key.real) > kTwoTo53) {
      return Failed(context, "unsupported index value " + KeyText(key) + " in list");
    }
    index = static_cast<int64_t>(key.real);
  } else {
    return Failed(context,
                  "unsupported index type '" + std::string(RuntimeTypeName(key)) + "' in list");
  }
  if (index < 0 || index >= static_cast<int64_t>(list.size)) {
    return Found{Found::Outcome::kMissing,
                 MakeError(context.arena(), "index out of bounds: " + KeyText(key))};
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
  const Found found =
      key.is_error() ? Found{Found::Outcome::kFailed, key} : FindIn(context, operand, key);
  if (optional && found.outcome == Found::Outcome::kMissing) return None();
  if (!free_) context.Charge(1);
  if (found.outcome != Found::Outcome::kFound || !optional) return found.value;
  return MakeSome(context.arena(), found.value);
}

}  // namespace ks::cel
