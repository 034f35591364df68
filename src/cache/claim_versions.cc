// SPDX-License-Identifier: Apache-2.0
#include "cache/claim_versions.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "base/check.h"

namespace ks::cache {

namespace {

std::string Quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

Result<int64_t> VersionOf(const api::ResourceClaim& claim) {
  const std::string& text = claim.meta.resource_version;
  int64_t version = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, version);
  if (fault == std::errc() && stop == end) return version;
  const bool too_large = fault == std::errc::result_out_of_range && stop == end;
  return Error{"error parsing ResourceVersion " + Quoted(text) + " for ResourceClaim " +
               Quoted(claim.meta.Key()) + ": strconv.ParseInt: parsing " + Quoted(text) + ": " +
               (too_large ? "value out of range" : "invalid syntax")};
}

}  // namespace

std::optional<ClaimVersions::Change> ClaimVersions::Show(const api::ResourceClaimPtr& claim) {
  const Result<int64_t> version = VersionOf(*claim);
  if (!version.ok()) return std::nullopt;
  const auto [it, inserted] = claims_.try_emplace(claim->meta.Key());
  Versions& known = it->second;
  if (!inserted && *version <= known.version) return std::nullopt;
  KS_CHECK(inserted == (known.latest == nullptr), "a claim is known without a version of it");
  known.version = *version;
  return Change{std::exchange(known.latest, claim), claim};
}

std::optional<ClaimVersions::Change> ClaimVersions::Delete(std::string_view key) {
  const auto found = claims_.find(key);
  if (found == claims_.end()) return std::nullopt;
  Change change{std::move(found->second.latest), nullptr};
  KS_CHECK(change.before != nullptr, "a claim is known without a version of it");
  claims_.erase(found);
  return change;
}

Result<ClaimVersions::Change> ClaimVersions::Assume(const api::ResourceClaimPtr& claim) {
  const Result<int64_t> version = VersionOf(*claim);
  if (!version.ok()) return version.error();
  const std::string key = claim->meta.Key();
  const auto found = claims_.find(key);
  if (found == claims_.end()) return Error{"could not find ResourceClaim " + Quoted(key)};
  Versions& known = found->second;
  if (*version < known.version) {
    return Error{"ResourceClaim " + Quoted(key) + " is out of sync (stored: " +
                 std::to_string(known.version) + ", assume: " + std::to_string(*version) + ")"};
  }
  known.version = *version;
  return Change{std::exchange(known.latest, claim), claim};
}

api::ResourceClaimPtr ClaimVersions::Find(std::string_view key) const {
  const auto found = claims_.find(key);
  return found == claims_.end() ? nullptr : found->second.latest;
}

}  // namespace ks::cache
