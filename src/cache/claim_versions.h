// SPDX-License-Identifier: Apache-2.0
#pragma once
// ClaimVersions: of each ResourceClaim what the API server last showed, and the latest version,
// which this scheduler may have got as the answer to a write of its own. Unlike AssumedVersions
// (storage_stores.h) it orders versions, because what is assumed was written already.
//
// Upstream: docs/spec/plugins-dra.md section 2.2.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "base/result.h"
#include "base/string_map.h"

namespace ks::cache {

// Threads: the scheduling thread.
class ClaimVersions {
 public:
  // Of the latest version. Null: unknown before, or after.
  struct Change {
    api::ResourceClaimPtr before;
    api::ResourceClaimPtr after;
  };

  // The API server shows this one. None: it is not newer than the latest, or its version cannot be
  // read, and is ignored.
  std::optional<Change> Show(const api::ResourceClaimPtr& claim);
  // The claim is gone.
  std::optional<Change> Delete(std::string_view key);
  // framework::DeviceState's.
  Result<Change> Assume(const api::ResourceClaimPtr& claim);

  // The latest version; null when unknown.
  api::ResourceClaimPtr Find(std::string_view key) const;
  size_t size() const { return claims_.size(); }
  // The latest version of each, in no particular order.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const auto& [key, versions] : claims_) visit(versions.latest);
  }

 private:
  struct Versions {
    api::ResourceClaimPtr latest;
    int64_t version = 0;
  };
  StringMap<Versions> claims_;
};

}  // namespace ks::cache
