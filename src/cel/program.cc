// SPDX-License-Identifier: Apache-2.0
#include "cel/program.h"

#include <array>
#include <utility>

#include "cel/attribute_value.h"
#include "cel/plan.h"
#include "cel/weight.h"

namespace ks::cel {
namespace {

constexpr Text kCostLimit = Literal("operation cancelled: actual cost limit exceeded");
constexpr Text kInterrupted = Literal("operation interrupted");
constexpr std::string_view kMissingKeyAdvice =
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with "
    "has() for optional fields";

uint32_t NextNumber() {
  static std::atomic<uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Why a value is no bool.
std::string WhyNoBool(const Value& value) {
  std::string type(RuntimeTypeName(value));
  switch (value.kind) {
    case Kind::kString:
      return "unsupported native conversion from string to 'bool'";
    case Kind::kInt:
    case Kind::kUint:
      return "unsupported type conversion from '" + type + "' to bool";
    case Kind::kDouble:
      return "type conversion error from Double to 'bool'";
    case Kind::kBytes:
      return "type conversion error from Bytes to 'bool'";
    case Kind::kList:
    case Kind::kMap:
      return "type conversion error from " + type + " to 'bool'";
    case Kind::kType:
      return "type conversion not supported for 'type'";
    case Kind::kFormat:
      return "type conversion error from 'Format' to 'bool'";
    case Kind::kOptional:
      return value.optional->present ? WhyNoBool(value.optional->value)
                                     : "optional.none() dereference";
    default:  // the name without its package
      type.erase(0, type.rfind('.') + 1);
      return "type conversion error from '" + type + "' to 'bool'";
  }
}

}  // namespace

const Environment& DeviceEnvironment() {
  static const Environment* const environment = [] {
    const TypePtr text = SimpleType(TypeKind::kString);
    const TypePtr attributes = MapType(text, SimpleType(TypeKind::kDyn));
    const TypePtr capacity = MapType(text, OpaqueType("kubernetes.Quantity"));
    auto* made = new Environment;
    made->objects.push_back(
        {.name = "kubernetes.DRADevice",
         .fields = {{.name = "driver", .type = text},
                    {.name = "allowMultipleAllocations", .type = SimpleType(TypeKind::kBool)},
                    {.name = "attributes", .type = MapType(text, attributes)},
                    {.name = "capacity", .type = MapType(text, capacity)}}});
    made->variables.push_back({.name = "device", .type = ObjectType("kubernetes.DRADevice")});
    return made;
  }();
  return *environment;
}

Result<std::shared_ptr<const Program>> Program::Compile(std::string_view text, Wanted wanted) {
  Result<Checked> checked = Check(text, DeviceEnvironment());
  if (!checked.ok()) return Error{.message = "compilation failed: " + checked.error().message};
  const Type& type = checked->type_of(*checked->root);
  std::string type_text = RuntimeTypeName(type);
  const bool boolean = type.kind == TypeKind::kBool ||
                       (type.kind == TypeKind::kWrapper && type.params[0]->kind == TypeKind::kBool);
  if (wanted == Wanted::kSelector && !boolean && type.kind != TypeKind::kDyn) {
    return Error{.message = "must evaluate to bool or the unknown type, not " + type_text};
  }
  if (wanted == Wanted::kAttribute && !CanBeAttribute(type)) {
    return Error{.message =
                     "must evaluate to a primitive scalar (string, integer, boolean, semver) "
                     "or a list of these scalars, not " +
                     type_text};
  }
  Result<std::unique_ptr<Plan>> plan = MakePlan(std::move(*checked));
  if (!plan.ok()) return plan.error();
  return std::shared_ptr<const Program>(new Program(std::move(*plan), std::move(type_text)));
}

Program::Program(std::unique_ptr<Plan> plan, std::string type_text)
    : plan_(std::move(plan)),
      type_text_(std::move(type_text)),
      weight_(WeightOf(plan_->checked.root)),
      number_(NextNumber()) {}

size_t Program::bytes() const {
  constexpr size_t kBytesPerNode = 256;  // with the tree it was made of
  return sizeof(Plan) + plan_->constants.arena().bytes() +
         (plan_->nodes.size() + plan_->checked.types.size()) * kBytesPerNode;
}

Value Program::RunWithoutAdvice(Context& context) const {
  if (plan_->slots > 0) {
    auto* slots = context.arena().Array<Value>(plan_->slots);
    std::uninitialized_value_construct_n(slots, plan_->slots);
    context.set_slots(slots);
  }
  const Value value = plan_->root->Evaluate(context);
  if (context.interrupted()) return Value::Error(&kInterrupted);
  if (context.aborted()) return *context.aborted();
  if (context.over_limit()) return Value::Error(&kCostLimit);
  return value;
}

Value Program::Run(Context& context) const {
  const Value value = RunWithoutAdvice(context);
  if (!value.is_error() || value.view().find("no such key:") == std::string_view::npos) {
    return value;
  }
  return MakeError(context.arena(), std::string(value.view()) + std::string(kMissingKeyAdvice));
}

Result<DeviceContent::AttributeValue> Program::Derive(const Device& device,
                                                      const EvalOptions& options) const {
  if (!device.error().empty()) return Error{.message = std::string(device.error())};
  Context context(&device, {.cost = options.cost_limit, .cancelled = options.cancelled});
  const Value value = RunWithoutAdvice(context);
  if (value.is_error()) return Error{.message = std::string(value.view())};
  return AsAttribute(value);
}

Verdict Program::EvaluateAnew(const Device& device, const EvalOptions& options) const {
  if (!device.error().empty()) return Verdict{.error = std::string(device.error())};
  Context context(&device, {.cost = options.cost_limit, .cancelled = options.cancelled});
  const Value result = Run(context);
  const bool wrapped = result.is(Kind::kOptional) && result.optional->present;
  const Value value = wrapped ? result.optional->value : result;
  Verdict verdict{.cost = context.cost(), .over_limit = context.over_limit()};
  if (value.is(Kind::kBool)) {
    verdict.matches = value.boolean;
  } else if (value.is_error()) {
    verdict.error = value.view();
  } else {
    verdict.error = "CEL result of type " + std::string(RuntimeTypeName(result)) +
                    " could not be converted to bool: " + WhyNoBool(value);
  }
  return verdict;
}

Verdict Program::Evaluate(const Device& device, const EvalOptions& options) const {
  if (const std::optional<bool> known = device.memo().Find(number_)) {
    return Verdict{.matches = *known};
  }
  Verdict verdict = EvaluateAnew(device, options);
  if (verdict.ok()) device.memo().Store(number_, verdict.matches);
  return verdict;
}

}  // namespace ks::cel
