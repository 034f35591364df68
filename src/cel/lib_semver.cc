// SPDX-License-Identifier: Apache-2.0
// Semantic versions.
#include "cel/library.h"
#include "cel/semver.h"

namespace ks::cel {
namespace {

Result<Semver> Read(Arguments args) {
  const bool lenient = args.size() > 1 && args[1].boolean;
  return lenient ? Semver::ParseLenient(args[0].view()) : Semver::Parse(args[0].view());
}

Value ParseSemver(Context& context, Arguments args) {
  Result<Semver> version = Read(args);
  if (!version.ok()) return MakeError(context.arena(), version.error().message);
  return Value::Of(context.arena().New<Semver>(std::move(*version)));
}

Value IsSemver(Context& /*context*/, Arguments args) { return Value::Bool(Read(args).ok()); }

int OrderOfVersions(Arguments args) {
  const std::strong_ordering order = *args[0].semver <=> *args[1].semver;
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

Value CompareVersions(Context& /*context*/, Arguments args) {
  return Value::Int(OrderOfVersions(args));
}
Value IsGreaterVersion(Context& /*context*/, Arguments args) {
  return Value::Bool(OrderOfVersions(args) > 0);
}
Value IsLessVersion(Context& /*context*/, Arguments args) {
  return Value::Bool(OrderOfVersions(args) < 0);
}

template <uint64_t Semver::*kNumber>
Value NumberOf(Context& /*context*/, Arguments args) {
  return Value::Int(static_cast<int64_t>(args[0].semver->*kNumber));
}

constexpr Binding kSemverTable[] = {
    {OverloadId::kSemver, ParseSemver, TenthOfFirst},
    {OverloadId::kIsSemver, IsSemver, TenthOfFirst},
    {OverloadId::kSemverCompareTo, CompareVersions},
    {OverloadId::kSemverIsGreaterThan, IsGreaterVersion},
    {OverloadId::kSemverIsLessThan, IsLessVersion},
    {OverloadId::kSemverMajor, NumberOf<&Semver::major>},
    {OverloadId::kSemverMinor, NumberOf<&Semver::minor>},
    {OverloadId::kSemverPatch, NumberOf<&Semver::patch>},
};

}  // namespace

std::span<const Binding> SemverBindings() { return kSemverTable; }

}  // namespace ks::cel
