// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verb ui, and its server for others (demo --ui).

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "kubeschedctl/cluster/daemon_access.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace ks::ctl {

struct UiOptions {
  DaemonOptions daemon;
  uint16_t port = 0;  // 0: any free one
};

// Serves the page from its construction to its end. Threads: that which made it.
class UiServer {
 public:
  // Error: the port is taken. Whether the scheduler answers shows on the page.
  static Result<std::unique_ptr<UiServer>> Start(const UiOptions& options);
  ~UiServer();
  UiServer(const UiServer&) = delete;
  UiServer& operator=(const UiServer&) = delete;

  // What the user opens; has the token.
  std::string url() const;

 private:
  struct State;
  explicit UiServer(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

// The verb on `app`. Lifetime: the options outlive the parsing.
void DeclareUi(CLI::App& app, UiOptions& options, int& status);
// Serves until interrupted. 0: it did; 1: it could not.
int RunUi(const UiOptions& options);

}  // namespace ks::ctl
