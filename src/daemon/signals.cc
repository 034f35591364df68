// SPDX-License-Identifier: Apache-2.0
#include "daemon/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace ks::daemon {

sigset_t BlockTerminationSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void WatchSignals(const sigset_t& signals, LifeEvents& events) {
  std::thread([signals, &events] {
    bool ending = false;
    while (true) {
      int signal = 0;
      if (sigwait(&signals, &signal) != 0) continue;
      if (signal == SIGHUP || signal == SIGUSR2) {
        const auto kind = signal == SIGHUP ? LifeEvent::Kind::kReload : LifeEvent::Kind::kDump;
        if (!ending) events.Post({.kind = kind});
        continue;
      }
      if (ending) _exit(1);
      ending = true;
      events.Post({.kind = LifeEvent::Kind::kTerminate, .text = std::to_string(signal)});
    }
  }).detach();
}

}  // namespace ks::daemon
