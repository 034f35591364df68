// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of the verbs that ask a running kubesched.

#include <CLI/CLI.hpp>
#include <memory>

namespace ks::ctl {

struct LiveExplainOptions;
struct DaemonOptions;

// queue, decisions, cache, simulate and top. Lifetime: the result outlives the parsing.
class LiveVerbs {
 public:
  LiveVerbs(CLI::App& app, int& status);
  ~LiveVerbs();
  LiveVerbs(const LiveVerbs&) = delete;
  LiveVerbs& operator=(const LiveVerbs&) = delete;

 private:
  struct Options;
  std::unique_ptr<Options> options_;
};

// Where the daemon is; also for explain. The options form a group of their own in the help.
void AddDaemonOptions(CLI::App& verb, DaemonOptions& options);

}  // namespace ks::ctl
