// SPDX-License-Identifier: Apache-2.0
// Loops of macros and cel.bind.
#include <string>

#include "cel/loop.h"

namespace ks::cel {
namespace {

// Stands in the slot of a variable that was not used yet. No other value is like it.
constexpr Text kUnsetText = Literal("unset");
bool IsUnset(const Value& value) { return value.is_error() && value.text == &kUnsetText; }

constexpr Map kEmptyMap{};

// What upstream takes for something that a loop is about to fill: an empty list or map that a
// variable was bound to.
bool GrowsFor(size_t slot, const Value& value) {
  return (value.is(Kind::kList) && value.list->grows_for == slot + 1) ||
         (value.is(Kind::kMap) && value.map->grows_for == slot + 1);
}

Value Growing(Context& context, size_t slot, const Value& value) {
  const auto grows_for = static_cast<uint32_t>(slot + 1);
  if (value.is(Kind::kList) && value.list->size == 0) {
    List* list = List::Make(context.arena(), 4);
    list->grows_for = grows_for;
    return Value::Of(list);
  }
  // One of the device's outer maps without entries becomes a plain one, too.
  if (value.is(Kind::kMap) && value.map->size == 0) {
    Map* map = context.arena().New<Map>();
    map->grows_for = grows_for;
    return Value::Of(map);
  }
  return value;
}

Value Grown(Context& context, const Value& value) {
  if (value.is(Kind::kMap) && value.map->grows_for != 0) return Value::Of(&kEmptyMap);
  if (!value.is(Kind::kList) || value.list->grows_for == 0) return value;
  List* list = context.arena().New<List>(*value.list);
  list->grows_for = 0;
  return Value::Of(list);
}

}  // namespace

bool LoopNode::Step(Context& context, const Value& first, const Value& second) const {
  if (!context.Step()) return false;
  context.slot(plan_.first_slot) = first;
  if (plan_.two_variables) context.slot(plan_.second_slot) = second;
  const Value condition = plan_.condition->Evaluate(context);
  if (condition.is_false()) return false;
  context.slot(plan_.accumulator_slot) = plan_.step->Evaluate(context);
  return true;
}

Value LoopNode::Evaluate(Context& context) const {
  const Value range = plan_.range->Evaluate(context);
  if (range.is_error()) return range;
  if (!range.is(Kind::kList) && !range.is(Kind::kMap)) {
    const std::string type(GoTypeName(range));
    return MakeError(context.arena(), plan_.two_variables
                                          ? "unsupported comprehension range type: " + type
                                          : "got '" + type + "', expected iterable type");
  }
  Value accumulator;
  switch (plan_.accumulator) {
    case Accumulator::kValue:
      accumulator = plan_.init->Evaluate(context);
      break;
    case Accumulator::kList:
      accumulator = Value::Of(List::Make(context.arena(), 4));
      break;
    case Accumulator::kMap:
      accumulator = Value::Of(Map::Make(context.arena(), 4));
      break;
  }
  context.slot(plan_.accumulator_slot) = accumulator;
  if (range.is(Kind::kList)) {
    int64_t index = 0;
    for (const Value& item : *range.list) {
      const bool two = plan_.two_variables;
      if (!Step(context, two ? Value::Int(index++) : item, item)) break;
    }
  } else {
    for (const Map::Entry& entry : *range.map) {
      if (!Step(context, entry.key, entry.value)) break;
    }
  }
  return plan_.result->Evaluate(context);
}

Value BindNode::Evaluate(Context& context) const {
  context.slot(slot_) = Value::Error(&kUnsetText);
  const Value result = body_->Evaluate(context);
  return GrowsFor(slot_, context.slot(slot_)) ? Grown(context, result) : result;
}

Value BoundVariableNode::Evaluate(Context& context) const {
  context.Charge(1);
  if (!IsUnset(context.slot(slot_))) return context.slot(slot_);
  const Value value = Growing(context, slot_, init_->Evaluate(context));
  context.slot(slot_) = value;
  return value;
}

Value AppendNode::Evaluate(Context& context) const {
  const Value element = element_->Evaluate(context);
  context.Charge(2 + list_cost_);  // the accumulator and `+`
  const Value& accumulator = context.slot(slot_);
  if (!accumulator.is(Kind::kList)) return accumulator;
  if (element.is_error()) return element;
  // Made by the loop's start, and seen by nobody else.
  const_cast<List*>(accumulator.list)->Append(context.arena(), element);
  return accumulator;
}

Value InsertNode::Evaluate(Context& context) const {
  context.Charge(1);  // the accumulator
  const Value& accumulator = context.slot(slot_);
  // A call of three arguments stops at the first error.
  if (!accumulator.is(Kind::kMap) && value_ != nullptr) return accumulator;
  const Value key = key_->Evaluate(context);
  if (key.is_error() && value_ != nullptr) return key;
  const Value value = value_ == nullptr ? Value() : value_->Evaluate(context);
  context.Charge(1);  // the call
  if (!accumulator.is(Kind::kMap)) return accumulator;
  if (key.is_error()) return key;
  if (value.is_error()) return value;
  // As in AppendNode.
  auto* map = const_cast<Map*>(accumulator.map);
  const Map::Entry single{key, value};
  const Map::Entry* const begin = value_ == nullptr ? key.map->begin() : &single;
  const Map::Entry* const end = value_ == nullptr ? key.map->end() : &single + 1;
  for (const Map::Entry* entry = begin; entry != end; ++entry) {
    if (const auto type = UnhashableType(entry->key)) {
      return context.Abort("internal error: runtime error: hash of unhashable type " +
                           std::string(*type));
    }
    if (map->Find(entry->key) != nullptr) {
      return MakeError(context.arena(),
                       "insert failed: key " + ValueText(entry->key) + " already exists");
    }
    map->Insert(context.arena(), entry->key, entry->value);
  }
  return accumulator;
}

}  // namespace ks::cel
