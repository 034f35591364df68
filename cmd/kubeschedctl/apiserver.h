// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verb that runs the in-memory API server (src/apiserver) as a program of its own.

#include <CLI/CLI.hpp>
#include <string>

#include "apiserver/http/api_server.h"

namespace ks::ctl {

struct ApiserverOptions {
  apiserver::ApiServerOptions server{.port = 6443};
  size_t nodes = 0;  // made-up ones, made before the first request
  size_t zones = 3;
  std::string snapshot_on_exit{};  // file; empty: none
};

void DeclareApiserver(CLI::App& app, ApiserverOptions& options, int& status);

// Serves until SIGTERM or SIGINT. 0, or 1 if it could not start or write the snapshot.
int RunApiserver(const ApiserverOptions& options);

}  // namespace ks::ctl
