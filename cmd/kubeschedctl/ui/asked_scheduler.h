// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scheduler that the page shows, as several threads may ask it at a time.

#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "kubeschedctl/cluster/daemon_access.h"

namespace ks::ctl {

// Threads: any. Calls block.
class AskedScheduler {
 public:
  virtual ~AskedScheduler() = default;
  // As DaemonAccess.
  virtual Result<std::string> Get(const std::string& target) = 0;
  virtual Result<std::string> Post(const std::string& target, std::string body) = 0;
};

// Ways to it that are opened when needed and kept. After an error the way is opened anew: another
// replica may lead by then.
class ReopenedScheduler final : public AskedScheduler {
 public:
  explicit ReopenedScheduler(DaemonOptions options) : options_(std::move(options)) {}

  Result<std::string> Get(const std::string& target) override;
  Result<std::string> Post(const std::string& target, std::string body) override;

 private:
  Result<std::unique_ptr<DaemonAccess>> Take() KS_EXCLUDES(mutex_);
  void GiveBack(std::unique_ptr<DaemonAccess> access) KS_EXCLUDES(mutex_);

  const DaemonOptions options_;
  Mutex mutex_;
  std::vector<std::unique_ptr<DaemonAccess>> idle_ KS_GUARDED_BY(mutex_);
};

}  // namespace ks::ctl
