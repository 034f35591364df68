// SPDX-License-Identifier: Apache-2.0
#pragma once
// The public door of the CEL engine: selectors are compiled once per text, devices of equal content
// are one object, and what a program said about a content is remembered.
//
// Upstream: docs/spec/cel.md sections 7 and 9.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/bounded_cache.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/string_map.h"
#include "base/thread_annotations.h"
#include "cel/device.h"
#include "cel/program.h"

namespace ks::cel {

// Threads: any. Lifetime: programs and devices may outlive it.
class Engine {
 public:
  // More than the largest programs that one device can be asked together: 64 of 1.4 MB.
  static constexpr size_t kDefaultCacheBytes = size_t{128} << 20;

  // `cache_bytes`: programs beyond that are forgotten, those used longest ago first.
  explicit Engine(size_t cache_bytes = kDefaultCacheBytes);

  // The program of a text; errors (Program::Compile) are remembered, too. Nobody waits while
  // another thread compiles.
  Result<std::shared_ptr<const Program>> Compile(
      std::string_view text, Program::Wanted wanted = Program::Wanted::kSelector);

  // The device with this content, shared with all that ask for the same while one of them keeps it.
  std::shared_ptr<const Device> Intern(const DeviceContent& content);

  // Programs and errors that are remembered.
  size_t programs() const;
  // Different contents that somebody keeps.
  size_t devices() const;

 private:
  struct Compiled {
    std::shared_ptr<const Program> program;
    std::string error;
    size_t bytes = 0;
  };

  static std::shared_ptr<Compiled> CompileAnew(std::string_view text, Program::Wanted wanted);
  std::shared_ptr<Compiled> Find(const std::string& key);

  const size_t cache_bytes_;

  mutable Mutex programs_mutex_;
  BoundedCache<std::string, Compiled> programs_ KS_GUARDED_BY(programs_mutex_);

  mutable Mutex devices_mutex_;
  StringMap<std::weak_ptr<const Device>> devices_ KS_GUARDED_BY(devices_mutex_);
  size_t sweep_at_ KS_GUARDED_BY(devices_mutex_) = 1024;
};

}  // namespace ks::cel
