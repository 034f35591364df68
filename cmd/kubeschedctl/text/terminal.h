// SPDX-License-Identifier: Apache-2.0
#pragma once
// The terminal of a live view, and the signals that concern it.

#include <chrono>
#include <string>
#include <vector>

#include "kubeschedctl/text/printable.h"

namespace ks::ctl {

// SIGINT, SIGTERM and SIGHUP ask for an orderly end, SIGWINCH for a new look at the window's size,
// while this object lives. A second request to end kills as usual. Threads: one; one object a
// process at a time.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Blocks for `timeout`, or until a signal comes. Returns at once when the end was asked for.
  void Wait(std::chrono::milliseconds timeout);
  // The end was asked for.
  bool Stopped();

 private:
  void Drain();

  int pipe_[2] = {-1, -1};
};

// Standard output is a terminal that understands cursor movements.
bool HasLiveTerminal();

// The size: COLUMNS and LINES where they are set, else the window's, else 80 by 24. Block
// characters when the locale is UTF-8, colors unless NO_COLOR is set.
Screen CurrentScreen();

// The alternate screen without cursor while this object lives.
class LiveScreen {
 public:
  LiveScreen();
  ~LiveScreen();
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  // Replaces what is shown.
  void Draw(const std::vector<std::string>& lines);
};

}  // namespace ks::ctl
