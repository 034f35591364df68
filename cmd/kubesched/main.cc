// SPDX-License-Identifier: Apache-2.0
// kubesched: the scheduler daemon.
#include <string>
#include <vector>

#include "client/http/transport.h"
#include "daemon/signals.h"
#include "kubesched/command.h"

int main(int argc, char** argv) {
  // First: the next one starts threads.
  const sigset_t signals = ks::daemon::BlockTerminationSignals();
  ks::client::InitializeClientProcess();
  return ks::RunCommand(std::vector<std::string>(argv + 1, argv + argc), signals);
}
