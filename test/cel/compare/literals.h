// SPDX-License-Identifier: Apache-2.0
#pragma once
// What random expressions are made of: devices, paths into them, literals, arguments.

#include <span>
#include <string_view>
#include <vector>

namespace ks::cel::compare {

// An expression and the checker's name of its type.
struct Sample {
  std::string_view type;
  std::string_view text;
};

// The devices of all comparisons, a JSON list in the form of the API.
extern const std::string_view kDevices;

// Expressions that read the device, true of at least one of kDevices.
extern const std::span<const Sample> kDevicePaths;
// Calls of the macro has().
extern const std::span<const std::string_view> kPresence;
extern const std::span<const Sample> kLiterals;
// Bits of text for damaging.
extern const std::span<const std::string_view> kPieces;

// Arguments that a function needs in order to do anything sensible, or anything bounded; empty: any
// expression of the type will do.
std::span<const std::string_view> ArgumentSamples(std::string_view function, size_t position);

}  // namespace ks::cel::compare
