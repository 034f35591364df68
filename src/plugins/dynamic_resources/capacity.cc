// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/capacity.h"

#include <cstdint>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace ks::plugins {
namespace {

using api::Quantity;
using Range = api::CapacityRequestPolicy::Range;

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

Error RangeError(std::string_view what) {
  return Error{
      fmt::format("capacity request cannot be represented in the device's range "
                  "arithmetic: {}",
                  what)};
}

bool BeyondInt64(const Quantity& amount) { return amount > Quantity::FromUnits(kMaxInt64); }

// Whole units, rounded up.
Result<int64_t> Units(const Quantity& amount) {
  if (BeyondInt64(amount)) {
    return RangeError(fmt::format("request {} exceeds MaxInt64", amount.ToString()));
  }
  return amount.Value();
}

// The smallest min + n * step that is not below the request.
Result<Quantity> Stepped(const Quantity& request, const Range& range) {
  const auto units = Units(request);
  if (!units.ok()) return units.error();
  const int64_t min = range.min->Value();
  const int64_t step = range.step->Value();
  if (step <= 0) return request;
  const auto distance = static_cast<__int128>(*units) - min;
  const auto steps = distance <= 0 ? 0 : (distance + step - 1) / step;
  const __int128 stepped = min + steps * step;
  if (stepped > kMaxInt64) {
    return RangeError(
        fmt::format("rounding request {} up to the next step passes MaxInt64", request.ToString()));
  }
  return Quantity::FromUnits(static_cast<int64_t>(stepped), range.step->format());
}

// Thousandths; none: it is no whole number of them, or too many.
std::optional<int64_t> ExactMilli(const Quantity& amount) {
  if (amount > Quantity::FromMilli(kMaxInt64) ||
      amount < Quantity::FromMilli(std::numeric_limits<int64_t>::min())) {
    return std::nullopt;
  }
  const int64_t milli = amount.MilliValue();
  if (Quantity::FromMilli(milli) != amount) return std::nullopt;
  return milli;
}

Quantity MilliAmount(int64_t milli, Quantity::Format format) {
  constexpr int64_t kMilliPerUnit = 1000;
  if (milli % kMilliPerUnit == 0) return Quantity::FromUnits(milli / kMilliPerUnit, format);
  if (format != Quantity::Format::kDecimalExponent) return Quantity::FromMilli(milli);
  return *Quantity::Parse(fmt::format("{}e-3", milli));
}

// The steps of a range in thousandths.
struct MilliSteps {
  int64_t min = 0;
  int64_t step = 0;
};

// None: the range steps in whole units.
std::optional<MilliSteps> InMilli(const Range& range) {
  if (!range.min.has_value() || !range.step.has_value()) return std::nullopt;
  if (range.max.has_value() && !ExactMilli(*range.max)) return std::nullopt;
  const auto min = ExactMilli(*range.min);
  const auto step = ExactMilli(*range.step);
  if (!min || !step || *step < 1) return std::nullopt;
  return MilliSteps{.min = *min, .step = *step};
}

Result<Quantity> SteppedMilli(const Quantity& request, const Range& range,
                              const MilliSteps& steps) {
  const auto milli = ExactMilli(request);
  if (!milli) {
    return RangeError(
        fmt::format("request {} is not a representable milli value", request.ToString()));
  }
  const auto distance = static_cast<__int128>(*milli) - steps.min;
  const __int128 stepped = steps.min + (distance + steps.step - 1) / steps.step * steps.step;
  if (steps.min < 0 || stepped > kMaxInt64) {
    return RangeError(
        fmt::format("rounding request {} up to the next step passes the milli-value "
                    "range",
                    request.ToString()));
  }
  return MilliAmount(static_cast<int64_t>(stepped), range.step->format());
}

Result<Quantity> AmountOf(const Quantity& request, const api::CapacityRequestPolicy* policy,
                          bool fractional) {
  if (policy == nullptr) return request;
  if (policy->valid_range.has_value() && policy->valid_range->min.has_value()) {
    const Range& range = *policy->valid_range;
    if (request < *range.min) return *range.min;
    if (!range.step.has_value()) return request;
    const auto milli = fractional ? InMilli(range) : std::nullopt;
    return milli ? SteppedMilli(request, range, *milli) : Stepped(request, range);
  }
  for (const Quantity& value : policy->valid_values) {
    if (value >= request) return value;
  }
  return request;
}

// Requires: the range has a minimum and a step.
Result<bool> IsStep(const Quantity& amount, const Range& range, bool fractional) {
  if (const auto steps = fractional ? InMilli(range) : std::nullopt) {
    const auto milli = ExactMilli(amount);
    return milli && (static_cast<__int128>(*milli) - steps->min) % steps->step == 0;
  }
  const auto units = Units(amount);
  if (!units.ok()) return units.error();
  const int64_t step = range.step->Value();
  if (step <= 0) return true;
  return (static_cast<__int128>(*units) - range.min->Value()) % step == 0;
}

Result<bool> Obeys(const Quantity& amount, const api::CapacityRequestPolicy* policy,
                   bool fractional) {
  if (policy == nullptr) return true;
  if (policy->default_amount.has_value() && amount.SameForm(*policy->default_amount)) return true;
  if (policy->valid_range.has_value()) {
    const Range& range = *policy->valid_range;
    if (range.max.has_value() && amount > *range.max) return false;
    if (!range.step.has_value() || !range.min.has_value()) return true;
    return IsStep(amount, range, fractional);
  }
  if (policy->valid_values.empty()) return true;
  for (const Quantity& value : policy->valid_values) {
    if (value == amount) return true;
  }
  return false;
}

const Quantity* FindRequest(const std::vector<api::NamedQuantity>& requests, const Symbol& name) {
  for (const api::NamedQuantity& request : requests) {
    if (request.name == name) return &request.value;
  }
  return nullptr;
}

bool Offers(const api::Device& device, const Symbol& name) {
  for (const api::DeviceCapacity& capacity : device.capacity) {
    if (capacity.name == name) return true;
  }
  return false;
}

// What a request takes of one capacity, and whether the policy allows it.
Result<bool> OneAmount(const api::DeviceCapacity& capacity, const Quantity* request,
                       bool fractional, CapacityAmounts& made) {
  const api::CapacityRequestPolicy* policy = capacity.policy.get();
  Quantity amount = capacity.value;
  if (request != nullptr) {
    auto asked = AmountOf(*request, policy, fractional);
    if (!asked.ok()) return asked.error();
    amount = *asked;
  } else if (policy != nullptr && policy->default_amount.has_value()) {
    amount = *policy->default_amount;
  }
  if (amount < Quantity()) {
    return Error{.message = "capacity value is negative", .path = "", .hint = ""};
  }
  auto obeys = Obeys(amount, policy, fractional);
  made.fits_total = made.fits_total && amount <= capacity.value;
  made.amounts.push_back(std::move(amount));
  return obeys;
}

}  // namespace

