// SPDX-License-Identifier: Apache-2.0
// kubesched: the scheduler daemon. Flags, configuration, then the daemon until a signal.
#include <cstdio>
#include <string>
#include <vector>

#include "base/logging.h"
#include "client/transport.h"
#include "daemon.h"
#include "flags.h"

int main(int argc, char** argv) {
  ks::client::InitializeClientProcess();
  const sigset_t signals = ks::daemon::BlockTerminationSignals();
  const ks::ParsedFlags flags = ks::ParseFlags(std::vector<std::string>(argv + 1, argv + argc));
  std::fputs(flags.standard_output.c_str(), stdout);
  std::fputs(flags.standard_error.c_str(), stderr);
  if (!flags.run) return flags.exit_code;
  ks::log::SetVerbosity(flags.options.verbosity);

  auto configuration = ks::LoadEffectiveConfiguration(flags.options);
  if (!configuration.ok()) {
    std::fprintf(stderr, "%s\n", configuration.error().message.c_str());
    return 1;
  }
  const auto ran = ks::daemon::RunDaemon({flags.options, *configuration}, signals);
  if (!ran.ok()) {
    ks::log::Error(ran.error().message, "kubesched cannot run");
    return 1;
  }
  return 0;
}
