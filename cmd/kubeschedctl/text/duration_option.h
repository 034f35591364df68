// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options that take a duration.

#include <chrono>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace ks::ctl {

// Adds the option `name` to the verb: 300, 300s, 5m or 1h. Its default is what `target` holds now.
// Lifetime: `target` outlives the parsing.
void AddTimeout(CLI::App& verb, const char* name, std::chrono::seconds& target, const char* help);

}  // namespace ks::ctl
