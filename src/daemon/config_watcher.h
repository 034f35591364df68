// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tells when the content of files changes: written in place, replaced by rename, or reached
// through a symbolic link that was exchanged, as a mounted ConfigMap is (its files are links into
// ..data, a link to the directory of the present version).
//
// Upstream: none; it has no reload (docs/spec/config.md 2.1). Decision 0018.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace ks::daemon {

// Threads: `changed` runs on a thread of the watcher; the rest any. Lifetime: the destructor waits
// for a running `changed`.
class ConfigWatcher {
 public:
  // `changed` is called after each change that left a readable file with another content than
  // before; intermediate states may be skipped. A minute later at most if the system lost an event.
  // Error: the system has no inotify left.
  static Result<std::unique_ptr<ConfigWatcher>> Start(std::vector<std::string> files,
                                                      std::function<void()> changed);
  ~ConfigWatcher();
  ConfigWatcher(const ConfigWatcher&) = delete;
  ConfigWatcher& operator=(const ConfigWatcher&) = delete;

 private:
  struct State;
  explicit ConfigWatcher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ks::daemon
