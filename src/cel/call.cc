// SPDX-License-Identifier: Apache-2.0
#include "cel/call.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/check.h"

namespace ks::cel {
namespace {

// Whether an argument of static type `argument` may be meant for `parameter`.
bool MayBe(const Type& parameter, const Type& argument) {
  const std::optional<Kind> wanted = KindOf(parameter);
  const std::optional<Kind> given = KindOf(argument);
  if (!wanted || !given) return true;
  if (*wanted != *given) return false;
  if (*wanted == Kind::kMessage && parameter.name != argument.name) return false;
  if (parameter.params.empty() || argument.params.empty()) return true;
  return MayBe(*parameter.params[0], *argument.params[0]);
}

// How the complaint about arguments that fit no overload reads.
enum class Complaint : uint8_t { kPlain, kByTrait, kSignature };

constexpr uint32_t Bit(Kind kind) { return uint32_t{1} << static_cast<uint32_t>(kind); }

// Kinds that know of the operation, so that upstream's complaint is the plain one.
struct Operator {
  std::string_view function;
  uint32_t knowing = 0;
};

constexpr uint32_t kReceivers = Bit(Kind::kString) | Bit(Kind::kDuration) | Bit(Kind::kTimestamp);
constexpr uint32_t kNumbers = Bit(Kind::kInt) | Bit(Kind::kUint) | Bit(Kind::kDouble);
constexpr uint32_t kOrdered = kReceivers | kNumbers | Bit(Kind::kBool) | Bit(Kind::kBytes);
constexpr uint32_t kEverything = ~uint32_t{0};
constexpr Operator kOperators[] = {
    {"!_", kEverything},
    {"@in", kEverything},
    {"contains", kEverything},
    {"startsWith", kEverything},
    {"endsWith", kEverything},
    {"matches", kReceivers},
    {"-_", kReceivers | Bit(Kind::kBool) | Bit(Kind::kInt) | Bit(Kind::kDouble)},
    {"_+_", kReceivers | kNumbers | Bit(Kind::kBytes) | Bit(Kind::kList)},
    {"_-_", kReceivers | kNumbers},
    {"_*_", kReceivers | kNumbers},
    {"_/_", kReceivers | kNumbers},
    {"_%_", kReceivers | Bit(Kind::kInt) | Bit(Kind::kUint)},
    {"_<_", kOrdered},
    {"_<=_", kOrdered},
    {"_>_", kOrdered},
    {"_>=_", kOrdered},
    {"size", kReceivers},
    {"sort", kReceivers},
    {"@sortByAssociatedKeys", 0},
};

// Functions whose overloads are bound one by one: if the checker found only one it alone is tried,
// if it found several the first argument that is an error ends the call.
bool IsBoundByOverload(std::string_view function) {
  constexpr std::string_view kFunctions[] = {"add",
                                             "bool",
                                             "bytes",
                                             "check",
                                             "compareTo",
                                             "containsCIDR",
                                             "containsIP",
                                             "double",
                                             "duration",
                                             "getHours",
                                             "getMilliseconds",
                                             "getMinutes",
                                             "getSeconds",
                                             "indexOf",
                                             "int",
                                             "isGreaterThan",
                                             "isLessThan",
                                             "isSorted",
                                             "lastIndexOf",
                                             "max",
                                             "min",
                                             "string",
                                             "sub",
                                             "sum",
                                             "timestamp",
                                             "uint"};
  return std::find(std::begin(kFunctions), std::end(kFunctions), function) != std::end(kFunctions);
}

bool IsOrdering(std::string_view function) {
  return function == "_<_" || function == "_<=_" || function == "_>_" || function == "_>=_";
}

bool IsText(Kind kind) { return kind == Kind::kString || kind == Kind::kBytes; }

// What upstream asks for the functions of authorization, which here can only fail: a check is dear,
// and so is the parsing of a selector.
uint64_t CostOfAuthorization(std::string_view function, Arguments arguments) {
  if (function == "check") return 350'000;
  if (function != "fieldSelector" && function != "labelSelector") return 1;
  const uint64_t size = OwnSizeOf(arguments[1]);
  return 10 + 50 * ((size + 1) / 2) + Tenth(size);
}

constexpr Text kNanText = Literal("NaN values cannot be ordered");

}  // namespace

Call::Call(std::string_view function, bool member, const std::vector<const Type*>& types)
    : function_(function) {
  const Function* declared = FindFunction(function);
  KS_CHECK(declared != nullptr, "a call of an undeclared function passed the checker");
  KS_CHECK(types.size() <= kMaxArguments, "a call with too many arguments passed the checker");
  size_t only = 0;
  for (const Overload& overload : declared->overloads) {
    if (overload.member != member || overload.params.size() != types.size()) continue;
    bool possible = true;
    Candidate candidate;
    for (size_t i = 0; i < types.size(); ++i) {
      candidate.parameters[i] = ParameterOf(*overload.params[i]);
      possible = possible && MayBe(*overload.params[i], *types[i]);
    }
    // Keys that have no order are refused with words of their own.
    if (overload.id == OverloadId::kSortByKeys) candidate.parameters[1].element = kAnyKind;
    if (possible) {
      cost_.push_back(overload.id);
      only = candidates_.size();
    }
    candidate.binding = &BindingOf(overload.id);
    if (candidate.binding->run != nullptr) candidates_.push_back(candidate);
  }
  const bool sure = cost_.size() == 1;
  if (sure) {
    const bool flat = IsOrdering(function) && !IsText(candidates_[only].parameters[0].kind);
    cost_of_ = flat ? nullptr : BindingOf(cost_[0]).cost;
  } else if (!candidates_.empty()) {
    const Binding& first = *candidates_.front().binding;
    cost_of_ = first.unsure != nullptr ? first.unsure : first.by_name ? first.cost : nullptr;
  }
  if (IsBoundByOverload(function)) {
    if (sure && !candidates_.empty()) candidates_ = {candidates_[only]};
    stops_early_ = !sure;
  }
  stops_early_ = stops_early_ || types.size() > 2 || function == "format";
  if (function == "-_") {  // declared for numbers only, but a duration can be negated, too
    Candidate candidate;
    candidate.parameters[0].kind = Kind::kDuration;
    candidate.binding = &BindingOf(OverloadId::kNegateInt);
    candidates_.push_back(candidate);
  }
  constexpr OverloadId kPanicking[] = {OverloadId::kDistinct, OverloadId::kSort,
                                       OverloadId::kSortByKeys, OverloadId::kFlatten};
  may_panic_ =
      std::find(std::begin(kPanicking), std::end(kPanicking), unique()) != std::end(kPanicking);
}

Call::Parameter Call::ParameterOf(const Type& type) {
  Parameter parameter;
  parameter.kind = KindOf(type).value_or(kAnyKind);
  if (parameter.kind == Kind::kList) {
    parameter.element = KindOf(*type.params[0]).value_or(kAnyKind);
    if (parameter.element == Kind::kList) parameter.element = kAnyKind;  // of flatten
  }
  return parameter;
}

bool Call::Fits(const Parameter& parameter, const Value& value) {
  if (parameter.kind == kAnyKind) return true;
  if (parameter.kind != value.kind) return false;
  if (parameter.element == kAnyKind || value.list->size == 0) return true;
  return (*value.list)[0].kind == parameter.element;
}

uint64_t Call::CostOf(Arguments arguments, const Value& result) const {
  if (candidates_.empty()) return CostOfAuthorization(function_, arguments);
  return cost_of_ == nullptr ? 1 : cost_of_(arguments, result);
}

Value Call::Refuse(Context& context, Arguments arguments) const {
  if (function_ == "sort" && arguments[0].is(Kind::kList)) {
    return MakeError(context.arena(), "list elements must be comparable");
  }
  const bool nan = arguments[0].is(Kind::kDouble) && std::isnan(arguments[0].real);
  for (const Operator& each : kOperators) {
    if (each.function != function_) continue;
    if (nan && each.knowing == kOrdered) return Value::Error(&kNanText);
    if ((each.knowing & Bit(arguments[0].kind)) != 0) return NoSuchOverload();
    return MakeError(context.arena(), "no such overload: " + std::string(function_));
  }
  if (function_ == "flatten") {
    std::string type(RuntimeTypeName(arguments[0]));
    if (type == "map") type = "map(dyn, dyn)";
    if (type == "optional_type") type = "optional_type(dyn)";
    return MakeError(context.arena(), "no such overload: " + type + ".flatten(" +
                                          (arguments.size() > 1 ? "int" : "") + ")");
  }
  return NoSuchOverload(context, function_, arguments);
}

// Where upstream takes a value for a list without looking and panics: the text. None: it does not.
std::optional<std::string> Call::Panic(Arguments arguments) const {
  if (!may_panic_) return std::nullopt;
  const bool sorts = unique() != OverloadId::kFlatten;
  const std::string prefix = "internal error: interface conversion: ";
  for (const Value& argument : arguments) {
    if (argument.is_error() && sorts) {
      return prefix + "*types.Err is not traits.Lister: missing method Add";
    }
  }
  if (!sorts && arguments.size() > 1 && !arguments[1].is(Kind::kInt)) {
    const std::string type(arguments[1].is_error() ? "*types.Err" : GoTypeName(arguments[1]));
    return prefix + "ref.Val is " + type + ", not types.Int";
  }
  const bool looks = unique() != OverloadId::kDistinct && unique() != OverloadId::kSort;
  if (looks || arguments[0].is(Kind::kList)) return std::nullopt;
  const bool adds = (Bit(arguments[0].kind) & (kReceivers | kNumbers | Bit(Kind::kBytes))) != 0;
  return prefix + std::string(GoTypeName(arguments[0])) + " is not traits.Lister: missing method " +
         (adds ? "Contains" : "Add");
}

Value Call::Apply(Context& context, Arguments arguments) const {
  if (const std::optional<std::string> panic = Panic(arguments)) return context.Abort(*panic);
  Value result;
  for (const Value& argument : arguments) {
    if (argument.is_error()) {
      result = argument;
      break;
    }
  }
  if (!result.is_error()) {
    const auto fits = [&](const Candidate& candidate) {
      for (size_t i = 0; i < arguments.size(); ++i) {
        if (!Fits(candidate.parameters[i], arguments[i])) return false;
      }
      return true;
    };
    const auto found = std::find_if(candidates_.begin(), candidates_.end(), fits);
    result = found != candidates_.end() ? found->binding->run(context, arguments)
                                        : Refuse(context, arguments);
  }
  if (!context.aborted()) {
    context.Charge(CostOf(arguments, result));
  }
  return result;
}

Value CallNode::Evaluate(Context& context) const {
  std::array<Value, Call::kMaxArguments> values;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    values[i] = arguments_[i]->Evaluate(context);
    const bool last = i + 1 == arguments_.size();
    if (values[i].is_error() && call_.stops_early() && !last) return values[i];  // at no cost
  }
  return call_.Apply(context, Arguments(values.data(), arguments_.size()));
}

}  // namespace ks::cel
