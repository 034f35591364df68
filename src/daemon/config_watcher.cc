// SPDX-License-Identifier: Apache-2.0
#include "daemon/config_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "base/file_text.h"
#include "base/logging.h"

namespace ks::daemon {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR;
constexpr int kLookAgainMs = 60000;  // in case a watch broke
constexpr int kMaxLinks = 40;        // as the kernel's own limit

// Absent: cannot be read, for now.
std::optional<std::string> Read(const std::string& file) {
  Result<std::string> content = ReadFile(file);
  if (!content.ok()) return std::nullopt;
  return std::move(content).value();
}

// The directories in which a change can make `file` another file: its own and, for every link on
// the way, those of the link and of what it points to.
std::set<std::string> Directories(const std::string& file) {
  std::set<std::string> directories;
  std::error_code error;
  fs::path path = fs::absolute(file, error);
  for (int links = 0; links < kMaxLinks; ++links) {
    fs::path walked;
    std::optional<fs::path> next;
    for (auto part = path.begin(); part != path.end() && !next; ++part) {
      const fs::path here = walked / *part;
      if (!fs::is_symlink(here, error)) {
        walked = here;
        continue;
      }
      directories.insert(walked.string());
      fs::path target = fs::read_symlink(here, error);
      if (target.is_relative()) target = walked / target;
      for (++part; part != path.end(); ++part) target /= *part;
      next = target.lexically_normal();
      break;
    }
    if (!next) break;
    path = std::move(*next);
  }
  directories.insert(path.parent_path().string());
  return directories;
}

}  // namespace

struct ConfigWatcher::State {
  State(std::vector<std::string> paths, std::function<void()> callback)
      : files(std::move(paths)),
        changed(std::move(callback)),
        events(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
        stop(eventfd(0, EFD_CLOEXEC)) {}

  // Watches of directories that are gone end by themselves; adding one again does nothing.
  void Watch() const {
    for (const std::string& file : files) {
      for (const std::string& directory : Directories(file)) {
        inotify_add_watch(events.get(), directory.c_str(), kEvents);
      }
    }
  }

  // True: one that can be read is another than before.
  bool ReadAll() {
    bool differs = false;
    for (const std::string& file : files) {
      std::optional<std::string> now = Read(file);
      std::optional<std::string>& before = contents[file];
      if (!now || now == before) continue;
      before = std::move(now);
      differs = true;
    }
    return differs;
  }

  void SkipEvents() const {
    alignas(inotify_event) std::array<char, 4096> buffer;
    while (read(events.get(), buffer.data(), buffer.size()) > 0) {
    }
  }

  void Run() {
    std::array<pollfd, 2> ready = {
        {{.fd = events.get(), .events = POLLIN}, {.fd = stop.get(), .events = POLLIN}}};
    while (true) {
      if (poll(ready.data(), ready.size(), kLookAgainMs) < 0 && errno != EINTR) return;
      if (ready[1].revents != 0) return;
      SkipEvents();
      Watch();
      if (ReadAll()) changed();
    }
  }

  const std::vector<std::string> files;
  const std::function<void()> changed;
  const Descriptor events;
  const Descriptor stop;
  std::map<std::string, std::optional<std::string>> contents;
  std::thread thread;
};

ConfigWatcher::ConfigWatcher(std::unique_ptr<State> state) : state_(std::move(state)) {}

ConfigWatcher::~ConfigWatcher() {
  const uint64_t one = 1;
  if (write(state_->stop.get(), &one, sizeof(one)) != sizeof(one)) {
    log::Error(SystemErrorText(errno), "Stopping the watch of files failed");
  }
  state_->thread.join();
}

Result<std::unique_ptr<ConfigWatcher>> ConfigWatcher::Start(std::vector<std::string> files,
                                                            std::function<void()> changed) {
  auto state = std::make_unique<State>(std::move(files), std::move(changed));
  if (state->events.get() < 0 || state->stop.get() < 0) {
    return Error{std::string("watching files: ") + SystemErrorText(errno) +
                 "; raise fs.inotify.max_user_instances"};
  }
  state->Watch();
  (void)state->ReadAll();
  State& running = *state;
  state->thread = std::thread([&running] { running.Run(); });
  return std::unique_ptr<ConfigWatcher>(new ConfigWatcher(std::move(state)));
}

}  // namespace ks::daemon
