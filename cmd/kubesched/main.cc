// SPDX-License-Identifier: Apache-2.0
// kubesched: the scheduler daemon.
#include <string>
#include <vector>

#include "client/transport.h"
#include "command.h"
#include "daemon.h"

int main(int argc, char** argv) {
  ks::client::InitializeClientProcess();
  const sigset_t signals = ks::daemon::BlockTerminationSignals();
  return ks::RunCommand(std::vector<std::string>(argv + 1, argv + argc), signals);
}
