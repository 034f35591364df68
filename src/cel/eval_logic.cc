// SPDX-License-Identifier: Apache-2.0
// Logic, conditions, optional alternatives, literals of lists, maps and messages.
#include <algorithm>
#include <limits>
#include <string>

#include "cel/node.h"

namespace ks::cel {

Value LogicNode::Evaluate(Context& context) const {
  Value undecided = Value::Bool(!absorbing_);
  for (const Node* operand : operands_) {
    const Value value = operand->Evaluate(context);
    if (value.is(Kind::kBool)) {
      if (value.boolean == absorbing_) return value;
    } else if (!undecided.is_error()) {
      undecided = value.is_error() ? value : NoSuchOverload();
    }
  }
  return undecided;
}

Value NotStrictlyFalseNode::Evaluate(Context& context) const {
  const Value value = operand_->Evaluate(context);
  context.Charge(1);
  return Value::Bool(!value.is_false());
}

Value ConditionalNode::Evaluate(Context& context) const {
  bool wrapped = false;
  return EvaluateLink(context, &wrapped);
}

Value ConditionalNode::EvaluateLink(Context& context, bool* wrapped) const {
  const Value condition = condition_->Evaluate(context);
  if (condition.is_error()) return condition;
  if (!condition.is(Kind::kBool)) return NoSuchOverload();
  const Node* const chosen = condition.boolean ? yes_ : no_;
  const Value value = chosen->EvaluateLink(context, wrapped);
  if (chosen->refunded()) context.Refund(1);
  return value;
}

Value OptionalOrNode::Evaluate(Context& context) const {
  const Value optional = optional_->Evaluate(context);
  if (optional.is_error()) return optional;
  if (!optional.is(Kind::kOptional)) return NoSuchOverload();
  if (!optional.optional->present) return other_->Evaluate(context);
  return unwrap_ ? optional.optional->value : optional;
}

namespace {

constexpr uint64_t kListCost = 10;
constexpr uint64_t kMapCost = 30;
constexpr uint64_t kMessageCost = 40;

Value NotOptional(Context& context, const EntryPlan& entry, const Value& value) {
  const std::string field = entry.field.empty() ? "" : " '" + std::string(entry.field) + "'";
  return MakeError(context.arena(), "cannot initialize optional entry" + field +
                                        " from non-optional value " + ValueText(value));
}

// An entry's value. Nothing to enter: null, and `error` says why if it is one. The first error ends
// a literal: what follows is not evaluated.
const Value* Unwrapped(Context& context, const EntryPlan& entry, Value& value, Value& error) {
  if (value.is_error()) {
    error = value;
    return nullptr;
  }
  if (!entry.optional) return &value;
  if (!value.is(Kind::kOptional)) {
    error = NotOptional(context, entry, value);
    return nullptr;
  }
  return value.optional->present ? &value.optional->value : nullptr;
}

}  // namespace

Value ListNode::Evaluate(Context& context) const {
  List* list = List::Make(context.arena(), entries_.size());
  Value error;
  for (const EntryPlan& entry : entries_) {
    Value value = entry.value->Evaluate(context);
    const Value* unwrapped = Unwrapped(context, entry, value, error);
    if (error.is_error()) break;
    if (unwrapped != nullptr) list->Append(context.arena(), *unwrapped);
  }
  context.Charge(kListCost);
  return error.is_error() ? error : Value::Of(list);
}

void Put(Context& context, Map& map, const Value& key, const Value& value) {
  for (size_t i = 0; map.bucket_count == 0 && i < map.size; ++i) {
    if (SameKey(map.entries[i].key, key)) {
      map.entries[i].value = value;
      return;
    }
  }
  const Value* found = map.bucket_count == 0 ? nullptr : map.Find(key);
  if (found == nullptr) return map.Insert(context.arena(), key, value);
  // The map is being made, so its entries are still ours.
  for (size_t i = 0; i < map.size; ++i) {
    if (&map.entries[i].value == found) map.entries[i].value = value;
  }
}

Value MapNode::Evaluate(Context& context) const {
  Map* map = Map::Make(context.arena(), entries_.size());
  Value error;
  for (const EntryPlan& entry : entries_) {
    const Value key = entry.key->Evaluate(context);
    if (key.is_error()) {
      error = key;
      break;
    }
    Value value = entry.value->Evaluate(context);
    const Value* unwrapped = Unwrapped(context, entry, value, error);
    if (error.is_error()) break;
    if (const auto type = UnhashableType(key)) {
      const std::string_view why = unwrapped == nullptr ? "hash of unhashable type: "
                                                        : "runtime error: hash of unhashable type ";
      return context.Abort("internal error: " + std::string(why) + std::string(*type));
    }
    if (unwrapped == nullptr) {
      map->Remove(key);
    } else {
      Put(context, *map, key, *unwrapped);
    }
  }
  context.Charge(kMapCost);
  return error.is_error() ? error : Value::Of(map);
}

namespace {

// The fields of a message that is a value of the language.
struct Fields {
  Value seconds = Value::Int(0);
  Value nanos = Value::Int(0);
  Value value{};
  bool has_value = false;
  std::string_view type_url{};
};

Value BuildTime(std::string_view type_name, const Fields& fields) {
  const int64_t seconds = fields.seconds.integer;
  const int64_t nanos = fields.nanos.integer;
  if (type_name == "google.protobuf.Timestamp") {
    // Neither the range nor the nanoseconds are checked here.
    return Value::Timestamp(seconds, static_cast<uint32_t>(nanos));
  }
  const __int128 total = static_cast<__int128>(seconds) * 1'000'000'000 + nanos;
  constexpr __int128 kMost = std::numeric_limits<int64_t>::max();
  constexpr __int128 kLeast = std::numeric_limits<int64_t>::min();
  return Value::Duration(static_cast<int64_t>(std::clamp(total, kLeast, kMost)));
}

// The value of a wrapper whose field is not set; null: `type_name` is none.
const Value* EmptyWrapper(std::string_view type_name) {
  static constexpr Text kNothing{"", 0, 0};
  struct Named {
    std::string_view name;
    Value value;
  };
  static constexpr Named kWrappers[] = {
      {"google.protobuf.BoolValue", Value::Bool(false)},
      {"google.protobuf.BytesValue", Value::Bytes(&kNothing)},
      {"google.protobuf.DoubleValue", Value::Double(0)},
      {"google.protobuf.FloatValue", Value::Double(0)},
      {"google.protobuf.Int32Value", Value::Int(0)},
      {"google.protobuf.Int64Value", Value::Int(0)},
      {"google.protobuf.StringValue", Value::String(&kNothing)},
      {"google.protobuf.UInt32Value", Value::Uint(0)},
      {"google.protobuf.UInt64Value", Value::Uint(0)},
      {"google.protobuf.Value", Value()},
  };
  for (const Named& each : kWrappers) {
    if (each.name == type_name) return &each.value;
  }
  return nullptr;
}

// The value of a wrapper of a type with 32 bits.
Value Narrowed(Context& context, std::string_view type_name, const Value& value) {
  const auto refuse = [&](std::string_view why) {
    return MakeError(context.arena(), "field type conversion error for " + std::string(type_name) +
                                          ".value value type: " + std::string(why));
  };
  if (type_name == "google.protobuf.FloatValue" && value.is(Kind::kDouble)) {
    return Value::Double(static_cast<double>(static_cast<float>(value.real)));
  }
  if (type_name == "google.protobuf.Int32Value" && value.is(Kind::kInt) &&
      value.integer != static_cast<int32_t>(value.integer)) {
    return refuse("integer overflow");
  }
  if (type_name == "google.protobuf.UInt32Value" && value.is(Kind::kUint) &&
      value.natural != static_cast<uint32_t>(value.natural)) {
    return refuse("unsigned integer overflow");
  }
  return value;
}

Value Build(Context& context, std::string_view type_name, const Fields& fields) {
  if (type_name == "google.protobuf.Timestamp" || type_name == "google.protobuf.Duration") {
    return BuildTime(type_name, fields);
  }
  if (type_name == "google.protobuf.ListValue" && !fields.has_value) {
    return Value::Of(List::Make(context.arena(), 0));
  }
  if (type_name == "google.protobuf.Struct" && !fields.has_value) {
    return Value::Of(Map::Make(context.arena(), 0));
  }
  if (type_name.starts_with("kubernetes.")) {
    return MakeError(context.arena(), "unknown type '" + std::string(type_name) + "'");
  }
  constexpr std::string_view kTypes = "type.googleapis.com/";
  if (fields.type_url.starts_with(kTypes)) {
    const std::string_view name = fields.type_url.substr(kTypes.size());
    if (!name.starts_with("google.protobuf.")) {
      return MakeError(context.arena(), "unknown type: '" + std::string(name) + "'");
    }
  }
  if (fields.has_value) return Narrowed(context, type_name, fields.value);
  if (const Value* empty = EmptyWrapper(type_name)) return *empty;
  if (type_name == "google.protobuf.Any") {
    return MakeError(context.arena(), "unsupported conversion to ref.Val: (*dynamicpb.Message)");
  }
  return Value::Of(context.arena().New<Message>(std::string(type_name)));
}

}  // namespace

Value MessageNode::Evaluate(Context& context) const {
  Fields fields;
  Value error;
  for (const EntryPlan& entry : entries_) {
    Value value = entry.value->Evaluate(context);
    const Value* unwrapped = Unwrapped(context, entry, value, error);
    if (error.is_error()) break;
    if (unwrapped == nullptr) continue;
    if (entry.field == "seconds") {
      fields.seconds = *unwrapped;
    } else if (entry.field == "nanos") {
      fields.nanos = *unwrapped;
    } else {
      if (entry.field == "type_url") fields.type_url = unwrapped->view();
      fields.value = *unwrapped;
      fields.has_value = true;
    }
  }
  context.Charge(kMessageCost);
  return error.is_error() ? error : Build(context, type_name_, fields);
}

}  // namespace ks::cel
