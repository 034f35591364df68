// SPDX-License-Identifier: Apache-2.0
// kubesched: the scheduler daemon.
#include <string>
#include <vector>

#include "client/transport.h"
#include "command.h"
#include "signals.h"

int main(int argc, char** argv) {
  const sigset_t signals =
      ks::daemon::BlockTerminationSignals();  // first: the next one starts threads
  ks::client::InitializeClientProcess();
  return ks::RunCommand(std::vector<std::string>(argv + 1, argv + argc), signals);
}
