// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every feature gate upstream knows, with its stage, default and lock at each version it can
// emulate. The data are written by tools/feature_gates.py; what they mean for a set of flags is in
// feature_gates.cc.
//
// Upstream: docs/spec/config.md section 9.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace ks::config {

// kPreAlpha: the gate does not exist yet at that version.
enum class Stage : uint8_t { kPreAlpha, kAlpha, kBeta, kGa, kDeprecated };

struct GateVersion {
  Stage stage;
  bool on;      // by default
  bool locked;  // cannot be set to the other value
};

// Minor versions of the columns: 1.34 to 1.37.
inline constexpr int kOldestMinor = 34;
inline constexpr int kNewestMinor = 37;
inline constexpr size_t kGateColumns = kNewestMinor - kOldestMinor + 1;

struct GateRow {
  std::string_view name;
  std::array<GateVersion, kGateColumns> versions;
  std::string_view needs;  // gates it depends on, separated by blanks, in upstream's order
  // 0, or the minor version from which on as --min-compatibility-version the gate, at the newest
  // version, is on by default.
  int on_with_min_compatibility;
};

// Sorted by name.
std::span<const GateRow> GateRows();

}  // namespace ks::config