Result<CapacityAmounts> RequestedAmounts(const api::Device& device,
                                         const std::vector<api::NamedQuantity>& requests,
                                         bool fractional) {
  CapacityAmounts made{.satisfiable = true, .fits_total = true};
  for (const api::NamedQuantity& request : requests) {
    if (!Offers(device, request.name)) return CapacityAmounts{};
  }
  for (const api::DeviceCapacity& capacity : device.capacity) {
    const auto allowed =
        OneAmount(capacity, FindRequest(requests, capacity.name), fractional, made);
    if (!allowed.ok()) {
      return Error{
          fmt::format("capacity \"{}\": {}", capacity.name.view(), allowed.error().message)};
    }
    if (!*allowed) made.satisfiable = false;
  }
  if (!made.satisfiable) made.fits_total = false;
  return made;
}

bool CapacityLedger::Fits(const api::Device& device, uint32_t number,
                          const CapacityAmounts& amounts,
                          const api::SymbolMap<Quantity>* consumed) const {
  if (!amounts.fits_total) return false;
  if (!device.allow_multiple_allocations) return true;
  const auto picked = picked_.find(number);
  for (size_t i = 0; i < device.capacity.size(); ++i) {
    Quantity sum = amounts.amounts[i];
    const Quantity* used = consumed == nullptr ? nullptr : consumed->Find(device.capacity[i].name);
    if (used != nullptr) sum += *used;
    if (picked != picked_.end()) sum += picked->second.sums[i];
    if (sum > device.capacity[i].value) return false;
  }
  return true;
}

void CapacityLedger::Add(uint32_t number, const CapacityAmounts& amounts) {
  Picked& picked = picked_[number];
  ++picked.shares;
  picked.sums.resize(amounts.amounts.size());
  for (size_t i = 0; i < amounts.amounts.size(); ++i) picked.sums[i] += amounts.amounts[i];
}

void CapacityLedger::Remove(uint32_t number, const CapacityAmounts& amounts) {
  Picked& picked = picked_[number];
  for (size_t i = 0; i < amounts.amounts.size(); ++i) picked.sums[i] -= amounts.amounts[i];
  if (--picked.shares == 0) picked_.erase(number);
}

}  // namespace ks::plugins
