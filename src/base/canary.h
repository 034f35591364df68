// SPDX-License-Identifier: Apache-2.0
#pragma once
// Planted bugs: places where the code does the wrong thing on purpose, so that the simulation can
// prove that it would find such a bug (docs/simulation.md). Not for tests of one part: those inject
// through interfaces.
//
// KS_CANARY(Name) is the constant false, and so costs nothing, but in the objects that are compiled
// with KS_CANARIES for the program ks_sim_canary; there it is true while Name is planted.
// KS_CANARY_UNHEARD(label) is the same for a cluster event, whose label is a string: true while
// "<label>Unheard" is planted, of the label only what follows the slash of its API group.

#ifdef KS_CANARIES

#include <string>
#include <string_view>

namespace ks::canary {

// The planted bug; empty: none. Threads: set before any other starts.
inline std::string g_planted;  // NOLINT(*-avoid-non-const-global-variables)

inline bool IsPlanted(std::string_view name) { return g_planted == name; }

inline bool IsUnheard(std::string_view label) {
  return IsPlanted(std::string(label.substr(label.find('/') + 1)) + "Unheard");
}

}  // namespace ks::canary

#define KS_CANARY(name) (::ks::canary::IsPlanted(#name))
#define KS_CANARY_UNHEARD(label) (::ks::canary::IsUnheard(label))

#else

#define KS_CANARY(name) false
#define KS_CANARY_UNHEARD(label) false

#endif
