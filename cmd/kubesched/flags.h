// SPDX-License-Identifier: Apache-2.0
#pragma once
// Command-line flags of the daemon and the configuration that follows from them. A part of
// upstream's flags; the others are refused by name. CLI11 sits behind this header.
//
// Differences from upstream, on purpose: --leader-elect is off by default and cannot be switched on
// yet; --version prints kubesched's own version; all wrong flags are reported at once; a usage
// error prints one line of usage.
//
// Upstream: docs/spec/config.md sections 8.1 to 8.4 and 8.6.

#include <string>
#include <vector>

#include "base/result.h"
#include "config/types.h"

namespace ks {

struct Options {
  std::string config_file;
  std::string kubeconfig;
  std::string master;
  std::string bind_address = "0.0.0.0";
  int secure_port = 10259;  // 0: no server
  std::string tls_cert_file;
  std::string tls_private_key_file;
  int verbosity = 0;
  bool leader_elect_given = false;  // as --leader-elect=false, the only form accepted
};

struct ParsedFlags {
  bool run = true;  // else: print the texts and leave with exit_code
  int exit_code = 0;
  std::string standard_output;
  std::string standard_error;
  Options options;
};

// `arguments` without the program's name.
ParsedFlags ParseFlags(const std::vector<std::string>& arguments);

// The file of --config, else the defaults with the flags' kubeconfig. As upstream, --kubeconfig is
// ignored when there is a file (a line in the log says so).
Result<config::Configuration> LoadEffectiveConfiguration(const Options& options);

}  // namespace ks
