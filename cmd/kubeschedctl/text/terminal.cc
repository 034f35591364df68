// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/text/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "base/file_text.h"

namespace ks::ctl {
namespace {

constexpr std::array<int, 3> kEnding = {SIGINT, SIGTERM, SIGHUP};

// What a handler may touch.
std::atomic<int> g_wake_fd{-1};
std::atomic<bool> g_stopped{false};

void Handle(int signal) {
  const int saved = errno;
  if (signal != SIGWINCH) {
    g_stopped = true;
    for (const int ending : kEnding) ::signal(ending, SIG_DFL);
  }
  const char byte = 1;
  (void)!::write(g_wake_fd, &byte, 1);
  errno = saved;
}

void Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value == nullptr ? std::string_view() : value;
}

// A count from the environment; 0 when there is none.
size_t EnvironmentCount(const char* name) {
  const std::string_view text = Environment(name);
  size_t count = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? count : 0;
}

bool IsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view locale = Environment(name);
    if (locale.empty()) continue;
    return locale.ends_with("UTF-8") || locale.ends_with("utf8") || locale.ends_with("UTF8");
  }
  return false;
}

}  // namespace

Signals::Signals() {
  KS_CHECK(::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) == 0, SystemErrorText(errno));
  g_stopped = false;
  g_wake_fd = pipe_[1];
  struct sigaction action {};
  action.sa_handler = Handle;
  action.sa_flags = SA_RESTART;
  for (const int signal : kEnding) ::sigaction(signal, &action, nullptr);
  ::sigaction(SIGWINCH, &action, nullptr);
}

Signals::~Signals() {
  for (const int signal : kEnding) ::signal(signal, SIG_DFL);
  ::signal(SIGWINCH, SIG_DFL);
  g_wake_fd = -1;
  ::close(pipe_[0]);
  ::close(pipe_[1]);
}

void Signals::Wait(std::chrono::milliseconds timeout) {
  if (Stopped()) return;
  pollfd wake{.fd = pipe_[0], .events = POLLIN, .revents = 0};
  ::poll(&wake, 1, static_cast<int>(timeout.count()));
  Drain();
}

bool Signals::Stopped() { return g_stopped; }

void Signals::Drain() {
  std::array<char, 64> bytes{};
  while (::read(pipe_[0], bytes.data(), bytes.size()) > 0) {
  }
}

bool HasLiveTerminal() {
  const std::string_view type = Environment("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && !type.empty() && type != "dumb";
}

Screen CurrentScreen() {
  Screen screen;
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) {
    if (window.ws_col > 0) screen.columns = window.ws_col;
    if (window.ws_row > 0) screen.rows = window.ws_row;
  }
  if (const size_t columns = EnvironmentCount("COLUMNS"); columns > 0) screen.columns = columns;
  if (const size_t rows = EnvironmentCount("LINES"); rows > 0) screen.rows = rows;
  screen.unicode = IsUtf8();
  screen.color = Environment("NO_COLOR").empty();
  return screen;
}

// 1049: the alternate screen; 25: the cursor; 7: wrapping at the right edge.
LiveScreen::LiveScreen() { Write("\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"); }

LiveScreen::~LiveScreen() { Write("\x1b[?7h\x1b[?25h\x1b[?1049l"); }

void LiveScreen::Draw(const std::vector<std::string>& lines) {
  std::string frame = "\x1b[H";
  for (size_t i = 0; i < lines.size(); ++i) {
    frame += lines[i];
    frame += i + 1 < lines.size() ? "\x1b[K\r\n" : "\x1b[K";
  }
  frame += "\x1b[J";
  Write(frame);
}

}  // namespace ks::ctl
