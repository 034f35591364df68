// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flags that say how the API server is reached, in kubectl's words.

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace ks::ctl {

struct DaemonOptions;

// As kubectl's plugin the verb gets all of them. Called by its own name the program has --server,
// --cluster and two more for other things, so that these are left out.
// Lifetime: `options` outlives the parsing.
void AddApiOptions(CLI::App& verb, DaemonOptions& options);

}  // namespace ks::ctl
